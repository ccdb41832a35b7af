package plan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func state(at int, text string) plan.Edit {
	return plan.Edit{Kind: plan.State, From: at, To: at, Part: -1, Text: text, Stage: "fold"}
}

// A state at the end of what was sent stays before a marker that is put in front of
// the next message: what was sent does not change.
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

// Plans in which a marker stands before the state, as they once were made, stay as
// they are.
func TestMarkerBeforeTheState(t *testing.T) {
	h := hist("u a u a u a")
	p := compose(t, nil, h, free, fold(0, 2, "summary"), state(2, "as it stands"), drop(2, 2, "a note"))
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	edits := doc["edits"].([]any)
	edits[1], edits[2] = edits[2], edits[1]
	delete(doc, "id")
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	old := reread(t, data, nil)
	if got := show(apply(t, h, old)); !strings.HasPrefix(got, "y[summary] y[a note] y[as it stands] ") {
		t.Errorf("the view is %s", got)
	}
	next := compose(t, old, h, free, mask(4, 0, "short"))
	if got := show(apply(t, h, next)); !strings.HasPrefix(got, "y[summary] y[a note] y[as it stands] ") {
		t.Errorf("carried on, the view is %s", got)
	}
}

// A state and a marker at one place are told apart when a plan is linked, and a name
// that an earlier version wrote for a state still means it.
func TestLinkStateAndMarker(t *testing.T) {
	h := hist("u a u a u a")
	link := func(parent, p *plan.Plan, old bool) *plan.Plan {
		t.Helper()
		data, err := json.Marshal(p)
		if old {
			data = bytes.ReplaceAll(data, []byte(`"part":-2`), []byte(`"part":-1`))
		}
		q, lerr := reread(t, data, err).Link(parent)
		if lerr != nil {
			t.Fatal(lerr)
		}
		return q
	}
	both := compose(t, nil, h, free, fold(0, 2, "summary"), state(2, "as it stands"), drop(2, 2, "a note"))
	p := compose(t, both, h, chat.Rules{}, state(4, "later"), fold(2, 4, "more"))
	if got, want := list(link(both, p, false).Replaced), list(p.Replaced); got != want || !strings.Contains(got, "state") {
		t.Errorf("linked, %q are replaced, and %q were", got, want)
	}
	alone := compose(t, nil, h, free, fold(0, 2, "summary"), state(2, "as it stands"))
	p = compose(t, alone, h, free, fold(2, 4, "more"), state(4, "later"))
	if got, want := list(link(alone, p, true).Replaced), list(p.Replaced); got != want || !strings.Contains(got, "state") {
		t.Errorf("linked, %q are replaced, and %q were", got, want)
	}
	p = compose(t, both, h, free, state(4, "later"))
	if got, want := list(link(both, p, false).Replaced), list(p.Replaced); got != want || strings.Contains(got, "note") {
		t.Errorf("linked, %q are replaced, and %q were", got, want)
	}
}
