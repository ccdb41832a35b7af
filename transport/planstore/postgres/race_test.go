package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
)

func open(t *testing.T, address string, b planstore.Bounds) planstore.Owner {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, &postgres.Options{Bounds: b, Conns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestSameMoment has two gateways settle different plans for the same prefix at the
// same moment, and then act on the plan in force: each time one of them wins, and
// both are told which. WINNOW_RACES says how often.
func TestSameMoment(t *testing.T) {
	races := 300
	if v, err := strconv.Atoi(os.Getenv("WINNOW_RACES")); err == nil {
		races = v
	}
	address := pgtest.Shared(t).Database(t)
	stores := []planstore.Store{open(t, address, planstore.Bounds{}), open(t, address, planstore.Bounds{})}
	both := func(f func(i int, s planstore.Store)) {
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i, s := range stores {
			wg.Go(func() { <-begin; f(i, s) })
		}
		close(begin)
		wg.Wait()
	}
	var won, mixed, replaced [2]int
	for n := range races {
		h := storetest.History(fmt.Sprint(n), 5)
		c := storetest.Leaf("x", h)
		mine := [2]*plan.Plan{storetest.Plan(t, h, "left"), storetest.Plan(t, h, "right")}
		var got [2]plan.ID
		both(func(i int, s planstore.Store) {
			p, err := s.Settle(t.Context(), c, h, "", mine[i], control.PlanInfo{})
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = p.ID()
		})
		if got[0] != got[1] {
			mixed[0]++
		}
		for i := range won {
			if got[0] == mine[i].ID() {
				won[i]++
			}
		}
		next := [2]*plan.Plan{storetest.Plan(t, h, "left again"), storetest.Plan(t, h, "right again")}
		var now [2]plan.ID
		both(func(i int, s planstore.Store) {
			err := s.Act(t.Context(), c, got[i], next[i], control.PlanInfo{}, nil)
			var other *control.ConflictError
			switch {
			case err == nil:
				now[i] = next[i].ID()
				replaced[i]++
			case errors.As(err, &other):
				now[i] = other.InForce
			default:
				t.Error(err)
			}
		})
		if now[0] != now[1] {
			mixed[1]++
		}
	}
	if mixed != [2]int{} || won[0]+won[1] != races || replaced[0]+replaced[1] != races {
		t.Errorf("of %d: first %v, replaced %v, mixed %v", races, won, replaced, mixed)
	}
	t.Logf("counts: conflicts %d, mixed %d", 2*races, mixed[0]+mixed[1])
}
