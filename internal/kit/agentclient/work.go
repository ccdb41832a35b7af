package agentclient

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Output returns what a tool prints, for [Client.Result]: some kilobytes with things
// in them worth keeping.
func Output(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ go test ./pkg%d/...\n", n)
	for i := range 60 {
		fmt.Fprintf(&b, "internal/pkg%d/file%d.go:%d: func handle%d(ctx context.Context) error // call %d line %d\n", n, i%7, i*3, i, n, i)
	}
	fmt.Fprintf(&b, "FAIL pkg%d exit status %d\n", n, n%3)
	return b.String()
}

// Question returns what a user asks in a turn.
func Question(turn int) string {
	return fmt.Sprintf("Turn %d: look at internal/store/retry%d.go and mend what is broken.", turn, turn)
}

// Drive lets the agent work, turn after turn, until it has sent that number of
// requests, which must all be answered. It calls each, which may be nil, after
// every answer.
func (c *Client) Drive(t testing.TB, requests int, each func(i int, a *Answer)) {
	t.Helper()
	for i, turn := 0, 0; i < requests; turn++ {
		c.Say(Question(turn))
		for i < requests {
			a, err := c.Step(t.Context())
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("request %d: %v %+v", i, err, a)
			}
			i++
			if each != nil {
				each(i, a)
			}
			if a.Calls == 0 {
				break
			}
		}
	}
}
