package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/wire"
)

// maxBlocks bounds the pieces of a streamed answer.
const maxBlocks = 10_000

// decodeAnswer reads a body that is not streamed.
func (c *converse) decodeAnswer(raw []byte) (*wire.Answer, error) {
	if err := decode.Valid(raw); err != nil {
		return nil, err
	}
	v := jsontext.Value(raw)
	content := decode.Path(v, "output", "message", "content")
	if content.Kind() != '[' {
		return nil, errors.New("there is no output.message.content")
	}
	g := &gathered{done: true, reason: decode.Str(v, "stopReason")}
	for i, b := range decode.Elements(content) {
		p, err := conversePart(b)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		g.blocks = append(g.blocks, &block{part: p})
	}
	if err := g.readUsage(decode.Member(v, "usage")); err != nil {
		return nil, err
	}
	return g.finish(c.model), nil
}

// conversePart reads one block: an object with one member that names its kind.
func conversePart(b jsontext.Value) (chat.Part, error) {
	for name, v := range decode.Members(b) {
		switch name {
		case "text":
			s, err := decode.String(v)
			return chat.Part{Kind: chat.Text, Text: s}, err
		case "toolUse":
			p := chat.Part{Kind: chat.ToolCall, ID: decode.Str(v, "toolUseId"), Name: decode.Str(v, "name"), Args: "{}"}
			if in := decode.Member(v, "input"); in.Kind() == '{' {
				p.Args = string(in)
			}
			return p, nil
		case "reasoningContent":
			t := decode.Member(v, "reasoningText")
			if t.Kind() == '{' {
				return chat.Part{Kind: chat.Thinking, Text: decode.Str(t, "text"), Signature: decode.Str(t, "signature")}, nil
			}
		}
		return chat.Part{Kind: chat.Opaque, Name: name, Data: string(b)}, nil
	}
	return chat.Part{}, errors.New("a block without content")
}

// gathered is an answer on its way.
type gathered struct {
	blocks  []*block
	reason  string
	usage   chat.Usage
	done    bool
	failure *wire.Verdict
}

type block struct {
	part                  chat.Part
	text, args, signature []byte
}

// readStream reads a stream of Converse.
func (c *converse) readStream(r io.Reader, emit func(string) error) (*wire.Answer, error) {
	frames := frameReader{r: r}
	g := &gathered{}
	for {
		f, err := frames.next()
		if err == nil && f.exception != "" {
			g.failure = f.verdict()
			return g.finish(c.model), nil
		}
		if err == nil {
			err = g.takeEvent(f.event, f.payload, emit)
		}
		switch {
		case err == nil && g.done && f.event == "metadata":
			return g.finish(c.model), nil // the last event
		case err == nil:
		case g.done && !errors.As(err, new(callerError)):
			return g.finish(c.model), nil
		case err == io.EOF:
			return g.finish(c.model), io.ErrUnexpectedEOF
		default:
			return g.finish(c.model), err
		}
	}
}

// takeEvent takes one event of the stream.
func (g *gathered) takeEvent(name string, v jsontext.Value, emit func(string) error) error {
	if err := decode.Valid(v); err != nil {
		return fmt.Errorf("event %s: %w", text.Clip(name, 40), err)
	}
	switch name {
	case "contentBlockStart":
		b, err := g.blockAt(v)
		if err != nil {
			return err
		}
		if t := decode.Path(v, "start", "toolUse"); t.Kind() == '{' {
			b.part = chat.Part{Kind: chat.ToolCall, ID: decode.Str(t, "toolUseId"), Name: decode.Str(t, "name")}
		}
	case "contentBlockDelta":
		b, err := g.blockAt(v)
		if err != nil {
			return err
		}
		return b.add(decode.Member(v, "delta"), emit)
	case "messageStop":
		g.reason, g.done = decode.Str(v, "stopReason"), true
	case "metadata":
		return g.readUsage(decode.Member(v, "usage"))
	}
	return nil
}

func (g *gathered) blockAt(v jsontext.Value) (*block, error) {
	n, err := decode.Int(decode.Member(v, "contentBlockIndex"))
	if err != nil || n < 0 || n >= maxBlocks {
		return nil, fmt.Errorf("block %s of an answer", text.Clip(string(decode.Member(v, "contentBlockIndex")), 20))
	}
	for len(g.blocks) <= n {
		g.blocks = append(g.blocks, new(block))
	}
	return g.blocks[n], nil
}

// add goes on with a block.
func (b *block) add(delta jsontext.Value, emit func(string) error) error {
	if t := decode.Member(delta, "text"); t.Kind() == '"' {
		s, err := decode.String(t)
		if err != nil {
			return err
		}
		b.text = append(b.text, s...)
		if s != "" {
			if err := emit(s); err != nil {
				return err
			}
		}
	}
	b.args = append(b.args, decode.Str(delta, "toolUse", "input")...)
	if r := decode.Member(delta, "reasoningContent"); r.Kind() == '{' {
		b.part.Kind = chat.Thinking
		b.text = append(b.text, decode.Str(r, "text")...)
		b.signature = append(b.signature, decode.Str(r, "signature")...)
	}
	return nil
}

func (g *gathered) readUsage(u jsontext.Value) error {
	if u.Kind() != '{' {
		return nil
	}
	var x struct{ InputTokens, OutputTokens, CacheReadInputTokens, CacheWriteInputTokens int }
	if err := json.Unmarshal(u, &x); err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	g.usage = chat.Usage{Input: x.InputTokens, Output: x.OutputTokens, CacheRead: x.CacheReadInputTokens, CacheWrite: x.CacheWriteInputTokens}
	return nil
}

// finish makes the answer of what came so far.
func (g *gathered) finish(model string) *wire.Answer {
	a := &wire.Answer{Model: model, Usage: g.usage, Reason: g.reason, Failure: g.failure}
	a.Message = chat.Message{Role: chat.Assistant, Model: model}
	for _, b := range g.blocks {
		p := b.part
		p.Text += string(b.text)
		p.Signature += string(b.signature)
		if p.Kind == chat.ToolCall && p.Args == "" {
			if p.Args = string(b.args); p.Args == "" {
				p.Args = "{}"
			}
		}
		if p.Kind == chat.Text && p.Text == "" {
			continue
		}
		a.Message.Parts = append(a.Message.Parts, p)
	}
	if g.usage != (chat.Usage{}) {
		u := g.usage
		a.Message.Usage = &u
	}
	a.Stop = converseStops[g.reason]
	if g.failure != nil {
		a.Stop = wire.StopError
	}
	return a
}

var converseStops = map[string]string{
	"end_turn": wire.StopEnd, "stop_sequence": wire.StopEnd, "tool_use": wire.StopTools, "max_tokens": wire.StopLength,
	"model_context_window_exceeded": wire.StopOverflow, "guardrail_intervened": wire.StopFilter, "content_filtered": wire.StopFilter,
	"malformed_model_output": wire.StopError, "malformed_tool_use": wire.StopError,
}
