// Package contents says what the tokens of a request are spent on, by kind, and
// names its parts in a few words. Every surface that shows these numbers takes
// them from here: check, reports, the loop and the page.
package contents

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/token"
)

// Kinds say what the tokens of a window are spent on, by kind. Without free
// and reserve the kinds add up to what the engine counts for the request.
type Kinds struct {
	System      int `json:"system"`
	Tools       int `json:"tools"`
	User        int `json:"user"`
	Assistant   int `json:"assistant"`
	Results     int `json:"tool_results"`
	Thinking    int `json:"thinking"`
	Attachments int `json:"attachments"`
	Free        int `json:"free"`
	Reserve     int `json:"reserve"`
}

// Item is one part of a request, for the list of the largest.
type Item struct {
	Message int       `json:"message"`
	Part    int       `json:"part"`
	Role    chat.Role `json:"role"`
	Kind    string    `json:"kind"`
	What    string    `json:"what"`
	Tokens  int       `json:"tokens"`
}

// Spend adds up a request's tokens by kind, with the counter of the engine. With
// items set it also returns the largest ones.
func Spend(m *budget.Meter, req *chat.Request, messages chat.Sequence, l budget.Limits, items int) (Kinds, []Item) {
	system, tools := m.Fixed(req)
	s := Kinds{System: system.Tokens, Tools: tools.Tokens, Reserve: l.Context - l.Available}
	var top []Item
	c := m.Counter()
	for i := range messages.Len() {
		msg := messages.At(i)
		s.Add(c, msg)
		for k := 0; items > 0 && k < len(msg.Parts); k++ {
			p := &msg.Parts[k]
			if n := c.Part(p); len(top) < items || n > top[len(top)-1].Tokens {
				top = keepLargest(top, Item{Message: i, Part: k, Role: msg.Role, Kind: p.Kind.String(), Tokens: n}, items)
			}
		}
	}
	for i := range top {
		top[i].What = Part(messages, top[i].Message, top[i].Part, 120)
	}
	s.Free = max(0, l.Available-s.Used())
	return s, top
}

// Add adds a message's tokens.
func (s *Kinds) Add(c *token.Counter, m *chat.Message) {
	rest := c.Message(m)
	for k := range m.Parts {
		p := &m.Parts[k]
		n := c.Part(p)
		rest -= n
		media := attached(c, p)
		s.Attachments += media
		*s.slot(m.Role, p.Kind) += n - media
	}
	*s.slot(m.Role, chat.Text) += rest
}

// attached counts the images and documents of a part, which is one itself or
// has them in its result.
func attached(c *token.Counter, p *chat.Part) int {
	if p.Kind == chat.Image || p.Kind == chat.Document {
		return c.Part(p)
	}
	n := 0
	for i := range p.Content {
		n += attached(c, &p.Content[i])
	}
	return n
}

// Used is what the request itself takes.
func (s *Kinds) Used() int {
	return s.System + s.Tools + s.User + s.Assistant + s.Results + s.Thinking + s.Attachments
}

func (s *Kinds) slot(role chat.Role, kind chat.Kind) *int {
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

func keepLargest(top []Item, it Item, most int) []Item {
	at, _ := slices.BinarySearchFunc(top, it, func(a, b Item) int {
		if a.Tokens != b.Tokens {
			return b.Tokens - a.Tokens
		}
		return -1 // among equals the earlier one stays in front
	})
	top = slices.Insert(top, at, it)
	return top[:min(len(top), most)]
}

// Part names a part in a few words: a call as a person would type it,
// the call that a result answers, else how the part begins.
func Part(s chat.Sequence, i, part, most int) string {
	p := &s.At(i).Parts[part]
	switch p.Kind {
	case chat.ToolCall:
		return Call(p, most)
	case chat.ToolResult:
		for k := i - 1; k >= 0 && k >= i-16; k-- {
			m := s.At(k)
			for c := range m.Parts {
				if q := &m.Parts[c]; q.Kind == chat.ToolCall && q.ID == p.ID {
					return Call(q, most)
				}
			}
		}
	case chat.Image, chat.Document:
		return brief(strings.Join(strings.Fields(p.Kind.String()+" "+p.Media+" "+p.Name), " "), most)
	case chat.Opaque:
		return brief(p.Name, most)
	}
	return brief(p.Text, most)
}

// Call is a call's name with the value of its first argument that says
// something: "read_file internal/a.go".
func Call(call *chat.Part, most int) string {
	for _, a := range evidence.KeyArgs(call, 4) {
		switch a.Value {
		case "", "true", "false", "null", "{}", "[]":
			continue
		}
		return brief(call.Name+" "+a.Value, most)
	}
	return brief(call.Name, most)
}

// brief is a text on one line, without what steers a terminal.
func brief(s string, most int) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text.Brief(text.Head(s, 16*max(most, 0)+64), most))
}
