package llm

import (
	"cmp"
	"errors"
	"io"
	"strconv"

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
	// request returns the body.
	request(req *Request, stream bool) ([]byte, error)
	// answer reads a body that is not streamed.
	answer(raw []byte) (*wire.Answer, error)
	// follow reads a stream to its end and hands on the words. Where it breaks
	// off, the answer so far comes with the error.
	follow(r io.Reader, emit func(string) error) (*wire.Answer, error)
	// accept is the media type of a stream.
	accept() string
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

func (c *sse) accept() string {
	if c.framed {
		return "application/vnd.amazon.eventstream"
	}
	return "text/event-stream"
}

func (c *sse) request(req *Request, stream bool) ([]byte, error) {
	r := chat.Request{System: req.System, Tools: req.Tools, Output: max(req.Output, 0)}
	if c.dialect == wire.Anthropic && r.Output == 0 {
		r.Output = c.output
		if req.Room > 0 { // the provider counts the output into the window
			r.Output = min(r.Output, req.Room)
		}
	}
	head := []byte{'{'}
	if c.limit != "" && r.Output > 0 {
		head = append(quote(head, c.limit), ':')
		head = append(strconv.AppendInt(head, int64(r.Output), 10), ',')
		r.Output = 0
	}
	if c.version != "" {
		head = append(quote(append(head, `"anthropic_version":`...), c.version), ',')
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

func (c *sse) answer(raw []byte) (*wire.Answer, error) { return wire.ParseAnswer(c.dialect, raw) }

func (c *sse) follow(r io.Reader, emit func(string) error) (*wire.Answer, error) {
	if c.framed {
		r = &payloads{frames: frameReader{r: r}}
	}
	s := wire.NewStream(c.dialect)
	events := wire.NewEvents(r)
	for {
		last, err := c.next(s, events, emit)
		if err != nil {
			return s.Answer(), broke(s, err)
		}
		if last {
			return s.Answer(), s.Close() // a server may hold the connection open
		}
	}
}

// next takes one event of a stream and reports whether it is the last that matters.
func (c *sse) next(s *wire.Stream, events *wire.Events, emit func(string) error) (last bool, err error) {
	e, err := events.Next()
	if err != nil {
		return false, err
	}
	if err := s.Event(e); err != nil {
		return false, err
	}
	if string(e.Data) == "[DONE]" || failed(s) {
		return true, nil
	}
	if err := c.words(e.Name, e.Data, emit); err != nil {
		return false, err
	}
	return s.Done() && (c.dialect == wire.Anthropic || c.dialect == wire.Responses), nil
}

// failed reports whether the stream told of a failure. Its answer holds it.
func failed(s *wire.Stream) bool { return s.Failure() != nil }

// broke says what the end of a stream means for its answer.
func broke(s *wire.Stream, err error) error {
	switch {
	case err == io.EOF:
		return s.Close()
	case s.Done() && !errors.As(err, new(callerError)):
		return nil // all that matters has arrived
	}
	return err
}

// words hands on the words in an event.
func (c *sse) words(name string, data jsontext.Value, emit func(string) error) error {
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

func quote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}
