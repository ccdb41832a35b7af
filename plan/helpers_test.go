package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

// free are rules under which messages are neither joined nor stripped.
var free = chat.Rules{Name: "pairing only"}

// stageNames are the stages that tests know, in an order.
var stageNames = []string{"repair", "limit", "supersede", "prune", "split-turn", "fold", "truncate"}

func hist(notation string) chat.History { return chat.NewHistory(randhist.Parse(notation)...) }

func mask(at, part int, text string) plan.Edit {
	return plan.Edit{Kind: plan.Mask, From: at, To: at + 1, Part: part, Text: text, Stage: "test"}
}

func answer(at, part int, call, text string) plan.Edit {
	return plan.Edit{Kind: plan.Answer, From: at, To: at + 1, Part: part, CallID: call, Text: text, Stage: "repair"}
}

func fold(from, to int, text string, keep ...int) plan.Edit {
	return plan.Edit{Kind: plan.Fold, From: from, To: to, Part: -1, Text: text, Keep: keep, Stage: "fold"}
}

func drop(from, to int, text string, keep ...int) plan.Edit {
	return plan.Edit{Kind: plan.Drop, From: from, To: to, Part: -1, Text: text, Keep: keep, Stage: "truncate"}
}

func compose(t testing.TB, base *plan.Plan, h chat.History, r chat.Rules, add ...plan.Edit) *plan.Plan {
	t.Helper()
	p, err := plan.Compose(base, h, r, nil, add...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func apply(t testing.TB, h chat.History, p *plan.Plan) plan.View {
	t.Helper()
	v, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
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
			role = map[string]string{"u": "y"}[role]
		}
		var parts []string
		for k := range m.Parts {
			parts = append(parts, showPart(&m.Parts[k]))
		}
		out = append(out, role+"["+strings.Join(parts, "; ")+"]")
	}
	return strings.Join(out, " ")
}

func showPart(p *chat.Part) string {
	s := ""
	switch p.Kind {
	case chat.Text:
		s = p.Text
	case chat.ToolCall:
		s = p.Name + ":" + p.ID + p.Args
	case chat.ToolResult:
		s = p.ID + "=" + p.Text
	default:
		s = p.Kind.String() + " " + p.Text + p.Data
	}
	for i := range p.Content {
		s += " with " + showPart(&p.Content[i])
	}
	if p.Failed {
		s += " failed"
	}
	if p.Signature != "" {
		s += " signed"
	}
	return s
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

// samePrefix reports whether two sequences start with the same n messages.
func samePrefix(a, b chat.Sequence, n int) bool {
	if a.Len() < n || b.Len() < n {
		return false
	}
	for i := range n {
		if a.At(i) != b.At(i) && a.At(i).Digest() != b.At(i).Digest() {
			return false
		}
	}
	return true
}

// words is what a sequence says regardless of how messages are joined:
// side and part by part, without signed thinking and separators.
func words(v plan.View) []string {
	var out []string
	for i := range v.Len() {
		m := v.At(i)
		if o := v.Origin(i); o.Message < 0 && o.Edit < 0 {
			continue
		}
		side := m.Role
		if side == chat.Tool {
			side = chat.User
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind == chat.Thinking && p.Signature != "" || p.Kind == chat.Text && (p.Text == "" || p.Text == "(no content)") {
				continue
			}
			out = append(out, string(side)+" "+showPart(p))
		}
	}
	return out
}

func source(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed+randhist.FirstSeed, stream))
}

// randomEdits returns edits that Compose accepts together.
func randomEdits(r *rand.Rand, h chat.History, density float64) []plan.Edit {
	o := chat.NewOutline(h)
	orphans := map[plan.Ref]bool{}
	for _, p := range free.Check(h) {
		if p.Rule == chat.RuleOrphan {
			orphans[plan.Ref{From: p.At, Part: p.Part}] = true
		}
	}
	var out []plan.Edit
	add := func(e plan.Edit) {
		e.Stage = stageNames[r.IntN(len(stageNames))]
		e.Handle = plan.Handle(h, e.From, e.To, e.Part)
		e.Before = chat.Size{Tokens: r.IntN(900), Bytes: r.IntN(4000)}
		e.After = chat.Size{Tokens: r.IntN(90), Bytes: r.IntN(400)}
		out = append(out, e)
	}
	inside := func(i int) {
		m := h.At(i)
		if len(m.Parts) == 0 {
			add(mask(i, 0, "nothing was here"))
			return
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			text := fmt.Sprintf("short %d.%d", i, k)
			switch {
			case orphans[plan.Ref{From: i, Part: k}]:
				add(answer(i, k, "", []string{"", "> " + text}[r.IntN(2)]))
			case r.IntN(2) == 0:
			case p.Kind == chat.Thinking || p.Kind == chat.Opaque || p.Signature != "" && p.Kind != chat.ToolCall:
				add(mask(i, k, ""))
			case p.Kind == chat.ToolCall && p.Signature == "":
				add(mask(i, k, `{"cut":true}`))
			case p.Kind != chat.ToolCall:
				add(mask(i, k, []string{"", text}[r.IntN(2)]))
			}
		}
		if x := o.ExchangeOf(i); x >= 0 && o.Exchanges[x].From == i {
			for _, id := range o.Exchanges[x].Open {
				for k := range m.Parts {
					if p := &m.Parts[k]; p.Kind == chat.ToolCall && p.ID == id && id != "" {
						add(answer(i, k, id, "no result"))
						break
					}
				}
			}
		}
	}
	for i := 0; i < h.Len(); {
		if o.CanCut(i) && r.Float64() < density/4 {
			to := o.CutBefore(min(h.Len(), i+1+r.IntN(12)))
			if to > i {
				var keep []int
				for k := i; k < to; {
					end := k + 1
					if x := o.ExchangeOf(k); x >= 0 {
						end = o.Exchanges[x].To
					}
					if r.IntN(5) == 0 && k > i && end <= to {
						for ; k < end; k++ {
							keep = append(keep, k)
							if r.IntN(3) == 0 {
								inside(k)
							}
						}
					}
					k = end
				}
				if r.IntN(2) == 0 {
					add(fold(i, to, fmt.Sprintf("summary of %d-%d", i, to), keep...))
				} else {
					add(drop(i, to, fmt.Sprintf("%d-%d are gone", i, to), keep...))
				}
				i = to
				continue
			}
		}
		if o.CanCut(i) && r.Float64() < density/20 {
			add(drop(i, i, fmt.Sprintf("marker at %d", i)))
		}
		if r.Float64() < density {
			inside(i)
		}
		i++
	}
	for _, e := range slices.Backward(out) {
		if e.Kind == plan.Fold {
			if r.IntN(2) == 0 {
				add(plan.Edit{Kind: plan.State, From: e.To, To: e.To, Part: -1, Text: fmt.Sprintf("as it stands at %d", e.To)})
			}
			break
		}
	}
	// An answer at a call that is listed twice as open would stand twice.
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(e plan.Edit) bool {
		key := fmt.Sprint(e.Ref(), e.To, e.CallID != "")
		defer func() { seen[key] = true }()
		return seen[key]
	})
}
