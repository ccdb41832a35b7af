package app

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// BenchmarkCompact runs the whole command on a request of 10,000 messages and
// about 5 MB: reading, planning, report, plan file. WINNOW_LARGE keeps the file
// for measuring the process itself.
func BenchmarkCompact(b *testing.B) {
	path := filepath.Join(b.TempDir(), "large.json")
	if keep := os.Getenv("WINNOW_LARGE"); keep != "" {
		path = keep
	}
	if err := os.WriteFile(path, largeSession(10000), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var out, errs bytes.Buffer
		if code := Run([]string{"compact", path, "--json"}, nil, &out, &errs); code != exitDone {
			b.Fatalf("exit %d: %s", code, errs.String())
		}
	}
}

// lineNumbers are what the session's read_file puts before each line.
var lineNumbers = regexp.MustCompile(`(?m)^ *\d+\t`)

// largeSession returns the body of a request of n messages, in the OpenAI dialect: a
// session in many small steps, for measuring. With 10,000 messages it has
// about 5 MB and 1.2 million tokens. Its calls are those of the bundled session,
// numbered anew, and each result is a piece of what the call returned there.
func largeSession(n int) []byte {
	type done struct {
		call  chat.Part
		lines []string
	}
	var work []done
	calls := make(map[string]chat.Part)
	for _, m := range demo.Request().History.All() {
		for _, p := range m.Parts {
			switch p.Kind {
			case chat.ToolCall:
				calls[p.ID] = p
			case chat.ToolResult:
				if lines := strings.SplitAfter(lineNumbers.ReplaceAllString(p.Text, ""), "\n"); len(lines) > 100 {
					work = append(work, done{calls[p.ID], lines})
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 0x77696e6e6f77))
	msgs := make([]chat.Message, 0, n+2)
	for turn := 1; len(msgs) < n; {
		w := work[r.IntN(len(work))]
		if len(msgs)%101 == 0 {
			msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Step %d: go through %s once more. Keep the public API as it is.", turn, w.call.Args)))
			turn++
			continue
		}
		from := r.IntN(len(w.lines) - 24)
		w.call.ID = fmt.Sprintf("call_%d", len(msgs))
		if w.call.Name == "read_file" {
			w.call.Args = strings.TrimSuffix(w.call.Args, "}") + fmt.Sprintf(`,"offset":%d,"limit":24}`, from+1)
		}
		result := strings.Join(w.lines[from:from+11+r.IntN(11)], "")
		msgs = append(msgs, chat.CallMessage("Next I look at "+w.call.Args+".", w.call), chat.ResultMessage(w.call.ID, result))
	}
	body, err := wire.Render(wire.OpenAI, demo.Model, chat.Request{History: chat.NewHistory(msgs[:n]...)}, nil)
	if err != nil {
		panic(err)
	}
	return body
}

// TestLargeSession checks the size of what is measured with.
func TestLargeSession(t *testing.T) {
	raw := largeSession(10_000)
	if n := len(raw); n < 4_500_000 || n > 6_000_000 {
		t.Errorf("%d bytes", n)
	}
	body, err := wire.Parse(wire.OpenAI, raw)
	if err != nil {
		t.Fatal(err)
	}
	req := body.Request()
	if req.History.Len() != 10_000 {
		t.Errorf("%d messages", req.History.Len())
	}
	if n := token.New(token.O200K, nil).Request(&req); n < 900_000 || n > 1_300_000 {
		t.Errorf("%d tokens", n)
	}
	if small := largeSession(7); !bytes.Contains(small, []byte("Step 1")) {
		t.Error("a short one has no first step")
	}
}
