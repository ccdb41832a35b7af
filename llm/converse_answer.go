package llm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/wire"
)

// Converse says what Anthropic's messages say in names of its own, whichever model
// answers. So its answers are written as Anthropic's, which package wire reads.

// decodeAnswer reads a body that is not streamed.
func (c *converse) decodeAnswer(raw []byte) (*wire.Answer, error) {
	if err := decode.Valid(raw); err != nil {
		return nil, err
	}
	content := decode.Path(raw, "output", "message", "content")
	if content.Kind() != '[' {
		return nil, errors.New("there is no output.message.content")
	}
	var blocks [][]byte
	for i, b := range decode.Elements(content) {
		block := convertBlock(b)
		if block == nil {
			return nil, fmt.Errorf("block %d has no content", i)
		}
		blocks = append(blocks, block)
	}
	a, err := wire.ParseAnswer(wire.Anthropic, jsonwrite.Of(
		"role", "assistant", "content", jsonwrite.List(blocks), "stop_reason", []byte(decode.Member(raw, "stopReason")), "usage", convertUsage(raw),
	))
	if err != nil {
		return nil, err
	}
	return c.finish(a), nil
}

// convertBlock returns a block, which has one member that names its kind; nil for one
// that has none.
func convertBlock(b jsontext.Value) []byte {
	for name, v := range decode.Members(b) {
		switch thought := decode.Member(v, "reasoningText"); {
		case name == "text":
			return jsonwrite.Of("type", "text", "text", []byte(v))
		case name == "toolUse":
			return convertCall(v)
		case name == "reasoningContent" && thought.Kind() == '{':
			return jsonwrite.Of("type", "thinking", "thinking", []byte(decode.Member(thought, "text")), "signature", []byte(decode.Member(thought, "signature")))
		}
		return jsonwrite.Of("type", name, name, []byte(v))
	}
	return nil
}

func convertCall(v jsontext.Value) []byte {
	in := decode.Member(v, "input")
	if in.Kind() != '{' {
		in = nil
	}
	return jsonwrite.Of("type", "tool_use", "id", decode.Str(v, "toolUseId"), "name", decode.Str(v, "name"), "input", []byte(in))
}

// convertUsage returns what an answer reports; nil where it reports nothing.
func convertUsage(v jsontext.Value) []byte {
	u := decode.Member(v, "usage")
	if u.Kind() != '{' {
		return nil
	}
	return jsonwrite.Of(
		"input_tokens", []byte(decode.Member(u, "inputTokens")), "output_tokens", []byte(decode.Member(u, "outputTokens")),
		"cache_read_input_tokens", []byte(decode.Member(u, "cacheReadInputTokens")), "cache_creation_input_tokens", []byte(decode.Member(u, "cacheWriteInputTokens")),
	)
}

// readStream reads a stream of Converse.
func (c *converse) readStream(r io.Reader, emit func(string) error) (*wire.Answer, error) {
	a, err := (&sse{dialect: wire.Anthropic}).readStream(&payloads{frames: frameReader{r: r}, convert: convertEvent}, emit)
	if a.Reason != "" && !errors.As(err, new(callerError)) {
		err = nil // all that matters has arrived
	}
	return c.finish(a), err
}

// convertEvent returns an event of the stream as server-sent events of Anthropic's.
func convertEvent(f *frame) ([]byte, error) {
	v := jsontext.Value(f.payload)
	if err := decode.Valid(v); err != nil {
		return nil, err
	}
	var event []any
	end := ""
	switch f.event {
	case "contentBlockStart":
		block := []byte(`{"type":"text"}`)
		if call := decode.Path(v, "start", "toolUse"); call.Kind() == '{' {
			block = convertCall(call)
		}
		event = []any{"type", "content_block_start", "content_block", block}
	case "contentBlockDelta":
		event = []any{"type", "content_block_delta", "delta", convertDelta(decode.Member(v, "delta"))}
	case "messageStop":
		event = []any{"type", "message_delta", "delta", jsonwrite.Of("stop_reason", []byte(decode.Member(v, "stopReason")))}
	case "metadata": // the last event
		event = []any{"type", "message_delta", "usage", convertUsage(v)}
		end = "data: {\"type\":\"message_stop\"}\n\n"
	default:
		return nil, nil
	}
	data := jsonwrite.Of(append(event, "index", []byte(decode.Member(v, "contentBlockIndex")))...)
	return fmt.Appendf(nil, "data: %s\n\n%s", bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\n"), nil), []byte("\r"), nil), end), nil
}

// convertDelta returns what goes on with a block.
func convertDelta(v jsontext.Value) []byte {
	thought := decode.Member(v, "reasoningContent")
	for _, d := range [...]struct {
		of             jsontext.Value
		from, kind, to string
	}{
		{v, "text", "text_delta", "text"},
		{decode.Member(v, "toolUse"), "input", "input_json_delta", "partial_json"},
		{thought, "text", "thinking_delta", "thinking"},
		{thought, "signature", "signature_delta", "signature"},
	} {
		if words := decode.Member(d.of, d.from); words != nil {
			return jsonwrite.Of("type", d.kind, d.to, []byte(words))
		}
	}
	return []byte("{}")
}

// finish names the model, which Converse does not, and leaves out blocks without words.
func (c *converse) finish(a *wire.Answer) *wire.Answer {
	a.Model, a.Message.Model = c.model, c.model
	a.Message.Parts = slices.DeleteFunc(a.Message.Parts, func(p chat.Part) bool { return p.Kind == chat.Text && p.Text == "" })
	return a
}
