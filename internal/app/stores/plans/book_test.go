package plans_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
)

// foldOn returns a plan on a plan; nil is none.
func foldOn(t *testing.T, base *plan.Plan, h chat.History, text string) *plan.Plan {
	t.Helper()
	if base == nil {
		return storetest.Plan(t, h, text)
	}
	p, err := plan.Compose(base, h, chat.Rules{Name: "test"}, nil, plan.Edit{Kind: plan.Fold, From: 1, To: 5, Part: -1, Text: text, Stage: "fold", Handle: plan.Handle(h, 1, 5, -1)})
	must(t, err)
	return p
}

// settle settles a plan of a request in place of base; the one in force then must be want.
func settle(t *testing.T, s planstore.Store, c planstore.Conversation, h chat.History, base plan.ID, p, want *plan.Plan) {
	t.Helper()
	if won, err := s.Settle(t.Context(), c, h, base, p, control.PlanInfo{By: "request"}); err != nil || won.ID() != want.ID() {
		t.Fatalf("%v is in force, %v; want %s", won, err, want.ID())
	}
}

// runBook checks the book of a store.
func runBook(t *testing.T, by backend) {
	leaf := func(t *testing.T, s planstore.Store, c planstore.Conversation) planstore.Conversation {
		t.Helper()
		all, _, err := s.Leaves(t.Context(), c.Key)
		must(t, err)
		for _, x := range all {
			if x.ID == c.ID {
				return x
			}
		}
		return planstore.Conversation{}
	}
	t.Run("the plan in force changes by one at a time", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		short, long := storetest.History("a", 5), storetest.History("a", 9)
		c := storetest.Leaf("x", short)
		first := foldOn(t, nil, short, "one")
		settle(t, s, c, short, "", first, first)
		// A second writer that plans the same messages from the same state uses
		// that one.
		settle(t, s, c, short, "", foldOn(t, nil, short, "other"), first)
		// An action takes it back; a request that grew from it yields.
		undone, err := plan.Undo(first, first.ID(), short, chat.Rules{Name: "test"})
		must(t, err)
		must(t, s.Act(t.Context(), c, first.ID(), undone, control.PlanInfo{By: "undo"}, nil))
		settle(t, s, c, long, first.ID(), foldOn(t, first, long, "two"), undone)
		second := foldOn(t, undone, long, "two")
		settle(t, s, c, long, undone.ID(), second, second)
		// An action on a plan that is not in force any more changes nothing, and
		// says so.
		var other *control.ConflictError
		err = s.Act(t.Context(), c, undone.ID(), foldOn(t, undone, long, "late"), control.PlanInfo{}, nil)
		if !errors.As(err, &other) || other.InForce != second.ID() {
			t.Errorf("a late action: %v", err)
		}
		// A request that is older than the plan in force does not change it.
		if won, err := s.Settle(t.Context(), c, short.Append(chat.TextMessage(chat.User, "elsewhere")), undone.ID(), foldOn(t, undone, short.Append(chat.TextMessage(chat.User, "elsewhere")), "old"), control.PlanInfo{}); err != nil || won == nil {
			t.Errorf("an older request: %v, %v", won, err)
		}
		if now := leaf(t, s, c); now.Plan != second.ID() || now.Totals.Compactions != 2 { // an undo is not a compaction
			t.Errorf("in force is %s after %d, want %s after 2", now.Plan, now.Totals.Compactions, second.ID())
		}
		all, err := s.Settled(t.Context(), "x", c.ID)
		if err != nil || len(all) != 3 || all[0].ID != first.ID() || all[1].By != "undo" || all[2].ID != second.ID() {
			t.Errorf("settled %+v, %v", all, err)
		}
	})
	t.Run("requests", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		h := storetest.History("a", 6)
		c := storetest.Leaf("x", h)
		const n = control.MaxRequests + 70
		dollars := 0.5
		for i := range n {
			links := planstore.Links{From: i % 6, Links: []planstore.Link{planstore.LinkOf(h.Chain(i%6 + 1))}}
			if i >= 6 {
				links = planstore.Links{From: 6}
			}
			r := control.Request{Tokens: 10, Saved: -1, Usage: &control.Usage{Input: 1, CacheRead: 3}, Dollars: &dollars}
			must(t, s.Note(t.Context(), c, &r, links))
		}
		if now := leaf(t, s, c); now.Len != 6 || now.Chain != c.Chain {
			t.Errorf("the leaf is at %d", now.Len)
		}
		all, err := s.Requests(t.Context(), "x", c.ID, 0)
		if err != nil || len(all) != control.MaxRequests || all[len(all)-1].N != n || all[0].N != n-control.MaxRequests+1 {
			t.Fatalf("%d requests, %v", len(all), err)
		}
		some, err := s.Requests(t.Context(), "x", c.ID, all[len(all)-3].Revision)
		if err != nil || len(some) != 2 || some[1].N != n {
			t.Errorf("after a revision: %+v, %v", some, err)
		}
		list, err := s.Conversations(t.Context(), "x", c.ID[:6], 5)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		if sum := list[0].Totals; sum.Requests != n || sum.Counted != 10*n || sum.Saved != -n || *sum.CacheShare != 0.75 || *sum.Dollars != n/2 || list[0].Revision != n || list[0].Last.N != n {
			t.Errorf("totals %+v, revision %d", sum, list[0].Revision)
		}
		links, err := s.Links(t.Context(), c)
		if err != nil || len(links) != 6 || links[5] != planstore.LinkOf(h.Chain(6)) {
			t.Errorf("links %v, %v", links, err)
		}
		for _, who := range []planstore.Tenant{"y", ""} {
			if list, err := s.Conversations(t.Context(), who, "", 5); len(list) != 0 || err != nil {
				t.Errorf("another tenant sees %v, %v", list, err)
			}
			if all, err := s.Requests(t.Context(), who, c.ID, 0); len(all) != 0 || err != nil {
				t.Errorf("another tenant sees %d requests, %v", len(all), err)
			}
		}
		if _, _, err := s.Remove(t.Context(), c.Key); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Requests(t.Context(), "x", c.ID, 0); len(all) != 0 || err != nil || leaf(t, s, c).ID != "" {
			t.Errorf("after it was removed there are %d requests, %v", len(all), err)
		}
	})
	t.Run("pins", func(t *testing.T) {
		s := by.open(t, planstore.Bounds{})
		h := storetest.History("a", 6)
		c := storetest.Leaf("x", h)
		pin := func(of string, message int, on bool) {
			t.Helper()
			p := planstore.Pin{Conversation: of, Len: message + 1, Chain: h.Chain(message + 1), Part: -1, On: on}
			must(t, s.Act(t.Context(), c, "", nil, control.PlanInfo{}, &p))
		}
		pin("parent", 1, true)
		pin("parent", 2, true)
		pin("fork", 2, false)
		pin("fork", 3, true)
		_, all, err := s.Leaves(t.Context(), c.Key)
		if err != nil || len(all) != 4 {
			t.Fatalf("%v, %v", all, err)
		}
		at := func(lineage ...string) (out []int) {
			for _, p := range planstore.In(all, lineage, h) {
				out = append(out, p.Len-1)
			}
			return out
		}
		if got := fmt.Sprint(at("parent"), at("fork", "parent"), at("other")); got != "[1 2] [1 3] []" {
			t.Errorf("pins hold at %s", got)
		}
		if other := planstore.In(all, []string{"parent"}, storetest.History("b", 6)); len(other) != 0 {
			t.Errorf("pins of another history hold: %v", other)
		}
		err = s.Act(t.Context(), c, "p-other", nil, control.PlanInfo{}, &planstore.Pin{Conversation: c.ID, Len: 1, Chain: h.Chain(1)})
		var conflict *control.ConflictError
		if !errors.As(err, &conflict) {
			t.Errorf("a pin on another plan than the one in force: %v", err)
		}
	})
	if by.reopen != nil {
		t.Run("the book is kept", func(t *testing.T) {
			s := by.open(t, planstore.Bounds{})
			h := storetest.History("a", 5)
			c := storetest.Leaf("x", h)
			p := foldOn(t, nil, h, "one")
			settle(t, s, c, h, "", p, p)
			must(t, s.Act(t.Context(), c, p.ID(), nil, control.PlanInfo{}, &planstore.Pin{Conversation: c.ID, Len: 1, Chain: h.Chain(1), Part: 0, On: true}))
			must(t, s.Note(t.Context(), c, &control.Request{Tokens: 7}, planstore.Links{}))
			s = by.reopen(t, s)
			if q, err := storetest.At(t.Context(), s, c.Key, p.Prefix); err != nil || q.ID() != p.ID() || q.Edits[0].Text != "one" {
				t.Errorf("%v, %v", q, err)
			}
			_, pins, err := s.Leaves(t.Context(), c.Key)
			if now := leaf(t, s, c); now.Plan != p.ID() || now.Revision != 3 || now.Last == nil || now.Last.Tokens != 7 || len(pins) != 1 || pins[0].Part != 0 || err != nil {
				t.Errorf("after it was opened again: %+v, pins %v, %v", now, pins, err)
			}
		})
	}
	if by.beside != nil {
		t.Run("others see at once what is in force", func(t *testing.T) {
			s := by.open(t, planstore.Bounds{})
			other := by.beside(t, s)
			h := storetest.History("a", 5)
			c := storetest.Leaf("x", h)
			if leaf(t, other, c).ID != "" {
				t.Fatal("it is there before it was written")
			}
			p := foldOn(t, nil, h, "one")
			settle(t, s, c, h, "", p, p)
			heads, err := other.Heads(t.Context(), c.Key)
			if now := leaf(t, other, c); now.Plan != p.ID() || len(heads) != 1 || heads[0].ID != p.ID() || err != nil {
				t.Errorf("beside it: %+v, heads %v, %v", now, heads, err)
			}
			must(t, other.Act(t.Context(), c, p.ID(), nil, control.PlanInfo{}, &planstore.Pin{Conversation: c.ID, Len: 1, Chain: h.Chain(1), Part: -1, On: true}))
			if _, pins, err := s.Leaves(t.Context(), c.Key); len(pins) != 1 || err != nil {
				t.Errorf("a pin that was set beside: %v, %v", pins, err)
			}
		})
	}
	t.Run("gave way", func(t *testing.T) { checkFormer(t, by) })
	t.Run("copied", func(t *testing.T) { checkCopied(t, by) })
	t.Run("used once", func(t *testing.T) { checkSpent(t, by) })
	t.Run("limits", func(t *testing.T) { checkLimits(t, by) })
}
