package plan_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

// reread writes a plan and reads it again.
func reread(t *testing.T, data []byte, err error) *plan.Plan {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A chain of plans, some of which take others back, is written plan by plan and
// read again. Linked one after the other the plans are what they were, and a
// file of the last one alone is too: any plan can be taken back, with the same
// result.
func TestLink(t *testing.T) {
	undone, replaced, backs := 0, 0, 0
	each(t, 31, func(t *testing.T, seed uint64, r chat.Rules, h chat.History, _ []plan.Edit) {
		var p, linked *plan.Plan
		var ids []plan.ID
		for k := range uint64(7) {
			next, err := plan.Compose(p, h, r, nil, randomEdits(source(seed, 40+k), h, 0.3)...)
			if rnd := source(seed, 60+k); len(ids) > 1 && rnd.IntN(3) == 0 {
				if next, err = plan.Undo(p, ids[rnd.IntN(len(ids))], h, r); err == nil {
					backs++
				}
			}
			if err != nil {
				continue
			}
			p = next
			ids = append(ids, p.ID())
			replaced += len(p.Replaced)
			data, err := json.Marshal(p)
			q := reread(t, data, err)
			if linked != nil {
				if _, err := plan.Undo(q, q.ID(), h, r); q.Parent != "" && !errors.Is(err, plan.ErrUnlinked) {
					t.Fatalf("taken back without the plans before it: %v", err)
				}
			}
			if linked, err = q.Link(linked); err != nil {
				t.Fatal(err)
			}
			h = h.Append(randhist.Messages(source(seed, 80+k), randhist.Options{MaxText: 60, Messages: 2, Healthy: true})...)
		}
		if p == nil {
			return
		}
		data, err := p.File()
		for name, q := range map[string]*plan.Plan{"linked": linked, "alone": reread(t, data, err)} {
			if q.ID() != p.ID() || !reflect.DeepEqual(normal(q.Edits), normal(p.Edits)) || !reflect.DeepEqual(normal(q.Replaced), normal(p.Replaced)) {
				t.Fatalf("seed %d, %s: %d edits and %d replaced became %d and %d", seed, name, len(p.Edits), len(p.Replaced), len(q.Edits), len(q.Replaced))
			}
			for _, id := range ids {
				a, err := plan.Undo(p, id, h, r)
				b, berr := plan.Undo(q, id, h, r)
				if (err == nil) != (berr == nil) || a.ID() != b.ID() {
					t.Fatalf("seed %d, %s: taking back %s gives %v, %v and %v, %v", seed, name, id, a, err, b, berr)
				}
				undone++
			}
		}
	})
	if undone < 1000 || replaced < 1000 || backs < 100 {
		t.Errorf("%d plans were taken back, %d edits replaced, %d times on the way", undone, replaced, backs)
	}
}

// What a plan says about the plans before it does not grow with their number.
func TestLineageIsSmall(t *testing.T) {
	h := storyHistory()
	var p *plan.Plan
	var sizes []int
	for i := range 60 {
		text := string(rune('a'+i%26)) + " summary of everything that was said and done until now, in some words"
		p = compose(t, p, h, chat.Rules{}, fold(0, 4, text))
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(data))
		h = h.Append(chat.TextMessage(chat.User, "more"), chat.TextMessage(chat.Assistant, "yes"))
	}
	if sizes[59] > sizes[2]+200 {
		t.Errorf("plan 3 has %d bytes, plan 60 %d", sizes[2], sizes[59])
	}
	if len(p.Replaced) != 59 {
		t.Errorf("%d edits are known as replaced", len(p.Replaced))
	}
}
