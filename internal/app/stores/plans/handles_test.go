package plans_test

import (
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
)

// runHandles checks how plans are found by their handles.
func runHandles(t *testing.T, by backend) {
	t.Run("handles", func(t *testing.T) {
		clock := storetest.NewClock()
		s := by.open(t, planstore.Bounds{Age: 3 * time.Hour, Now: clock.Now})
		h := storetest.History("a", 5)
		handle := plan.Handle(h, 1, 3, -1)
		fold := func(text, handle string, h chat.History) *plan.Plan {
			p, err := plan.Compose(nil, h, chat.Rules{Name: "test"}, nil, plan.Edit{Kind: plan.Fold, From: 1, To: 3, Part: -1, Text: text, Stage: "fold", Handle: handle})
			must(t, err)
			return p
		}
		put := func(tenant planstore.Tenant, h chat.History, p *plan.Plan) {
			clock.Add(time.Minute)
			if _, err := storetest.Put(t.Context(), s, planstore.Key{Tenant: tenant, First: h.Chain(1)}, p); err != nil {
				t.Fatal(err)
			}
		}
		mine, longer := fold("mine", handle, h), fold("longer", handle, storetest.History("a", 7))
		put("x", h, mine)
		put("x", h, longer)
		put("x", h, fold("somebody wrote "+handle, "wother000", storetest.History("b", 5)))
		put("y", h, fold("theirs", "wtheirs00", h))
		get := func(tenant planstore.Tenant, handle string) []planstore.Kept {
			t.Helper()
			all, err := s.ByHandle(t.Context(), tenant, handle)
			must(t, err)
			return all
		}
		if all := get("x", handle); len(all) != 2 || all[0].Plan.ID() != longer.ID() || all[1].Plan.ID() != mine.ID() || all[0].Key.First != h.Chain(1) || all[0].Key.Tenant != "x" {
			t.Errorf("plans with the handle: %v", all)
		}
		for _, none := range []struct {
			tenant planstore.Tenant
			handle string
		}{{"y", handle}, {"x", "wtheirs00"}, {"x", ""}, {"x", "%"}, {"", handle}} {
			if all := get(none.tenant, none.handle); len(all) != 0 {
				t.Errorf("tenant %q, handle %q: %v", none.tenant, none.handle, all)
			}
		}
		if all, err := s.Tenants(t.Context()); err != nil || len(all) != 2 || all[0] != "x" || all[1] != "y" {
			t.Errorf("tenants: %v, %v", all, err)
		}
		// To look for a handle is not to use the plan.
		clock.Add(2 * time.Hour)
		get("x", handle)
		clock.Add(2 * time.Hour)
		for i := range 70 { // stores forget now and then
			put("z", storetest.History("z", 5+2*i), fold("z", "wz0000000", storetest.History("z", 5+2*i)))
		}
		if all := get("x", handle); len(all) != 0 {
			t.Errorf("looking for a handle kept %d plans beyond their age", len(all))
		}
	})
}
