package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/winnow-llm/winnow/wire"
)

// ErrElsewhere says that the plan of the conversation is held by a process that
// cannot be reached now.
var ErrElsewhere = errors.New("the conversation's plan cannot be reached at the moment; try again")

type callKey struct{}

// WithCall tells [Transport.Fit] which call a body is for, where the body does not
// say all: the address names a model of Gemini's, the header has the credential that
// tells tenants apart and how the body is packed. The call's own body is not read.
func WithCall(ctx context.Context, call *http.Request) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// Fit makes the body of a request fit as [Transport.RoundTrip] does, and returns the
// body that it would send, without sending it: for programs and gateways that make
// the call themselves. The dialect is known by the body's form, the conversation is
// found as for requests, and the plan is kept, so that the next body of the
// conversation goes out under it.
//
//	fitted, done, err := t.Fit(ctx, body)
//	if err != nil {
//		return err // the body is not a request of a conversation
//	}
//	answer, err := http.Post("https://api.anthropic.com/v1/messages", "application/json", bytes.NewReader(fitted))
//
// The header says what Fit did, as an answer's would: [HeaderPlan], [HeaderTokens],
// [HeaderAvailable], [HeaderMaxTokens], [HeaderPassed]. [WithCall] tells more about
// the call. Since the answer is not seen, sizes stay estimates and a refusal
// teaches nothing: where the call can go through the transport, let it.
func (t *Transport) Fit(ctx context.Context, body []byte) (fitted []byte, done http.Header, err error) {
	req, end, err := callFor(ctx, body)
	if err != nil {
		return nil, nil, err
	}
	in, err := t.readBody(req)
	if err != nil {
		return nil, nil, err
	}
	if in.rest != nil {
		return nil, nil, fmt.Errorf("transport: the body cannot be read: %s", whyUnread(in.why, len(codingsOf(req.Header)) > 0))
	}
	defer t.releaseRoom(&in)
	t.tally(func(s *Stats) { s.Requests++ })
	c := &conversation{incoming: &incoming{t: t, req: req, end: end, raw: in.raw}}
	d := c.decide()
	if d.kind == turnedAway {
		return nil, nil, fmt.Errorf("transport: %w", ErrElsewhere)
	}
	told := &http.Response{Header: http.Header{}}
	(&result{c: c, d: &d}).writeHeaders(told)
	return d.out, told.Header, nil
}

// callFor is the request that a body is for, and what it asks: the one of [WithCall],
// else one of which nothing but the body is known.
func callFor(ctx context.Context, body []byte) (req *http.Request, end Endpoint, err error) {
	req, ok := ctx.Value(callKey{}).(*http.Request)
	if ok {
		end, ok = EndpointOf(req)
		err = errors.New("transport: the request is none of a conversation; name a path of the provider's API, such as /v1/messages")
	} else {
		req = &http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{}}
		end.Dialect, ok = wire.Detect(body)
		err = errors.New("transport: it is not clear whose request this is; send the whole body of a call to chat completions, responses, messages or generateContent")
	}
	if !ok {
		return nil, end, err
	}
	req = req.Clone(ctx)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return req, end, nil
}
