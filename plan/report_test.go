package plan_test

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

func TestReport(t *testing.T) {
	h := hist("u tc t a u tc t a u")
	sized := func(e plan.Edit, stage string, before, after int) plan.Edit {
		e.Stage, e.Before.Tokens, e.After.Tokens = stage, before, after
		return e
	}
	p := compose(t, nil, h, free,
		sized(fold(0, 4, "sum", 3), "fold", 400, 50), sized(mask(3, 0, "x"), "limit", 40, 10),
		sized(mask(6, 0, "x"), "prune", 300, 20), sized(mask(5, 0, "{}"), "limit", 30, 5), sized(drop(8, 8, "m"), "mine", 0, 3))
	r := plan.NewReport(apply(t, h, p), chat.Size{Tokens: 1000}, chat.Size{Tokens: 318}, stageNames)
	if want := (plan.Tally{Messages: 3, Before: 400, After: 53}); r.Removed != want {
		t.Errorf("removed %+v, want %+v", r.Removed, want)
	}
	if want := (plan.Tally{Messages: 3, Before: 370, After: 35}); r.Reduced != want {
		t.Errorf("reduced %+v, want %+v", r.Reduced, want)
	}
	if want := (plan.Tally{Messages: 3, Before: 230, After: 230}); r.Kept != want {
		t.Errorf("kept %+v, want %+v", r.Kept, want)
	}
	want := []plan.StageReport{{Name: "limit", Edits: 2, Saved: 55}, {Name: "prune", Edits: 1, Saved: 280}, {Name: "fold", Edits: 1, Saved: 350}, {Name: "mine", Edits: 1, Saved: -3}}
	if len(r.Stages) != len(want) {
		t.Fatalf("stages %+v", r.Stages)
	}
	for i := range want {
		if r.Stages[i] != want[i] {
			t.Errorf("stage %d: %+v, want %+v", i, r.Stages[i], want[i])
		}
	}
	none := plan.NewReport(apply(t, h, nil), chat.Size{Tokens: 9}, chat.Size{Tokens: 9}, stageNames)
	if want := (plan.Tally{Messages: 9, Before: 9, After: 9}); none.Kept != want || none.MessagesAfter != 9 {
		t.Errorf("without a plan %+v", none)
	}
}

// Kept, reduced and removed add up to the whole.
func TestReportSums(t *testing.T) {
	for seed := range uint64(500) {
		r := source(seed, 40)
		h := randhist.New(r, randhist.Options{MaxText: 60})
		p := compose(t, nil, h, free, randomEdits(r, h, 0.4)...)
		before := chat.Size{Tokens: 1_000_000}
		after := before.Sub(p.Saved())
		rep := plan.NewReport(apply(t, h, p), before, after, stageNames)
		if n := rep.Kept.Messages + rep.Reduced.Messages + rep.Removed.Messages; n != h.Len() || rep.MessagesBefore != n {
			t.Fatalf("seed %d: %d messages of %d", seed, n, h.Len())
		}
		if n := rep.Kept.Before + rep.Reduced.Before + rep.Removed.Before; n != before.Tokens {
			t.Fatalf("seed %d: %d tokens of %d before", seed, n, before.Tokens)
		}
		if n := rep.Kept.After + rep.Reduced.After + rep.Removed.After; n != after.Tokens || rep.Kept.After != rep.Kept.Before {
			t.Fatalf("seed %d: %d tokens of %d after", seed, n, after.Tokens)
		}
		saved, edits := 0, 0
		for _, s := range rep.Stages {
			saved += s.Saved
			edits += s.Edits
		}
		if saved != p.Saved().Tokens || edits != len(p.Edits) {
			t.Fatalf("seed %d: stages saved %d of %d", seed, saved, p.Saved().Tokens)
		}
	}
}
