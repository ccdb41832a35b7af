package pibase

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
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

	Provider, Model, Stop string
	Usage                 *Usage

	CallID, Tool string
	Nested       []Block // calls that a tool made

	Command, Output, FullOutput string
	Exit                        string // as a number; "" where there is none
	Cancelled, Truncated        bool
	Excluded                    bool

	Summary string

	Sections []Section
	Added    []Tool
	Removed  []string
	Time     int64
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
	m := &Message{}
	for k, v := range decode.Members(raw) {
		switch k {
		case "role":
			m.Role = str(v)
		case "content":
			m.setContent(v)
		case "provider":
			m.Provider = str(v)
		case "model":
			m.Model = str(v)
		case "stopReason":
			m.Stop = str(v)
		case "usage":
			m.Usage = parseUsage(v)
		case "toolCallId":
			m.CallID = str(v)
		case "toolName":
			m.Tool = str(v)
		case "nestedCalls":
			for _, c := range decode.Elements(decode.Member(v, "calls")) {
				m.Nested = append(m.Nested, Block{Type: "toolCall", Name: str(decode.Member(c, "name")), Arguments: decode.Member(c, "arguments")})
			}
		case "command":
			m.Command = str(v)
		case "output":
			m.Output = str(v)
		case "fullOutputPath":
			m.FullOutput = str(v)
		case "exitCode":
			if v.Kind() == '0' {
				m.Exit = number(string(v))
			}
		case "cancelled":
			m.Cancelled, _ = decode.Bool(v)
		case "truncated":
			m.Truncated, _ = decode.Bool(v)
		case "excludeFromContext":
			m.Excluded, _ = decode.Bool(v)
		case "summary":
			m.Summary = str(v)
		case "sections":
			for _, s := range members(v) {
				m.Sections = append(m.Sections, Section{s.name, str(s.value), s.value.Kind() == 'n'})
			}
		case "toolsAdded":
			for _, t := range decode.Elements(v) {
				m.Added = append(m.Added, Tool{str(decode.Member(t, "name")), t})
			}
		case "toolsRemoved":
			for _, t := range decode.Elements(v) {
				m.Removed = append(m.Removed, str(decode.Member(t, "name")))
			}
		case "timestamp":
			if f, err := strconv.ParseFloat(string(v), 64); err == nil {
				m.Time = int64(f)
			}
		}
	}
	return m
}

func (m *Message) setContent(v jsontext.Value) {
	m.IsText, m.Text, m.Blocks = false, "", nil
	if v.Kind() == '"' {
		m.IsText, m.Text = true, str(v)
		return
	}
	for _, e := range decode.Elements(v) {
		var b Block
		for k, f := range decode.Members(e) {
			switch k {
			case "type":
				b.Type = str(f)
			case "text", "thinking":
				b.Text = str(f)
			case "id":
				b.ID = str(f)
			case "name":
				b.Name = str(f)
			case "arguments":
				b.Arguments = f
			}
		}
		m.Blocks = append(m.Blocks, b)
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
	n := units(m.Text)
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Type {
		case "text":
			n += units(b.Text)
		case "image":
			n += imageChars
		}
	}
	return n
}

// chars is what the estimate of a message is made of.
func (m *Message) chars() int {
	n := 0
	switch m.Role {
	case "system":
		n = m.contentChars()
		for i := range m.Sections {
			n += units(m.Sections[i].Text)
		}
		if len(m.Added) > 0 {
			n += 1 + len(m.Added)
			for i := range m.Added {
				n += units(stringify(m.Added[i].Raw))
			}
		}
	case "user", "custom", "toolResult":
		n = m.contentChars()
	case "assistant":
		for i := range m.Blocks {
			switch b := &m.Blocks[i]; b.Type {
			case "text", "thinking":
				n += units(b.Text)
			case "toolCall":
				n += units(b.Name) + units(stringify(b.Arguments))
			}
		}
	case "bashExecution":
		n = units(m.Command) + units(m.Output)
	case "branchSummary", "compactionSummary":
		n = units(m.Summary)
	}
	return n
}

// Estimate returns the tokens of a message: a quarter of its characters,
// rounded up.
func (m *Message) Estimate() int { return (m.chars() + 3) / 4 }

// usage returns what the message reports, if that is a measure of the context.
func (m *Message) usage() *Usage {
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
