package llm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/wire"
)

// try is one call to a provider, which may be repeated.
type try struct {
	c        *Client
	body     []byte
	stream   bool
	estimate int
	emit     func(string) error
	size     int  // bytes of words in this try
	given    bool // words were handed on
}

var errIdle = errors.New("nothing arrived on the stream")

// maxErrorBody is as much as is read of an error.
const maxErrorBody = 64 << 10

// sendOnce sends the request once. An answer may come with the error.
func (t *try) sendOnce(ctx context.Context) (*wire.Answer, *Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beat func()
	if t.stream {
		timer := time.AfterFunc(t.c.o.IdleTimeout, func() { cancel(errIdle) })
		defer timer.Stop()
		beat = func() { timer.Reset(t.c.o.IdleTimeout) }
	}
	address, accept := t.c.plain, "application/json"
	if t.stream {
		address, accept = t.c.stream, t.c.codec.streamMedia()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(t.body))
	if err != nil {
		return nil, t.brokenCallError(ctx, err)
	}
	r.Header = t.c.header.Clone()
	r.Header.Set("Accept", accept)
	resp, err := t.c.http.Do(r)
	if err != nil {
		return nil, t.brokenCallError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		raw, err := io.ReadAll(io.LimitReader(&beating{resp.Body, beat}, maxErrorBody))
		if ctx.Err() != nil {
			return nil, t.brokenCallError(ctx, err)
		}
		return nil, t.statusError(resp, raw)
	}
	a, err := t.readAnswer(resp, beat)
	id := requestID(resp.Header)
	if err != nil {
		e := t.brokenCallError(ctx, err)
		e.Status, e.RequestID = resp.StatusCode, id
		return a, e
	}
	if e := t.findFailure(a); e != nil {
		e.Status, e.RequestID = resp.StatusCode, id
		return a, e
	}
	return a, nil
}

// readAnswer reads an answer in whichever form it came: some servers stream without
// being asked to, some do not when they are.
func (t *try) readAnswer(resp *http.Response, beat func()) (*wire.Answer, error) {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	streamed := t.stream
	switch media {
	case "text/event-stream", "application/vnd.amazon.eventstream":
		streamed = true
	case "application/json":
		streamed = false
	}
	var body io.Reader = &beating{resp.Body, beat}
	if media != "application/vnd.amazon.eventstream" {
		body = sniffStreamed(body, &streamed)
	}
	if streamed {
		return t.c.codec.readStream(http.MaxBytesReader(nil, io.NopCloser(body), int64(4*t.c.o.MaxAnswer)), t.emit)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(body), int64(t.c.o.MaxAnswer)))
	if err != nil {
		return nil, err
	}
	a, err := t.c.codec.decodeAnswer(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if t.stream && a.Failure == nil {
		if words := a.Message.Text(); words != "" {
			return a, t.emit(words)
		}
	}
	return a, nil
}

// sniffStreamed looks at the first byte of an answer, since servers and proxies name the
// wrong type: no event begins like a JSON value, and no value like an event.
func sniffStreamed(r io.Reader, streamed *bool) io.Reader {
	b := bufio.NewReader(r)
	for {
		first, err := b.Peek(1)
		if err != nil {
			return b // who reads on gets the error
		}
		switch first[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = b.Discard(1)
			continue
		case 0xEF: // a byte order mark
			if mark, err := b.Peek(3); err == nil && string(mark) == "\uFEFF" {
				_, _ = b.Discard(3)
				continue
			}
		case '{', '[':
			*streamed = false
		case 'd', 'e', 'i', 'r', ':': // data, event, id, retry, a comment
			*streamed = true
		}
		return b
	}
}

var errNoAnswer = errors.New("the body is not an answer")

// ollamaWindow is the smallest window that Ollama has by default.
const ollamaWindow = 2048

// findFailure finds the failure in an answer that came with success.
func (t *try) findFailure(a *wire.Answer) *Error {
	window := t.c.o.Window
	if n := a.Usage.Prompt(); t.c.p.name == "ollama" && n > 0 && (window == 0 || window > n) && t.estimate > ollamaWindow {
		window = n // it drops the oldest messages in silence: what it counted is all it took
	}
	if v, over := a.Overflow(window, t.estimate); over {
		return t.verdictError(v, nil)
	}
	switch {
	case a.Failure != nil:
		return t.verdictError(*a.Failure, nil)
	case a.Stop == wire.StopError:
		return t.verdictError(wire.Verdict{Kind: wire.KindOther, Message: "the model stopped with an error (" + a.Reason + ")", Retryable: true}, nil)
	case len(a.Message.Parts) == 0 && a.Stop == "":
		return t.verdictError(wire.Verdict{Kind: wire.KindOther, Message: "the body is not an answer from this provider", Retryable: true}, errNoAnswer)
	}
	return nil
}

// statusError returns the error for an answer whose status says that the call failed.
func (t *try) statusError(resp *http.Response, raw []byte) *Error {
	said := raw
	if kind := resp.Header.Get("X-Amzn-Errortype"); kind != "" {
		kind, _, _ = strings.Cut(kind, ":")
		said = append([]byte(kind+": "), raw...)
	}
	v := wire.Classify(resp.StatusCode, resp.Header, said)
	if v.RetryAfter == 0 {
		if at, err := http.ParseTime(resp.Header.Get("Retry-After")); err == nil {
			v.RetryAfter = max(0, at.Sub(t.c.now()))
		}
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		v = wire.Verdict{Kind: wire.KindBadRequest, Message: "the server redirects, which winnow does not follow: check the address"}
	}
	e := t.verdictError(v, nil)
	e.Status, e.RequestID = resp.StatusCode, requestID(resp.Header)
	return e
}

// brokenCallError returns the error for a call that ended without an answer.
func (t *try) brokenCallError(ctx context.Context, err error) *Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which may hold a secret
	}
	if ctx.Err() != nil && !errors.As(err, new(callerError)) {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errIdle):
			return t.verdictError(wire.Verdict{Kind: wire.KindTimeout, Retryable: true, Message: fmt.Sprintf("nothing arrived on the stream for %v", t.c.o.IdleTimeout)}, context.DeadlineExceeded)
		case errors.Is(cause, errTimeout):
			return t.verdictError(wire.Verdict{Kind: wire.KindTimeout, Retryable: true, Message: fmt.Sprintf("no answer within %v", t.c.o.Timeout)}, context.DeadlineExceeded)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return t.verdictError(wire.Verdict{Kind: wire.KindTimeout, Retryable: true, Message: "no answer before the caller's deadline"}, context.DeadlineExceeded)
		}
		return t.verdictError(wire.Verdict{Kind: wire.KindOther, Message: "the call was cancelled"}, context.Canceled)
	}
	var verdict *wire.Verdict
	var setup *SetupError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &verdict):
		return t.verdictError(*verdict, nil)
	case errors.As(err, &setup):
		return t.verdictError(wire.Verdict{Kind: wire.KindAuth, Message: strings.TrimPrefix(strings.TrimPrefix(setup.Error(), "llm: "), t.c.p.name+": ")}, err)
	case errors.As(err, new(*http.MaxBytesError)):
		return t.verdictError(wire.Verdict{Kind: wire.KindOther, Message: fmt.Sprintf("the answer has more than %d bytes; raise Options.MaxAnswer if that is right", t.c.o.MaxAnswer)}, err)
	case errors.As(err, &slow) && slow.Timeout():
		return t.verdictError(wire.Verdict{Kind: wire.KindTimeout, Retryable: true, Message: err.Error()}, err)
	}
	return t.verdictError(wire.Verdict{Kind: wire.KindOther, Retryable: true, Message: err.Error()}, err)
}

// verdictError makes the error of a verdict.
func (t *try) verdictError(v wire.Verdict, cause error) *Error {
	v.Message = text.Clip(t.c.redact(v.Message), 600)
	if v.Kind == wire.KindOverflow || v.Status == http.StatusBadRequest {
		v.Retryable = false
	}
	return &Error{Provider: t.c.p.name, Model: t.c.model, Verdict: v, Status: v.Status, Tries: 1, cause: cause, source: t.c.source}
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Goog-Request-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" {
			return text.Clip(id, 100)
		}
	}
	return ""
}

// beating tells that bytes arrive.
type beating struct {
	r    io.Reader
	beat func()
}

func (b *beating) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 && b.beat != nil {
		b.beat()
	}
	return n, err
}
