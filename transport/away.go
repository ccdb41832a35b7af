package transport

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

const (
	// askAgain is how long to wait before a store that is gone is asked again.
	askAgain = 50 * time.Millisecond

	// settleEvery is how often a provisional plan is offered to it.
	settleEvery = 250 * time.Millisecond

	// maxUnsettled is how many are offered. Others are stored with the next request of
	// their conversation.
	maxUnsettled = 1024
)

// retryStore asks the store, and asks it again for a while where it has just become
// unreachable: a database that is restarted, or whose place another one takes, is
// back in a moment, and a request that waits for it is sent under the plan that
// every gateway knows. Once it has been away for longer, nobody waits.
func (c *conversation) retryStore(ask func() error) error {
	for {
		since := time.Now().UnixNano()
		err := ask()
		if !errors.Is(err, planstore.ErrGone) {
			if c.t.outage.since.Load() != 0 {
				c.t.outage.since.Store(0)
			}
			return err
		}
		if !c.t.outage.since.CompareAndSwap(0, since) {
			since = c.t.outage.since.Load()
		}
		if time.Since(time.Unix(0, since)) >= c.t.opts.StoreWait {
			return err
		}
		select {
		case <-time.After(askAgain):
		case <-c.ctx().Done():
			return err
		}
	}
}

// outage is what is known of the store's absences.
type outage struct {
	last  atomic.Int64 // when it was last found to be gone, in nanoseconds since 1970
	since atomic.Int64 // since when it has been; 0 where it is not; by the system's clock

	// waiting is how many provisional plans are offered. They are stored when the store
	// is back, whether or not the conversation comes to this process again.
	waiting atomic.Int64
}

// offer is a plan for the store.
type offer struct {
	conv planstore.Conversation
	h    chat.History
	p    *plan.Plan
	info control.PlanInfo
}

// offerPlan offers a plan until it is stored, or the transport is closed.
func (t *Transport) offerPlan(x *offer) {
	u := &t.outage
	if u.waiting.Add(1) > maxUnsettled {
		u.waiting.Add(-1)
		return
	}
	go func() {
		defer u.waiting.Add(-1)
		for err := planstore.ErrGone; errors.Is(err, planstore.ErrGone); {
			select {
			case <-time.After(settleEvery):
			case <-t.ctx.Done():
				return
			}
			if err = t.settleOffer(context.Background(), x); err != nil && !errors.Is(err, planstore.ErrGone) {
				t.tally(func(s *Stats) { s.StoreFails++ })
			}
		}
	}()
}

// settleOffer stores a plan that was made while the store was gone, unless a
// better one is there.
func (t *Transport) settleOffer(ctx context.Context, x *offer) error {
	c, err := t.findConversation(ctx, x.conv.Key, x.h)
	if err != nil {
		return err
	}
	base, err := t.inForce(ctx, &c, x.h, nil)
	if err != nil || !mayReplace(x.p, base) {
		return err
	}
	x.info.Parent, x.info.Saved = base.ID(), tokensSaved(x.p)-tokensSaved(base)
	won, err := t.opts.Store.Settle(ctx, c.Conversation, x.h, base.ID(), x.p, x.info)
	switch {
	case err != nil:
		return err
	case won.ID() == x.p.ID():
		t.tally(func(s *Stats) { s.SettledLate++ })
	default:
		t.tally(func(s *Stats) { s.Conflicts++ })
	}
	return nil
}

// mayReplace reports whether a plan that was made while the store was gone takes
// the place of the plan in force there. Another gateway's plan, for the same
// messages or for more, stays: it was sent already.
func mayReplace(p, inForce *plan.Plan) bool {
	return inForce == nil || inForce.ID() != p.ID() && (inForce.Len < p.Len || inForce.ID() == p.Parent)
}
