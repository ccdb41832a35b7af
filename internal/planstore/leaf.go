package planstore

import (
	"context"
	"errors"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
)

// Leaf is all that a book holds of one conversation: which plan is in force, how
// it came to that, what is pinned and what waits to be taken back.
type Leaf struct {
	Conversation
	Links    []Link
	Requests []control.Request
	Settled  []control.PlanInfo
	Pins     []Pin        // that were set in it
	Former   []*plan.Plan // that gave way, see [Store.Former]
}

// ReadLeaf reads what a store holds of a conversation.
func ReadLeaf(ctx context.Context, s Store, c Conversation) (*Leaf, error) {
	l := &Leaf{Conversation: c}
	var err error
	if l.Links, err = s.Links(ctx, c); err != nil {
		return nil, err
	}
	if l.Requests, err = s.Requests(ctx, c.Key.Tenant, c.ID, 0); err != nil {
		return nil, err
	}
	if l.Settled, err = s.Settled(ctx, c.Key.Tenant, c.ID); err != nil {
		return nil, err
	}
	for i := range l.Settled {
		x, err := s.Former(ctx, c.Key.Tenant, l.Settled[i].ID)
		if errors.Is(err, ErrNotFound) || err == nil && x.Key != c.Key {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.Former = append(l.Former, x.Plan)
	}
	_, pins, err := s.Leaves(ctx, c.Key)
	for _, p := range pins {
		if p.Conversation == c.ID {
			l.Pins = append(l.Pins, p)
		}
	}
	return l, err
}
