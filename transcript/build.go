package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/typed"
)

// builder gathers one session.
type builder struct {
	in   *input
	s    Session
	msgs []chat.Message

	// answerID is the message id of the last answer that was added.
	answerID string

	// logged: the file is a log, so what stands between a call and its result
	// was not sent there.
	logged bool
}

func (in *input) newBuilder() *builder {
	return &builder{in: in, s: Session{Format: in.format}}
}

// addMessage appends a message of a log. Text parts without text are not kept; a
// message without any part says nothing and is counted instead.
func (b *builder) addMessage(m chat.Message) {
	if len(m.Parts) > 1 || len(m.Parts) == 1 && m.Parts[0].Kind == chat.Text {
		m.Parts = slices.DeleteFunc(m.Parts, func(p chat.Part) bool {
			return p.Kind == chat.Text && p.Text == "" && p.Signature == ""
		})
	}
	if len(m.Parts) == 0 {
		b.skip("empty message")
		return
	}
	// Messages share the names of models and tools.
	m.Model = unique.Make(m.Model).Value()
	for i := range m.Parts {
		m.Parts[i].Name = unique.Make(m.Parts[i].Name).Value()
	}
	b.msgs = append(b.msgs, m)
}

// addSynthetic appends a message of the user's that nobody typed.
func (b *builder) addSynthetic(m chat.Message, texts ...string) {
	m.Role, m.Synthetic = chat.User, true
	for _, s := range texts {
		m.Parts = append(m.Parts, textPart(s))
	}
	b.addMessage(m)
}

// readOpenAI reads a message in the shape of OpenAI's, and notes one that cannot be read.
func (b *builder) readOpenAI(v jsontext.Value) (m chat.Message, ok bool) {
	m, err := decode.OpenAI(v)
	if err != nil {
		b.noteBroken(v, err)
	}
	m.Wire = 0
	return m, err == nil
}

// lastAssistant returns the last message if it is the assistant's, or nil.
func (b *builder) lastAssistant() *chat.Message {
	if n := len(b.msgs); n > 0 && b.msgs[n-1].Role == chat.Assistant {
		return &b.msgs[n-1]
	}
	return nil
}

func (b *builder) skip(kind string) {
	if b.s.Skipped == nil {
		b.s.Skipped = map[string]int{}
	}
	b.s.Skipped[kind]++
}

// orUnknown names a kind of record that may have no name.
func orUnknown(kind string) string { return cmp.Or(kind, "record without a type") }

func (b *builder) warn(line int, format string, args ...any) {
	b.s.Warnings = appendWarning(b.s.Warnings, line, fmt.Sprintf(format, args...))
}

// noteBroken notes a record that is JSON but not what it should be.
func (b *builder) noteBroken(raw jsontext.Value, err error) {
	b.warn(b.in.lineOf(raw), "%v: left out", err)
}

// noteCompaction notes that the client compacted here.
func (b *builder) noteCompaction(c Compaction) {
	c.At = len(b.msgs)
	b.s.Compactions = append(b.s.Compactions, c)
}

// lastCompaction returns the compaction that was noted here and has no summary yet; it
// notes one where there is none.
func (b *builder) lastCompaction(line int) *Compaction {
	n := len(b.s.Compactions)
	if n == 0 || b.s.Compactions[n-1].At != len(b.msgs) || b.s.Compactions[n-1].Summary != "" {
		b.noteCompaction(Compaction{Line: line})
	}
	return &b.s.Compactions[len(b.s.Compactions)-1]
}

// longestWait is the longest pause before a compaction that is taken for its own.
const longestWait = 10 * time.Minute

// sinceLastMessage returns the time between the last message and a compaction's record.
func (b *builder) sinceLastMessage(stamp int64) time.Duration {
	if len(b.msgs) == 0 || stamp == 0 || b.msgs[len(b.msgs)-1].Time == 0 {
		return 0
	}
	d := time.Duration(stamp-b.msgs[len(b.msgs)-1].Time) * time.Millisecond
	if d < 0 || d > longestWait {
		return 0
	}
	return d
}

// keptFrom returns how many messages there are from the one with an id on; 0
// where there is none.
func (b *builder) keptFrom(id string) int {
	if joined := b.s.Joined[id]; joined != "" {
		id = joined
	}
	for i := len(b.msgs) - 1; i >= 0 && id != ""; i-- {
		if b.msgs[i].ID == id {
			return len(b.msgs) - i
		}
	}
	return 0
}

// finish returns the session.
func (b *builder) finish() Session {
	lead := 0
	for lead < len(b.msgs) && b.msgs[lead].Role == chat.System {
		b.s.System = append(b.s.System, b.msgs[lead].Parts...)
		lead++
	}
	b.msgs = b.msgs[lead:]
	if b.logged {
		placeResults(b.msgs)
	}
	for i := range b.s.Compactions {
		c := &b.s.Compactions[i]
		c.At = max(c.At-lead, 0)
		c.Kept = min(c.Kept, c.At)
		b.fillSizes(c)
	}
	for i := len(b.msgs) - 1; i >= 0 && b.s.Model == ""; i-- {
		b.s.Model = b.msgs[i].Model
	}
	b.s.History = chat.OwnHistory(b.msgs)
	return b.s
}

// fillSizes fills in what the client did not note about a compaction from the
// usage reported before and after it.
func (b *builder) fillSizes(c *Compaction) {
	for i := c.At - 1; i >= 0 && c.TokensBefore == 0; i-- {
		if u := b.msgs[i].Usage; u != nil {
			c.TokensBefore = u.Context()
		}
	}
	for i := c.At; i < len(b.msgs) && c.TokensAfter == 0; i++ {
		if u := b.msgs[i].Usage; u != nil {
			c.TokensAfter = u.Prompt()
		}
	}
}

// placeResults puts the results of a message's calls directly after it. The other
// messages logged before the next answer follow, in their order.
func placeResults(msgs []chat.Message) {
	for i := range msgs {
		if msgs[i].Role != chat.Assistant || !msgs[i].Has(chat.ToolCall) {
			continue
		}
		end := i + 1
		for end < len(msgs) && msgs[end].Role != chat.Assistant {
			end++
		}
		resultsFirst(&msgs[i], msgs[i+1:end])
	}
}

// resultsFirst moves the messages with results of m's calls to the front.
func resultsFirst(m *chat.Message, after []chat.Message) {
	calls := make(map[string]bool, len(m.Parts))
	for i := range m.Parts {
		if m.Parts[i].Kind == chat.ToolCall {
			calls[m.Parts[i].ID] = true
		}
	}
	var rest []chat.Message
	n := 0
	for i := range after {
		if slices.ContainsFunc(after[i].Parts, func(p chat.Part) bool { return p.Kind == chat.ToolResult && calls[p.ID] }) {
			after[n] = after[i]
			n++
		} else {
			rest = append(rest, after[i])
		}
	}
	copy(after[n:], rest)
}

// textPart returns a text part.
func textPart(s string) chat.Part { return chat.Part{Kind: chat.Text, Text: s} }

// usageOrNil returns what decoding a usage object gave, or nil where it says nothing.
func usageOrNil(u *chat.Usage, err error) *chat.Usage {
	if err != nil || u == nil || *u == (chat.Usage{}) {
		return nil
	}
	return u
}

// fillResult fills in a tool result from parts: the words joined, the rest beside them.
func fillResult(p *chat.Part, inner []chat.Part) {
	var words []string
	for _, q := range inner {
		if q.Kind == chat.Text {
			words = append(words, q.Text)
		} else {
			p.Content = append(p.Content, q)
		}
	}
	p.Text = strings.Join(words, "\n")
}

// withoutEmptyThinking leaves out thinking that says nothing and seals nothing.
func withoutEmptyThinking(parts []chat.Part) []chat.Part {
	return slices.DeleteFunc(parts, func(p chat.Part) bool { return p.Kind == chat.Thinking && p.Text == "" && p.Signature == "" })
}

// callArgs returns the arguments of a call: the object that is there, or an empty one.
func callArgs(args jsontext.Value) string {
	if args.Kind() != '{' {
		return "{}"
	}
	return string(args)
}

// numberAt returns the number at a path of names, or 0.
func numberAt(raw jsontext.Value, names ...string) int {
	n, _ := decode.Int(decode.Path(raw, names...))
	return n
}

// markSynthetic marks a user's message of texts in which nobody typed anything.
func markSynthetic(m *chat.Message) {
	if m.Role != chat.User || m.Synthetic {
		return
	}
	if slices.ContainsFunc(m.Parts, func(p chat.Part) bool { return p.Kind != chat.Text }) {
		return
	}
	m.Synthetic = strings.TrimSpace(m.Text()) != "" && typed.Words(chat.Messages{*m}, 0) == ""
}
