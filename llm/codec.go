package llm

import (
	"fmt"
	"io"

	"github.com/winnow-llm/winnow/chat"
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
	return wire.ReadStream(c.dialect, r, emit)
}
