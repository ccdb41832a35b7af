package transport

import (
	"errors"
	"fmt"
	"net/http"
)

// Errors of [Transport.Fit].
var (
	// ErrNoConversation says that a request asks no model to go on with a conversation.
	ErrNoConversation = errors.New("the request is none of a conversation; name the path of the provider's API, such as /v1/messages")
	// ErrUnread says that a body is too large, or in a coding that is not known here.
	ErrUnread = errors.New("the body cannot be read")
	// ErrElsewhere says that the plan of the conversation is held by a process that
	// cannot be reached now.
	ErrElsewhere = errors.New("the conversation's plan is not to be had at the moment; try again")
)

// Fit makes a request fit as [Transport.RoundTrip] does, and returns the body that
// it would send, without sending it: for programs and gateways that make the call
// themselves. The plan is kept, so that the next request of the conversation goes
// out under it. What was done stands in the header, as it would in an answer's:
// [HeaderPlan], [HeaderTokens], [HeaderAvailable], [HeaderMaxTokens], [HeaderPassed].
//
//	req, _ := http.NewRequest("POST", "https://api.anthropic.com/v1/messages", body)
//	fitted, done, err := t.Fit(req)
//
// Since the answer is not seen, sizes stay estimates and a refusal teaches nothing:
// where the call can go through the transport, let it.
func (t *Transport) Fit(req *http.Request) (fitted []byte, done http.Header, err error) {
	end, ok := EndpointOf(req)
	if !ok || req.Body == nil || req.Body == http.NoBody {
		return nil, nil, fmt.Errorf("transport: %w", ErrNoConversation)
	}
	body, err := t.readBody(req)
	if err != nil {
		return nil, nil, err
	}
	if body.rest != nil {
		_ = body.rest.Close()
		return nil, nil, fmt.Errorf("transport: %w: %s", ErrUnread, whyUnread(body.why, len(codingsOf(req.Header)) > 0))
	}
	defer t.done(&body)
	t.tally(func(s *Stats) { s.Requests++ })
	c := &conversation{incoming: &incoming{t: t, req: req, end: end, raw: body.raw}}
	d := c.decide()
	if d.kind == turnedAway {
		return nil, nil, fmt.Errorf("transport: %w", ErrElsewhere)
	}
	told := &http.Response{Header: http.Header{}}
	(&result{c: c, d: &d}).tell(told)
	return d.out, told.Header, nil
}
