package wire

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Body is a request as it came. It is read-only but for [Body.SetMaxTokens]
// and may be used from several goroutines.
type Body struct {
	dialect Dialect
	raw     []byte
	layout

	// lead is the number of elements before the history: leading system messages,
	// and what stands before the provider's own compaction, with which the
	// history starts where compacted is set.
	lead      int
	leading   []chat.Part // what counts of these
	compacted bool
	// first[i] is the element that message i of the history starts with; one
	// more stands for the end. It is nil where each message is one element.
	first []int

	req    chat.Request
	model  string
	stream bool
	budget int // of thinking, inside the output

	// Set by SetMaxTokens; 0 is as it came.
	output, thinking int

	held held
}

// Parse reads the body of a request. A bare array of messages is read as a
// body of nothing else. The caller must not change raw afterwards.
//
// The error is an [*Error] with the place and what to do.
func Parse(d Dialect, raw []byte) (*Body, error) { return parseBody(d, raw, nil) }

// Next parses the next request of the conversation that b belongs to. Messages
// whose bytes are those of b are taken from there, not decoded and not hashed;
// where both bodies begin with the same bytes, these are not even scanned again.
// A body of another conversation is parsed as [Parse] does.
func (b *Body) Next(raw []byte) (*Body, error) { return parseBody(b.dialect, raw, b) }

func parseBody(d Dialect, raw []byte, prev *Body) (*Body, error) {
	if !d.isKnown() {
		return nil, unknownDialect(d)
	}
	l := resumeLayout(d, raw, prev)
	if l == nil {
		var err error
		if l, err = scanLayout(d, raw); err != nil {
			return nil, err
		}
	}
	b := &Body{dialect: d, raw: raw, layout: *l}
	b.req.Rules = d.messageRules()
	if err := b.readFields(prev); err != nil {
		return nil, err
	}
	if err := b.readMessages(prev); err != nil {
		return nil, err
	}
	return b, nil
}

// readFields reads what stands beside the messages.
func (b *Body) readFields(prev *Body) error {
	num := func(v jsontext.Value, path string) (n int, err error) {
		if n, err = decode.Int(v); err != nil {
			return 0, decodeError(b.dialect, err, "send a whole number", "%s", path)
		}
		return max(n, 0), nil
	}
	for _, f := range b.fields {
		v := jsontext.Value(f.val.in(b.raw))
		var err error
		switch f.name {
		case "model":
			b.model = decode.Str(v)
			if b.dialect == Gemini {
				b.model = strings.TrimPrefix(b.model, "models/")
			}
		case "stream":
			b.stream, _ = decode.Bool(v)
		case "tools":
			if prev != nil && bytes.Equal(prev.field(prev.raw, "tools"), v) {
				b.req.Tools = prev.req.Tools
			} else if b.req.Tools, err = decode.Tools(v); err != nil {
				return decodeError(b.dialect, err, "see the provider's reference for tools", "/tools")
			}
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			if slices.Contains(outputMembers[b.dialect], f.name) {
				var n int
				if n, err = num(v, "/"+f.name); err != nil {
					return err
				}
				b.req.Output = max(b.req.Output, n)
			}
		case "generationConfig", "generation_config":
			if b.dialect == Gemini {
				for _, name := range [...]string{"maxOutputTokens", "max_output_tokens"} {
					var n int
					if n, err = num(decode.Member(v, name), "/"+f.name+"/"+name); err != nil {
						return err
					}
					b.req.Output = max(b.req.Output, n)
				}
			}
		case "thinking":
			if b.dialect == Anthropic && decode.Str(v, "type") == "enabled" {
				b.req.Rules.LeadThinking = true
				if b.budget, err = num(decode.Member(v, "budget_tokens"), "/thinking/budget_tokens"); err != nil {
					return err
				}
			}
		case "system", "instructions", "systemInstruction", "system_instruction":
			if err := b.readSystem(f.name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Body) readSystem(name string, v jsontext.Value) error {
	var parts []chat.Part
	var err error
	switch {
	case b.dialect == Anthropic && name == "system", b.dialect == Responses && name == "instructions":
		parts, err = decode.Content(v)
	case b.dialect == Gemini && name[0] == 's' && name != "system":
		if v.Kind() == '{' && decode.Member(v, "parts") != nil {
			v = decode.Member(v, "parts")
		}
		parts, err = decode.GeminiParts(v)
	}
	if err != nil {
		return decodeError(b.dialect, err, "send a string or an array of text blocks", "/%s", name)
	}
	b.req.System = append(b.req.System, parts...)
	return nil
}

// readMessages decodes the elements of the list.
func (b *Body) readMessages(prev *Body) error {
	same := b.sameElements(prev)
	items := make([]chat.Message, len(b.elems)-same)
	if err := b.decodeAll(same, items); err != nil {
		return err
	}
	at := b.dialect.lastCompaction(items)
	if at >= 0 && same > 0 { // the history starts elsewhere from now on
		same, items = 0, make([]chat.Message, len(b.elems))
		if err := b.decodeAll(0, items); err != nil {
			return err
		}
		at = b.dialect.lastCompaction(items)
	}
	b.findHeld(items, prev, same)
	var warm chat.History
	if same > 0 {
		b.lead, b.compacted = prev.lead, prev.compacted
		b.leading = prev.leading
		warm = prev.req.History.Head(prev.messageAt(same))
	} else {
		for b.lead < len(items) && (b.lead < at || at < 0 && items[b.lead].Role == chat.System) {
			b.lead++
		}
		b.compacted = at >= 0
		b.leading = b.leadingParts(items[:b.lead])
		items = items[b.lead:]
	}
	b.req.System = append(b.req.System, b.leading...)
	if b.compacted {
		b.req.Fixed, b.req.Rules.UserFirst = 1, false
	}
	switch b.dialect {
	case Gemini:
		decode.Pair(items)
	case Responses:
		items = b.groupItems(items, prev, same)
	}
	if warm.Len() == 0 {
		b.req.History = chat.NewHistory(items...)
	} else {
		b.req.History = warm.Append(items...)
	}
	return nil
}

// decodeAll decodes the elements from number from on, on two goroutines when
// there is enough to do. Of several errors the first in order is returned.
func (b *Body) decodeAll(from int, items []chat.Message) error {
	run := func(from int, items []chat.Message) error {
		for i := range items {
			var err error
			if items[i], err = b.decodeElement(b.elems[from+i].in(b.raw)); err != nil {
				path := "/" + b.dialect.listMember()
				if b.bare {
					path = ""
				}
				return decodeError(b.dialect, err, "correct the message or leave it out", "%s/%d", path, from+i)
			}
		}
		return nil
	}
	const few = 64
	if len(items) < few || len(b.raw) < 256<<10 {
		return run(from, items)
	}
	// Split where half of the bytes lie.
	middle := (b.elems[from].From + b.elems[len(b.elems)-1].To) / 2
	half := sort.Search(len(items), func(i int) bool { return b.elems[from+i].From >= middle })
	var wg sync.WaitGroup
	var late error
	wg.Go(func() { late = run(from+half, items[half:]) })
	err := run(from, items[:half])
	wg.Wait()
	if err == nil {
		err = late
	}
	return err
}

func (b *Body) decodeElement(raw jsontext.Value) (chat.Message, error) {
	switch b.dialect {
	case Anthropic:
		return decode.Anthropic(raw)
	case Gemini:
		m, err := decode.Gemini(raw)
		if m.Role == chat.Tool { // an older name for the side that answers calls
			m.Role = chat.User
		}
		return m, err
	case Responses:
		if raw.Kind() == '"' && len(b.elems) == 1 && b.list == b.elems[0] {
			s, err := decode.String(raw)
			m := chat.TextMessage(chat.User, s)
			m.Wire = len(raw)
			return m, err
		}
		return decode.Item(raw)
	}
	return decode.OpenAI(raw)
}

// groupItems makes one message of the items that a model wrote together and notes
// where each starts.
func (b *Body) groupItems(items []chat.Message, prev *Body, same int) []chat.Message {
	at := b.lead
	if same > 0 {
		at = same
		b.first = append(b.first, prev.first[:prev.messageAt(same)]...)
	}
	for i := range items {
		if i == 0 || items[i].Role != chat.Assistant || items[i-1].Role != chat.Assistant {
			b.first = append(b.first, at+i)
		}
	}
	b.first = append(b.first, at+len(items))
	return decode.JoinItems(items)
}

// sameElements returns how many elements at the start, whole messages and all
// leading system messages, have the bytes of prev's.
func (b *Body) sameElements(prev *Body) int {
	// Gemini's calls get their ids by position when all are known.
	if prev == nil || b.dialect == Gemini {
		return 0
	}
	n := min(b.same, len(prev.elems))
	for n < len(b.elems) && n < len(prev.elems) && bytes.Equal(b.elems[n].in(b.raw), prev.elems[n].in(prev.raw)) {
		n++
	}
	if b.dialect == Responses && n > 0 {
		// The last message that is alike may go on here.
		i := prev.messageAt(n)
		if i == 0 || prev.first[i] != n || n < len(b.elems) || n < len(prev.elems) {
			i--
		}
		if i <= 0 {
			return 0
		}
		n = prev.first[i]
	}
	if n <= prev.lead {
		return 0
	}
	return n
}

// messageAt returns how many messages of the history stand wholly before element n.
func (b *Body) messageAt(n int) int {
	if b.first == nil {
		return max(n-b.lead, 0)
	}
	i := 0
	for i+1 < len(b.first) && b.first[i+1] <= n {
		i++
	}
	return i
}

// leadingParts returns what counts of the elements before the history. Of what
// stands before its own compaction Anthropic reads nothing.
func (b *Body) leadingParts(items []chat.Message) []chat.Part {
	if b.compacted && b.dialect == Anthropic {
		return nil
	}
	var parts []chat.Part
	for i := range items {
		parts = append(parts, items[i].Parts...)
	}
	return parts
}

// elementRange returns the elements that message i of the history is made of.
func (b *Body) elementRange(i int) (from, to int) {
	if b.first != nil {
		return b.first[i], b.first[i+1]
	}
	return b.lead + i, b.lead + i + 1
}

// Dialect returns the dialect of the body.
func (b *Body) Dialect() Dialect { return b.dialect }

// Raw returns the body as it came, which must not be changed.
func (b *Body) Raw() []byte { return b.raw }

// Model returns the model that is asked for. Gemini has it in the address, not
// in the body.
func (b *Body) Model() string { return b.model }

// Stream reports whether the answer is to be streamed. Gemini has it in the
// address, not in the body.
func (b *Body) Stream() bool { return b.stream }

// MaxTokens returns the limit of the output that the body sets; 0 is none.
func (b *Body) MaxTokens() int {
	if b.output > 0 {
		return b.output
	}
	return b.req.Output
}

// Request returns what the engine plans on. Leading system messages are part
// of its system prompt, so the history starts after them; where the provider
// compacted the conversation, it starts with the item that holds what came
// before, which stays. Its rules are those of the dialect and of what the body
// switches on.
func (b *Body) Request() chat.Request {
	r := b.req
	r.Output = b.MaxTokens()
	return r
}

// Message returns the bytes of message i of the history, which must not be
// changed. In the responses dialect these may be several elements.
func (b *Body) Message(i int) []byte {
	from, to := b.elementRange(i)
	return span{b.elems[from].From, b.elems[to-1].To}.in(b.raw)
}

// leastThinking is the smallest budget of thinking that Anthropic accepts.
const leastThinking = 1024

// SetMaxTokens makes [Body.Encode] write n as the limit of the output, where
// the body has it or as a new member. A budget of thinking that would have no
// room inside it is lowered in proportion. It must not be called while the body
// is being encoded.
func (b *Body) SetMaxTokens(n int) error {
	switch {
	case n <= 0:
		return &Error{Dialect: b.dialect, Problem: fmt.Sprintf("an output of %d tokens", n), Hint: "leave room for at least one token"}
	case b.bare:
		return &Error{Dialect: b.dialect, Problem: "a bare array of messages has no output limit", Hint: "send a whole request"}
	case b.wrapped:
		return &Error{Dialect: b.dialect, Problem: "the request stands inside another object", Hint: "set its output there"}
	}
	thinking := 0
	// A budget that was not inside the output before is shared by several
	// answers (interleaved thinking) and need not be now.
	if n <= b.budget && b.budget < b.req.Output {
		if n <= leastThinking {
			return &Error{Dialect: b.dialect, Path: "/max_tokens", Problem: fmt.Sprintf("an output of %d tokens leaves nothing besides the minimum of %d tokens for thinking", n, leastThinking), Hint: "shorten the input instead"}
		}
		thinking = max(leastThinking, int(int64(n)*int64(b.budget)/int64(b.req.Output)))
	}
	b.output, b.thinking = n, thinking
	return nil
}
