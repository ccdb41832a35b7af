package summary

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// methodComposer has read the session that is shown in worth.go.
func methodComposer(t *testing.T) *composer {
	t.Helper()
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "The server drops idle connections. Please find out why."),
		chat.CallMessage("", chat.Call("c1", "read_file", `{"path":"server/pool.go"}`)),
		chat.ResultMessage("c1", "package server\n\nconst maxIdle = 2\n\nfunc (p *Pool) trimIdle() {\n\tp.close(maxIdle)\n}\n"),
		chat.CallMessage("The root cause is maxIdle: it is far too small.", chat.Call("c2", "edit_file", `{"path":"server/pool.go","old":"maxIdle = 2","new":"maxIdle = 64"}`)),
		chat.ResultMessage("c2", "The file was changed."),
		chat.CallMessage("", chat.Call("c3", "shell", `{"command":"go test ./server"}`)),
		chat.ResultMessage("c3", "--- FAIL: TestTrim (0.00s)\n    pool_test.go:31: 64 connections are open, want 2\nFAIL\nexit status 1"),
	)
	in := Input{History: h, To: h.Len(), Turn: -1, Max: 400, Counter: token.New(token.O200K, nil)}
	in, err := in.normal()
	if err != nil {
		t.Fatal(err)
	}
	c := &composer{in: &in, limit: in.limit(), scan: scanRegion(&in, thoroughBytes)}
	c.scan.weigh()
	return c
}

// The example in worth.go has the figures that are written there.
func TestWorthMethod(t *testing.T) {
	s := methodComposer(t).scan
	for name, want := range map[string]string{"maxIdle": "3.36", "TestTrim": "1.00", "connections": "0.05"} {
		id, ok := s.find(name)
		if !ok {
			t.Errorf("%s was not found", name)
			continue
		}
		if got := fmt.Sprintf("%.2f", s.worthOf(id)); got != want {
			t.Errorf("%s is worth %s, want %s", name, got, want)
		}
	}
	for ago, want := range map[int]string{0: "1.00", 24_000: "0.50", 800_000: "0.10"} {
		if got := fmt.Sprintf("%.2f", s.recency(int32(s.pos-ago))); got != want {
			t.Errorf("%d bytes ago: %s, want %s", ago, got, want)
		}
	}
}

// The example in record.go is chosen as it is told there.
func TestRecordMethod(t *testing.T) {
	c := methodComposer(t)
	s := c.scan
	at := map[string]string{}
	add := func(text string, v, cost float64) { at[text] = fmt.Sprintf("%.2f/%.1f = %.2f", v, cost, v/cost) }
	for i := range s.steps {
		if title := s.titleOf(int32(i)); title != "" {
			add(title, s.stepValue(int32(i)), textCost(title)+frameCost)
		}
	}
	for _, u := range s.excerpts() {
		text := s.excerptText(u)
		v, cost := s.excerptValue(u), textCost(text)+frameCost
		if st := s.lines[u.from].step; s.lines[u.from].fails {
			v, cost = v+s.stepValue(st), cost+textCost(s.titleOf(st))+frameCost
		}
		add(text, v, cost)
	}
	for text, want := range map[string]string{
		"The root cause is maxIdle: it is far too small.":  "8.71/13.9 = 0.63",
		"edited server/pool.go":                            "4.35/9.4 = 0.46",
		"read server/pool.go":                              "3.40/9.1 = 0.37",
		"maxIdle = 64":                                     "3.36/9.6 = 0.35",
		"--- FAIL: TestTrim (0.00s)":                       "8.68/31.2 = 0.28",
		"pool_test.go:31: 64 connections are open, want 2": "1.05/20.1 = 0.05",
	} {
		if at[text] != want {
			t.Errorf("%q has %s, want %s", text, at[text], want)
		}
	}
	want := "## What happened\n" +
		"(3 of 4 steps)\n" +
		"- said: The root cause is maxIdle: it is far too small.\n" +
		"- edited server/pool.go\n" +
		"- ran `go test ./server`, exit 1\n" +
		"    --- FAIL: TestTrim (0.00s)\n"
	if d := cmp.Diff(want, c.record(60)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
