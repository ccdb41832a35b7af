package neurolink_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/internal/neurolink"
	"github.com/winnow-llm/winnow/plan"
)

// free are rules under which messages are neither joined nor stripped.
var free = chat.Rules{Name: "pairing only"}

func hist(notation string) chat.History { return chat.NewHistory(randhist.Parse(notation)...) }

func run(kind plan.Kind, from, to int, text string, keep ...int) plan.Edit {
	return plan.Edit{Kind: kind, From: from, To: to, Part: -1, Text: text, Keep: keep, Stage: "test"}
}

func mask(at int, text string) plan.Edit {
	return plan.Edit{Kind: plan.Mask, From: at, To: at + 1, Text: text, Stage: "test"}
}

func compose(t testing.TB, h chat.History, add ...plan.Edit) *plan.Plan {
	t.Helper()
	p, err := plan.Compose(nil, h, free, nil, add...)
	must(t, err)
	return p
}

func apply(t testing.TB, h chat.History, p *plan.Plan) plan.View {
	t.Helper()
	v, err := plan.Apply(h, p)
	must(t, err)
	return v
}

// show writes messages in one line: u[...] a[...] s[...] t[...], y for a
// synthetic user message.
func show(s chat.Sequence) string {
	var out []string
	for i := range s.Len() {
		m := s.At(i)
		role := string(m.Role[:1])
		if m.Synthetic {
			role = "y"
		}
		out = append(out, role+"["+m.Text()+"]")
	}
	return strings.Join(out, " ")
}

// digest names the content of a sequence.
func digest(s chat.Sequence) chat.Hash {
	msgs := make([]chat.Message, s.Len())
	for i := range msgs {
		msgs[i] = *s.At(i)
	}
	h := chat.NewHistory(msgs...)
	return h.Chain(h.Len())
}

// randomRuns folds and drops random runs of a history, some with messages that
// stay inside them, and after one of them there may be a state.
func randomRuns(r *rand.Rand, h chat.History) []plan.Edit {
	var edits []plan.Edit
	o := chat.NewOutline(h)
	for at := 0; at < h.Len(); {
		from := o.CutBefore(min(at+r.IntN(4), h.Len()))
		to := o.CutBefore(min(from+1+r.IntN(8), h.Len()))
		if from < at || to <= from {
			at++
			continue
		}
		e := run(plan.Fold, from, to, "summary")
		if r.IntN(2) == 0 {
			e.Kind, e.Text = plan.Drop, "marker"
		}
		for i := from + 1; i < to; i++ {
			if o.ExchangeOf(i) < 0 && r.IntN(4) == 0 {
				e.Keep = append(e.Keep, i)
			}
		}
		edits = append(edits, e)
		at = to
	}
	if len(edits) > 0 && r.IntN(2) == 0 {
		at := edits[r.IntN(len(edits))].To
		edits = append(edits, run(plan.State, at, at, "state"))
	}
	return edits
}

func TestExport(t *testing.T) {
	h := hist("u a u s a u a u")
	f, d := run(plan.Fold, 0, 2, "sum"), run(plan.Drop, 2, 5, "gone", 3)
	f.Handle = "wf"
	tagged, left, err := neurolink.Export(h, compose(t, h, f, d, mask(6, "short"), mask(3, "kept")))
	if err != nil || left != 2 || len(tagged) != h.Len()+2 {
		t.Fatalf("%d messages, %d left: %v", len(tagged), left, err)
	}
	if got, want := show(chat.Messages(effective(tagged))), "y[sum] y[gone] s[s 3] u[u 5] a[a 6] u[u 7]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	drop := tagged[3].TruncationID
	want := []neurolink.Tags{
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

	none, left, err := neurolink.Export(h, nil)
	if err != nil || left != 0 || show(chat.Messages(effective(none))) != show(h) {
		t.Errorf("without a plan: %v", err)
	}
	if _, _, err := neurolink.Export(hist("u"), compose(t, h)); !errors.Is(err, plan.ErrMismatch) {
		t.Errorf("exported onto another history: %v", err)
	}
}

func text(s string, tags neurolink.Tags) neurolink.Tagged {
	return neurolink.Tagged{Message: chat.TextMessage(chat.User, s), Tags: tags}
}

func TestImport(t *testing.T) {
	for _, c := range []struct {
		name          string
		in            []neurolink.Tagged
		history, view string
	}{
		{"no tags", []neurolink.Tagged{text("1", neurolink.Tags{}), text("2", neurolink.Tags{})}, "u[1] u[2]", "u[1] u[2]"},
		{"condensed", []neurolink.Tagged{
			text("sum", neurolink.Tags{CondenseID: "c"}),
			text("1", neurolink.Tags{CondenseParent: "c"}), text("2", neurolink.Tags{CondenseParent: "c"}), text("3", neurolink.Tags{}),
		}, "u[1] u[2] u[3]", "y[sum] u[3]"},
		{"summary after what it hides", []neurolink.Tagged{
			text("1", neurolink.Tags{CondenseParent: "c"}), text("2", neurolink.Tags{CondenseParent: "c"}),
			text("sum", neurolink.Tags{CondenseID: "c"}), text("3", neurolink.Tags{}),
		}, "u[1] u[2] u[3]", "y[sum] u[3]"},
		{"truncated, with one kept", []neurolink.Tagged{
			text("1", neurolink.Tags{}), text("gone", neurolink.Tags{TruncationID: "t", IsTruncationMarker: true}),
			text("2", neurolink.Tags{TruncationParent: "t"}), text("3", neurolink.Tags{}), text("4", neurolink.Tags{TruncationParent: "t"}),
		}, "u[1] u[2] u[3] u[4]", "u[1] y[gone] u[3]"},
		{"condensed twice", []neurolink.Tagged{
			text("new", neurolink.Tags{CondenseID: "d"}),
			text("old", neurolink.Tags{CondenseID: "c", CondenseParent: "d"}),
			text("1", neurolink.Tags{CondenseParent: "c"}), text("2", neurolink.Tags{CondenseParent: "d"}), text("3", neurolink.Tags{}),
		}, "u[1] u[2] u[3]", "y[new] u[3]"},
		{"three deep, mixed", []neurolink.Tagged{
			text("top", neurolink.Tags{TruncationID: "t", IsTruncationMarker: true}),
			text("new", neurolink.Tags{CondenseID: "d", TruncationParent: "t"}),
			text("old", neurolink.Tags{CondenseID: "c", CondenseParent: "d"}),
			text("1", neurolink.Tags{CondenseParent: "c"}), text("2", neurolink.Tags{CondenseParent: "d"}),
			text("3", neurolink.Tags{TruncationParent: "t"}), text("4", neurolink.Tags{}),
		}, "u[1] u[2] u[3] u[4]", "y[top] u[4]"},
		{"the same id in both kinds", []neurolink.Tagged{
			text("sum", neurolink.Tags{CondenseID: "x"}), text("1", neurolink.Tags{CondenseParent: "x"}),
			text("gone", neurolink.Tags{TruncationID: "x", IsTruncationMarker: true}), text("2", neurolink.Tags{TruncationParent: "x"}),
		}, "u[1] u[2]", "y[sum] y[gone]"},
		{"a summary that hides nothing", []neurolink.Tagged{text("1", neurolink.Tags{}), text("sum", neurolink.Tags{CondenseID: "c"})}, "u[1] u[sum]", "u[1] u[sum]"},
		{"a state", []neurolink.Tagged{
			text("sum", neurolink.Tags{CondenseID: "c"}), text("1", neurolink.Tags{CondenseParent: "c"}),
			text("now", neurolink.Tags{CondenseID: "winnow-state"}), text("2", neurolink.Tags{}),
		}, "u[1] u[2]", "y[sum] y[now] u[2]"},
		{"a state that was condensed", []neurolink.Tagged{
			text("new", neurolink.Tags{CondenseID: "d"}),
			text("old", neurolink.Tags{CondenseID: "c", CondenseParent: "d"}), text("1", neurolink.Tags{CondenseParent: "c"}),
			text("now", neurolink.Tags{CondenseID: "winnow-state", CondenseParent: "d"}), text("2", neurolink.Tags{CondenseParent: "d"}), text("3", neurolink.Tags{}),
		}, "u[1] u[2] u[3]", "y[new] u[3]"},
		{"a state amid what is hidden", []neurolink.Tagged{
			text("sum", neurolink.Tags{CondenseID: "c"}), text("1", neurolink.Tags{CondenseParent: "c"}),
			text("now", neurolink.Tags{CondenseID: "winnow-state"}), text("2", neurolink.Tags{CondenseParent: "c"}), text("3", neurolink.Tags{}),
		}, "u[1] u[2] u[3]", "y[sum] y[now] u[3]"},
		{"a state that hides something", []neurolink.Tagged{
			text("sum", neurolink.Tags{CondenseID: "winnow-state"}), text("1", neurolink.Tags{CondenseParent: "winnow-state"}), text("2", neurolink.Tags{}),
		}, "u[1] u[2]", "y[sum] u[2]"},
		{"an empty summary", []neurolink.Tagged{text("", neurolink.Tags{CondenseID: "c"}), text("1", neurolink.Tags{CondenseParent: "c"})}, "u[1]", "y[(no content)]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, p, err := neurolink.Import(c.in, free)
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
	call := neurolink.Tagged{Message: chat.CallMessage("", chat.Call("A", "x", "{}")), Tags: neurolink.Tags{CondenseParent: "c"}}
	for _, c := range []struct {
		name string
		in   []neurolink.Tagged
		want string
	}{
		{"hidden by nobody", []neurolink.Tagged{text("1", neurolink.Tags{CondenseParent: "c"})}, `hidden by "c"`},
		{"two summaries with one id", []neurolink.Tagged{text("a", neurolink.Tags{CondenseID: "c"}), text("b", neurolink.Tags{CondenseID: "c"})}, `message 1: a second summary or marker has the id "c"`},
		{"hidden by itself", []neurolink.Tagged{text("a", neurolink.Tags{CondenseID: "c", CondenseParent: "c"}), text("1", neurolink.Tags{CondenseParent: "c"})}, "hidden by itself"},
		{"hidden in a circle", []neurolink.Tagged{
			text("a", neurolink.Tags{CondenseID: "c", CondenseParent: "d"}), text("b", neurolink.Tags{CondenseID: "d", CondenseParent: "c"}), text("1", neurolink.Tags{CondenseParent: "c"}),
		}, "hidden by itself"},
		{"half an exchange", []neurolink.Tagged{text("s", neurolink.Tags{CondenseID: "c"}), call, {Message: chat.ResultMessage("A", "r")}}, "splits an exchange"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := neurolink.Import(c.in, free); !errors.Is(err, neurolink.ErrTags) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// What tags can say survives a round trip, and says the same to a reader of tags.
func TestTagsRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 30))
		h := randhist.New(r, randhist.Options{MaxText: 60})
		p := compose(t, h, randomRuns(r, h)...)
		tagged, left, err := neurolink.Export(h, p)
		if err != nil || left != 0 {
			t.Fatalf("seed %d: %d left: %v", seed, left, err)
		}
		v := apply(t, h, p)
		if digest(chat.Messages(effective(tagged))) != digest(v) {
			t.Fatalf("seed %d: a reader of tags sees another conversation", seed)
		}
		h2, p2, err := neurolink.Import(tagged, free)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if digest(h2) != digest(h) || digest(apply(t, h2, p2)) != digest(v) {
			t.Fatalf("seed %d: the round trip changed\n%.2000s\nto\n%.2000s", seed, show(v), show(apply(t, h2, p2)))
		}
	}
}

// effective returns the messages that a reader of tags sends: those without a parent.
func effective(tagged []neurolink.Tagged) []chat.Message {
	var out []chat.Message
	for i := range tagged {
		if tagged[i].CondenseParent == "" && tagged[i].TruncationParent == "" {
			out = append(out, tagged[i].Message)
		}
	}
	return out
}
