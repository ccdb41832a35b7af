package wire

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// maxBlocks bounds the pieces of a streamed answer.
const maxBlocks = 10_000

// anthropicAnswer gathers an answer of Anthropic's messages.
type anthropicAnswer struct {
	s      *Stream
	blocks []*anthropicStreamed
	all    chat.Usage // over the provider's iterations
}

type anthropicStreamed struct {
	start                 chat.Part
	text, args, signature []byte
}

func (a *anthropicAnswer) takeWhole(v jsontext.Value) error {
	m, err := decode.Anthropic(v)
	if err != nil {
		return err
	}
	for _, p := range m.Parts {
		a.blocks = append(a.blocks, &anthropicStreamed{start: p})
	}
	a.s.done = true
	a.s.takeHead(m.ID, m.Model)
	a.s.said.Reason = decode.Str(v, "stop_reason")
	return a.addUsage(decode.Member(v, "usage"))
}

func (a *anthropicAnswer) takeEvent(name string, v jsontext.Value) error {
	switch name {
	case "message_start":
		m := decode.Member(v, "message")
		a.s.takeHead(decode.Str(m, "id"), decode.Str(m, "model"))
		return a.addUsage(decode.Member(m, "usage"))
	case "content_block_start":
		b, err := streamedAt(&a.blocks, v, "index")
		if err != nil {
			return err
		}
		a.s.content = true
		if b.start, err = decode.Block(decode.Member(v, "content_block")); b.start.Kind == chat.Text {
			a.s.say(b.start.Text)
		}
		return err
	case "content_block_delta":
		b, err := streamedAt(&a.blocks, v, "index")
		if err != nil {
			return err
		}
		a.s.content = true
		d := decode.Member(v, "delta")
		kind := decode.Str(d, "type")
		if b.start.Kind == chat.Text && b.start.Text == "" && len(b.text) == 0 && (kind == "thinking_delta" || kind == "signature_delta") {
			b.start.Kind = chat.Thinking // its start was not sent: thinking must not be read as words
		}
		switch kind {
		case "text_delta":
			return a.s.appendWords(&b.text, decode.Member(d, "text"))
		case "input_json_delta":
			return appendBounded(&b.args, decode.Member(d, "partial_json"))
		case "thinking_delta":
			return appendBounded(&b.text, decode.Member(d, "thinking"))
		case "signature_delta":
			return appendBounded(&b.signature, decode.Member(d, "signature"))
		}
	case "message_delta":
		a.s.said.Reason = cmp.Or(decode.Str(v, "delta", "stop_reason"), a.s.said.Reason)
		return a.addUsage(decode.Member(v, "usage"))
	case "message_stop":
		a.s.done = true
	}
	return nil
}

// addUsage takes a usage object. A stream has several: the first counts the
// input, later ones repeat it or not and count the output so far.
func (a *anthropicAnswer) addUsage(v jsontext.Value) error {
	if v.Kind() != '{' {
		return nil
	}
	u, err := decode.AnthropicUsage(v)
	if err != nil {
		return err
	}
	used := combineUsage(a.s.said.Usage, *u, largerOf)
	var all chat.Usage
	for _, it := range decode.Elements(decode.Member(v, "iterations")) {
		if it.Kind() != '{' {
			continue
		}
		i, err := decode.AnthropicUsage(it)
		if err != nil {
			return err
		}
		all = combineUsage(all, *i, func(a, b int) int { return a + b })
	}
	all = combineUsage(a.all, all, largerOf)
	a.all, a.s.said.Usage = all, used
	a.s.said.Extra = combineUsage(all, used, func(a, b int) int { return max(0, a-b) })
	return nil
}

func (a *anthropicAnswer) parts() (parts []chat.Part) {
	for _, b := range a.blocks {
		p := b.start
		p.Text += string(b.text)
		if len(b.args) > 0 {
			p.Args = string(b.args)
		}
		p.Signature += string(b.signature)
		parts = append(parts, p)
	}
	return parts
}

// combineUsage makes one usage of two, number by number.
func combineUsage(a, b chat.Usage, of func(a, b int) int) chat.Usage {
	return chat.Usage{
		Input: of(a.Input, b.Input), CacheRead: of(a.CacheRead, b.CacheRead), CacheWrite: of(a.CacheWrite, b.CacheWrite),
		CacheWriteLong: of(a.CacheWriteLong, b.CacheWriteLong), Output: of(a.Output, b.Output), Thinking: of(a.Thinking, b.Thinking),
	}
}

func largerOf(a, b int) int { return max(a, b) }
