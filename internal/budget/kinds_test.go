package budget_test

import (
	"math/rand/v2"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// The kinds add up to the count, also when only appended messages are counted, and
// at another scale.
func TestKindsAddUp(t *testing.T) {
	for seed := range uint64(50) {
		h := randhist.New(rand.New(rand.NewPCG(seed+randhist.FirstSeed, 1)), randhist.Options{})
		m := budget.NewMeter(token.New(token.Claude, nil))
		req := &chat.Request{System: []chat.Part{{Kind: chat.Text, Text: "be brief"}}}
		var grown budget.Kinds
		for n := 1; n <= h.Len(); n++ {
			v, err := plan.Apply(h.Head(n), nil)
			if err != nil {
				t.Fatal(err)
			}
			s := m.Check(req, v, budget.Limits{}, budget.Trigger{}, nil)
			grown = m.Kinds(v, &s)
			if grown.Sum() != s.Tokens.Total || grown.Attachments != s.Tokens.Attachments {
				t.Fatalf("seed %d, %d messages: %+v of %+v", seed, n, grown, s.Tokens)
			}
		}
		v, err := plan.Apply(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Check(req, v, budget.Limits{}, budget.Trigger{}, nil)
		if afresh := budget.NewMeter(token.New(token.Claude, nil)).Kinds(v, &s); afresh != grown {
			t.Errorf("seed %d: %+v afresh, %+v grown", seed, afresh, grown)
		}
		s.Count.Tokens = 123_457
		s.Spend(m.Measure(v), 3456)
		if got := m.Kinds(v, &s); got.Sum() != 123_457 {
			t.Errorf("seed %d: of another count they add up to %d", seed, got.Sum())
		}
	}
}

// What a plan puts in place of messages is a kind of its own, also where it is
// joined to what the user said; a mask counts as what it stands in.
func TestSummariesAreAKind(t *testing.T) {
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Do the work."),
		chat.CallMessage("I look.", chat.Call("a", "read", `{"path":"a.go"}`)),
		chat.ResultMessage("a", "package a, with a long text in it"),
		chat.TextMessage(chat.Assistant, "It is done."),
		chat.TextMessage(chat.User, "Now the other one."),
		chat.CallMessage("I look there.", chat.Call("b", "read", `{"path":"b.go"}`)),
		chat.ResultMessage("b", "package b, with a long text in it"),
	)
	p, err := plan.Compose(nil, h, chat.Rules{Name: "test", Alternate: true}, nil,
		plan.Edit{Kind: plan.Fold, From: 1, To: 4, Part: -1, Text: "A summary of what was done there.", Stage: "fold"},
		plan.Edit{Kind: plan.Mask, From: 6, To: 7, Part: 0, Text: "left out", Stage: "prune"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
	m := budget.NewMeter(token.New(token.Claude, nil))
	req := &chat.Request{History: h}
	s := m.Check(req, v, budget.Limits{}, budget.Trigger{}, nil)
	k := m.Kinds(v, &s)
	summary := m.Counter().Part(&chat.Part{Kind: chat.Text, Text: p.Edits[0].Text})
	said := m.Counter().Message(h.At(0)) + m.Counter().Message(h.At(4))
	if k.Summaries < summary || k.Summaries > summary+10 || k.User > said || k.User < said-10 || k.Results == 0 {
		t.Errorf("%+v; the summary has %d tokens, the user's words %d", k, summary, said)
	}
	if k.Sum() != s.Tokens.Total {
		t.Errorf("%+v add up to %d, not to %d", k, k.Sum(), s.Tokens.Total)
	}
	whole := mustView(t, h)
	if s := m.Check(req, whole, budget.Limits{}, budget.Trigger{}, nil); m.Kinds(whole, &s).Summaries != 0 {
		t.Errorf("without a plan: %+v", k)
	}
}

func mustView(t *testing.T, h chat.History) plan.View {
	t.Helper()
	v, err := plan.Apply(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
