package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// Several gateways share a store, and a conversation may come to any of them.
// What one remembers of it may be old, and the store may be gone for a while.
// Then:
//
//   - a conversation that is remembered goes on under its plan, with the same
//     bytes;
//   - one that is not, and is below its trigger, can have no plan: it passes;
//   - above it, it gets a provisional plan: one that this gateway alone knows.
//     When the store is back it is stored, or the plan that is there takes its
//     place;
//   - where that cannot be, because thinking in an open tool loop is bound to
//     bytes that only the store knows, the caller is asked to come again; so it
//     is where the provider refuses thinking as bound to other bytes: another
//     gateway sent them.

// settleWithin is how long after the store was gone callers are asked to come
// again for the sake of thinking that another gateway's provisional plan binds:
// the gateway that has that plan stores it when the caller comes to it.
const settleWithin = time.Minute

// retryAfter is when a caller should come again, in seconds.
const retryAfter = 2

// servedElsewhere reports whether another process has served this conversation since
// the request that is remembered: there is more than one answer after it.
func servedElsewhere(h chat.History, last *recent) bool {
	runs, within := 0, false
	for i := last.history().Len(); i < h.Len(); i++ {
		answer := h.At(i).Role == chat.Assistant
		if answer && !within {
			runs++
		}
		within = answer
	}
	return runs > 1
}

// catchUp takes what the store knows of this conversation, where that is newer
// than what is remembered.
func (c *conversation) catchUp(h chat.History) {
	var mark planstore.Mark
	err := c.retryStore(func() (err error) {
		mark, err = findMark(c.ctx(), c.t.opts.Store, c.key, h)
		return err
	})
	if err != nil {
		c.storeFailed(err)
		return
	}
	if mark.Len == 0 || c.last != nil && mark.Len <= c.last.history().Len() {
		return
	}
	c.steps, c.point, c.notLasted = mark.Steps, mark.Chain, mark.NotLasted
	if mark.At.After(c.at) {
		c.at = mark.At
	}
}

// storeFailed counts that the store failed. That it is gone is said once, by the
// store.
func (c *conversation) storeFailed(err error) {
	c.t.tally(func(s *Stats) { s.StoreFails++ })
	if errors.Is(err, planstore.ErrGone) {
		c.gone = true
		c.t.outage.last.Store(c.t.opts.Now().UnixNano())
	}
}

// knownElsewhere reports whether another gateway may know better under which plan this
// conversation was sent: the store is gone, or was a moment ago, and nothing of
// the conversation is remembered here, or others have served it since.
func (c *conversation) knownElsewhere() bool {
	away := c.gone || c.t.opts.Now().Sub(time.Unix(0, c.t.outage.last.Load())) < settleWithin
	return away && c.age != current
}

// findPlan looks for the plan in force.
func (c *conversation) findPlan(h chat.History) {
	var remembered *plan.Plan
	if c.last != nil {
		if p := c.last.track.Plan(); p.Covers(h) {
			remembered = p
		}
	}
	if err := c.retryStore(func() error { return c.placeRequest(h, remembered) }); err != nil {
		c.reportFailure("store", err)
		c.base = remembered
		c.provisional = c.last != nil && c.last.provisional
		return
	}
	if c.last != nil && c.last.provisional && remembered != nil {
		c.settleLate(h, remembered)
	}
}

// settleLate has the store keep a plan that was made while it was gone. A plan
// that another gateway made meanwhile, for the same messages or for more, is in
// force instead.
func (c *conversation) settleLate(h chat.History, p *plan.Plan) {
	err := c.t.settleOffer(c.ctx(), &offer{c.conv.Conversation, h, p, c.madeAway(p)})
	if err == nil {
		err = c.placeRequest(h, p)
	}
	if err != nil {
		c.reportFailure("store", err)
		c.base, c.provisional = p, true
	}
}

// madeAway says how a plan came about that the store gets later.
func (c *conversation) madeAway(p *plan.Plan) control.PlanInfo {
	return conview.DescribePlan(control.PlanInfo{By: "request", Why: "made while the store could not be reached", Request: c.conv.Totals.Requests + 1}, p)
}

// answerUnavailable answers the caller in the provider's place: it asks it to come again.
func (in *incoming) answerUnavailable() *http.Response {
	in.t.tally(func(s *Stats) { s.Unavailable++ })
	const why = "winnow: the store of plans is unreachable, and thinking in this conversation depends on a plan in it; try again"
	var doc any
	switch in.end.Dialect {
	case wire.Anthropic:
		doc = map[string]any{"type": "error", "error": map[string]string{"type": "overloaded_error", "message": why}}
	case wire.Gemini:
		doc = map[string]any{"error": map[string]any{"code": http.StatusServiceUnavailable, "message": why, "status": "UNAVAILABLE"}}
	default:
		doc = map[string]any{"error": map[string]any{"message": why, "type": "server_error", "param": nil, "code": "store_unavailable"}}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		body = []byte("{}") // these are strings
	}
	return &http.Response{
		Status: fmt.Sprint(http.StatusServiceUnavailable, " ", http.StatusText(http.StatusServiceUnavailable)), StatusCode: http.StatusServiceUnavailable,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: in.req,
		Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {strconv.Itoa(retryAfter)}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
