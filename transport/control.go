package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/recall"
)

// Control shows the conversations of tenants and acts on them. With several tenants
// it is for a caller who may see them all.
func (t *Transport) Control(tenants ...Tenant) control.Source {
	r := &recaller{t, slices.Clone(tenants)}
	// Text from files can be recalled; no request will come for an action to
	// change.
	acts := slices.DeleteFunc(slices.Clone(tenants), func(x Tenant) bool { return x == planstore.Files })
	s := &controller{Source: r, t: t, tenants: acts}
	s.Verbs = conview.On(s)
	return s
}

// ControlAll is Control for all tenants that the store has: for its owner.
func (t *Transport) ControlAll(ctx context.Context) (control.Source, error) {
	t.records.wait() // somebody may have come just now
	tenants, err := t.opts.Store.Tenants(ctx)
	return t.Control(tenants...), err
}

type controller struct {
	recall.Source
	conview.Verbs
	t       *Transport
	tenants []Tenant
}

// whatToDo says what helps where the messages of a conversation are not at hand.
const whatToDo = "the gateway was restarted, or it was long ago, and what was sent is not stored; send the conversation's next request and ask again, or start the gateway with --keep-originals"

// goneError returns an error that wraps [control.ErrGone].
func goneError() error { return fmt.Errorf("%w: %s", control.ErrGone, whatToDo) }

// conversationByID returns one by its id, or by the beginning of it.
func (s *controller) conversationByID(ctx context.Context, id string) (planstore.Conversation, error) {
	s.t.records.wait()
	var found []planstore.Conversation
	for _, tenant := range s.tenants {
		if id == "" {
			break
		}
		all, err := s.t.opts.Store.Conversations(ctx, tenant, id, 2)
		if err != nil {
			return planstore.Conversation{}, err
		}
		found = append(found, all...)
	}
	return conview.ByID(found, id, func(c *planstore.Conversation) string { return c.ID })
}

// Conversations implements [control.Source].
func (s *controller) Conversations(ctx context.Context, q control.List) ([]control.Conversation, error) {
	s.t.records.wait()
	var all []planstore.Conversation
	limit, words := conview.ListLimit(q), conview.Words(q.Words)
	most := limit
	if len(words) > 0 {
		most = 10 * control.MaxListed
	}
	for _, tenant := range s.tenants {
		some, err := s.t.opts.Store.Conversations(ctx, tenant, "", most)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b planstore.Conversation) int { return b.Used.Compare(a.Used) })
	known := s.t.memory.longestRequests(s.tenants...)
	out := []control.Conversation{}
	for i := range all {
		x := known[conversationID{all[i].Key.Tenant, all[i].ID}]
		v := &seen{belonging: belonging{Conversation: all[i]}}
		if x != nil {
			var err error
			if v, err = s.lookAt(ctx, &all[i], x); err != nil {
				return nil, err
			}
		}
		c := v.listed()
		if len(words) > 0 && !conview.Named(&c, words) && (x == nil || !conview.Has(x.history(), words)) {
			continue
		}
		if out = append(out, c); len(out) == limit {
			break
		}
	}
	return out, nil
}

// seen is a conversation as it is looked at.
type seen struct {
	belonging
	x      *recent // its longest request that is at hand; nil for none
	leaves []planstore.Conversation
}

// lookAt reads where a conversation belongs.
func (s *controller) lookAt(ctx context.Context, c *planstore.Conversation, x *recent) (*seen, error) {
	leaves, pins, err := s.t.opts.Store.Leaves(ctx, c.Key)
	return &seen{belonging{Conversation: *c, lineage: lineageOf(leaves, *c), known: true, pins: pins}, x, leaves}, err
}

// findSeen returns the conversation with an id, or with the beginning of one.
func (s *controller) findSeen(ctx context.Context, id string) (*seen, error) {
	c, err := s.conversationByID(ctx, id)
	if err != nil {
		return nil, err
	}
	x, err := s.longestRequest(ctx, &c)
	if err != nil && !errors.Is(err, control.ErrGone) {
		return nil, err
	}
	return s.lookAt(ctx, &c, x)
}

// listed returns a conversation as lists show it.
func (v *seen) listed() control.Conversation {
	out := v.Conversation.Conversation
	out.Source, out.Messages, out.Created, out.Used = "gateway", v.Len, out.Created.UTC(), out.Used.UTC()
	if v.x != nil {
		out.Title, out.Pins = conview.Title(v.x.history()), len(v.shownPins(v.x.history()))
	}
	return out
}

// shownPins returns the pins in force in a history, in order.
func (c *belonging) shownPins(h chat.History) []control.Pin {
	out := []control.Pin{}
	_, pins := planstore.Notes(planstore.In(c.pins, c.lineage, h))
	for _, p := range pins {
		y := control.Pin{Message: p.Len - 1, Part: p.Part}
		if p.Conversation != c.ID {
			y.From = p.Conversation
		}
		out = append(out, y)
	}
	slices.SortFunc(out, func(a, b control.Pin) int { return cmp.Or(a.Message-b.Message, a.Part-b.Part) })
	return out
}

// Conversation implements [control.Source].
func (s *controller) Conversation(ctx context.Context, id string) (*control.Detail, error) {
	c, err := s.findSeen(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &control.Detail{Conversation: c.listed(), Pinned: []control.Pin{}, Notes: []control.Note{}, Forks: []control.Fork{}, Requests: []control.Request{}}
	if c.x == nil {
		d.Why = whatToDo
	} else {
		_, notes := c.pinsAndNotes(c.x.history())
		d.Readable, d.Pinned, d.Notes = true, c.shownPins(c.x.history()), append(d.Notes, notes...)
	}
	requests, err := s.t.opts.Store.Requests(ctx, c.Key.Tenant, c.ID, 0)
	if err != nil {
		return nil, err
	}
	d.Requests = append(d.Requests, requests...)
	d.Earlier = c.Totals.Requests - len(requests)
	d.Next = conview.Next(requests, c.Plan, func() (winnow.Status, error) {
		at, err := s.restingOf(ctx, c)
		if err != nil {
			return winnow.Status{}, err
		}
		return at.engine.Check(at.body.Request(), at.restingState())
	})
	if d.Plans, err = s.settledPlans(ctx, &c.Conversation); err != nil {
		return nil, err
	}
	conview.MarkPlans(d.Plans, requests)
	for i := range c.leaves {
		if x := &c.leaves[i]; x.Parent == c.ID {
			d.Forks = append(d.Forks, control.Fork{ID: x.ID, Shared: x.Shared})
		}
	}
	return d, nil
}

// settledPlans returns the plans that came into force, with what became of them: one
// whose edits are not in the plan in force any more, though it was not replaced
// by a stronger one, was taken back.
func (s *controller) settledPlans(ctx context.Context, c *planstore.Conversation) ([]control.PlanInfo, error) {
	all, err := s.t.opts.Store.Settled(ctx, c.Key.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	out := []control.PlanInfo{}
	for i := range all {
		p := all[i]
		p.Time = p.Time.UTC()
		p.InForce = p.ID == c.Plan
		p.Undone = slices.ContainsFunc(all[i+1:], func(x control.PlanInfo) bool { return x.By == "undo" && x.Undid == p.ID })
		out = append(out, p)
	}
	return out, nil
}

// poll is how often the book is looked into for what other processes did.
const poll = time.Second

// Since implements [control.Source].
func (s *controller) Since(ctx context.Context, id string, revision int64) (*control.Change, error) {
	for {
		next := s.t.records.nextChange()
		c, err := s.conversationByID(ctx, id)
		if err != nil {
			return nil, err
		}
		if c.Revision == revision {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-next:
			case <-time.After(poll):
			}
			continue
		}
		v, err := s.findSeen(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		ch := &control.Change{Revision: v.Revision, Requests: []control.Request{}, Conversation: v.listed()}
		if revision > v.Revision { // it was lost when the process was killed
			ch.Missed = true
			return ch, nil
		}
		if ch.Requests, err = s.t.opts.Store.Requests(ctx, c.Key.Tenant, c.ID, revision); err != nil {
			return nil, err
		}
		ch.Missed = len(ch.Requests) == control.MaxRequests && ch.Requests[0].N > 1
		return ch, nil
	}
}

// longestRequests returns the longest request that is remembered of each of the
// tenants' conversations.
func (m *memory) longestRequests(tenants ...Tenant) map[conversationID]*recent {
	out := make(map[conversationID]*recent)
	for _, x := range m.listRequests(tenants...) {
		id := conversationID{x.whose.tenant, x.conv}
		if x.conv == "" {
			continue
		}
		if was := out[id]; was == nil || was.history().Len() < x.history().Len() {
			out[id] = x
		}
	}
	return out
}

// longestRequest returns the longest request of a conversation that is at hand: in
// memory, or in the store where that may keep them. The error wraps
// [control.ErrGone].
func (s *controller) longestRequest(ctx context.Context, c *planstore.Conversation) (*recent, error) {
	if x := s.t.memory.longestRequests(c.Key.Tenant)[conversationID{c.Key.Tenant, c.ID}]; x != nil {
		return x, nil
	}
	links, err := s.t.opts.Store.Links(ctx, *c)
	if err != nil {
		return nil, err
	}
	x, err := s.t.readOriginals(ctx, c.Key, 1, true, func(o *planstore.Original, h chat.History) bool {
		return o.Len <= len(links) && links[o.Len-1] == planstore.LinkOf(o.Prefix) &&
			h.Len() == o.Len && h.Chain(o.Len) == o.Prefix // else secrets were taken out of it
	})
	if err == nil {
		x.conv = c.ID
	}
	return x, err
}
