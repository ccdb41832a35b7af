package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func state(at int, text string) plan.Edit {
	return plan.Edit{Kind: plan.State, From: at, To: at, Part: -1, Text: text, Stage: "fold"}
}

// A state at the end of the last request stays before a marker that is put in front
// of the next message: the messages sent do not change.
func TestMarkerAfterTheState(t *testing.T) {
	h := hist("u a u tc(A) t(A) a")
	for name, r := range dialects {
		p := compose(t, nil, h, r, fold(0, 6, "summary"), state(6, "as it stands"))
		longer := h.Append(hist("u").Messages()...)
		sent := apply(t, h, p)
		v := apply(t, longer, compose(t, p, longer, r, drop(6, 6, "a note")))
		if !samePrefix(sent, v, sent.Len()) || !strings.Contains(show(v), "a note") {
			t.Errorf("%s: sent was\n%s\nand then\n%s", name, show(sent), show(v))
		}
	}
}

// A state and a marker at one place are told apart when a plan is linked.
func TestLinkStateAndMarker(t *testing.T) {
	h := hist("u a u a u a")
	link := func(parent, p *plan.Plan) *plan.Plan {
		t.Helper()
		data, err := json.Marshal(p)
		q, lerr := reread(t, data, err).Link(parent)
		if lerr != nil {
			t.Fatal(lerr)
		}
		return q
	}
	both := compose(t, nil, h, free, fold(0, 2, "summary"), state(2, "as it stands"), drop(2, 2, "a note"))
	p := compose(t, both, h, chat.Rules{}, state(4, "later"), fold(2, 4, "more"))
	if got, want := list(link(both, p).Replaced), list(p.Replaced); got != want || !strings.Contains(got, "state") {
		t.Errorf("linked, %q are replaced, and %q were", got, want)
	}
	alone := compose(t, nil, h, free, fold(0, 2, "summary"), state(2, "as it stands"))
	p = compose(t, alone, h, free, fold(2, 4, "more"), state(4, "later"))
	if got, want := list(link(alone, p).Replaced), list(p.Replaced); got != want || !strings.Contains(got, "state") {
		t.Errorf("linked, %q are replaced, and %q were", got, want)
	}
	p = compose(t, both, h, free, state(4, "later"))
	if got, want := list(link(both, p).Replaced), list(p.Replaced); got != want || strings.Contains(got, "note") {
		t.Errorf("linked, %q are replaced, and %q were", got, want)
	}
}
