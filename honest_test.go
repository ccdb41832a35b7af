package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

// TestCannotFitIsHonest searches all views of small histories where Fit says
// that nothing fits: each message that need not stay is there or left out, each
// part that may be shortened is whole or as short as it gets. None that a
// provider would take may fit.
func TestCannotFitIsHonest(t *testing.T) {
	n := histories(t) / 5
	said, tried := 0, 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 33))
		rules := dialects[r.IntN(len(dialects))]
		style := randhist.ToolRole
		if rules.ResultsJoined {
			style = randhist.UserRole
		}
		h := randhist.New(r, randhist.Options{Healthy: true, Style: style, Messages: 1 + r.IntN(7), MaxText: 1200, Wide: r.IntN(3) == 0})
		req := chat.Request{History: h, Rules: rules}
		var pins []winnow.Pin
		if r.IntN(2) == 0 {
			pins = append(pins, winnow.Pin{Message: r.IntN(h.Len()), Part: -1})
		}
		w := mustNew(winnow.Settings{Model: "gpt-4o", Window: 120 + r.IntN(1500), OutputReserve: 20})
		state := winnow.State{Pins: pins, Learned: winnow.Learned{BoundThinking: true}} // as the rules say
		_, err := w.Fit(context.Background(), req, state)
		var cannot *winnow.CannotFitError
		if !errors.As(err, &cannot) {
			continue
		}
		said++
		s := &search{w: w, req: req, pins: pins}
		if p, ok := s.fits(); ok {
			t.Errorf("seed %d: %v\nbut %d of %d tokens do, rules %q: %s\n%s", seed, err, s.found.Count.Upper(), s.found.Limits.Available, rules.Name, p, list(p.Edits))
			if t.Failed() {
				return
			}
		}
		tried += s.tried
	}
	t.Logf("%d of %d histories cannot fit; %d views were tried", said, n, tried)
	if said < n/20 || tried < 2*said {
		t.Error("the search no longer reaches anything")
	}
}

func list(edits []plan.Edit) (s string) {
	for _, e := range edits {
		s += fmt.Sprintf("%s %d-%d.%d %q\n", e.Kind, e.From, e.To, e.Part, e.Text)
	}
	return s
}

// search goes through the views of a request.
type search struct {
	w     *winnow.Winnow
	req   chat.Request
	pins  []winnow.Pin
	must  []bool // messages that stay, with what they are bound to
	whole []bool // messages that stay as they are
	units [][2]int
	tried int
	found budget.Status
}

func (s *search) fits() (*plan.Plan, bool) {
	h := s.req.History
	o := chat.NewOutline(h)
	s.must, s.whole = make([]bool, h.Len()), make([]bool, h.Len())
	for _, p := range s.pins {
		s.whole[p.Message] = true
	}
	last := h.Len() - 1
	for last >= 0 && !h.At(last).StartsTurn() {
		last--
	}
	if last >= 0 {
		s.whole[last] = true
	}
	for i := 0; i < h.Len(); {
		to := i + 1
		if x := o.ExchangeOf(i); x >= 0 {
			to = o.Exchanges[x].To
		}
		s.units = append(s.units, [2]int{i, to})
		must := to == h.Len() // what the next call is about
		for k := i; k < to; k++ {
			must = must || s.whole[k]
		}
		for k := i; k < to; k++ {
			s.must[k] = must
		}
		i = to
	}
	for set := range 1 << len(s.units) {
		if p := s.without(set); p != nil {
			s.tried++
			v, err := plan.Apply(h, p)
			if err != nil {
				continue
			}
			st, err := s.w.Check(s.req, winnow.State{Plan: p})
			if err == nil && st.Fits && s.allowed(v) {
				s.found = st
				return p, true
			}
		}
	}
	return nil, false
}

// without returns the plan that leaves the units of a set out and shortens all
// others, or nil where one of them must stay.
func (s *search) without(set int) *plan.Plan {
	h := s.req.History
	var edits []plan.Edit
	for k := 0; k < len(s.units); k++ {
		u := s.units[k]
		if set>>k&1 == 0 {
			for i := u[0]; i < u[1]; i++ {
				edits = append(edits, s.shortest(i)...)
			}
			continue
		}
		from, to := u[0], u[1]
		for k+1 < len(s.units) && set>>(k+1)&1 == 1 {
			k++
			to = s.units[k][1]
		}
		if slices.Contains(s.must[from:to], true) {
			return nil
		}
		edits = append(edits, plan.Edit{
			Kind: plan.Drop, From: from, To: to, Part: -1, Stage: "search",
			Text: fmt.Sprintf("[%d earlier messages left out; original: %s]", to-from, plan.Handle(h, from, to, -1)),
		})
	}
	p, err := plan.Compose(nil, h, s.req.Rules, nil, edits...)
	if err != nil {
		return nil
	}
	return p
}

// shortest returns masks that make a message as small as it gets.
func (s *search) shortest(i int) []plan.Edit {
	if s.whole[i] {
		return nil
	}
	h := s.req.History
	c := s.w.Meter().Counter()
	m := h.At(i)
	var edits []plan.Edit
	for k := range m.Parts {
		p := m.Parts[k]
		note := fmt.Sprintf("[shortened; original: %s]", plan.Handle(h, i, i+1, k))
		short := p
		switch p.Kind {
		case chat.ToolCall:
			note = fmt.Sprintf(`{"shortened":%q}`, plan.Handle(h, i, i+1, k))
			short.Args = note
		case chat.Thinking, chat.Opaque:
			continue
		default:
			short = chat.Part{Kind: p.Kind, Text: note}
			if p.Kind == chat.Image || p.Kind == chat.Document {
				short.Kind = chat.Text
			}
		}
		if p.Signature == "" && c.Part(&short) < c.Part(&p) {
			edits = append(edits, plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: k, Text: note, Stage: "search"})
		}
	}
	return edits
}

// allowed reports whether a provider takes the view.
func (s *search) allowed(v plan.View) bool {
	checker := chat.NewChecker(s.req.Rules)
	for i := range v.Len() {
		if len(checker.Next(v.At(i))) > 0 {
			return false
		}
	}
	first := chat.OpenLoop(s.req.History)
	if s.req.Rules.OrDefault().LeadThinking && first >= 0 && s.req.History.At(first).StartsWithThinking() {
		i := chat.OpenLoop(v)
		// A provider that binds thinking takes none that it did not sign.
		return i < 0 || v.At(i).StartsWithThinking() && v.At(i).Parts[0].Signature != ""
	}
	return true
}
