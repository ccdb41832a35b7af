// Package demo holds the conversation that the command shows itself with, a
// long coding session ([Session]), and cuts from it sessions of any length for
// measuring ([Large]).
//
// The session is invented: nobody worked in the repository that it talks about.
// It is kept as the body of a request, compressed, and is the same bytes every
// time.
package demo

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// Model is the model of the session.
const Model = "claude-sonnet-4-5"

// What the user said at the start, and the agent read early or changed late.
// Constraint, EarlyPath and ChangedLine must survive any compaction of the session.
const (
	Constraint = "Never log a whole API key: the last four characters at most."
	EarlyPath  = "deploy/helm/values.production.yaml"

	// EarlySetting stands in the content of that file and nowhere else.
	EarlySetting = "p99TrackMillis"

	// ChangedLine stands in a file as the agent left it.
	ChangedLine = "s.authenticate(s.perKeyLimit(s.mux))"
)

//go:embed session.json.gz
var packed []byte

// Session returns the body of a request that carries the whole session, in the
// OpenAI dialect.
func Session() []byte { return session() }

var session = sync.OnceValue(func() []byte {
	var body []byte
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		body, err = io.ReadAll(r)
	}
	if err != nil {
		panic("demo: " + err.Error()) // the file is part of the program, so this is a bug here
	}
	return body
})

// Request returns the session as a request, free of any dialect's rules.
func Request() chat.Request {
	body, err := wire.Parse(wire.OpenAI, Session())
	if err != nil {
		panic("demo: " + err.Error())
	}
	req := body.Request()
	req.Rules = chat.Rules{}
	return req
}

// lineNumbers are what the session's read_file puts before each line.
var lineNumbers = regexp.MustCompile(`(?m)^ *\d+\t`)

// Large returns the body of a request of n messages, in the OpenAI dialect: a
// session in many small steps, for measuring. With 10,000 messages it has
// about 5 MB and 1.2 million tokens. Its calls are those of the bundled session,
// numbered anew, and each result is a piece of what the call returned there.
func Large(n int) []byte {
	type done struct {
		call  chat.Part
		lines []string
	}
	var work []done
	calls := make(map[string]chat.Part)
	for _, m := range Request().History.All() {
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
	body, err := wire.Render(wire.OpenAI, Model, chat.Request{History: chat.NewHistory(msgs[:n]...)}, nil)
	if err != nil {
		panic("demo: " + err.Error())
	}
	return body
}
