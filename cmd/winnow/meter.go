package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/token"
)

// spent says what the tokens of a window are spent on, by kind.
type spent struct {
	System    int `json:"system"`
	Tools     int `json:"tools"`
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	Results   int `json:"tool_results"`
	Thinking  int `json:"thinking"`
	Free      int `json:"free"`
	Reserve   int `json:"reserve"`
}

// kinds in the order of the meter, with the colour and the letter of each.
var kinds = [...]struct {
	name, color string
	letter      byte
	of          func(*spent) int
}{
	{"system", "34", 'S', func(s *spent) int { return s.System }},
	{"tools", "35", 'D', func(s *spent) int { return s.Tools }},
	{"user", "32", 'U', func(s *spent) int { return s.User }},
	{"assistant", "36", 'A', func(s *spent) int { return s.Assistant }},
	{"tool results", "33", 'R', func(s *spent) int { return s.Results }},
	{"thinking", "37", 'T', func(s *spent) int { return s.Thinking }},
	{"free", "2", '.', func(s *spent) int { return s.Free }},
	{"reserve", "90", '-', func(s *spent) int { return s.Reserve }},
}

// item is one part of a request, for the list of the largest.
type item struct {
	Message int    `json:"message"`
	Part    int    `json:"part"`
	Kind    string `json:"kind"`
	What    string `json:"what"`
	Tokens  int    `json:"tokens"`
}

// spend adds up a request's tokens by kind. With items set it also returns the
// largest ones.
func spend(m *budget.Meter, req *chat.Request, messages chat.Sequence, l budget.Limits, items int) (spent, []item) {
	system, tools := m.Fixed(req)
	s := spent{System: system.Tokens, Tools: tools.Tokens, Reserve: l.Context - l.Available}
	var top []item
	c := m.Counter()
	for i := range messages.Len() {
		msg := messages.At(i)
		rest := c.Message(msg)
		for k := range msg.Parts {
			p := &msg.Parts[k]
			n := c.Part(p)
			rest -= n
			*s.slot(msg.Role, p.Kind) += n
			if items > 0 && (len(top) < items || n > top[len(top)-1].Tokens) {
				top = keepLargest(top, item{Message: i, Part: k, Kind: p.Kind.String(), Tokens: n}, items)
			}
		}
		*s.slot(msg.Role, chat.Text) += rest
	}
	for i := range top {
		top[i].What = describePart(messages, top[i].Message, top[i].Part)
	}
	s.Free = max(0, l.Available-s.used())
	return s, top
}

func (s *spent) used() int {
	return s.System + s.Tools + s.User + s.Assistant + s.Results + s.Thinking
}

func (s *spent) slot(role chat.Role, kind chat.Kind) *int {
	switch {
	case kind == chat.Thinking:
		return &s.Thinking
	case kind == chat.ToolResult || role == chat.Tool:
		return &s.Results
	case role == chat.Assistant:
		return &s.Assistant
	case role == chat.System:
		return &s.System
	}
	return &s.User
}

func keepLargest(top []item, it item, most int) []item {
	at, _ := slices.BinarySearchFunc(top, it, func(a, b item) int {
		if a.Tokens != b.Tokens {
			return b.Tokens - a.Tokens
		}
		return -1 // among equals the earlier one stays in front
	})
	top = slices.Insert(top, at, it)
	return top[:min(len(top), most)]
}

// describePart names a part in a few words: the call that a result answers,
// else how the part begins.
func describePart(s chat.Sequence, i, part int) string {
	p := &s.At(i).Parts[part]
	switch p.Kind {
	case chat.ToolCall:
		return brief(evidence.Headline(p, 72), 72)
	case chat.ToolResult:
		for k := i - 1; k >= 0 && k >= i-16; k-- {
			m := s.At(k)
			for c := range m.Parts {
				if q := &m.Parts[c]; q.Kind == chat.ToolCall && q.ID == p.ID {
					return brief(evidence.Headline(q, 72), 72)
				}
			}
		}
	case chat.Image, chat.Document:
		return strings.TrimSpace(p.Kind.String() + " " + p.Media + " " + p.Name)
	case chat.Opaque:
		return p.Name
	}
	return brief(p.Text, 72)
}

// barWidth is how many cells a meter has.
const barWidth = 50

// bar draws the meter. The whole is the window, or more where more is used.
func (st style) bar(s spent, window int) string {
	whole := max(window, s.used()+s.Reserve, 1)
	var b strings.Builder
	b.WriteByte('[')
	done, cells := 0, 0
	for i := range kinds {
		n := kinds[i].of(&s)
		done += n
		to := min(barWidth, (done*barWidth+whole/2)/whole)
		if n > 0 && to == cells && cells < barWidth && i < len(kinds)-2 {
			to = cells + 1 // what is there can be seen
		}
		if to <= cells {
			continue
		}
		width := to - cells
		cells = to
		switch {
		case !st.color:
			b.WriteString(strings.Repeat(string(kinds[i].letter), width))
		case kinds[i].name == "free":
			b.WriteString(st.paint(kinds[i].color, strings.Repeat("·", width)))
		case kinds[i].name == "reserve":
			b.WriteString(st.paint(kinds[i].color, strings.Repeat("░", width)))
		default:
			b.WriteString(st.paint(kinds[i].color, strings.Repeat("█", width)))
		}
	}
	b.WriteString(strings.Repeat(" ", barWidth-cells))
	b.WriteByte(']')
	return b.String()
}

// legend lists the kinds with their numbers, two in a line.
func (st style) legend(w io.Writer, s spent, window int) {
	for i := range kinds {
		mark := st.paint(kinds[i].color, "█")
		if !st.color {
			mark = string(kinds[i].letter)
		}
		n := kinds[i].of(&s)
		fmt.Fprintf(w, "  %s %-13s %9s  %5s", mark, kinds[i].name, number(n), percent(n, window))
		if i%2 == 1 {
			fmt.Fprintln(w)
		} else {
			fmt.Fprint(w, "   ")
		}
	}
}

// verdict says in words whether a request fits.
func (st style) verdict(s *budget.Status) string {
	switch {
	case !s.Fits:
		return st.red("does not fit")
	case s.ShouldCompact:
		return st.warm("fits, but it is time to compact")
	}
	return st.green("fits")
}

// countNote says how sure a count is.
func countNote(c token.Count) string {
	if c.Band <= 0 {
		return string(c.Method)
	}
	return fmt.Sprintf("%s, ±%.0f %%", c.Method, 100*c.Band)
}
