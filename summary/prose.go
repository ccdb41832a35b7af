package summary

import (
	"slices"
	"strings"
	"unicode/utf8"

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

// isDecision reports whether a line holds one of those words.
func isDecision(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf { // small letters are more than one bit away
			low := strings.ToLower(s)
			return slices.ContainsFunc(decisionMarks, func(m string) bool { return strings.Contains(low, m) })
		}
	}
	for i := 0; i+4 <= len(s); i++ {
		k := decisionSlot(s[i:])
		if decisionPieces[k/64]>>(k%64)&1 == 0 {
			continue
		}
		for _, m := range decisionMarks {
			if hasFold(s[i:], m) {
				return true
			}
		}
	}
	return false
}

// decisionPieces is a bitmap of what the marks start with.
var decisionPieces = func() (t [1 << decisionBits / 64]uint64) {
	for _, m := range decisionMarks {
		k := decisionSlot(m)
		t[k/64] |= 1 << (k % 64)
	}
	return t
}()

const decisionBits = 12

// decisionSlot returns the place of the first four bytes of s, in lower case.
func decisionSlot(s string) uint32 {
	v := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	return (v | 0x20202020) * 0x9E3779B1 >> (32 - decisionBits)
}

// verdict is what is known of a line: whether it tells of a decision.
type verdict uint8

const (
	unjudged verdict = iota
	tellsNone
	tellsDecision
)

// tells is isDecision, found out once.
func (l *line) tells() bool {
	if l.decision == unjudged {
		l.decision = tellsNone
		if isDecision(l.text) {
			l.decision = tellsDecision
		}
	}
	return l.decision == tellsDecision
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
	add(SectionState, c.state(int(max(room*0.3, min(room, 40)))))
	if c.kept == nil {
		c.kept = evidence.Extract(c.keepers(), 0, 1<<30, c.in.Kinds)
	}
	open, done := c.todos(c.kept, int(room*0.3))
	add(SectionOpen, open)
	add(SectionDone, done)
	add(SectionKnowledge, c.agents(c.kept, int(room*0.2)))
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
		if l.from != fromAssistant || len(l.text) < 24 || seen[l.text] || !l.tells() {
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
func (c *composer) todos(found *evidence.Evidence, most int) (open, done string) {
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

// agents names the sub-agents that were started, so that they can still be
// reached.
func (c *composer) agents(found *evidence.Evidence, most int) string {
	var b strings.Builder
	room := float64(most)
	for i := len(found.Agents) - 1; i >= 0; i-- {
		text := "sub-agent " + clipLine(found.Agents[i].ID, 80) + ": " + clipLine(found.Agents[i].Task, 60)
		if n := float64(c.count(text)) + 2; n <= room {
			room -= n
			bullet(&b, text)
		}
	}
	return b.String()
}

// keepers returns the region's last calls that keep a list of things to do or
// start a sub-agent, each with its result, as messages of their own: few enough
// to draw their evidence even where the region is huge.
func (c *composer) keepers() chat.Messages {
	const most = 64
	type kept struct {
		call *chat.Part
		at   int
	}
	var calls []kept
	names := map[string]bool{}
	for i := c.in.To - 1; i >= max(c.in.From, c.in.To-4000) && len(calls) < most; i-- {
		m := c.in.History.At(i)
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
		r := c.answer(x.call.ID, x.at)
		if n := len(r.Text); n > 4000 {
			r.Text = clipText(r.Text, 2000) + "\n" + strings.ToValidUTF8(r.Text[n-2000:], "")
		}
		all = append(all, chat.Message{Role: chat.Assistant, Parts: []chat.Part{*x.call}}, chat.Message{Role: chat.Tool, Parts: []chat.Part{r}})
	}
	return all
}

// answer returns the first result with that id after message i, an empty one
// where there is none.
func (c *composer) answer(id string, i int) chat.Part {
	for i++; i < c.in.To; i++ {
		m := c.in.History.At(i)
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

// recentMessages is how far back errors are looked for that are still open.
const recentMessages = 48

// errors quotes the last errors that nothing has settled.
func (c *composer) errors(most int) string {
	if c.recent == nil {
		from := max(c.in.From, c.in.To-recentMessages)
		bytes := 0
		for i := c.in.To - 1; i >= from; i-- {
			eachText(c.in.History.At(i), func(_ *chat.Part, s string) { bytes += len(s) })
			if bytes > 256<<10 {
				from = i + 1
				break
			}
		}
		c.recent = evidence.Extract(c.in.History, from, c.in.To, c.in.Kinds)
	}
	found := c.recent
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
