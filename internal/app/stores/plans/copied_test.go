package plans_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
)

// fillBook fills a store with a conversation that was compacted, pinned and asked
// to be taken back, and with one that branched off from it. It returns their ids.
func fillBook(t *testing.T, s planstore.Store, tenant string) (conversation, fork string) {
	t.Helper()
	ctx := t.Context()
	h := storetest.History("copied", 9)
	c := storetest.Leaf(tenant, h)
	p := storetest.Plan(t, h, "what it was about")
	_, err := s.Settle(ctx, c, h, "", p, control.PlanInfo{By: "request", Why: "the trigger was reached", Before: 90, After: 40, Saved: 50})
	must(t, err)
	dollars := 0.25
	links := planstore.Links{}
	for i := range h.Len() {
		links.Links = append(links.Links, planstore.LinkOf(h.Chain(i+1)))
	}
	must(t, s.Note(ctx, c, &control.Request{Tokens: 40, Saved: 50, Plan: p.ID(), Usage: &control.Usage{Input: 39}, Dollars: &dollars}, links))
	for _, on := range []bool{true, false} { // the pin on message 3 was taken off again
		must(t, s.Act(ctx, c, p.ID(), nil, control.PlanInfo{}, &planstore.Pin{Conversation: c.ID, Len: 3, Chain: h.Chain(3), Part: -1, On: on}))
	}
	must(t, s.Act(ctx, c, p.ID(), nil, control.PlanInfo{}, &planstore.Pin{Conversation: c.ID, Len: 5, Chain: h.Chain(5), Part: 0, On: true}))
	must(t, s.Act(ctx, c, p.ID(), nil, control.PlanInfo{}, &planstore.Pin{Conversation: c.ID, Len: 5, Chain: h.Chain(5), Part: planstore.NotePart("n7"), On: true, Note: "it listens on 7319", Noted: 1_700_000_000_000}))
	undo := foldOn(t, p, h, "what it was about, in other words")
	must(t, s.Act(ctx, c, p.ID(), undo, control.PlanInfo{By: "undo", Undid: p.ID()}, nil))
	must(t, s.Act(ctx, c, undo.ID(), nil, control.PlanInfo{Undid: undo.ID()}, nil))
	side := c
	side.ID, side.Parent, side.Shared, side.Len, side.Chain = planstore.NewConversation(c.Key, h.Chain(7)).ID, c.ID, 6, 7, h.Chain(7)
	must(t, s.Note(ctx, side, &control.Request{Tokens: 30}, planstore.Links{}))
	return c.ID, side.ID
}

// checkSame fails where two books hold something else of a tenant's conversation.
func checkSame(t *testing.T, a, b planstore.Owner, tenant, id string) {
	t.Helper()
	read := func(s planstore.Owner) string {
		var found planstore.Item
		must(t, s.Export(t.Context(), "", func(items []planstore.Item, _ string) error {
			for _, x := range items {
				if x.Table == "conversations" && x.Row[0] == tenant && x.Row[1] == id {
					found = x
				}
			}
			return nil
		}))
		for _, x := range found.With {
			if x.Table == "pins" {
				x.Row[0] = nil // a row's own number
				pinned := &x.Row[7]
				*pinned = *pinned == true || *pinned == int64(1)
			}
		}
		text, err := json.Marshal(found)
		must(t, err)
		return string(text)
	}
	if want, got := read(a), read(b); got != want {
		t.Errorf("the copy holds\n%s\nnot\n%s", got, want)
	}
}

// checkCopied checks that a copy of a store has its book, and leaves what is there.
func checkCopied(t *testing.T, by backend) {
	from, ok := by.open(t, planstore.Bounds{}).(planstore.Owner)
	if !ok {
		return
	}
	one, two := fillBook(t, from, "x")
	to := by.open(t, planstore.Bounds{}).(planstore.Owner)
	done, err := planstore.Copy(t.Context(), from, to, "the other")
	if err != nil || done.Added != 3 { // a plan, since the other gave way, and two conversations
		t.Fatalf("%+v, %v", done, err)
	}
	checkSame(t, from, to, "x", one)
	checkSame(t, from, to, "x", two)

	// Who goes on with the copy finds the plan in force there.
	h := storetest.History("copied", 9)
	c := storetest.Leaf("x", h)
	p, err := storetest.At(t.Context(), to, c.Key, h.Chain(9))
	must(t, err)
	pin := &planstore.Pin{Conversation: c.ID, Len: 1, Chain: h.Chain(1), Part: -1, On: true}
	if err := to.Act(t.Context(), c, plan.ID(""), nil, control.PlanInfo{}, pin); err == nil {
		t.Error("in the copy no plan is in force")
	}
	if err := to.Act(t.Context(), c, p.ID(), nil, control.PlanInfo{}, pin); err != nil {
		t.Error(err)
	}
	// A second copy leaves the changes made there as they are.
	if done, err := planstore.Copy(t.Context(), from, to, "the other by another name"); err != nil || done.Added != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if _, pins, err := to.Leaves(t.Context(), c.Key); err != nil || len(pins) != 4 {
		t.Errorf("%+v, %v", pins, err)
	}
}

// checkFormer checks that a plan which gave way to another for the same messages can
// still be read, by its id and by its handles, and goes with its conversation.
func checkFormer(t *testing.T, by backend) {
	s := by.open(t, planstore.Bounds{})
	ctx := t.Context()
	h := storetest.History("former", 9)
	c := storetest.Leaf("x", h)
	first := storetest.Plan(t, h, "one")
	settle(t, s, c, h, "", first, first)
	second := foldOn(t, first, h, "two")
	must(t, s.Act(ctx, c, first.ID(), second, control.PlanInfo{By: "compact"}, nil))
	third := foldOn(t, first, h, "three")
	settle(t, s, c, h, second.ID(), third, third)
	for _, p := range []*plan.Plan{first, second} {
		x, err := s.ByID(ctx, "x", p.ID())
		if err != nil || x.Key != c.Key || x.Plan.ID() != p.ID() || x.Plan.Edits[0].Text != p.Edits[0].Text {
			t.Errorf("%+v, %v", x, err)
		}
		if _, err := s.ByID(ctx, "y", p.ID()); !errors.Is(err, planstore.ErrNotFound) {
			t.Errorf("another tenant reads it: %v", err)
		}
		if p == second { // the first has none
			found, err := s.ByHandle(ctx, "x", p.Edits[0].Handle)
			if err != nil || !slices.ContainsFunc(found, func(k planstore.Kept) bool { return k.Plan.ID() == p.ID() }) {
				t.Errorf("by its handle: %d plans, %v", len(found), err)
			}
		}
	}
	if _, _, err := s.Remove(ctx, c.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ByID(ctx, "x", first.ID()); !errors.Is(err, planstore.ErrNotFound) {
		t.Errorf("after the conversation was removed: %v", err)
	}
}

// checkSpent checks that what works once does so for all who share a store.
func checkSpent(t *testing.T, by backend) {
	clock := storetest.NewClock()
	all := by.openTwice(t, planstore.Bounds{Now: clock.Now})
	soon := time.Now().Add(time.Hour) // by the clock of a database, too
	if clock.Now().After(soon) {
		soon = clock.Now().Add(time.Hour)
	}
	spend := func(ctx context.Context, i int, name string) bool {
		first, err := all[i].Spend(ctx, name, soon)
		if err != nil {
			t.Error(err)
		}
		return first
	}
	if !spend(t.Context(), 0, "a") || spend(t.Context(), 1, "a") || spend(t.Context(), 0, "a") || !spend(t.Context(), 1, "b") {
		t.Error("what works once does not")
	}
	var wait sync.WaitGroup
	firsts := make([]bool, 8)
	for i := range firsts {
		wait.Go(func() { firsts[i] = spend(t.Context(), i%2, "at once") })
	}
	wait.Wait()
	n := 0
	for _, first := range firsts {
		if first {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d were the first", n)
	}
}

// checkLimits checks that the store keeps a model's learned limits, by tenant and
// name.
func checkLimits(t *testing.T, by backend) {
	s := by.open(t, planstore.Bounds{})
	for _, value := range []string{"one", "two"} { // the second in place of the first
		must(t, s.KeepLimits(t.Context(), "x", "a", []byte(value)))
	}
	if by.reopen != nil {
		s = by.reopen(t, s)
	}
	for k, want := range map[[2]string]string{{"x", "a"}: "two", {"x", "b"}: "", {"y", "a"}: ""} {
		if got, err := s.Limits(t.Context(), planstore.Tenant(k[0]), k[1]); err != nil || string(got) != want {
			t.Errorf("%v: %q, %v; want %q", k, got, err, want)
		}
	}
}
