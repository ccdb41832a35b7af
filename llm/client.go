package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/winnow-llm/winnow/wire"
)

// Client calls one model of one provider. It is safe for concurrent use.
type Client struct {
	setup  // without what is secret in its options
	http   http.Client
	redact func(string) string

	// The clock, the pause between tries, and numbers from 0 to 1 that spread pauses:
	// tests put in their own.
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
	rand  func() float64
}

// New returns a client for "provider/model", for example
// "openai/gpt-5-mini" or "ollama/qwen3:8b". Options may be nil. No connection is made
// yet. The error is a [*SetupError] that says what is missing.
func New(spec string, o *Options) (*Client, error) {
	p, model, err := parseSpec(spec)
	if err != nil {
		return nil, err
	}
	full := o.withDefaults()
	c := &Client{setup: setup{p: p, o: &full, model: model}, now: time.Now, sleep: sleepContext, rand: rand.Float64}
	if err := c.prepareAddresses(); err != nil {
		return nil, err
	}
	rt, secrets, err := c.authenticate()
	if err != nil {
		return nil, err
	}
	c.redact = newRedactor(secrets)
	full.Key, full.Header = "", nil
	c.http = http.Client{
		Transport: rt,
		// A redirect would carry the key to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Provider returns the provider's name.
func (c *Client) Provider() string { return c.p.name }

// Name returns the model's name as it was given, without the provider.
func (c *Client) Name() string { return c.model }

// String returns provider and model, and nothing that is secret.
func (c *Client) String() string { return c.p.name + "/" + c.model }

// GoString is as String.
func (c *Client) GoString() string { return "llm.Client(" + c.String() + ")" }

// Complete asks the model and returns its whole answer. The error is an
// [*Error], an [*OverflowError] where the request was too long, or says that the request makes no sense.
func (c *Client) Complete(ctx context.Context, req *Request) (*wire.Answer, error) {
	return c.callWithRetries(ctx, req, nil)
}

// Stream asks the model and hands on the words of its answer as they arrive;
// thinking and calls come with the answer only. An error of text ends the call and is
// returned as it is. A call is not tried again once words were handed on. Where
// a stream breaks off, the answer so far comes with the error.
func (c *Client) Stream(ctx context.Context, req *Request, text func(words string) error) (*wire.Answer, error) {
	if text == nil {
		text = func(string) error { return nil }
	}
	return c.callWithRetries(ctx, req, text)
}

var errTimeout = errors.New("the call took too long")

// callWithRetries makes a call with its retries.
func (c *Client) callWithRetries(ctx context.Context, req *Request, text func(string) error) (*wire.Answer, error) {
	if req == nil || req.Messages == nil || req.Messages.Len() == 0 {
		return nil, errors.New("llm: the request has no messages; give at least one")
	}
	body, err := c.codec.encodeRequest(req, text != nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, errTimeout)
	defer cancel()
	t := &try{c: c, body: body, stream: text != nil, estimate: estimateTokens(req)}
	t.emit = func(words string) error {
		if t.size += len(words); t.size > c.o.MaxAnswer {
			return &http.MaxBytesError{Limit: int64(c.o.MaxAnswer)}
		}
		if text == nil {
			return nil
		}
		t.given = true
		if err := text(words); err != nil {
			return callerError{err}
		}
		return nil
	}
	wait := c.o.Backoff
	for n := 1; ; n++ {
		t.size = 0
		a, e := t.sendOnce(ctx)
		if e == nil {
			return a, nil
		}
		var own callerError
		if errors.As(e.cause, &own) {
			return a, own.error
		}
		e.Tries = n
		pause := time.Duration(float64(wait) * (0.75 + c.rand()/2))
		if e.Verdict.RetryAfter > 0 {
			pause = e.Verdict.RetryAfter
		}
		if n > c.o.Retries || !e.Verdict.Retryable || t.given || pause > c.o.MaxWait || ctx.Err() != nil || tooLate(ctx, pause) {
			return a, e.asTypedError()
		}
		wait = min(2*wait, c.o.MaxWait)
		if err := c.sleep(ctx, pause); err != nil {
			e = t.brokenCallError(ctx, err)
			e.Tries = n
			return a, e.asTypedError()
		}
	}
}

// tooLate reports whether the call will be over before the pause is.
func tooLate(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}

// estimateTokens returns roughly how many tokens a request has; it errs on the low side.
func estimateTokens(req *Request) int {
	n := 0
	for i := range req.System {
		n += len(req.System[i].Text)
	}
	for i := range req.Messages.Len() {
		for _, p := range req.Messages.At(i).Parts {
			n += len(p.Text) + len(p.Args)
		}
	}
	return n / 5
}
