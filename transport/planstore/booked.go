package planstore

import (
	"context"
	"errors"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
)

// Booked returns the book of a store: its own, or for a store that has none one
// in memory, which ends with the process and knows nothing of what others do
// that use the same store.
func Booked(s Store) Book {
	if b, ok := s.(Book); ok {
		return b
	}
	return &booked{Memory: NewMemory(Bounds{}), store: s}
}

// booked is a book in memory for the plans of another store.
type booked struct {
	*Memory // the book; it holds no plan
	store   Store
	turn    sync.Mutex // one plan comes into force at a time
}

// Settle implements [Book].
func (b *booked) Settle(ctx context.Context, c Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	b.turn.Lock()
	defer b.turn.Unlock()
	now := b.leaf(c)
	if now.Plan != base {
		other, err := b.inForce(ctx, now)
		if err != nil {
			return nil, err
		}
		if other != nil && other.Covers(h) {
			return other, nil
		}
		if other != nil {
			return b.store.Put(ctx, c.Key, p)
		}
	}
	won, err := b.put(ctx, c.Key, base, p)
	if err != nil {
		return nil, err
	}
	b.force(c, won, info)
	return won, nil
}

// Act implements [Book].
func (b *booked) Act(ctx context.Context, c Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *Pin) error {
	b.turn.Lock()
	defer b.turn.Unlock()
	if p == nil {
		return b.Memory.Act(ctx, c, base, nil, info, pin)
	}
	if now := b.leaf(c); now.Plan != base {
		return &control.ConflictError{Base: base, InForce: now.Plan}
	}
	won, err := b.put(ctx, c.Key, base, p)
	if err != nil {
		return err
	}
	if won.ID() != p.ID() {
		return &control.ConflictError{Base: base, InForce: won.ID()}
	}
	b.force(c, p, info)
	return nil
}

// put keeps a plan in place of base, or where none is.
func (b *booked) put(ctx context.Context, k Key, base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	won, err := b.store.Put(ctx, k, p)
	if err != nil || won.ID() == p.ID() || won.ID() != base {
		return won, err
	}
	err = b.store.Replace(ctx, k, base, p)
	var other *ConflictError
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &other) && other.InForce != nil:
		return other.InForce, nil
	case errors.As(err, &other):
		return b.store.Put(ctx, k, p)
	}
	return nil, err
}

// inForce reads the plan in force of a conversation; nil where it is not kept.
func (b *booked) inForce(ctx context.Context, c Conversation) (*plan.Plan, error) {
	if c.Plan == "" {
		return nil, nil
	}
	e, err := b.store.Find(ctx, c.Key.Tenant, c.Plan)
	if err == nil {
		var p *plan.Plan
		if p, err = b.store.Plan(ctx, e.Key, e.Prefix); err == nil {
			return p, nil
		}
	}
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return nil, err
}
