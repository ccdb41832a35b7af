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
	w := jsonwrite.Object()
	w.Str("role", "assistant")
	w.OpenMember("content", '[')
	for i, b := range decode.Elements(content) {
		w.Open('{')
		if !writeBlock(w, b) {
			return nil, fmt.Errorf("block %d has no content", i)
		}
		w.Close('}')
	}
	w.Close(']')
	rename(w, raw, "stopReason", "stop_reason")
	writeUsage(w, raw)
	w.Close('}')
	a, err := wire.ParseAnswer(wire.Anthropic, w.B)
	if err != nil {
		return nil, err
	}
	return c.finish(a), nil
}

// writeBlock writes the members of a block, which has one that names its kind.
func writeBlock(w *jsonwrite.Writer, b jsontext.Value) bool {
	for name, v := range decode.Members(b) {
		switch thought := decode.Member(v, "reasoningText"); {
		case name == "text":
			w.Str("type", "text")
			w.Raw("text", string(v))
		case name == "toolUse":
			writeCall(w, v)
		case name == "reasoningContent" && thought.Kind() == '{':
			w.Str("type", "thinking")
			rename(w, thought, "text", "thinking", "signature", "signature")
		default:
			w.Str("type", name)
			w.Raw(name, string(v))
		}
		return true
	}
	return false
}

func writeCall(w *jsonwrite.Writer, v jsontext.Value) {
	w.Str("type", "tool_use")
	w.Str("id", decode.Str(v, "toolUseId"))
	w.Str("name", decode.Str(v, "name"))
	if in := decode.Member(v, "input"); in.Kind() == '{' {
		w.Raw("input", string(in))
	}
}

func writeUsage(w *jsonwrite.Writer, v jsontext.Value) {
	if u := decode.Member(v, "usage"); u.Kind() == '{' {
		w.OpenMember("usage", '{')
		rename(w, u, "inputTokens", "input_tokens", "outputTokens", "output_tokens", "cacheReadInputTokens", "cache_read_input_tokens", "cacheWriteInputTokens", "cache_creation_input_tokens")
		w.Close('}')
	}
}

// rename writes members of an object under other names: each name with the new one.
func rename(w *jsonwrite.Writer, v jsontext.Value, names ...string) {
	for pair := range slices.Chunk(names, 2) {
		if m := decode.Member(v, pair[0]); m != nil {
			w.Raw(pair[1], string(m))
		}
	}
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
	w := jsonwrite.Object()
	end := ""
	switch f.event {
	case "contentBlockStart":
		w.Str("type", "content_block_start")
		w.OpenMember("content_block", '{')
		if call := decode.Path(v, "start", "toolUse"); call.Kind() == '{' {
			writeCall(w, call)
		} else {
			w.Str("type", "text")
		}
		w.Close('}')
	case "contentBlockDelta":
		w.Str("type", "content_block_delta")
		w.OpenMember("delta", '{')
		writeDelta(w, decode.Member(v, "delta"))
		w.Close('}')
	case "messageStop":
		w.Str("type", "message_delta")
		w.OpenMember("delta", '{')
		rename(w, v, "stopReason", "stop_reason")
		w.Close('}')
	case "metadata": // the last event
		w.Str("type", "message_delta")
		writeUsage(w, v)
		end = "data: {\"type\":\"message_stop\"}\n\n"
	default:
		return nil, nil
	}
	rename(w, v, "contentBlockIndex", "index")
	w.Close('}')
	return fmt.Appendf(nil, "data: %s\n\n%s", bytes.ReplaceAll(bytes.ReplaceAll(w.B, []byte("\n"), nil), []byte("\r"), nil), end), nil
}

// writeDelta writes what goes on with a block.
func writeDelta(w *jsonwrite.Writer, v jsontext.Value) {
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
		if decode.Member(d.of, d.from) != nil {
			w.Str("type", d.kind)
			rename(w, d.of, d.from, d.to)
			return
		}
	}
}

// finish names the model, which Converse does not, and leaves out blocks without words.
func (c *converse) finish(a *wire.Answer) *wire.Answer {
	a.Model, a.Message.Model = c.model, c.model
	a.Message.Parts = slices.DeleteFunc(a.Message.Parts, func(p chat.Part) bool { return p.Kind == chat.Text && p.Text == "" })
	return a
}
