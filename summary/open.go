package summary

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// open writes what is open in at most room tokens: the list of things to do as
// the agent keeps it, errors that nothing has settled, and sub-agents that have
// not reported. What is done stands behind it, under a heading of its own.
func (w *stateWriter) open(room int) string {
	found := evidence.Extract(keepers(w.history), 0, 1<<30, w.kinds)
	open := &list{w: w, head: "## " + sectionOpen + "\n", room: room}
	for _, status := range [...]string{"in_progress", ""} {
		for _, t := range found.Todos {
			known := t.Status == "in_progress" || t.Status == "completed" || t.Status == "cancelled"
			if t.Status == status || status == "" && !known {
				label := map[string]string{"in_progress": "in progress: ", "": "to do: "}[status]
				open.put(label + clipLine(t.Text, 240))
			}
		}
	}
	if len(found.Todos) == 0 && found.Plan.Text != "" {
		open.put("the plan: " + w.counter.Truncate(quoteLine(found.Plan.Text), room-w.count(open.head)-12))
	}
	var done []string
	for i := len(found.Agents) - 1; i >= 0; i-- {
		id, task := clipLine(found.Agents[i].ID, 80), clipLine(found.Agents[i].Task, 80)
		if w.reported(found.Agents[i].ID) {
			done = append(done, "sub-agent "+id+" reported on: "+task)
			continue
		}
		open.put("sub-agent " + id + " works on: " + task)
	}
	recent := evidence.Extract(w.history, w.recentFrom(), w.Tail, w.kinds)
	for _, e := range unsettled(recent.Errors, 3) {
		open.put("not settled: `" + clipLine(e.Source, 100) + "` said: " + clipLine(e.Line, 200))
	}
	closed := &list{w: w, head: "## " + sectionDone + "\n", room: room - w.count(open.text)}
	for _, t := range found.Todos {
		if t.Status == "completed" {
			closed.put(clipLine(t.Text, 240))
		}
	}
	for _, text := range done[:min(len(done), 3)] {
		closed.put(text)
	}
	return open.text + closed.text
}

// list is a section of lines, in at most room tokens.
type list struct {
	w          *stateWriter
	head, text string
	room       int
}

// put adds a line where it fits, the first with the heading.
func (l *list) put(text string) {
	text = "- " + quoteLine(text) + "\n"
	if l.text == "" {
		text = l.head + text
	}
	if n := l.w.count(text); n <= l.room {
		l.room -= n
		l.text += text
	}
}

// reported reports whether a sub-agent has come to its end: a result or a
// notification with its id tells more than that it was started.
func (w *stateWriter) reported(id string) bool {
	h := w.history
	for i := h.Len() - 1; i >= max(0, h.Len()-keepersBack); i-- {
		m := h.At(i)
		if m.Role == chat.Assistant {
			continue
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != chat.Text && p.Kind != chat.ToolResult || len(p.Text) > 1<<20 || !strings.Contains(p.Text, id) {
				continue
			}
			if p.Kind == chat.Text && strings.Contains(p.Text, "notification>") || p.Kind == chat.ToolResult && !started(p.Text) {
				return true
			}
		}
	}
	return false
}

// started reports whether a result says no more than that a sub-agent runs.
func started(text string) bool {
	for _, w := range [...]string{"launched", "running", "in the background", "pending", "spawned", "queued"} {
		if containsFold(text[:min(len(text), 600)], w) {
			return true
		}
	}
	return len(text) < 200 && strings.HasPrefix(strings.TrimSpace(text), "{") && !containsFold(text, "complete")
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

// keepersBack is how many messages back calls of that kind are looked for.
const keepersBack = 4000

// keepers returns the last calls of a history that keep a list of things to do
// or start a sub-agent, each with its result, as messages of their own: few
// enough to draw their evidence even where the history is huge.
func keepers(h chat.History) chat.Messages {
	const most = 64
	type kept struct {
		call *chat.Part
		at   int
	}
	var calls []kept
	names := map[string]bool{}
	for i := h.Len() - 1; i >= max(0, h.Len()-keepersBack) && len(calls) < most; i-- {
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
