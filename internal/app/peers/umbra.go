package peers

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
)

// umbraTail is how many exchanges stay.
const umbraTail = 3

// splitTurn is umbra's split-turn compression as documented (seed 000): over budget and
// with more than three exchanges in the current turn, all but the last three
// become a list of calls; then old history is dropped from the front, one
// message at a time. It looks at the whole history every time.
func splitTurn(u *replay.Working, _ chat.History) replay.Sent {
	task := -1
	for i := len(u.Msgs) - 1; i >= 0; i-- {
		if m := u.Msgs[i]; m.Role == chat.User && !m.Has(chat.ToolResult) {
			task = i
			break
		}
	}
	if task < 0 {
		return u.Sent()
	}
	// A pair is an assistant message with calls and the results that follow it.
	type pair struct{ from, to int }
	var pairs []pair
	for i := task + 1; i < len(u.Msgs); i++ {
		if u.Msgs[i].Role != chat.Assistant || !u.Msgs[i].Has(chat.ToolCall) {
			continue
		}
		to := i + 1
		for to < len(u.Msgs) && u.Msgs[to].Has(chat.ToolResult) {
			to++
		}
		if to > i+1 {
			pairs = append(pairs, pair{i, to})
		}
	}
	if len(pairs) <= umbraTail {
		return u.Sent()
	}
	prefix := pairs[:len(pairs)-umbraTail]
	var b strings.Builder
	fmt.Fprintf(&b, "[Turn prefix compressed — %d earlier tool call(s)]\n\n## In-Turn Prefix\n", len(prefix))
	for _, p := range prefix {
		m := u.Msgs[p.from]
		for k := range m.Parts {
			if m.Parts[k].Kind == chat.ToolCall {
				b.WriteString(callLine(&m.Parts[k], "completed") + "\n")
			}
		}
	}
	summary := chat.TextMessage(chat.User, b.String())
	core := []*chat.Message{u.Msgs[task], &summary}
	for _, p := range pairs[len(prefix):] {
		core = append(core, u.Msgs[p.from:p.to]...)
	}
	history := u.Msgs[:task]
	total := u.Total(core)
	for _, m := range history {
		total += u.Tokens(m)
	}
	for len(history) > 0 && total > u.Trigger {
		total -= u.Tokens(history[0])
		history = history[1:]
	}
	return replay.Sent{Messages: append(append([]*chat.Message{}, history...), core...)}
}

// callLine returns a call as the system documents it: the tool's name, its
// first two arguments cut at 40 characters, and the status.
func callLine(call *chat.Part, status string) string {
	var b strings.Builder
	b.WriteString("- " + call.Name + "(")
	for i, a := range work.KeyArgs(call, 2) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Key + "=" + text.Runes(strings.Join(strings.Fields(a.Value), " "), 40))
	}
	b.WriteString(") → " + status)
	return b.String()
}
