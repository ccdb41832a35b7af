package transcript

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readPlain reads messages as they are sent: an array, a request body, one
// message per line, or one body per line (a session each). A message that
// cannot be read is an error here: what is sent must not lose a message.
func readPlain(in *input) ([]Session, error) {
	var out []Session
	var lines *builder
	for r := range in.eachRecord() {
		b := in.newBuilder()
		var err error
		switch {
		case r.raw.Kind() == '[':
			err = b.plainMessages(r.raw)
		case isBody(r.raw):
			err = b.readBody(r.raw)
		default:
			if lines == nil {
				lines = in.newBuilder()
			}
			if err := lines.plainMessage(r.raw); err != nil {
				return nil, in.valueError(r.raw, err)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b.finishPlain())
	}
	if lines != nil {
		out = append(out, lines.finishPlain())
	}
	return out, nil
}

// isBody reports whether a value is a whole request, not a single message.
func isBody(raw jsontext.Value) bool {
	for k := range decode.Members(raw) {
		switch k {
		case "messages", "contents":
			return true
		case "type", "role":
			return false
		}
	}
	return decode.Member(raw, "input") != nil
}

// valueError returns an error about a value that stands in the data.
func (in *input) valueError(raw jsontext.Value, err error) error {
	return &Error{File: in.name, Line: in.lineOf(raw), Problem: err.Error(), Hint: "fix the message, or name another format with --format", Err: err}
}

func (b *builder) finishPlain() Session {
	switch b.in.format {
	case Responses:
		b.msgs = decode.JoinItems(b.msgs)
	case Gemini:
		decode.Pair(b.msgs)
	}
	return b.finish()
}

func (b *builder) plainMessage(raw jsontext.Value) error {
	var m chat.Message
	var err error
	switch b.in.format {
	case Anthropic:
		m, err = decode.Anthropic(raw)
	case Responses:
		m, err = decode.Item(raw)
	case Gemini:
		m, err = decode.Gemini(raw)
	default:
		m, err = decode.OpenAI(raw)
		m.ID = decode.Str(raw, "id")
	}
	if err != nil {
		return err
	}
	b.msgs = append(b.msgs, m)
	return nil
}

func (b *builder) plainMessages(raw jsontext.Value) error {
	if raw.Kind() == '"' { // responses and Gemini accept a single string
		s, err := decode.String(raw)
		if err != nil {
			return b.in.valueError(raw, err)
		}
		b.msgs = append(b.msgs, chat.TextMessage(chat.User, s))
		return nil
	}
	if raw.Kind() != '[' {
		return b.in.newError(b.in.lineOf(raw), "the messages are "+decode.TypeName(raw)+", not an array", "check the file")
	}
	for _, v := range decode.Elements(raw) {
		if err := b.plainMessage(v); err != nil {
			return b.in.valueError(v, err)
		}
	}
	return nil
}

// readBody reads a whole request.
func (b *builder) readBody(raw jsontext.Value) error {
	var messages jsontext.Value
	for k, v := range decode.Members(raw) {
		var err error
		switch k {
		case "messages", "input", "contents":
			messages = v
		case "system", "instructions":
			var parts []chat.Part
			parts, err = decode.Content(v)
			b.s.System = append(b.s.System, parts...)
		case "systemInstruction", "system_instruction":
			if p := decode.Member(v, "parts"); p != nil {
				v = p
			}
			var parts []chat.Part
			parts, err = decode.GeminiParts(v)
			b.s.System = append(b.s.System, parts...)
		case "tools":
			b.s.Tools, err = decode.Tools(v)
		case "model":
			b.s.Model, err = decode.String(v)
		case "id", "session_id", "sessionId":
			b.s.ID, _ = decode.String(v)
		}
		if err != nil {
			return b.in.valueError(v, err)
		}
	}
	return b.plainMessages(messages)
}
