package pibase

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// Block is one block of a message's content.
type Block struct {
	Type      string
	Text      string // of text and thinking
	ID, Name  string // of a call
	Arguments jsontext.Value
}

// Usage is what an assistant message reports.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Total int
}

// Context returns the tokens of prompt and answer: the total where it is
// given, else the sum.
func (u Usage) Context() int {
	if u.Total != 0 {
		return u.Total
	}
	return u.Sum()
}

// Sum returns the sum of the four parts, whatever the total says.
func (u Usage) Sum() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Message is one message of pi: of a provider's role, or one of pi's own
// (bashExecution, custom, branchSummary, compactionSummary).
type Message struct {
	Role string

	// Content is a string, or blocks.
	IsText bool
	Text   string
	Blocks []Block

	Stop  string
	Usage *Usage

	Nested  []Block // calls that a tool made
	Summary string

	*Bash     // of a bashExecution
	*Standing // of a system message
}

// Bash is a command that the user ran, and what came of it.
type Bash struct {
	Command, Output, FullOutput string
	Exit                        string // as a number; "" where there is none
	Cancelled, Truncated        bool
	Excluded                    bool
}

// Standing is what a system message declares.
type Standing struct {
	Sections []Section
	Added    []Tool
	Removed  []string
}

// Section is a named part of a system message; a section without a text removes
// the one of that name.
type Section struct {
	Name string
	Text string
	Gone bool
}

// Tool is a tool that a system message declares.
type Tool struct {
	Name string
	Raw  jsontext.Value
}

// parseMessage reads a message.
func parseMessage(raw jsontext.Value) *Message {
	p := pifile.ParseMessage(raw)
	m := &Message{Role: p.Role, Stop: decode.Str(p.Stop), Usage: parseUsage(p.Usage), Summary: decode.Str(p.Summary)}
	m.setContent(p.Content)
	for _, c := range decode.Elements(decode.Member(p.Nested, "calls")) {
		m.Nested = append(m.Nested, Block{Type: "toolCall", Name: decode.Str(c, "name"), Arguments: bytes.Clone(decode.Member(c, "arguments"))})
	}
	switch m.Role {
	case "bashExecution":
		m.Bash = &Bash{
			Command: decode.Str(p.Command), Output: decode.Str(p.Output), FullOutput: decode.Str(p.FullOutput),
			Cancelled: pifile.Set(p.Cancelled), Truncated: pifile.Set(p.Truncated), Excluded: pifile.Set(p.Excluded),
		}
		if p.Exit.Kind() == '0' {
			m.Exit = formatNumber(string(p.Exit))
		}
	case "system":
		m.Standing = &Standing{}
		for _, s := range orderedMembers(p.Sections) {
			m.Sections = append(m.Sections, Section{s.name, decode.Str(s.value), s.value.Kind() == 'n'})
		}
		for _, t := range decode.Elements(p.Added) {
			m.Added = append(m.Added, Tool{decode.Str(t, "name"), t})
		}
		for _, t := range decode.Elements(p.Removed) {
			m.Removed = append(m.Removed, decode.Str(t, "name"))
		}
	}
	return m
}

func (m *Message) setContent(v jsontext.Value) {
	m.IsText, m.Text, m.Blocks = v.Kind() == '"', decode.Str(v), nil
	for _, e := range decode.Elements(v) {
		b := pifile.ParseBlock(e)
		m.Blocks = append(m.Blocks, Block{b.Type, decode.Str(b.Text), decode.Str(b.ID), decode.Str(b.Name), bytes.Clone(b.Arguments)})
	}
}

func parseUsage(v jsontext.Value) *Usage {
	if v.Kind() != '{' {
		return nil
	}
	n := func(name string) int {
		f, err := strconv.ParseFloat(string(decode.Member(v, name)), 64)
		if err != nil || math.Abs(f) > 1<<53 {
			return 0
		}
		return int(f)
	}
	return &Usage{n("input"), n("output"), n("cacheRead"), n("cacheWrite"), n("totalTokens")}
}

// imageChars is what an image counts for, in characters.
const imageChars = 4800

func (m *Message) contentChars() int {
	n := utf16Units(m.Text)
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Type {
		case "text":
			n += utf16Units(b.Text)
		case "image":
			n += imageChars
		}
	}
	return n
}

// countChars counts the characters from which a message is estimated.
func (m *Message) countChars() int {
	switch m.Role {
	case "system":
		n := m.contentChars()
		for i := range m.Sections {
			n += utf16Units(m.Sections[i].Text)
		}
		for i := range m.Added { // with the brackets and commas of a list
			n += 1 + utf16Units(stringify(m.Added[i].Raw))
		}
		return n + min(1, len(m.Added))
	case "user", "custom", "toolResult":
		return m.contentChars()
	case "assistant":
		n := 0
		for i := range m.Blocks {
			switch b := &m.Blocks[i]; b.Type {
			case "text", "thinking":
				n += utf16Units(b.Text)
			case "toolCall":
				n += utf16Units(b.Name) + utf16Units(stringify(b.Arguments))
			}
		}
		return n
	case "bashExecution":
		return utf16Units(m.Command) + utf16Units(m.Output)
	case "branchSummary", "compactionSummary":
		return utf16Units(m.Summary)
	}
	return 0
}

// Estimate returns the tokens of a message: a quarter of its characters,
// rounded up.
func (m *Message) Estimate() int { return (m.countChars() + 3) / 4 }

// contextUsage returns what the message reports, if that is a measure of the context.
func (m *Message) contextUsage() *Usage {
	if m.Role != "assistant" || m.Stop == "aborted" || m.Stop == "error" || m.Usage == nil || m.Usage.Context() <= 0 {
		return nil
	}
	return m.Usage
}

// cutPoint reports whether what is kept may start with the message.
func (m *Message) cutPoint() bool {
	switch m.Role {
	case "user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary":
		return true
	}
	return false
}

// startsTurn reports whether the message counts as a user's.
func (m *Message) startsTurn() bool { return m.cutPoint() && m.Role != "assistant" }
