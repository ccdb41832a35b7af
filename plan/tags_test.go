package plan_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

func TestExport(t *testing.T) {
	h := hist("u a u s a u a u")
	f, d := fold(0, 2, "sum"), drop(2, 5, "gone", 3)
	f.Handle = "wf"
	tagged, left, err := plan.Export(h, compose(t, nil, h, free, f, d, mask(6, 0, "short"), mask(3, 0, "kept")))
	if err != nil || left != 2 || len(tagged) != h.Len()+2 {
		t.Fatalf("%d messages, %d left: %v", len(tagged), left, err)
	}
	if got, want := show(chat.Messages(plan.Effective(tagged))), "y[sum] y[gone] s[s 3] u[u 5] a[a 6] u[u 7]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	drop := tagged[3].TruncationID
	want := []plan.Tags{
		{CondenseID: "wf"},
		{CondenseParent: "wf"},
		{CondenseParent: "wf"},
		{TruncationID: drop, IsTruncationMarker: true},
		{TruncationParent: drop},
		{},
		{TruncationParent: drop},
		{},
		{},
		{},
	}
	for i := range tagged {
		if tagged[i].Tags != want[i] {
			t.Errorf("message %d: %+v, want %+v", i, tagged[i].Tags, want[i])
		}
	}
	if drop == "" || drop == "wf" {
		t.Errorf("the marker's id is %q", drop)
	}
	data, _ := json.Marshal(tagged[3].Tags)
	if got := string(data); got != `{"truncationId":"`+drop+`","isTruncationMarker":true}` {
		t.Errorf("the tags are written as %s", got)
	}

	none, left, err := plan.Export(h, nil)
	if err != nil || left != 0 || show(chat.Messages(plan.Effective(none))) != show(h) {
		t.Errorf("without a plan: %v", err)
	}
	if _, _, err := plan.Export(hist("u"), compose(t, nil, h, free)); !errors.Is(err, plan.ErrMismatch) {
		t.Errorf("exported onto another history: %v", err)
	}
}

func text(s string, tags plan.Tags) plan.Tagged {
	return plan.Tagged{Message: chat.TextMessage(chat.User, s), Tags: tags}
}

func TestImport(t *testing.T) {
	for _, c := range []struct {
		name          string
		in            []plan.Tagged
		history, view string
	}{
		{"no tags", []plan.Tagged{text("1", plan.Tags{}), text("2", plan.Tags{})}, "u[1] u[2]", "u[1] u[2]"},
		{"condensed", []plan.Tagged{
			text("sum", plan.Tags{CondenseID: "c"}),
			text("1", plan.Tags{CondenseParent: "c"}), text("2", plan.Tags{CondenseParent: "c"}), text("3", plan.Tags{}),
		}, "u[1] u[2] u[3]", "y[sum] u[3]"},
		{"summary after what it hides", []plan.Tagged{
			text("1", plan.Tags{CondenseParent: "c"}), text("2", plan.Tags{CondenseParent: "c"}),
			text("sum", plan.Tags{CondenseID: "c"}), text("3", plan.Tags{}),
		}, "u[1] u[2] u[3]", "y[sum] u[3]"},
		{"truncated, with one kept", []plan.Tagged{
			text("1", plan.Tags{}), text("gone", plan.Tags{TruncationID: "t", IsTruncationMarker: true}),
			text("2", plan.Tags{TruncationParent: "t"}), text("3", plan.Tags{}), text("4", plan.Tags{TruncationParent: "t"}),
		}, "u[1] u[2] u[3] u[4]", "u[1] y[gone] u[3]"},
		{"condensed twice", []plan.Tagged{
			text("new", plan.Tags{CondenseID: "d"}),
			text("old", plan.Tags{CondenseID: "c", CondenseParent: "d"}),
			text("1", plan.Tags{CondenseParent: "c"}), text("2", plan.Tags{CondenseParent: "d"}), text("3", plan.Tags{}),
		}, "u[1] u[2] u[3]", "y[new] u[3]"},
		{"three deep, mixed", []plan.Tagged{
			text("top", plan.Tags{TruncationID: "t", IsTruncationMarker: true}),
			text("new", plan.Tags{CondenseID: "d", TruncationParent: "t"}),
			text("old", plan.Tags{CondenseID: "c", CondenseParent: "d"}),
			text("1", plan.Tags{CondenseParent: "c"}), text("2", plan.Tags{CondenseParent: "d"}),
			text("3", plan.Tags{TruncationParent: "t"}), text("4", plan.Tags{}),
		}, "u[1] u[2] u[3] u[4]", "y[top] u[4]"},
		{"the same id in both kinds", []plan.Tagged{
			text("sum", plan.Tags{CondenseID: "x"}), text("1", plan.Tags{CondenseParent: "x"}),
			text("gone", plan.Tags{TruncationID: "x", IsTruncationMarker: true}), text("2", plan.Tags{TruncationParent: "x"}),
		}, "u[1] u[2]", "y[sum] y[gone]"},
		{"a summary that hides nothing", []plan.Tagged{text("1", plan.Tags{}), text("sum", plan.Tags{CondenseID: "c"})}, "u[1] u[sum]", "u[1] u[sum]"},
		{"an empty summary", []plan.Tagged{text("", plan.Tags{CondenseID: "c"}), text("1", plan.Tags{CondenseParent: "c"})}, "u[1]", "y[(no content)]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, p, err := plan.Import(c.in, free)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(h); got != c.history {
				t.Errorf("history %s, want %s", got, c.history)
			}
			if got := show(apply(t, h, p)); got != c.view {
				t.Errorf("view %s, want %s", got, c.view)
			}
		})
	}
}

func TestImportRefuses(t *testing.T) {
	call := plan.Tagged{Message: chat.CallMessage("", chat.Call("A", "x", "{}")), Tags: plan.Tags{CondenseParent: "c"}}
	for _, c := range []struct {
		name string
		in   []plan.Tagged
		want string
	}{
		{"hidden by nobody", []plan.Tagged{text("1", plan.Tags{CondenseParent: "c"})}, `hidden by "c"`},
		{"two summaries with one id", []plan.Tagged{text("a", plan.Tags{CondenseID: "c"}), text("b", plan.Tags{CondenseID: "c"})}, `message 1: a second summary or marker has the id "c"`},
		{"hidden by itself", []plan.Tagged{text("a", plan.Tags{CondenseID: "c", CondenseParent: "c"}), text("1", plan.Tags{CondenseParent: "c"})}, "hidden by itself"},
		{"hidden in a circle", []plan.Tagged{
			text("a", plan.Tags{CondenseID: "c", CondenseParent: "d"}), text("b", plan.Tags{CondenseID: "d", CondenseParent: "c"}), text("1", plan.Tags{CondenseParent: "c"}),
		}, "hidden by itself"},
		{"half an exchange", []plan.Tagged{text("s", plan.Tags{CondenseID: "c"}), call, {Message: chat.ResultMessage("A", "r")}}, "separates an exchange"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := plan.Import(c.in, free); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// What tags can say survives a round trip, and says the same to a reader of tags.
func TestTagsRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		r := source(seed, 30)
		h := randhist.New(r, randhist.Options{MaxText: 60})
		edits := slices.DeleteFunc(randomEdits(r, h, 0.8), func(e plan.Edit) bool { return e.Part >= 0 || e.From == e.To })
		p := compose(t, nil, h, free, edits...)
		tagged, left, err := plan.Export(h, p)
		if err != nil || left != 0 {
			t.Fatalf("seed %d: %d left: %v", seed, left, err)
		}
		v := apply(t, h, p)
		if digest(chat.Messages(plan.Effective(tagged))) != digest(v) {
			t.Fatalf("seed %d: a reader of tags sees another conversation", seed)
		}
		h2, p2, err := plan.Import(tagged, free)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if digest(h2) != digest(h) || digest(apply(t, h2, p2)) != digest(v) {
			t.Fatalf("seed %d: the round trip changed\n%.2000s\nto\n%.2000s", seed, show(v), show(apply(t, h2, p2)))
		}
	}
}
