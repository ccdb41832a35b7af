package plans_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func checkStore(t *testing.T, by backend) {
	key := func(tenant string, h chat.History) planstore.Key {
		return planstore.Key{Tenant: planstore.Tenant(tenant), First: h.Chain(1)}
	}
	put := func(t *testing.T, s planstore.Store, k planstore.Key, p *plan.Plan) {
		t.Helper()
		if q, err := storetest.Put(t.Context(), s, k, p); err != nil || q.ID() != p.ID() {
			t.Fatalf("%v, %v", q, err)
		}
	}
	t.Run("longest first", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		long, short := storetest.History("a", 9), storetest.History("a", 5)
		k := key("x", long)
		first, second, third := storetest.Plan(t, short, "one"), storetest.Plan(t, long, "two"), storetest.Plan(t, short, "three")
		c := storetest.Leaf("x", short)
		settle(t, s, c, short, "", first, first)
		put(t, s, k, second)
		must(t, s.Act(t.Context(), c, first.ID(), third, control.PlanInfo{}, nil))
		heads, err := s.Heads(t.Context(), k)
		if err != nil || len(heads) != 2 || heads[0].ID != second.ID() || heads[1].ID != third.ID() {
			t.Fatalf("heads %v, %v; want the longest, then the one that replaced another for its prefix", heads, err)
		}
		p, err := storetest.At(t.Context(), s, k, heads[1].Prefix)
		if err != nil || p.ID() != third.ID() || !p.Covers(short) || !p.Covers(long) {
			t.Errorf("plan %v, %v", p, err)
		}
	})
	t.Run("tenants apart", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		h := storetest.History("a", 5)
		p := storetest.Plan(t, h, "secret")
		put(t, s, key("x", h), p)
		other := key("y", h)
		if heads, err := s.Heads(t.Context(), other); len(heads) != 0 || err != nil {
			t.Errorf("heads of another tenant: %v, %v", heads, err)
		}
		if p, err := storetest.At(t.Context(), s, other, p.Prefix); !errors.Is(err, planstore.ErrNotFound) {
			t.Errorf("plan of another tenant: %v, %v", p, err)
		}
		if all, err := s.List(t.Context(), "y", 10); len(all) != 0 || err != nil {
			t.Errorf("list of another tenant: %v, %v", all, err)
		}
		if e, err := s.ByID(t.Context(), "x", p.ID()); err != nil || e.Plan.ID() != p.ID() || e.Key != key("x", h) {
			t.Errorf("found %+v, %v", e, err)
		}
		if e, err := s.ByID(t.Context(), "y", p.ID()); !errors.Is(err, planstore.ErrNotFound) {
			t.Errorf("another tenant finds %+v, %v", e, err)
		}
		if e, err := s.ByID(t.Context(), "x", "0123456789abcdef"); !errors.Is(err, planstore.ErrNotFound) {
			t.Errorf("a plan that is not there: %+v, %v", e, err)
		}
		if all, err := s.List(t.Context(), "x", 10); len(all) != 1 || err != nil || all[0].ID != p.ID() || all[0].Key != key("x", h) {
			t.Errorf("list: %v, %v", all, err)
		}
	})
	t.Run("remove", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		h := storetest.History("a", 5)
		k, other := key("x", h), key("y", h)
		p := storetest.Plan(t, h, "secret")
		for _, k := range []planstore.Key{k, other} {
			put(t, s, k, p)
			must(t, s.Mark(t.Context(), k, planstore.Mark{Len: 5, Chain: h.Chain(5), Steps: []token.Step{{}}}, chat.Hash{}))
			must(t, s.PutOriginal(t.Context(), k, planstore.Original{Len: 5, Prefix: h.Chain(5), Body: []byte("{}")}, chat.Hash{}))
		}
		if plans, originals, err := s.Remove(t.Context(), k); plans != 1 || originals != 1 || err != nil {
			t.Fatalf("removed %d plans, %d conversations, %v", plans, originals, err)
		}
		heads, err := s.Heads(t.Context(), k)
		marks, err2 := s.Marks(t.Context(), k)
		if len(heads)+len(marks) > 0 || err != nil || err2 != nil {
			t.Errorf("left are %v and %v; %v, %v", heads, marks, err, err2)
		}
		if _, err := s.ByID(t.Context(), "x", p.ID()); !errors.Is(err, planstore.ErrNotFound) {
			t.Errorf("the plan is found: %v", err)
		}
		if all, err := s.Originals(t.Context(), k, 0); len(all) > 0 || err != nil {
			t.Errorf("conversations are left: %v, %v", all, err)
		}
		// The other tenant's plan, which begins alike, is not touched; and a
		// removed plan can be put there again.
		if heads, err := s.Heads(t.Context(), other); len(heads) != 1 || err != nil {
			t.Errorf("the other tenant has %v, %v", heads, err)
		}
		put(t, s, k, p)
	})
	t.Run("bounds", func(t *testing.T) {
		clock := storetest.NewClock()
		s := by.open(t, planstore.Bounds{Plans: 64, Heads: 3, Age: time.Hour, Now: clock.Now})
		k := key("x", storetest.History("a", 5))
		for i := range 256 {
			clock.Add(time.Millisecond)
			put(t, s, k, storetest.Plan(t, storetest.History(fmt.Sprint(i), 5), "x"))
		}
		all, err := s.List(t.Context(), "x", 1000)
		if err != nil || len(all) > 128 || len(all) < 64 {
			t.Errorf("%d plans are kept, %v; want 64, twice that at most", len(all), err)
		}
		if heads, err := s.Heads(t.Context(), k); len(heads) != 3 || err != nil {
			t.Errorf("%d heads, %v", len(heads), err)
		}
		clock.Add(2 * time.Hour)
		for i := range 64 {
			put(t, s, k, storetest.Plan(t, storetest.History(fmt.Sprint("late", i), 7), "x"))
		}
		if all, err = s.List(t.Context(), "x", 1000); err != nil || len(all) != 64 {
			t.Errorf("%d plans are kept, %v; want the 64 that are not too old", len(all), err)
		}
	})
	t.Run("size", func(t *testing.T) {
		clock := storetest.NewClock()
		s := by.open(t, planstore.Bounds{Size: 200_000, Now: clock.Now})
		long := strings.Repeat("words ", 1500)
		k := key("x", storetest.History("a", 5))
		var last *plan.Plan
		for i := range 192 {
			clock.Add(time.Millisecond)
			last = storetest.Plan(t, storetest.History(fmt.Sprint(i), 5), long)
			put(t, s, k, last)
		}
		all, err := s.List(t.Context(), "x", 1000)
		if err != nil || len(all) < 15 || len(all) > 90 || all[0].ID != last.ID() {
			t.Errorf("%d plans of 9,000 bytes are kept within 200,000, %v; want about 22, and 64 more at most", len(all), err)
		}
	})
	t.Run("in use", func(t *testing.T) {
		clock := storetest.NewClock()
		s := by.open(t, planstore.Bounds{Plans: 64, Age: time.Hour, Now: clock.Now})
		used := storetest.Plan(t, storetest.History("used", 5), "x")
		k := planstore.Key{Tenant: "x", First: chat.Hash{1}}
		put(t, s, k, used)
		for i := range 512 {
			clock.Add(time.Minute)
			put(t, s, key("y", storetest.History("a", 5)), storetest.Plan(t, storetest.History(fmt.Sprint(i), 5), "x"))
			if heads, err := s.Heads(t.Context(), k); err != nil || len(heads) != 1 {
				t.Fatalf("a plan that is asked for every minute is gone after %d others: %v, %v", i+1, heads, err)
			}
		}
	})
	t.Run("a race", func(t *testing.T) { runRace(t, by.openTwice(t, planstore.Bounds{})) })
	runHandles(t, by)
	runBook(t, by)
	t.Run("originals", func(t *testing.T) {
		clock := storetest.NewClock()
		s := by.open(t, planstore.Bounds{Originals: 200_000, Age: time.Hour, Now: clock.Now})
		put := func(tenant, name string, n int, body []byte, before chat.Hash) {
			t.Helper()
			h := storetest.History(name, n)
			clock.Add(time.Second)
			must(t, s.PutOriginal(t.Context(), key(tenant, h), planstore.Original{Len: n, Prefix: h.Chain(n), Dialect: "openai", Model: "m", Body: body}, before))
		}
		get := func(tenant string, atLeast int) []planstore.Original {
			t.Helper()
			all, err := s.Originals(t.Context(), key(tenant, storetest.History("a", 1)), atLeast)
			must(t, err)
			return all
		}
		put("x", "a", 5, []byte("five"), chat.Hash{})
		put("x", "a", 7, []byte("seven"), storetest.History("a", 5).Chain(5))
		put("x", "b", 6, []byte("another six"), chat.Hash{})
		if all := get("x", 1); len(all) != 2 || string(all[0].Body) != "another six" || string(all[1].Body) != "seven" || all[1].Len != 7 || all[1].Prefix != storetest.History("a", 7).Chain(7) || all[1].Dialect != "openai" || all[1].Model != "m" {
			t.Errorf("%v", all)
		}
		if all := get("x", 7); len(all) != 1 || all[0].Len != 7 {
			t.Errorf("of at least 7: %v", all)
		}
		if all := get("y", 1); len(all) != 0 {
			t.Errorf("another tenant's: %v", all)
		}
		if by.reopen != nil {
			s = by.reopen(t, s)
			if len(get("x", 1)) != 2 {
				t.Error("they are gone after a restart")
			}
		}
		s = by.open(t, planstore.Bounds{Originals: 200_000, Age: time.Hour, Now: clock.Now})
		noise := make([]byte, 60_000)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 6 {
			for k := range noise {
				noise[k] = byte(r.Uint32())
			}
			put("x", fmt.Sprint("large", i), 9, noise, chat.Hash{})
		}
		if all := get("x", 1); len(all) != 3 {
			t.Errorf("%d conversations of 60,000 bytes are kept within 200,000", len(all))
		}
		larger := make([]byte, 300_000)
		for k := range larger {
			larger[k] = byte(r.Uint32())
		}
		put("x", "too large", 9, larger, chat.Hash{})
		if all := get("x", 1); len(all) != 3 || len(all[0].Body) != len(noise) {
			t.Errorf("one that is larger than all that may be kept left %d others", len(all))
		}
		clock.Add(2 * time.Hour)
		if all := get("x", 1); len(all) != 0 {
			t.Errorf("%d that are too old are kept", len(all))
		}
	})
	t.Run("marks", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		h := storetest.History("a", 9)
		k := key("x", h)
		step := func(n int) []token.Step {
			return []token.Step{{Messages: n, Estimate: 10 * n, Usage: chat.Usage{Input: 11 * n}, Model: "m", Plan: "p"}}
		}
		for n := 1; n < 9; n += 2 {
			must(t, s.Mark(t.Context(), k, planstore.Mark{Len: n, Chain: h.Chain(n), Steps: step(n), NotLasted: n - 5}, h.Chain(max(n-2, 0))))
		}
		fork := storetest.History("b", 5)
		must(t, s.Mark(t.Context(), k, planstore.Mark{Len: 5, Chain: fork.Chain(5), Steps: step(5)}, fork.Chain(3)))
		marks, err := s.Marks(t.Context(), k)
		if err != nil || len(marks) != 2 || marks[0].Chain != h.Chain(7) || marks[1].Chain != fork.Chain(5) || len(marks[0].Steps) != 1 || marks[0].Steps[0] != step(7)[0] || marks[0].NotLasted != 2 || marks[1].NotLasted != 0 {
			t.Errorf("marks %+v, %v; want the last of each conversation", marks, err)
		}
	})
	t.Run("at once", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 4 {
					h := storetest.History(fmt.Sprint(i), 5+2*j)
					k := key(fmt.Sprint("tenant", i%2), h)
					p := storetest.Plan(t, h, "x")
					if _, err := storetest.Put(t.Context(), s, k, p); err != nil {
						t.Error(err)
					}
					if q, err := storetest.At(t.Context(), s, k, p.Prefix); err != nil || q.ID() != p.ID() {
						t.Errorf("%v, %v", q, err)
					}
					if err := s.Mark(t.Context(), k, planstore.Mark{Len: h.Len(), Chain: h.Chain(h.Len())}, h.Chain(h.Len()-2)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// openTwice opens a store twice, where it can be shared.
func (by backend) openTwice(t *testing.T, b planstore.Bounds) []planstore.Store {
	s := by.open(t, b)
	if by.beside == nil {
		return []planstore.Store{s, s}
	}
	return []planstore.Store{s, by.beside(t, s)}
}
