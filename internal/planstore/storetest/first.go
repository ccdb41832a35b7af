package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// runFirst checks that the first plan for a prefix stays until an action replaces
// it.
func runFirst(t *testing.T, open func(*testing.T, planstore.Bounds) planstore.Store, beside func(*testing.T, planstore.Store) planstore.Store) {
	h := History("a", 5)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	inForce := func(t *testing.T, s planstore.Store, want plan.ID) {
		t.Helper()
		if p, err := s.Plan(t.Context(), k, h.Chain(5)); err != nil || p.ID() != want {
			t.Errorf("%v is in force, %v; want %s", p, err, want)
		}
		heads, err := s.Heads(t.Context(), k)
		if err != nil || len(heads) != 1 || heads[0].ID != want {
			t.Errorf("heads %v, %v; want %s", heads, err, want)
		}
	}
	t.Run("first writer", func(t *testing.T) {
		s := open(t, planstore.Bounds{})
		one, two := Plan(t, h, "one"), Plan(t, h, "two")
		for _, p := range []*plan.Plan{one, two, one} {
			if q, err := Put(t.Context(), s, k, p); err != nil || q.ID() != one.ID() || q.Edits[0].Text != "one" {
				t.Fatalf("%v, %v; want the first one", q, err)
			}
		}
		inForce(t, s, one.ID())
		other := k
		other.Tenant = "y"
		if q, err := Put(t.Context(), s, other, two); err != nil || q.ID() != two.ID() {
			t.Errorf("another tenant gets %v, %v", q, err)
		}
	})
	t.Run("a race", func(t *testing.T) {
		s := open(t, planstore.Bounds{})
		stores := []planstore.Store{s, s}
		if beside != nil {
			stores[1] = beside(t, s)
		}
		const writers = 8
		raceWriters(t, stores, writers, k, h)
	})
}

// raceWriters has writers settle plans for one prefix at the same moment, and then
// act on the plan in force, several times.
func raceWriters(t *testing.T, stores []planstore.Store, writers int, k planstore.Key, h chat.History) {
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
	c := Leaf(string(k.Tenant), h)
	var base plan.ID
	for round := range rounds {
		h := h.Append(chat.TextMessage(chat.Assistant, fmt.Sprint("round ", round)))
		all := make([]*plan.Plan, writers)
		for i := range all {
			all[i] = Plan(t, h, fmt.Sprint("writer ", i))
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
			next := Plan(t, h, fmt.Sprintf("%s replaced by %d", first, i))
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
			if p, err := s.Plan(t.Context(), k, h.Chain(h.Len())); err != nil || p.ID() != got[0] {
				t.Fatalf("round %d: %v, %v is in force; want %s", round, p, err, got[0])
			}
			if heads, err := s.Heads(t.Context(), k); err != nil || len(heads) != round+1 || heads[0].ID != got[0] {
				t.Fatalf("round %d: heads %v, %v; want %s first", round, heads, err, got[0])
			}
		}
		base = got[0]
	}
}
