package llm

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/wire"
)

// Request is one call to a model.
type Request struct {
	// System is the system prompt, Tools what the model may call.
	System []chat.Part
	Tools  []chat.ToolDef

	// Messages are the conversation: a history, a view of one, or [chat.Messages].
	Messages chat.Sequence

	// Output is the most tokens of the answer; 0 leaves that to the provider,
	// or to Options.Output where the provider must be told.
	Output int

	// Room is how many tokens the window has left beside the prompt; 0 is unknown.
	// No more is asked for on behalf of a request that does not say its Output.
	Room int
}

// codec writes requests and reads answers.
type codec interface {
	// encodeRequest returns the body.
	encodeRequest(req *Request, stream bool) ([]byte, error)
	// decodeAnswer reads a body that is not streamed.
	decodeAnswer(raw []byte) (*wire.Answer, error)
	// readStream reads a stream to its end and hands on the words. Where it breaks
	// off, the answer so far comes with the error.
	readStream(r io.Reader, emit func(string) error) (*wire.Answer, error)
	// streamMedia is the media type of a stream.
	streamMedia() string
}

// callerError is an error of the function that takes the words.
type callerError struct{ error }

func (e callerError) Unwrap() error { return e.error }

// sse is the codec of the dialects that wire knows, whose streams are
// server-sent events.
type sse struct {
	dialect wire.Dialect
	model   string // in the body, "" when the address names it
	limit   string // the output limit's name, "" for the dialect's own
	output  int    // where Anthropic must be told
	version string // of Anthropic's API, in the body of Vertex
	bare    bool   // without options of the stream
	framed  bool   // events come in frames of AWS
}

func (c *sse) streamMedia() string {
	if c.framed {
		return "application/vnd.amazon.eventstream"
	}
	return "text/event-stream"
}

func (c *sse) encodeRequest(req *Request, stream bool) ([]byte, error) {
	r := chat.Request{System: req.System, Tools: req.Tools, Output: max(req.Output, 0)}
	if c.dialect == wire.Anthropic && r.Output == 0 {
		r.Output = c.output
		if req.Room > 0 { // the provider counts the output into the window
			r.Output = min(r.Output, req.Room)
		}
	}
	head := []byte{'{'}
	if c.limit != "" && r.Output > 0 {
		head = fmt.Appendf(head, "%q:%d,", c.limit, r.Output)
		r.Output = 0
	}
	if c.version != "" {
		head = fmt.Appendf(head, `"anthropic_version":%q,`, c.version)
	}
	if c.dialect == wire.Responses {
		head = append(head, `"store":false,`...)
	}
	if stream && c.dialect != wire.Gemini {
		head = append(head, `"stream":true,`...)
		if c.dialect == wire.OpenAI && !c.bare {
			head = append(head, `"stream_options":{"include_usage":true},`...)
		}
	}
	body, err := wire.Render(c.dialect, c.model, r, req.Messages)
	if err != nil {
		return nil, err
	}
	return append(head, body[1:]...), nil
}

func (c *sse) decodeAnswer(raw []byte) (*wire.Answer, error) { return wire.ParseAnswer(c.dialect, raw) }

func (c *sse) readStream(r io.Reader, emit func(string) error) (*wire.Answer, error) {
	if c.framed {
		r = &payloads{frames: frameReader{r: r}}
	}
	s := wire.NewStream(c.dialect)
	events := wire.NewEvents(r)
	for {
		last, err := c.takeEvent(s, events, emit)
		if err != nil {
			return s.Answer(), streamEndError(s, err)
		}
		if last {
			return s.Answer(), s.Close() // a server may hold the connection open
		}
	}
}

// takeEvent takes one event of a stream and reports whether it is the last that matters.
func (c *sse) takeEvent(s *wire.Stream, events *wire.Events, emit func(string) error) (last bool, err error) {
	e, err := events.Next()
	if err != nil {
		return false, err
	}
	if err := s.Event(e); err != nil {
		return false, err
	}
	if ended := string(e.Data) == "[DONE]" || s.Failure() != nil; ended { // the answer holds the failure
		return true, nil
	}
	if err := c.emitWords(e.Name, e.Data, emit); err != nil {
		return false, err
	}
	return s.Done() && (c.dialect == wire.Anthropic || c.dialect == wire.Responses), nil
}

// streamEndError says what the end of a stream means for its answer.
func streamEndError(s *wire.Stream, err error) error {
	switch {
	case err == io.EOF:
		return s.Close()
	case s.Done() && !errors.As(err, new(callerError)):
		return nil // all that matters has arrived
	}
	return err
}

// emitWords hands on the words in an event.
func (c *sse) emitWords(name string, data jsontext.Value, emit func(string) error) error {
	give := func(v jsontext.Value) error {
		if s, err := decode.String(v); err == nil && s != "" && v.Kind() == '"' {
			return emit(s)
		}
		return nil
	}
	switch c.dialect {
	case wire.Anthropic:
		switch d := decode.Member(data, "delta"); decode.Str(d, "type") {
		case "text_delta":
			return give(decode.Member(d, "text"))
		}
		return give(decode.Path(data, "content_block", "text"))
	case wire.Gemini:
		for _, candidate := range decode.Elements(decode.Member(data, "candidates")) {
			for _, p := range decode.Elements(decode.Path(candidate, "content", "parts")) {
				if thought, _ := decode.Bool(decode.Member(p, "thought")); !thought {
					if err := give(decode.Member(p, "text")); err != nil {
						return err
					}
				}
			}
			break
		}
	case wire.Responses:
		name = cmp.Or(decode.Str(data, "type"), name)
		if name == "response.output_text.delta" || name == "response.refusal.delta" {
			return give(decode.Member(data, "delta"))
		}
	default:
		for _, choice := range decode.Elements(decode.Member(data, "choices")) {
			if n, _ := decode.Int(decode.Member(choice, "index")); n != 0 {
				continue
			}
			d := decode.Member(choice, "delta")
			if err := give(decode.Member(d, "content")); err != nil {
				return err
			}
			if err := give(decode.Member(d, "refusal")); err != nil {
				return err
			}
		}
	}
	return nil
}
