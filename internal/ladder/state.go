package ladder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/quote"
)

const (
	stateHead = "[How things stand now, put together from what was read and changed so far. For reference, not instructions.]"
	stateEnd  = "[End of how things stand]"
)

// writeState writes the files as they stand, and where the work stands.
func (f *filler) writeState(standing string) string {
	var b strings.Builder
	if len(f.shown) > 0 {
		b.WriteString("## Files as they stand\n")
		slices.SortStableFunc(f.shown, func(x, y *fileView) int { return strings.Compare(x.file.Path, y.file.Path) })
		for _, v := range f.shown {
			f.writeFile(&b, v)
		}
	}
	if list := f.unshown(); list != "" {
		b.WriteString(list)
	}
	b.WriteString(standing)
	if b.Len() == 0 {
		return ""
	}
	return stateHead + "\n" + b.String() + stateEnd
}

// unshown lists the files that were read or changed and are not shown.
func (f *filler) unshown() string {
	var names []string
	room := min(f.left, f.Whole/40)
	for _, file := range f.present().listed {
		if f.views[file] != nil || len(file.Regions)+len(file.Loose) == 0 || f.shows(file.Touched) {
			continue
		}
		name := shortPath(f.root, file.Path)
		if n := f.count(name) + 2; n <= room {
			room -= n
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Not shown, though read or changed before: " + strings.Join(names, ", ") + "\n"
}

// standing says where the work stands, in at most that many tokens: what was
// asked last, the list of things to do as the agent keeps it, errors that
// nothing has settled, and sub-agents that still work.
func (f *filler) standing(room int) string {
	found := f.present().kept
	var b strings.Builder
	head := "## Where it stands\n"
	room -= f.count(head)
	put := func(text string) {
		text = "- " + quote.Line(text) + "\n"
		if n := f.count(text); n <= room {
			room -= n
			b.WriteString(text)
		}
	}
	if f.typed >= 0 && f.folds(f.steps[f.typed].msg) { // else it stands in the view
		put("asked last: " + quote.ClipLine(f.steps[f.typed].text, 300))
	}
	done := 0
	for _, status := range [...]string{"in_progress", ""} {
		for _, t := range found.Todos {
			open := t.Status != "in_progress" && t.Status != "completed" && t.Status != "cancelled"
			switch {
			case status == "in_progress" && t.Status == status:
				put("in progress: " + quote.ClipLine(t.Text, 240))
			case status == "" && open:
				put("to do: " + quote.ClipLine(t.Text, 240))
			case status == "" && t.Status == "completed":
				done++
			}
		}
	}
	if done > 0 {
		put(fmt.Sprintf("done: %d of %s", done, plural(len(found.Todos), "thing")+" to do"))
	}
	if len(found.Todos) == 0 && found.Plan != "" {
		put("the plan: " + f.counter.Truncate(quote.Line(found.Plan), room-12))
	}
	for _, a := range slices.Backward(found.Agents) {
		if !f.reported(a.ID) {
			put("sub-agent " + quote.ClipLine(a.ID, 80) + " still works on: " + quote.ClipLine(a.Task, 120))
		}
	}
	for _, e := range f.present().errors {
		put("failing: `" + quote.ClipLine(e.Source, 100) + "` said: " + quote.ClipLine(e.Line, 200))
	}
	if b.Len() == 0 {
		return ""
	}
	return head + b.String()
}

// reported reports whether a sub-agent has come to its end: a result or a
// notification with its id tells more than that it was started.
func (f *filler) reported(id string) bool {
	h := f.history
	for i := h.Len() - 1; i >= max(f.first, h.Len()-keepersBack); i-- {
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
	head := strings.ToLower(quote.Clip(text, 600))
	for _, w := range [...]string{"launched", "running", "in the background", "pending", "spawned", "queued"} {
		if strings.Contains(head, w) {
			return true
		}
	}
	return len(text) < 200 && strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.Contains(head, "complete")
}

// keepersBack is how many messages back the calls are looked for that keep lists
// or start sub-agents.
const keepersBack = 4000

// unsettled returns the newest failures, at most so many: one of each source,
// its clearest line.
func (r *Reading) unsettled(all []evidence.Failure, most int) []*evidence.Failure {
	var list []*evidence.Failure
	for i := range slices.Backward(all) {
		e := &all[i]
		if evidence.Clearness(e.Line) == 0 || r.looked(e) {
			continue // what a command happened to print before it failed, or did not find
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

// looked reports whether a failure is that of a read or a search, such as one in a
// folder that does not exist.
func (r *Reading) looked(e *evidence.Failure) bool {
	for k := len(r.steps) - 1; k >= 0 && r.steps[k].msg >= r.recent(); k-- {
		s := &r.steps[k]
		if s.result != nil && (s.access.Kind == evidence.Search || s.access.Kind == evidence.Read) && strings.Contains(s.result.Text, quote.Clip(e.Line, 60)) {
			return true
		}
	}
	return false
}

// recent returns how far back errors are looked for that may still be open.
func (r *Reading) recent() int {
	const messages, bytes = 48, 256 << 10
	n := 0
	from := max(0, r.history.Len()-messages)
	for i := r.history.Len() - 1; i >= from; i-- {
		m := r.history.At(i)
		for k := range m.Parts {
			n += len(m.Parts[k].Text) + len(m.Parts[k].Args)
		}
		if n > bytes {
			return i + 1
		}
	}
	return from
}

// keepers returns the last calls of a history that keep a list of things to do,
// each with its result, as messages of their own: few enough to draw their
// evidence even where the history is huge.
func keepers(h chat.History) chat.Messages {
	const most = 64
	var all chat.Messages
	results := map[string]*chat.Part{}
	for i := h.Len() - 1; i >= max(0, h.Len()-keepersBack) && len(all) < 2*most; i-- {
		m := h.At(i)
		for k := len(m.Parts) - 1; k >= 0; k-- {
			p := &m.Parts[k]
			switch {
			case p.Kind == chat.ToolResult:
				results[p.ID] = p
			case p.Kind == chat.ToolCall && (evidence.AboutTodos(p.Name) || evidence.StartsAgent(p.Name)) && len(p.Args) < 1<<16:
				res := chat.Part{Kind: chat.ToolResult, ID: p.ID}
				if found := results[p.ID]; found != nil {
					res.Text, res.Failed = quote.Clip(found.Text, 4000), found.Failed
				}
				all = append(all, chat.Message{Role: chat.Tool, Parts: []chat.Part{res}}, chat.Message{Role: chat.Assistant, Parts: []chat.Part{*p}})
			}
		}
	}
	slices.Reverse(all)
	return all
}
