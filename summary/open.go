package summary

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// open writes what is open in at most room tokens: the list of things to do as
// the agent keeps it, errors that nothing has settled, and sub-agents that can
// still be reached.
func (w *stateWriter) open(room int) string {
	found := evidence.Extract(keepers(w.history), 0, 1<<30, w.kinds)
	var b strings.Builder
	head := "## " + sectionOpen + "\n"
	room -= w.count(head)
	put := func(text string) {
		text = "- " + quoteLine(text) + "\n"
		if n := w.count(text); n <= room {
			room -= n
			b.WriteString(text)
		}
	}
	for _, status := range [...]string{"in_progress", "", "completed"} {
		for _, t := range found.Todos {
			known := t.Status == "in_progress" || t.Status == "completed" || t.Status == "cancelled"
			if t.Status == status || status == "" && !known {
				label := map[string]string{"in_progress": "in progress: ", "": "to do: ", "completed": "done: "}[status]
				put(label + clipLine(t.Text, 240))
			}
		}
	}
	if len(found.Todos) == 0 && found.Plan.Text != "" {
		put("the plan: " + w.counter.Truncate(quoteLine(found.Plan.Text), room-12))
	}
	for i := len(found.Agents) - 1; i >= 0; i-- {
		put("sub-agent " + clipLine(found.Agents[i].ID, 80) + " works on: " + clipLine(found.Agents[i].Task, 80))
	}
	recent := evidence.Extract(w.history, w.recentFrom(), w.Tail, w.kinds)
	for _, e := range unsettled(recent.Errors, 3) {
		put("not settled: `" + clipLine(e.Source, 100) + "` said: " + clipLine(e.Line, 200))
	}
	if b.Len() == 0 {
		return ""
	}
	return head + b.String()
}

// unsettled returns the newest failures, at most so many: one of each source,
// its clearest line.
func unsettled(all []evidence.Failure, most int) []*evidence.Failure {
	var list []*evidence.Failure
	for i := range slices.Backward(all) {
		e := &all[i]
		if evidence.Clearness(e.Line) == 0 {
			continue // what a command happened to print before it failed
		}
		k := slices.IndexFunc(list, func(f *evidence.Failure) bool { return f.Source == e.Source })
		switch {
		case k < 0 && len(list) < most:
			list = append(list, e)
		case k >= 0 && evidence.Clearness(e.Line) > evidence.Clearness(list[k].Line):
			list[k] = e
		}
	}
	return list
}

// recentMessages and recentBytes are how far back errors are looked for that
// are still open.
const (
	recentMessages = 48
	recentBytes    = 256 << 10
)

func (w *stateWriter) recentFrom() int {
	bytes := 0
	from := max(0, w.Tail-recentMessages)
	for i := w.Tail - 1; i >= from; i-- {
		eachText(w.history.At(i), func(_ *chat.Part, s string) { bytes += len(s) })
		if bytes > recentBytes {
			return i + 1
		}
	}
	return from
}

// keepers returns the last calls of a history that keep a list of things to do
// or start a sub-agent, each with its result, as messages of their own: few
// enough to draw their evidence even where the history is huge.
func keepers(h chat.History) chat.Messages {
	const most, back = 64, 4000
	type kept struct {
		call *chat.Part
		at   int
	}
	var calls []kept
	names := map[string]bool{}
	for i := h.Len() - 1; i >= max(0, h.Len()-back) && len(calls) < most; i-- {
		m := h.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != chat.ToolCall {
				continue
			}
			keeps, ok := names[p.Name]
			if !ok {
				keeps = keeper(p.Name)
				names[p.Name] = keeps
			}
			if keeps && len(p.Args) < 1<<16 {
				calls = append(calls, kept{p, i})
			}
		}
	}
	var all chat.Messages
	for _, x := range slices.Backward(calls) {
		r := answerTo(h, x.call.ID, x.at)
		if n := len(r.Text); n > 4000 {
			r.Text = clipText(r.Text, 2000) + "\n" + strings.ToValidUTF8(r.Text[n-2000:], "")
		}
		all = append(all, chat.Message{Role: chat.Assistant, Parts: []chat.Part{*x.call}}, chat.Message{Role: chat.Tool, Parts: []chat.Part{r}})
	}
	return all
}

// answerTo returns the first result with that id after message i, an empty one
// where there is none.
func answerTo(h chat.History, id string, i int) chat.Part {
	for i++; i < h.Len(); i++ {
		m := h.At(i)
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolResult && p.ID == id {
				return *p
			}
		}
	}
	return chat.Part{Kind: chat.ToolResult, ID: id}
}

// keeper reports whether a tool's name says that it keeps a list of things to
// do or works with sub-agents.
func keeper(name string) bool {
	for _, w := range [...]string{"todo", "plan", "task", "agent"} {
		if containsFold(name, w) {
			return true
		}
	}
	return false
}

// containsFold reports whether s contains an ASCII text in lower case, whatever
// the case in s.
func containsFold(s, low string) bool {
	for i := 0; i+len(low) <= len(s); i++ {
		if hasFold(s[i:], low) {
			return true
		}
	}
	return false
}
