package budget_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

func newMeter() *budget.Meter { return budget.NewMeter(token.New(token.O200K, nil)) }

func apply(t testing.TB, h chat.History, p *plan.Plan) plan.View {
	t.Helper()
	v, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// somePlan drops the first third of a history and masks one result after it.
func somePlan(t testing.TB, h chat.History) *plan.Plan {
	t.Helper()
	cut := chat.NewOutline(h).CutBefore(h.Len() / 3)
	if cut == 0 {
		return nil
	}
	edits := []plan.Edit{{Kind: plan.Drop, From: 0, To: cut, Part: -1, Text: "[left out]", Stage: "truncate"}}
	for i := cut; i < h.Len(); i++ {
		if m := h.At(i); len(m.Parts) > 0 && m.Parts[0].Kind == chat.ToolResult {
			edits = append(edits, plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: 0, Text: "[reduced]", Stage: "prune"})
			break
		}
	}
	p, err := plan.Compose(nil, h, chat.Rules{}, nil, edits...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// byHand adds up a view without a meter.
func byHand(c *token.Counter, v plan.View) budget.Totals {
	t := budget.Totals{Messages: v.Len()}
	for i := range v.Len() {
		m := v.At(i)
		s := m.Size()
		s.Tokens = c.Message(m)
		t.Size = t.Size.Add(s)
		if m.Role == chat.Assistant {
			t.Prompt = 0
			t.Answers++
		} else {
			t.Prompt += s.Tokens
		}
		for k := range m.Parts {
			for _, p := range append([]chat.Part{m.Parts[k]}, m.Parts[k].Content...) {
				if p.Kind == chat.Image || p.Kind == chat.Document {
					t.Attachments += c.Part(&p)
				}
			}
		}
	}
	return t
}

// One meter that sees many histories grow, with and without plans and in any
// order, measures each as if it saw it alone and for the first time.
func TestMeterIsIncremental(t *testing.T) {
	m := newMeter()
	type growing struct {
		h chat.History
		p *plan.Plan
	}
	var all []growing
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 3))
		g := growing{h: randhist.New(r, randhist.Options{MaxText: 400})}
		if seed%2 == 0 {
			g.p = somePlan(t, g.h)
		}
		all = append(all, g)
	}
	r := rand.New(rand.NewPCG(1, 4))
	for step := range 600 {
		g := &all[r.IntN(len(all))]
		more := randhist.Messages(r, randhist.Options{Messages: 1 + r.IntN(3), MaxText: 400})
		g.h = g.h.Append(more...)
		v := apply(t, g.h, g.p)
		if got, want := m.Measure(v), byHand(m.Counter(), v); got != want {
			t.Fatalf("step %d: %+v, want %+v", step, got, want)
		}
		if r.IntN(4) == 0 { // the same history without its plan, and a branch of it
			u := apply(t, g.h, nil)
			if got, want := m.Measure(u), byHand(m.Counter(), u); got != want {
				t.Fatalf("step %d, without the plan: %+v, want %+v", step, got, want)
			}
			b := apply(t, g.h.Head(g.h.Len()-1).Append(chat.TextMessage(chat.User, fmt.Sprint("another way ", step))), nil)
			if got, want := m.Measure(b), byHand(m.Counter(), b); got != want {
				t.Fatalf("step %d, branch: %+v, want %+v", step, got, want)
			}
		}
	}
}

// Long histories are added up on several cores, with the same result.
func TestMeterLongHistory(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	h := randhist.New(r, randhist.Options{Messages: 3000, MaxText: 200})
	v := apply(t, h, nil)
	if got, want := newMeter().Measure(v), byHand(token.New(token.O200K, nil), v); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	v = apply(t, h, somePlan(t, h))
	if got, want := newMeter().Measure(v), byHand(token.New(token.O200K, nil), v); got != want {
		t.Errorf("with a plan: %+v, want %+v", got, want)
	}
}

// Measuring again after some appended messages looks at those alone: it believes what
// is known of the others, even where that is wrong.
func TestMeterLooksAtWhatIsNew(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	h := randhist.New(r, randhist.Options{Messages: 2000, MaxText: 100, Healthy: true})
	p := somePlan(t, h)
	for name, base := range map[string]*plan.Plan{"no plan": nil, "a plan": p} {
		m := newMeter()
		v := apply(t, h, base)
		right := m.Measure(v)
		wrong := right
		wrong.Tokens += 1_000_000
		m.Remember(v, wrong)
		for _, n := range []int{0, 1, 2, 7} {
			longer := h
			for i := range n {
				longer = longer.Append(chat.TextMessage(chat.Assistant, fmt.Sprint("more ", i)))
			}
			now := apply(t, longer, base)
			if got, want := m.Measure(now).Tokens, newMeter().Measure(now).Tokens+1_000_000; got != want {
				t.Errorf("%s: %d messages were appended: %d tokens, want %d", name, n, got, want)
			}
		}
	}
}

func TestMeterWarmAllocatesNothing(t *testing.T) {
	m := newMeter()
	req := chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: "You are careful."}},
		Tools:   []chat.ToolDef{{Name: "x", Description: "does x", Schema: "{}"}},
		History: chat.NewHistory(randhist.Parse("u tc t a u")...),
	}
	l, tr := budget.NewLimits(100_000, 0, 1000), budget.Trigger{Threshold: 0.8}
	m.Check(&req, apply(t, req.History, nil), l, tr, nil)
	ledger := token.NewLedger(token.O200K)
	if n := testing.AllocsPerRun(100, func() {
		totals, ok := m.Known(req.History, "")
		if !ok {
			t.Fatal("the totals are not known")
		}
		if s := m.Status(&req, totals, "", l, tr, ledger); !s.Fits {
			t.Fatal("it does not fit")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A meter is safe for concurrent use.
func TestMeterConcurrently(t *testing.T) {
	m := newMeter()
	base := chat.NewHistory(randhist.Parse("u tc t a u")...)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			h := base
			for i := range 100 {
				h = h.Append(chat.TextMessage(chat.User, fmt.Sprint(w, i, strings.Repeat(" word", i))))
				v, _ := plan.Apply(h, nil)
				if got, want := m.Measure(v), byHand(m.Counter(), v); got != want {
					t.Errorf("%+v, want %+v", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// The memo is bounded: old totals go, and are found again by counting.
func TestMeterForgets(t *testing.T) {
	m := newMeter()
	first := chat.NewHistory(chat.TextMessage(chat.User, "the first"))
	want := m.Measure(apply(t, first, nil))
	for i := range 3000 {
		m.Measure(apply(t, chat.NewHistory(chat.TextMessage(chat.User, fmt.Sprint(i))), nil))
	}
	if _, ok := m.Known(first, ""); ok {
		t.Error("3,000 histories later the first one is still remembered")
	}
	if got := m.Measure(apply(t, first, nil)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
