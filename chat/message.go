package chat

import "strings"

// Role says who speaks in a message.
type Role string

// The roles. A provider's own names (developer, model, function) are mapped to
// these when a conversation is read.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Kind says what a part holds.
type Kind uint8

// The kinds of parts.
const (
	Text       Kind = iota // words
	Thinking               // a model's reasoning, perhaps signed by its provider
	ToolCall               // a call of a tool
	ToolResult             // the answer to a call
	Image                  // a picture
	Document               // a file handed over as such
	Opaque                 // anything that only the provider understands
)

var kindNames = [...]string{"text", "thinking", "tool_call", "tool_result", "image", "document", "opaque"}

// String returns the kind's name as it stands in reports.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Part is one piece of a message. Which fields matter depends on its kind.
type Part struct {
	Kind Kind

	// Failed marks a tool result that reports a failure.
	Failed bool

	// Text is what a text or thinking part says, what a tool result answers in
	// words, or the text of a document where that is known.
	Text string

	// ID ties a tool call to its result. On an opaque part it ties a call that
	// the provider runs itself to that call's result.
	ID string

	// Name is the tool's name on a call or result, the file's name on a
	// document, and the provider's type on an opaque part.
	Name string

	// Args is a call's arguments: a JSON object as the model wrote it.
	Args string

	// Media is the media type of an image or document, Data its content
	// (base64) or address. Data is also an opaque part's raw JSON.
	Media, Data string

	// Content holds the images and documents inside a tool result. A history
	// takes no more than sixteen levels of it.
	Content []Part

	// Signature is set by providers that check that a part comes back
	// unchanged. A signed part is sent as it is or not at all.
	Signature string
}

// Message is one element of a request's array of messages.
type Message struct {
	Role  Role
	Parts []Part

	// Synthetic marks a user message that no user wrote: a reminder that the
	// agent put in, an earlier summary. It starts no turn and is nobody's request.
	Synthetic bool

	// ID is the message's name in the place it was read from. Like the fields
	// below it says where a message came from and is not part of its content:
	// the hash leaves it out.
	ID string

	// Model wrote the message; Usage is what its provider reported for that call.
	Model string
	Usage *Usage

	// Time is when it was written, in milliseconds since 1970; 0 is unknown.
	Time int64

	// Wire is the message's length in bytes as it was received; 0 is unknown.
	Wire int
}

// Usage is what a provider reported for one call. Input leaves out the tokens read
// from or written to the provider's cache: the prompt is the sum of all three.
type Usage struct {
	Input, CacheRead, CacheWrite int

	// CacheWriteLong is the part of CacheWrite that went to the dearer cache that
	// lives longer.
	CacheWriteLong int

	// Output is everything the model wrote, Thinking the part of it that was reasoning.
	Output, Thinking int
}

// Prompt returns the number of tokens the provider counted in the request.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Context returns the prompt and the answer: what the next request starts from.
func (u Usage) Context() int { return u.Prompt() + u.Output }

// TextMessage returns a message of one text part.
func TextMessage(r Role, text string) Message {
	return Message{Role: r, Parts: []Part{{Kind: Text, Text: text}}}
}

// CallMessage returns an assistant message that calls tools.
func CallMessage(text string, calls ...Part) Message {
	m := Message{Role: Assistant, Parts: make([]Part, 0, len(calls)+1)}
	if text != "" {
		m.Parts = append(m.Parts, Part{Kind: Text, Text: text})
	}
	m.Parts = append(m.Parts, calls...)
	return m
}

// Call returns a tool call. The arguments are a JSON object.
func Call(id, name, args string) Part { return Part{Kind: ToolCall, ID: id, Name: name, Args: args} }

// ResultMessage returns a message of role tool that answers the call with that id.
func ResultMessage(id, text string) Message {
	return Message{Role: Tool, Parts: []Part{{Kind: ToolResult, ID: id, Text: text}}}
}

// Text returns the words of a message: its text parts, each on lines of its own.
//
// What a tool said is not among them, so that a message of tool results alone has
// the text "": it stands in the parts of kind [ToolResult], in [Part.Text].
func (m *Message) Text() string {
	var few [4]string // most messages have no more, and need no memory for them
	texts := few[:0]
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == Text && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Has reports whether the message has a part of that kind.
func (m *Message) Has(k Kind) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == k {
			return true
		}
	}
	return false
}

// Empty reports whether the message has no content, which providers refuse.
func (m *Message) Empty() bool {
	for i := range m.Parts {
		if m.Parts[i].Kind != Text || m.Parts[i].Text != "" {
			return false
		}
	}
	return true
}

// StartsTurn reports whether the message is a user's request. A message that
// carries tool results belongs to its exchange and starts no turn.
func (m *Message) StartsTurn() bool {
	return m.Role == User && !m.Synthetic && !m.Has(ToolResult)
}

// Size returns the bytes and images of the message. Tokens are left at zero:
// counting them is the token package's work.
func (m *Message) Size() Size {
	s := Size{Bytes: m.Wire}
	for i := range m.Parts {
		p := m.Parts[i].Size()
		s.Images += p.Images
		if m.Wire == 0 {
			s.Bytes += p.Bytes
		}
	}
	if m.Wire == 0 {
		s.Bytes += 32 // role, braces and brackets
	}
	return s
}

// Size returns the bytes and images of a part, about as it would be sent.
func (p *Part) Size() Size {
	s := Size{Bytes: 24 + len(p.Text) + len(p.ID) + len(p.Name) + len(p.Args) + len(p.Data) + len(p.Signature)}
	if p.Kind == Image {
		s.Images = 1
	}
	for i := range p.Content {
		s = s.Add(p.Content[i].Size())
	}
	return s
}

// Size measures a message, a view or an edit.
type Size struct {
	Tokens int `json:"tokens"`
	Bytes  int `json:"bytes"`
	Images int `json:"images,omitempty"`
}

// Add returns the sum of two sizes.
func (s Size) Add(t Size) Size {
	return Size{s.Tokens + t.Tokens, s.Bytes + t.Bytes, s.Images + t.Images}
}

// Sub returns the difference of two sizes.
func (s Size) Sub(t Size) Size {
	return Size{s.Tokens - t.Tokens, s.Bytes - t.Bytes, s.Images - t.Images}
}

// ToolDef is a tool that the model may call.
type ToolDef struct {
	Name        string
	Description string
	Schema      string // of the arguments, as JSON
	Wire        int    // length in bytes as received; 0 is unknown
}

// Request is what one call to a model is made of.
type Request struct {
	// System is the system prompt. Leading system messages belong here, not in
	// the history.
	System []Part
	Tools  []ToolDef

	History History

	// Fixed is how many messages at the history's start stay as they are, as
	// pinned ones do: what a provider's own compaction made of what came before.
	Fixed int

	// Output is the number of tokens the caller wants to leave for the answer; 0
	// leaves that to the model's limits.
	Output int

	// Rules are those of the dialect the request is sent in. The zero value
	// stands for [AllDialects].
	Rules Rules
}

// Sequence is anything that can be read as messages in order: a history, a
// view of one, or plain [Messages]. Callers must not change what At returns.
type Sequence interface {
	Len() int
	At(i int) *Message
}

// Messages makes a slice of messages a [Sequence].
type Messages []Message

// Len returns the number of messages.
func (m Messages) Len() int { return len(m) }

// At returns message i.
func (m Messages) At(i int) *Message { return &m[i] }
