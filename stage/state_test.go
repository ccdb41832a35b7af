package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

// states returns the state edits of a plan.
func states(p *plan.Plan) []plan.Edit {
	var out []plan.Edit
	for _, e := range p.Edits {
		if e.Kind == plan.State {
			out = append(out, e)
		}
	}
	return out
}

// A fold is followed by one state, which the next rewrite makes anew: the fold
// before it keeps its text, and the history stays as it was.
func TestStateIsMadeAnew(t *testing.T) {
	j := job{stages: stage.Named("ladder"), config: with(func(*stage.Config) {})}
	j.available, j.target = 12000, 4000
	h := turns(40)
	first := j.run(t, h)
	a := states(first.Plan)
	if len(a) != 1 || !strings.Contains(a[0].Text, "Files as they stand") {
		t.Fatalf("want one state, got %v", first.Plan)
	}
	folds := edits(first.Plan, "ladder")
	if folds[len(folds)-1].To != a[0].From {
		t.Errorf("the state stands before message %d, the last fold ends at %d", a[0].From, folds[len(folds)-1].To)
	}
	h = h.Append(turns(80).Messages()[40*turnLen:]...)
	j.base = first.Plan
	second := j.run(t, h)
	b := states(second.Plan)
	if len(b) != 1 || b[0].From <= a[0].From || b[0].Text == a[0].Text {
		t.Fatalf("want one new state further on, got %v", second.Plan)
	}
	back, err := plan.Undo(second.Plan, second.Plan.ID(), h, chat.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if s := states(back); len(s) != 1 || s[0].Text != a[0].Text {
		t.Errorf("taken back, the state of the plan before does not stand again: %v", back)
	}
}

// The target is used: the view has nearly as many tokens as were asked for.
func TestTargetIsUsed(t *testing.T) {
	h := turns(200)
	for _, target := range []int{6000, 9000, 12000} {
		j := job{stages: stage.Named(stage.Names()...), config: with(func(*stage.Config) {})}
		j.available, j.target = 20000, target
		out := j.run(t, h)
		if n := out.After.Tokens; n > target || n < target*85/100 {
			t.Errorf("a target of %d gives %d tokens", target, n)
		}
	}
}

// readings is a conversation in which many files are read.
func readings(n int) chat.History {
	items := []any{user("Read all files of the service.")}
	for i := range n {
		name := fmt.Sprintf("file%d.go", i)
		items = append(items, did(fmt.Sprint("call", i), "read", fmt.Sprintf(`{"path":%q}`, name), lines(name, 60)), said("Read."), user("Go on."))
	}
	return of(items...)
}

// The state has what is left beside the folds and the newest messages, in tokens
// and, where those are limited, in bytes.
func TestStateWithinLimits(t *testing.T) {
	h := readings(40)
	whole := 0
	for i := range h.Len() {
		whole += h.At(i).Size().Bytes
	}
	for percent := 90; percent >= 15; percent -= 5 {
		limit := whole * percent / 100
		out := job{stages: stage.Named("limit", "ladder"), available: 1_000_000, target: 900_000, bytes: limit}.run(t, h)
		if n := out.After.Bytes; n > limit || n < limit/4 {
			t.Errorf("%d bytes became %d, the limit is %d", whole, n, limit)
		}
		if has := strings.Contains(out.Plan.String(), "1 state"); percent <= 30 && !has {
			t.Errorf("no state at %d%%: %v %v", percent, out.Plan, out.Notes)
		}
	}
	out := job{stages: stage.Named("limit", "ladder"), available: 12_000, target: 8000}.run(t, h)
	if out.After.Tokens > 8000 || !strings.Contains(out.Plan.String(), "1 state") {
		t.Errorf("%d tokens, %v", out.After.Tokens, out.Plan)
	}
	last := out.Plan.Edits[len(out.Plan.Edits)-1]
	if last.Kind != plan.State || last.Handle != "" || last.From != last.To || !strings.Contains(last.Text, "## Files as they stand") {
		t.Errorf("the last edit is %+v", last)
	}
}
