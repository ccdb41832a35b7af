package transport

import (
	"context"
	"fmt"
	"net/http"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// A request's way is three values that are passed on:
//
//	incoming  what came in: the request, taken apart
//	decision  what is done about it, decided from its [conversation]
//	result    what came of it: the answer, and another decision where the provider refused

// incoming is a request as it came. Nothing in it changes once it is read.
type incoming struct {
	t   *Transport
	req *http.Request
	end Endpoint
	raw []byte

	// extra goes along with the request: the observer wrote it.
	extra http.Header

	said
	engine *winnow.Winnow
}

// said is what a request says. It is read once, and remembered for the requests
// that follow.
type said struct {
	body  *wire.Body
	whose endpointModel
	key   planstore.Key // of the conversation
}

// room returns the tenant and the dialect: whose requests this one may share memory
// with.
func (s *said) room() room { return room{s.whose.tenant, s.body.Dialect()} }

// history returns the messages of the request.
func (s *said) history() chat.History { return s.body.Request().History }

func (in *incoming) ctx() context.Context { return in.req.Context() }

// parseBody reads the body, of which what a remembered request has in common with it
// is not read again.
func (in *incoming) parseBody(like *recent) (err error) {
	switch {
	case like == nil:
		in.body, err = wire.Parse(in.end.Dialect, in.raw)
	case string(like.body.Raw()) == string(in.raw):
		in.body = like.body
	default:
		in.body, err = like.body.Next(in.raw)
	}
	return err
}

// passOn decides that the request is sent as it came, and that nothing is done
// about it when it is refused.
func (in *incoming) passOn(why Reason) decision {
	return decision{kind: passedOn, passed: why, out: in.raw}
}

// projectView notes what is known about a view that will be sent.
func (in *incoming) projectView(p *plan.Plan, v plan.View, s winnow.Status) projection {
	req := in.body.Request()
	if p != nil && len(p.Edits) == 0 && len(p.Strip) == 0 {
		p = nil
	}
	out := projection{plan: p, view: v, status: s, step: in.engine.Step(&req, v)}
	if whole, err := plan.Apply(req.History, nil); err == nil && p != nil {
		m := in.engine.Meter()
		out.saved = int(s.Scale * float64(m.Measure(whole).Tokens-m.Measure(v).Tokens))
	}
	return out
}

// encodeView writes the body for a view and checks it as the provider will.
func (in *incoming) encodeView(v plan.View) ([]byte, error) {
	out, err := in.body.Encode(v)
	if err != nil {
		return nil, err
	}
	if v.Plan() == nil || len(out) == len(in.raw) && &out[0] == &in.raw[0] {
		return out, nil
	}
	problems := wire.Validate(in.end.Dialect, out)
	if len(problems) == 0 {
		return out, nil
	}
	// What the caller got wrong itself is between it and the provider.
	own := make(map[string]bool)
	for _, p := range wire.Validate(in.end.Dialect, in.raw) {
		own[p.Rule] = true
	}
	for _, p := range problems {
		if !own[p.Rule] {
			return nil, fmt.Errorf("the request under plan %s would be refused: %s at message %d", v.Plan().ID(), p.Rule, p.At)
		}
	}
	return out, nil
}
