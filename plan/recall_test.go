package plan_test

import (
	"errors"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func withHandle(h chat.History, e plan.Edit) plan.Edit {
	e.Handle = plan.Handle(h, e.From, e.To, e.Part)
	return e
}

func TestRecall(t *testing.T) {
	h := hist("u tc(A,B) t(A) t(B) a u tc(C) a")
	first := []plan.Edit{withHandle(h, mask(2, 0, "a")), withHandle(h, mask(1, 1, "{}")), withHandle(h, answer(6, 0, "C", "none")), withHandle(h, drop(7, 7, "m"))}
	p := compose(t, nil, h, free, first...)
	f := withHandle(h, fold(0, 5, "f", 4))
	q := compose(t, p, h, free, f)
	h2 := h.Append(hist("u").Messages()...)
	for _, c := range []struct {
		name   string
		handle string
		from   int
		want   string
	}{
		{"a mask that was swallowed", first[0].Handle, 2, "t[A=t 2 of A]"},
		{"one part of several", first[1].Handle, 1, `a[tool_B:B{"n":1}]`},
		{"the call that an answer answers", first[2].Handle, 6, `a[tool_C:C{"n":1}]`},
		{"a marker", first[3].Handle, 7, ""},
		{"a fold", f.Handle, 0, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] t[A=t 2 of A] t[B=t 3 of B] a[a 4]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := plan.Recall(h2, q, c.handle)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(chat.Messages(o.Messages)); got != c.want || o.From != c.from || o.Edit.Handle != c.handle {
				t.Errorf("from %d: %s, want %s", o.From, got, c.want)
			}
		})
	}
	for _, handle := range []string{"", "wnothere"} {
		if _, err := plan.Recall(h, q, handle); !errors.Is(err, plan.ErrNoHandle) {
			t.Errorf("%q: %v", handle, err)
		}
	}
	if _, err := plan.Recall(hist("u"), q, f.Handle); !errors.Is(err, plan.ErrMismatch) {
		t.Error("recalled from another history")
	}
}

func TestRecallOfAnEmptyMessage(t *testing.T) {
	h := chat.NewHistory(chat.Message{Role: chat.User, ID: "m1"})
	e := withHandle(h, mask(0, 0, "[empty]"))
	o, err := plan.Recall(h, compose(t, nil, h, free, e), e.Handle)
	if err != nil || len(o.Messages) != 1 || o.Messages[0].ID != "m1" {
		t.Errorf("%+v: %v", o, err)
	}
}

// Handles differ by place and content, and do not depend on what comes later.
func TestHandle(t *testing.T) {
	h := hist("u tc(A,B) t(A) t(B) a u")
	seen := map[string]bool{}
	for from := range h.Len() {
		for _, x := range []string{
			plan.Handle(h, from, from+1, 0), plan.Handle(h, from, from+1, 1), plan.Handle(h, from, h.Len(), -1), plan.Handle(h, from, from, -1),
		} {
			if seen[x] || len(x) != 9 || x[0] != 'w' {
				t.Errorf("handle %q at %d", x, from)
			}
			seen[x] = true
		}
	}
	if a, b := plan.Handle(h, 2, 3, 0), plan.Handle(h.Append(hist("a").Messages()...), 2, 3, 0); a != b {
		t.Error("a handle changed when the history grew")
	}
	if a, b := plan.Handle(hist("u a"), 0, 1, 0), plan.Handle(hist("a u"), 0, 1, 0); a == b {
		t.Error("different content has one handle")
	}
}
