package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// Words with which an agent says what it decided or found out.
var decisionMarks = []string{
	"because", "root cause", "the problem is", "the issue is", "the issue was", "the problem was", "decided", "decision", "instead of", "the fix",
	"turns out", "it seems", "this means", "caused by", "due to", "found that", "confirmed", "the reason", "rather than", "should use",
	"will use", "conclusion", "therefore", "fails because", "works because", "verified", "important", "note that",
	"entscheid", "ursache", "weil ", "porque", "parce que", "потому", "因为", "原因", "决定", "なので", "ため",
}

func isDecision(s string) bool {
	low := strings.ToLower(s)
	for _, m := range decisionMarks {
		if strings.Contains(low, m) {
			return true
		}
	}
	return false
}

// prose writes what can be told of decisions, problems and the state of the
// work without a model: sentences of the agent's own that say so, and the list
// of things to do as the agent kept it. Nothing is said that was not read.
func (c *composer) prose(room float64) string {
	if room < 24 {
		return ""
	}
	var list []section
	add := func(name, body string) {
		if body != "" {
			list = append(list, section{name, body})
			room -= float64(c.count(body)) + 4
		}
	}
	add(SectionState, c.state(int(room*0.3)))
	open, done := c.todos(int(room * 0.3))
	add(SectionOpen, open)
	add(SectionDone, done)
	if !c.quick {
		add(SectionProblems, c.errors(int(room*0.25)))
	}
	add(SectionDecisions, c.decisions(room, list))
	return joinSections(list)
}

// decisions quotes what the agent said of its decisions and findings, the
// newest first to be taken.
func (c *composer) decisions(room float64, said []section) string {
	var picks []string
	seen := map[string]bool{}
	s := c.scan
	for i := len(s.lines) - 1; i >= 0 && room > 8; i-- {
		l := &s.lines[i]
		if l.from != fromAssistant || len(l.text) < 24 || seen[l.text] || !isDecision(l.text) {
			continue
		}
		text := strings.TrimLeft(clipAround(l.text, 0, 240), "-*• ")
		for _, x := range said {
			if strings.Contains(x.body, text) {
				text = ""
				break
			}
		}
		n := float64(c.count(text)) + 2
		if text == "" || n > room {
			continue
		}
		seen[l.text] = true
		room -= n
		picks = append(picks, text)
	}
	var b strings.Builder
	for i := len(picks) - 1; i >= 0; i-- {
		bullet(&b, picks[i])
	}
	return b.String()
}

func bullet(b *strings.Builder, text string) {
	if text = quoteLine(text); text != "" {
		b.WriteString("- " + text + "\n")
	}
}

// state is what the agent said last.
func (c *composer) state(most int) string {
	for i := c.in.To - 1; i >= c.in.From; i-- {
		m := c.in.History.At(i)
		if m.Role != chat.Assistant {
			continue
		}
		if t := strings.TrimSpace(m.Text()); t != "" {
			if t = quoteLine(c.in.Counter.Truncate(clipText(t, 2000), min(most, 120))); t != "" {
				return "- " + t
			}
			return ""
		}
	}
	return ""
}

// todos writes the list of things to do as it stands at the region's end: what
// is open, and what is done.
func (c *composer) todos(most int) (open, done string) {
	found := evidence.Extract(c.todoCalls(), 0, 1<<30, c.in.Kinds)
	var o, d strings.Builder
	room := float64(most)
	write := func(b *strings.Builder, t evidence.Todo) {
		text := clipLine(t.Text, 160)
		if t.Status == "in_progress" {
			text += " (in progress)"
		}
		if n := float64(c.count(text)) + 2; n <= room {
			room -= n
			bullet(b, text)
		}
	}
	for _, t := range found.Todos {
		if t.Status != "completed" && t.Status != "cancelled" {
			write(&o, t)
		}
	}
	for i := len(found.Todos) - 1; i >= 0; i-- {
		if t := found.Todos[i]; t.Status == "completed" {
			write(&d, t)
		}
	}
	if o.Len() == 0 && d.Len() == 0 && found.Plan.Text != "" {
		bullet(&o, c.in.Counter.Truncate(found.Plan.Text, most))
	}
	return o.String(), d.String()
}

// todoCalls returns the region's last calls that keep a list of things to do,
// each with its result, as messages of their own.
func (c *composer) todoCalls() chat.Messages {
	const most = 64
	var calls, all chat.Messages
	ids := map[string]int{}
	for i := c.in.To - 1; i >= c.in.From && len(calls) < most; i-- {
		m := c.in.History.At(i)
		for k := range m.Parts {
			switch p := &m.Parts[k]; {
			case p.Kind == chat.ToolCall && aboutTodos(p.Name) && len(p.Args) < 1<<16:
				ids[p.ID] = len(calls)
				calls = append(calls, chat.Message{Role: chat.Assistant, Parts: []chat.Part{*p}})
			}
		}
	}
	for i := len(calls) - 1; i >= 0; i-- {
		call := &calls[i].Parts[0]
		all = append(all, calls[i], chat.ResultMessage(call.ID, c.resultOf(call.ID)))
	}
	return all
}

// resultOf returns the beginning of the newest result with that id.
func (c *composer) resultOf(id string) string {
	if c.results == nil {
		c.results = map[string]string{}
		for i := c.in.From; i < c.in.To; i++ {
			m := c.in.History.At(i)
			for k := range m.Parts {
				if p := &m.Parts[k]; p.Kind == chat.ToolResult {
					c.results[p.ID] = clipText(p.Text, 500)
				}
			}
		}
	}
	return c.results[id]
}

// aboutTodos reports whether a tool's name says that it keeps a list of things to do.
func aboutTodos(name string) bool {
	low := strings.ToLower(name)
	return strings.Contains(low, "todo") || strings.Contains(low, "plan") || strings.Contains(low, "task")
}

// recentMessages is how far back errors are looked for that are still open.
const recentMessages = 48

// errors quotes the last errors that nothing has settled.
func (c *composer) errors(most int) string {
	from := max(c.in.From, c.in.To-recentMessages)
	bytes := 0
	for i := c.in.To - 1; i >= from; i-- {
		eachText(c.in.History.At(i), func(_ *chat.Part, s string) { bytes += len(s) })
		if bytes > 256<<10 {
			from = i + 1
			break
		}
	}
	found := evidence.Extract(c.in.History, from, c.in.To, c.in.Kinds)
	var b strings.Builder
	room := float64(most)
	for i := len(found.Errors) - 1; i >= 0 && i >= len(found.Errors)-3; i-- {
		text := clipLine(found.Errors[i].Line, 200)
		if n := float64(c.count(text)) + 2; n <= room {
			room -= n
			bullet(&b, text)
		}
	}
	return b.String()
}
