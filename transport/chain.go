package transport

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// keyOf returns the key of a conversation's plans: its tenant, its dialect (whose
// rules the plans obey) and its first message.
func keyOf(t Tenant, d wire.Dialect, h chat.History) planstore.Key {
	first := h.Chain(min(1, h.Len()))
	return planstore.Key{Tenant: t, First: sha256.Sum256(append([]byte("winnow first\x00"+string(d)+"\x00"), first[:]...))}
}

// findLongest returns the plan with the longest sealed prefix that this history
// starts with, nil for none. The chain decides: a conversation that differs in
// any message of the prefix has another hash and gets nothing. The plan that is wanted,
// if any, goes before longer ones. A plan that is at hand already is not read again: it
// has its view built.
func findLongest(ctx context.Context, s Store, k planstore.Key, h chat.History, known *plan.Plan, wanted plan.ID) (*plan.Plan, error) {
	heads, err := s.Heads(ctx, k)
	if err != nil {
		return nil, err
	}
	rank := func(x planstore.Head) int {
		if x.ID == wanted {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(heads, func(a, b planstore.Head) int { return rank(a) - rank(b) })
	for _, head := range heads {
		if !h.StartsWith(head.Len, head.Prefix) {
			continue
		}
		if known != nil && known.Prefix == head.Prefix && known.ID() == head.ID {
			return known, nil
		}
		x, err := s.ByID(ctx, k.Tenant, head.ID)
		if errors.Is(err, planstore.ErrNotFound) { // gone in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		if x.Plan.Covers(h) {
			return x.Plan, nil
		}
	}
	return nil, nil
}

// findMark returns what the store keeps of the longest part of this history.
func findMark(ctx context.Context, s Store, k planstore.Key, h chat.History) (planstore.Mark, error) {
	marks, err := s.Marks(ctx, k)
	if err != nil {
		return planstore.Mark{}, err
	}
	for _, m := range marks {
		if h.StartsWith(m.Len, m.Chain) {
			return m, nil
		}
	}
	return planstore.Mark{}, nil
}
