package transport

import (
	"context"
	"errors"
	"sync"
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

	// settleEvery is how often provisional plans are offered to it.
	settleEvery = 250 * time.Millisecond

	// maxUnsettled is how many conversations have one that is offered. Those of
	// others are stored with their next request.
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

	// offers are provisional plans, by conversation. They are stored when the store
	// is back, whether or not the conversation comes to this process again.
	mu      sync.Mutex
	offers  map[conversationID]*offer
	running bool
	stop    chan struct{}
}

// offer is a plan for the store.
type offer struct {
	conv planstore.Conversation
	h    chat.History
	p    *plan.Plan
	info control.PlanInfo
}

// addOffer has a plan stored as soon as may be. A plan that follows one which is
// still not stored takes its place.
func (t *Transport) addOffer(x *offer) {
	u := &t.outage
	u.mu.Lock()
	defer u.mu.Unlock()
	k := conversationID{x.conv.Key.Tenant, x.conv.ID}
	if u.offers[k] == nil && len(u.offers) >= maxUnsettled {
		return
	}
	if u.offers == nil {
		u.offers = make(map[conversationID]*offer)
	}
	u.offers[k] = x
	if !u.running {
		u.running, u.stop = true, make(chan struct{})
		go t.settleUnsettled(u.stop)
	}
}

// settleUnsettled offers plans until all are stored, or the transport is closed.
func (t *Transport) settleUnsettled(stop <-chan struct{}) {
	every := time.NewTicker(settleEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-stop:
			return
		}
		if t.offerAll() {
			return
		}
	}
}

// offerAll offers every plan once and reports whether none is left.
func (t *Transport) offerAll() bool {
	u := &t.outage
	u.mu.Lock()
	var now []*offer
	for _, x := range u.offers {
		now = append(now, x)
	}
	u.mu.Unlock()
	for _, x := range now {
		err := t.settleOffer(context.Background(), x)
		if errors.Is(err, planstore.ErrGone) {
			break
		}
		if err != nil {
			t.tally(func(s *Stats) { s.StoreFails++ })
		}
		t.removeOffer(x.conv, x)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.offers) == 0 {
		u.running = false
	}
	return !u.running
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

// removeOffer forgets an offer; nil is whichever there is.
func (t *Transport) removeOffer(c planstore.Conversation, x *offer) {
	u := &t.outage
	u.mu.Lock()
	defer u.mu.Unlock()
	k := conversationID{c.Key.Tenant, c.ID}
	if x == nil || u.offers[k] == x {
		delete(u.offers, k)
	}
}

// close ends the offers.
func (u *outage) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running {
		u.running = false
		close(u.stop)
	}
}
