package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// chain composes one plan after the other over the same history.
func chain(t *testing.T, h chat.History, r chat.Rules, steps ...[]plan.Edit) []*plan.Plan {
	t.Helper()
	var out []*plan.Plan
	var p *plan.Plan
	for _, add := range steps {
		p = compose(t, p, h, r, add...)
		out = append(out, p)
	}
	return out
}

func TestUndo(t *testing.T) {
	type steps = [][]plan.Edit
	for _, c := range []struct {
		name   string
		steps  steps
		undo   int
		want   string
		behind string // edits that stay replaced
	}{
		{"the only plan", steps{{mask(2, 0, "a")}}, 0, "", ""},
		{"the last plan", steps{{mask(2, 0, "a")}, {mask(3, 0, "b")}}, 1, "mask 2.0 a", ""},
		{"an earlier plan", steps{{mask(2, 0, "a")}, {mask(3, 0, "b")}}, 0, "mask 3.0 b", ""},
		{"a stronger mask", steps{{mask(2, 0, "a")}, {mask(2, 0, "b")}}, 1, "mask 2.0 a", ""},
		{"the weaker mask", steps{{mask(2, 0, "a")}, {mask(2, 0, "b")}}, 0, "", ""},
		{"three masks, the last", steps{{mask(2, 0, "a")}, {mask(2, 0, "b")}, {mask(2, 0, "c")}}, 2, "mask 2.0 b", "mask 2.0 a"},
		{"three masks, the middle", steps{{mask(2, 0, "a")}, {mask(2, 0, "b")}, {mask(2, 0, "c")}}, 1, "mask 2.0 a", ""},
		{"three masks, the first", steps{{mask(2, 0, "a")}, {mask(2, 0, "b")}, {mask(2, 0, "c")}}, 0, "", ""},
		{"a fold over masks", steps{{mask(2, 0, "a"), mask(7, 0, "c")}, {fold(0, 5, "f")}}, 1, "mask 2.0 a, mask 7.0 c", ""},
		{"masks under a fold", steps{{mask(2, 0, "a")}, {fold(0, 5, "f"), mask(7, 0, "c")}}, 0, "mask 7.0 c", ""},
		{"nested folds, the outer", steps{{mask(2, 0, "a")}, {fold(0, 5, "f")}, {fold(0, 9, "g")}}, 2, "fold 0-5 f", "mask 2.0 a"},
		{"nested folds, the inner", steps{{mask(2, 0, "a")}, {fold(0, 5, "f")}, {fold(0, 9, "g")}}, 1, "mask 2.0 a", ""},
		{"nested folds, the mask", steps{{mask(2, 0, "a"), mask(7, 0, "c")}, {fold(0, 5, "f")}, {fold(0, 9, "g")}}, 0, "", ""},
		{"what another plan added under the fold returns", steps{{mask(2, 0, "a")}, {mask(7, 0, "c")}, {fold(0, 9, "g")}}, 0, "mask 7.0 c", ""},
		{"a mask of another part stays", steps{{mask(1, 0, `{"a":1}`)}, {mask(1, 1, `{"b":1}`)}, {mask(1, 0, `{}`)}}, 0, `mask 1.1 {"b":1}`, ""},
		{"a fold that keeps a masked message stays", steps{{mask(4, 0, "x")}, {fold(0, 9, "f", 4)}}, 0, "fold 0-9 keep [4] f", ""},
		{"a fold stays when its kept message's mask was replaced with it", steps{{mask(4, 0, "x")}, {fold(0, 9, "f", 4), mask(4, 0, "y")}}, 0, "fold 0-9 keep [4] f", ""},
		{"a fold returns over a mask made while it was away", steps{{fold(0, 5, "f")}, {fold(0, 9, "g", 4)}, {mask(4, 0, "x")}}, 1, "fold 0-5 f", "mask 4.0 x"},
		{"markers", steps{{drop(5, 5, "m")}, {drop(5, 5, "n")}}, 1, "drop 5-5 m", ""},
		{"a marker before an older fold", steps{{fold(5, 9, "f")}, {drop(5, 5, "m")}}, 1, "fold 5-9 f", ""},
		{"a marker before an older fold, both folded since", steps{{fold(5, 9, "f")}, {drop(5, 5, "m")}, {fold(0, 9, "g")}}, 2, "drop 5-5 m, fold 5-9 f", ""},
		{"that marker, under the fold", steps{{fold(5, 9, "f")}, {drop(5, 5, "m")}, {fold(0, 9, "g")}}, 1, "fold 5-9 f", ""},
		{"a marker that became a fold", steps{{drop(5, 5, "m")}, {fold(5, 9, "f")}}, 0, "", ""},
		{"mask and answer at one place", steps{{mask(9, 0, "{}")}, {answer(9, 0, "D", "none")}, {mask(9, 0, `{"s":1}`)}}, 0, "answer 9.0 none", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hist("u tc(A,B) t(A) t(B) a u tc(C) t(C) a tc(D) u")
			plans := chain(t, h, free, c.steps...)
			last := plans[len(plans)-1]
			before := list(last.Edits)
			u, err := plan.Undo(last, plans[c.undo].ID(), h, free)
			if err != nil {
				t.Fatal(err)
			}
			if got := list(u.Edits); got != c.want {
				t.Errorf("edits %q, want %q", got, c.want)
			}
			if got := list(u.Replaced); got != c.behind {
				t.Errorf("replaced %q, want %q", got, c.behind)
			}
			if list(last.Edits) != before || u.Parent != last.ID() {
				t.Error("the plan itself was changed")
			}
			apply(t, h, u)
		})
	}
}

// A plan that hides less has a smaller fold in the place of a larger one. When it is
// undone, all that it took the place of stands again.
func TestUndoExchange(t *testing.T) {
	h := hist("u tc(A,B) t(A) t(B) a u tc(C) t(C) a u tc(D) t(D) a u")
	base := compose(t, nil, h, free, fold(0, 9, "g"), mask(11, 0, "z"))
	for _, less := range [][]plan.Edit{{fold(0, 5, "f")}, {mask(2, 0, "a")}, nil} {
		p, err := plan.Exchange(base, h, free, less...)
		if err != nil {
			t.Fatal(err)
		}
		if got := list(p.Edits); got != list(less) || p.Parent != base.ID() {
			t.Errorf("edits %q after plan %s", got, p.Parent)
		}
		u, err := plan.Undo(p, p.ID(), h, free)
		if err != nil {
			t.Fatal(err)
		}
		if got := list(u.Edits); got != list(base.Edits) {
			t.Errorf("undone: %q, want %q", got, list(base.Edits))
		}
		apply(t, h, p)
	}
}

// A plan may release a fold for a pin and lay another one there, larger or
// smaller. What stood under both is still taken back, with the fold over it.
func TestUndoBelowReleased(t *testing.T) {
	h := hist("u tc(A,B) t(A) t(B) a u tc(C) t(C) a u tc(D) t(D) a u")
	for _, over := range []plan.Edit{fold(0, 12, "h", 5), fold(1, 9, "h", 5)} {
		plans := chain(t, h, free, []plan.Edit{mask(2, 0, "a")}, []plan.Edit{fold(0, 5, "f"), mask(6, 0, "{}")}, []plan.Edit{fold(0, 9, "g")})
		last := plans[2]
		p, err := plan.Compose(last, h, free, []plan.Ref{last.Edits[0].Ref()}, over, mask(13, 0, "z"))
		if err != nil {
			t.Fatal(err)
		}
		u, err := plan.Undo(p, plans[1].ID(), h, free)
		if err != nil {
			t.Fatalf("under %s: %v", list([]plan.Edit{over}), err)
		}
		if got := list(u.Edits); got != "mask 2.0 a, mask 13.0 z" {
			t.Errorf("under %s: edits %q", list([]plan.Edit{over}), got)
		}
		apply(t, h, u)
	}
}

// A message may be reduced, folded, pinned, reduced again and folded again. When
// all folds go, the last of its edits returns, once.
func TestUndoTwiceReduced(t *testing.T) {
	h := hist("u tc(A,B) t(A) t(B) a u tc(C) t(C) a u tc(D) t(D) a u")
	plans := chain(t, h, free, []plan.Edit{drop(5, 8, "d")}, []plan.Edit{mask(2, 0, "a")}, []plan.Edit{fold(0, 8, "f")}, []plan.Edit{fold(0, 9, "g")})
	p, err := plan.Compose(plans[3], h, free, []plan.Ref{{From: 0, Part: -1}}, fold(0, 9, "k", 1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	p = compose(t, p, h, free, mask(2, 0, "b"))
	p = compose(t, p, h, free, fold(0, 12, "h"))
	u, err := plan.Undo(p, plans[0].ID(), h, free)
	if err != nil {
		t.Fatal(err)
	}
	if got := list(u.Edits); got != "mask 2.0 b" {
		t.Errorf("edits %q", got)
	}
	apply(t, h, u)
}

// Undo after further turns: the view is that of the history as it is now.
func TestUndoAfterFurtherTurns(t *testing.T) {
	h := hist("u tc t a u")
	p := compose(t, nil, h, free, fold(0, 4, "sum"))
	h = h.Append(hist("tc(B) t(B) a u").Messages()...)
	q := compose(t, p, h, free, mask(6, 0, "short"))
	h = h.Append(hist("a").Messages()...)
	u, err := plan.Undo(q, p.ID(), h, free)
	if err != nil {
		t.Fatal(err)
	}
	v := apply(t, h, u)
	if got, want := show(v), `u[u 0] a[tool_A:A{"n":1}] t[A=t 2 of A] a[a 3] u[u 4] a[tool_B:B{"n":1}] t[B=short] a[a 2] u[u 3] a[a 0]`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if u.Len != h.Len() || p.Len >= u.Len {
		t.Errorf("the new plan covers %d messages", u.Len)
	}
	u2, err := plan.Undo(u, q.ID(), h, free)
	if err != nil || digest(apply(t, h, u2)) != digest(h) {
		t.Errorf("with everything taken back the view is not the history: %v", err)
	}
}

// Thinking that was written under the plan goes with it.
func TestUndoStripsThinking(t *testing.T) {
	bound := chat.Rules{BoundThinking: true}
	h := hist("u tc t a u")
	p := compose(t, nil, h, bound, fold(0, 4, "sum"))
	h = h.Append(hist("th(B) t(B) u").Messages()...)
	if got := show(apply(t, h, p)); !strings.Contains(got, "signed") {
		t.Fatalf("nothing is signed in %s", got)
	}
	u, err := plan.Undo(p, p.ID(), h, bound)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(apply(t, h, u)); strings.Contains(got, "signed") || !slices.Equal(u.Strip, []plan.Span{{From: 5, To: 8}}) {
		t.Errorf("stripped %v: %s", u.Strip, got)
	}
	h = h.Append(hist("th(C) t(C)").Messages()...)
	if got := show(apply(t, h, u)); !strings.Contains(got, "thinking th 0 signed") {
		t.Errorf("thinking written after the plan was taken back is gone: %s", got)
	}
}

// Where messages are joined, those sealed before the change stay as they were.
func TestUndoKeepsSeals(t *testing.T) {
	alternate := chat.Rules{Alternate: true}
	h := hist("u a u")
	p := compose(t, nil, h, alternate)
	h = h.Append(hist("u a u tc t").Messages()...)
	q := compose(t, p, h, alternate, mask(7, 0, "short"))
	before := show(apply(t, h, p))
	u, err := plan.Undo(q, q.ID(), h, alternate)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(apply(t, h, u)); got != before || !strings.Contains(got, "(continued)") {
		t.Errorf("%s\nwant %s", got, before)
	}
}

func TestUndoOfAStranger(t *testing.T) {
	h := hist("u a u")
	p := compose(t, nil, h, free, mask(0, 0, "x"))
	_, err := plan.Undo(p, "0123456789abcdef", h, free)
	if err == nil || !strings.Contains(err.Error(), string(p.ID())) {
		t.Errorf("the error does not say which plans there are: %v", err)
	}
	if _, err := plan.Undo(nil, "x", h, free); err == nil {
		t.Error("no plan was taken back")
	}
	if got := chain(t, h, free, []plan.Edit{mask(1, 0, "y")}, []plan.Edit{mask(0, 0, "x")})[1].Makers(); len(got) != 2 {
		t.Errorf("makers %v", got)
	}
}
