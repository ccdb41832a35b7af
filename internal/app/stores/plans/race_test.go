package plans_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
)

// runRace has writers settle plans for one prefix at the same moment, and then act on
// the plan in force, several times: the first plan for a prefix stays until an action
// replaces it, and one of the actions does.
func runRace(t *testing.T, stores []planstore.Store) {
	h := storetest.History("a", 5)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	const writers = 8
	const rounds = 12
	at := func(f func(i int, s planstore.Store)) {
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range writers {
			wg.Go(func() {
				<-start
				f(i, stores[i%len(stores)])
			})
		}
		close(start)
		wg.Wait()
	}
	c := storetest.Leaf(string(k.Tenant), h)
	var base plan.ID
	for round := range rounds {
		h := h.Append(chat.TextMessage(chat.Assistant, fmt.Sprint("round ", round)))
		all := make([]*plan.Plan, writers)
		for i := range all {
			all[i] = storetest.Plan(t, h, fmt.Sprint("writer ", i))
		}
		got := make([]plan.ID, writers)
		at(func(i int, s planstore.Store) {
			p, err := s.Settle(t.Context(), c, h, base, all[i], control.PlanInfo{})
			if err != nil {
				t.Error(err)
			}
			got[i] = p.ID()
		})
		first := got[0]
		for i := range got {
			if got[i] != first {
				t.Fatalf("round %d: writers were told of %v", round, got)
			}
		}
		won := make([]bool, writers)
		at(func(i int, s planstore.Store) {
			next := storetest.Plan(t, h, fmt.Sprintf("%s replaced by %d", first, i))
			err := s.Act(t.Context(), c, first, next, control.PlanInfo{}, nil)
			var other *control.ConflictError
			switch {
			case err == nil:
				won[i], got[i] = true, next.ID()
			case errors.As(err, &other):
				got[i] = other.InForce
			default:
				t.Error(err)
			}
		})
		winners := 0
		for i := range won {
			if won[i] {
				winners++
			}
			if got[i] != got[0] {
				t.Fatalf("round %d: writers were told of %v", round, got)
			}
		}
		if winners != 1 {
			t.Fatalf("round %d: %d replaced the same plan", round, winners)
		}
		for _, s := range stores {
			if p, err := storetest.At(t.Context(), s, k, h.Chain(h.Len())); err != nil || p.ID() != got[0] {
				t.Fatalf("round %d: %v, %v is in force; want %s", round, p, err, got[0])
			}
			if heads, err := s.Heads(t.Context(), k); err != nil || len(heads) != round+1 || heads[0].ID != got[0] {
				t.Fatalf("round %d: heads %v, %v; want %s first", round, heads, err, got[0])
			}
		}
		base = got[0]
	}
}
