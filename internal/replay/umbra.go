package replay

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/text"
)

// umbra is split-turn compression as documented (seed 000): over budget and
// with more than three exchanges in the current turn, all but the last three
// become a list of calls; then old history is dropped from the front, one
// message at a time. It looks at the whole history every time.
type umbra struct{}

// umbraTail is how many exchanges stay.
const umbraTail = 3

func (umbra) Name() string                     { return "umbra" }
func (umbra) Begin(s Setup) (Compactor, error) { return &umbraRun{working: newWorking(s)}, nil }

type umbraRun struct{ *working }

func (u *umbraRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	u.grow(h)
	if !u.over() {
		return u.sent(), nil
	}
	task := -1
	for i := len(u.msgs) - 1; i >= 0; i-- {
		if m := u.msgs[i]; m.Role == chat.User && !m.Has(chat.ToolResult) {
			task = i
			break
		}
	}
	if task < 0 {
		return u.sent(), nil
	}
	// A pair is an assistant message with calls and the results that follow it.
	type pair struct{ from, to int }
	var pairs []pair
	for i := task + 1; i < len(u.msgs); i++ {
		if u.msgs[i].Role != chat.Assistant || !u.msgs[i].Has(chat.ToolCall) {
			continue
		}
		to := i + 1
		for to < len(u.msgs) && u.msgs[to].Has(chat.ToolResult) {
			to++
		}
		if to > i+1 {
			pairs = append(pairs, pair{i, to})
		}
	}
	if len(pairs) <= umbraTail {
		return u.sent(), nil
	}
	prefix := pairs[:len(pairs)-umbraTail]
	var b strings.Builder
	fmt.Fprintf(&b, "[Turn prefix compressed — %d earlier tool call(s)]\n\n## In-Turn Prefix\n", len(prefix))
	for _, p := range prefix {
		m := u.msgs[p.from]
		for k := range m.Parts {
			if m.Parts[k].Kind == chat.ToolCall {
				b.WriteString(umbraLine(&m.Parts[k], "completed") + "\n")
			}
		}
	}
	summary := chat.TextMessage(chat.User, b.String())
	core := []*chat.Message{u.msgs[task], &summary}
	for _, p := range pairs[len(prefix):] {
		core = append(core, u.msgs[p.from:p.to]...)
	}
	history := u.msgs[:task]
	total := u.Total(core)
	for _, m := range history {
		total += u.Tokens(m)
	}
	for len(history) > 0 && total > u.Trigger {
		total -= u.Tokens(history[0])
		history = history[1:]
	}
	return Sent{Messages: append(append([]*chat.Message{}, history...), core...)}, nil
}

// umbraLine is a call as the document lists it: the tool's name, its first two
// arguments cut at 40 characters, and the status.
func umbraLine(call *chat.Part, status string) string {
	var b strings.Builder
	b.WriteString("- " + call.Name + "(")
	for i, a := range evidence.KeyArgs(call, 2) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Key + "=" + clip(a.Value, 40))
	}
	b.WriteString(") → " + status)
	return b.String()
}

// clip cuts a text to n runes and makes one line of it.
func clip(s string, n int) string {
	return text.Runes(strings.Join(strings.Fields(s), " "), n)
}
