package stage_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"pgregory.net/rapid"
)

// repaired returns the view of a history after repair.
func repaired(t rapid.TB, h chat.History, rules chat.Rules, pending bool) (plan.View, []plan.Edit) {
	t.Helper()
	edits, err := stage.Repair(h, rules, pending)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compose(nil, h, rules, nil, edits...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
	return v, edits
}

// TestVectorC8 is the table of PicoClaw's own test. That system drops what has lost
// its partner; ours mends it (S4.14), so that nothing that was said is lost.
func TestVectorC8(t *testing.T) {
	for _, c := range []struct {
		history string
		dropped string // what that system gives
		want    string // what ours gives under the rules of every dialect
		differs string // why
	}{
		{"", "", "", ""},
		{"u tc(A) t(A) a", "u tc(A) t(A) a", "u tc(A) t(A) a", ""},
		{"u tc(A,B) t(A) t(B) a", "u tc(A,B) t(A) t(B) a", "u tc(A,B) t(A) t(B) a", ""},
		{"u a tc(A) t(A)", "u a", "u tc(A) t(A)", "a call after plain assistant text is joined to it"},
		{"t(A) u", "u", "y u", "an orphan result is quoted as text"},
		{"u t(A)", "u", "u y", "an orphan result is quoted as text"},
		{"u a t(A)", "u a", "u a y", "an orphan result is quoted as text"},
		{"tc(A) t(A) u", "u", "y tc(A) t(A) u", "a line for the missing start goes before a healthy exchange"},
		{"u tc(A) t(A) a u tc(B) t(B) a u", "u tc(A) t(A) a u tc(B) t(B) a u", "u tc(A) t(A) a u tc(B) t(B) a u", ""},
		{"u tc(A,B) t(A) t(B) tc(C,D) t(C) t(D) a", "u tc(A,B) t(A) t(B) tc(C,D) t(C) t(D) a", "u tc(A,B) t(A) t(B) tc(C,D) t(C) t(D) a", ""},
		{"u tc(A,B) t(A) t(B) t(A) t(B) a", "u tc(A,B) t(A) t(B) a", "u tc(A,B) t(A) t(B) y y a", "second results that say something else are quoted; equal ones go, see below"},
		{"u tc(0) t(0) a u tc(0) t(0) a", "u tc(0) t(0) a u tc(0) t(0) a", "u tc(0) t(0) a u tc(0) t(0) a", ""},
		{"u tc() t() a", "u a", "u a y a", "a call without an id and its result are quoted as text"},
		{"u tc(A,B) t(A) u a", "u u a", "u tc(A,B) t(A) t(B) u a", "the missing result gets a placeholder, what was answered stays"},
		{"u tc(A) u a", "u u a", "u tc(A) t(A) u a", "the missing result gets a placeholder"},
		{"u tc(A) t(A) a u tc(B,C) t(B) u tc(D) t(D) a", "u tc(A) t(A) a u u tc(D) t(D) a", "u tc(A) t(A) a u tc(B,C) t(B) t(C) u tc(D) t(D) a", "the incomplete exchange in the middle is completed"},
		{"u s a", "u a", "u s a", "a system message in the middle is somebody's instruction and stays"},
	} {
		h := hist(c.history)
		v, edits := repaired(t, h, chat.AllDialects(), false)
		if got := show(v); got != c.want {
			t.Errorf("%q: %q, want %q", c.history, got, c.want)
		}
		if (c.differs == "") != (c.want == c.dropped) {
			t.Errorf("%q: the reason for a difference is missing or superfluous", c.history)
		}
		if c.want == c.history && len(edits) > 0 {
			t.Errorf("%q is healthy and got %d edits", c.history, len(edits))
		}
		if ps := chat.AllDialects().Check(v); len(ps) > 0 {
			t.Errorf("%q: %s", c.history, ps[0].Message)
		}
		// Nothing that was said is lost.
		for i := range h.Len() {
			for _, p := range h.At(i).Parts {
				if p.Text != "" && !strings.Contains(text(v), p.Text) {
					t.Errorf("%q: %q is gone", c.history, p.Text)
				}
			}
		}
	}
}

func TestRepairEqualDuplicatesGo(t *testing.T) {
	h := of(user("u"), chat.CallMessage("", chat.Call("A", "x", "{}"), chat.Call("B", "x", "{}")),
		chat.ResultMessage("A", "one"), chat.ResultMessage("B", "two"),
		chat.ResultMessage("A", "one"), chat.ResultMessage("B", "two"), said("a"))
	v, _ := repaired(t, h, chat.AllDialects(), false)
	if got, want := show(v), "u tc(A,B) t(A) t(B) a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A call at the end is not broken: its result is still to come. Only who asks
// for it gets a placeholder.
func TestRepairPendingCall(t *testing.T) {
	h := hist("u tc(A,B) t(A)")
	if v, edits := repaired(t, h, chat.AllDialects(), false); len(edits) > 0 {
		t.Errorf("a pending call was mended: %s", show(v))
	}
	v, _ := repaired(t, h, chat.AllDialects(), true)
	if got, want := show(v), "u tc(A,B) t(A) t(B)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if ps := chat.AllDialects().Check(v); len(ps) > 0 {
		t.Error(ps[0].Message)
	}
}

// A result that stands away from its call is quoted where it stands.
func TestRepairLateResult(t *testing.T) {
	h := of(user("u"), chat.CallMessage("", chat.Call("A", "x", "{}"), chat.Call("B", "x", "{}")),
		chat.ResultMessage("A", "one"), user("wait"), chat.ResultMessage("B", "two"), said("a"))
	v, _ := repaired(t, h, chat.AllDialects(), false)
	if got, want := show(v), "u tc(A,B) t(A) t(B) u y a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := v.At(5).Text(); !strings.HasSuffix(got, "\ntwo") {
		t.Errorf("the late result says %q", got)
	}
}

// Where ids are used again, a result belongs to the calls directly before it: an
// earlier call with its id is not said to be answered later.
func TestRepairSameIDAgain(t *testing.T) {
	v, _ := repaired(t, hist("u tc(A) u tc(A) t(A) a"), chat.AllDialects(), false)
	if got, want := show(v), "u tc(A) t(A) u tc(A) t(A) a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	contains(t, "the view", text(v), "[no result")
}

// A result that arrives after its call was answered by a placeholder does not
// end up twice in the view.
func TestRepairResultAfterAnswer(t *testing.T) {
	h := of(user("u"), chat.CallMessage("", chat.Call("A", "x", "{}")), user("still there?"))
	out := job{rules: chat.AllDialects(), target: 1 << 20}.run(t, h)
	if got, want := show(out.View), "u tc(A) t(A) u"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	grown := h.Append(chat.ResultMessage("A", "the real answer"), said("yes"))
	later := job{rules: chat.AllDialects(), base: out.Plan, target: 1 << 20}.run(t, grown)
	contains(t, "the view", text(later.View), "the real answer")
	if ps := chat.AllDialects().Check(later.View); len(ps) > 0 {
		t.Error(ps[0].Message)
	}
}

func TestRepairEmptyMessages(t *testing.T) {
	h := chat.NewHistory(chat.Message{Role: chat.User}, said("a"),
		chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text}, {Kind: chat.Text, Text: "words"}}})
	v, _ := repaired(t, h, chat.AllDialects(), false)
	if ps := chat.AllDialects().Check(v); len(ps) > 0 {
		t.Error(ps[0].Message)
	}
	contains(t, "the view", text(v), "(no content)", "words")
}

// TestRepairLeavesHealthyAlone is S4.14's "healthy history is never touched",
// on random healthy histories in both styles.
func TestRepairLeavesHealthyAlone(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 7))
		h := randhist.New(r, randhist.Options{Healthy: true, MaxText: 500})
		edits, err := stage.Repair(h, chat.AllDialects(), true)
		if err != nil || len(edits) > 0 {
			t.Fatalf("seed %d: %d edits, %v", seed, len(edits), err)
		}
	}
}

// TestRepairMendsEverything repairs random broken histories under the rules of
// every dialect.
func TestRepairMendsEverything(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 8))
		h := randhist.New(r, randhist.Options{MaxText: 500})
		v, _ := repaired(t, h, chat.AllDialects(), true)
		if ps := chat.AllDialects().Check(v); len(ps) > 0 {
			t.Fatalf("seed %d: message %d: %s", seed, ps[0].At, ps[0].Message)
		}
	}
}

// TestRepairMendsAnyShape repairs whatever messages stand behind each other. A
// failure is shrunk to the shortest conversation that shows it.
func TestRepairMendsAnyShape(t *testing.T) {
	words := rapid.SampledFrom(strings.Fields("u a s y tc(A) tc(A,B) tc(C) tc(B,B) th(A) th(B,C) t(A) t(B) t(C) r(A) r(A,B) r(B)+ r(C,C)"))
	dialects := []chat.Rules{chat.AllDialects(), {Name: "openai", NonEmpty: true}, {Name: "responses", LateResults: true}, {Name: "gemini", UserFirst: true, CallAfterInput: true, ResultsJoined: true, NonEmpty: true, NonEmptyText: true}}
	rapid.Check(t, func(rt *rapid.T) {
		shape := strings.Join(rapid.SliceOfN(words, 1, 12).Draw(rt, "messages"), " ")
		h := chat.NewHistory(randhist.Parse(shape)...)
		for _, rules := range dialects {
			v, _ := repaired(rt, h, rules, true)
			if ps := rules.Check(v); len(ps) > 0 {
				rt.Fatalf("%q under the rules of %s: message %d: %s", shape, rules.Name, ps[0].At, ps[0].Message)
			}
		}
	})
}
