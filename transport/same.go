package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// caller is the model that a conversation itself talks to, asked for a summary with
// the headers of its last request. They are held while the summary is written and
// kept nowhere.
type caller struct {
	base   http.RoundTripper
	url    string
	header http.Header
	end    Endpoint
	model  string
	stream bool
	window int
	count  *token.Counter

	// project pays for requests to Google's code assist, which stand inside another
	// object there.
	project string

	// system is what a request must begin with that a subscription pays for: the
	// providers take such requests from the agent alone.
	system []chat.Part
}

type callerKey struct{}

// asCaller returns the caller of a request as a model that summarises.
func (in *incoming) asCaller() *caller {
	m := &caller{
		base: in.t.opts.Base, url: in.req.URL.String(), header: in.req.Header.Clone(), end: in.end, model: in.whose.model,
		stream: in.end.Stream || in.body.Stream(), window: in.engine.Window().Tokens, count: in.engine.Meter().Counter(),
	}
	for _, name := range [...]string{"Content-Length", "Content-Encoding", "Accept-Encoding", "Transfer-Encoding", "Idempotency-Key"} {
		m.header.Del(name)
	}
	if strings.Contains(in.req.URL.Path, codeAssist) {
		m.project = decode.Str(in.raw, "project")
	}
	if system := in.body.Request().System; paidBySubscription(in.req) && len(system) > 0 {
		m.system = system[:1]
	}
	return m
}

// same is a summariser that asks the caller's own model, which its context names.
type same struct{ timeout time.Duration }

// Summarize implements [summary.Summarizer].
func (s same) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	m, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return summary.Builtin().Summarize(ctx, in)
	}
	o := summary.LLMOptions{Model: m, Name: m.model, Window: m.window, Counter: m.count, Timeout: s.timeout, Sequential: true}
	return summary.NewLLM(&o).Summarize(ctx, in)
}

// mostAnswer is the largest answer that is read, in bytes.
const mostAnswer = 4 << 20

// Complete implements [summary.Model].
func (m *caller) Complete(ctx context.Context, p summary.Prompt) (summary.Completion, error) {
	if strings.HasPrefix(m.header.Get("Authorization"), "AWS4-") {
		return summary.Completion{}, m.refusalError(0, wire.Verdict{Kind: wire.KindOther, Message: "the caller signs its requests, so winnow cannot send one of its own"})
	}
	body, err := m.encodePrompt(&p)
	if err != nil {
		return summary.Completion{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return summary.Completion{}, err
	}
	req.Header = m.header.Clone()
	resp, err := m.base.RoundTrip(req)
	if err != nil {
		return summary.Completion{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return summary.Completion{}, err
	}
	if resp.StatusCode != http.StatusOK {
		v := wire.Classify(resp.StatusCode, resp.Header, raw)
		v.Message = "" // it may quote the request
		return summary.Completion{}, m.refusalError(resp.StatusCode, v)
	}
	var a *wire.Answer
	if m.stream {
		a, err = wire.ReadStream(m.end.Dialect, bytes.NewReader(raw), nil)
	} else {
		a, err = wire.ParseAnswer(m.end.Dialect, raw)
	}
	if err != nil {
		return summary.Completion{}, err
	}
	return llm.Completion(a, string(m.end.Dialect), m.model)
}

// refusalError returns the error for a call that the provider refuses.
func (m *caller) refusalError(status int, v wire.Verdict) error {
	err := &llm.Error{Provider: string(m.end.Dialect), Model: m.model, Status: status, Verdict: v}
	if v.Kind == wire.KindOverflow {
		return &llm.OverflowError{Err: err}
	}
	return err
}

// encodePrompt writes the body, in the dialect that the caller speaks.
func (m *caller) encodePrompt(p *summary.Prompt) ([]byte, error) {
	r := chat.Request{System: append(m.system[:len(m.system):len(m.system)], chat.Part{Kind: chat.Text, Text: p.System}), Output: p.Output}
	head := "{"
	if m.end.Dialect == wire.Responses {
		head += `"store":false,`
		if m.system != nil {
			r.Output = 0 // there the provider takes no limit
		}
	}
	if m.stream && m.end.Dialect != wire.Gemini {
		head += `"stream":true,`
		if m.end.Dialect == wire.OpenAI {
			head += `"stream_options":{"include_usage":true},`
		}
	}
	name := m.model
	if m.end.Dialect == wire.Gemini { // the address has it, or what stands around the request
		name = ""
	}
	body, err := wire.Render(m.end.Dialect, name, r, chat.Messages{chat.TextMessage(chat.User, p.Text)})
	if err != nil {
		return nil, err
	}
	body = append([]byte(head), body[1:]...)
	if m.end.Dialect == wire.Gemini && m.end.Model == "" {
		return json.Marshal(map[string]any{"model": m.model, "project": m.project, "request": json.RawMessage(body)})
	}
	return body, nil
}
