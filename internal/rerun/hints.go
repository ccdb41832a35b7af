package rerun

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/contents"
	"github.com/winnow-llm/winnow/plan"
)

// Hint is a tool's result that plans hid and that the agent then fetched again by
// the same call: had it been pinned, it would have been there.
type Hint struct {
	Message int    `json:"message"` // its newest copy
	Part    int    `json:"part"`
	About   string `json:"about"`
	Again   int    `json:"again"` // how often it was fetched again
	Tokens  int    `json:"tokens"`
}

const (
	hintAfter = 2 // once may be chance
	mostHints = 3
)

// Hints returns what is worth pinning, what was fetched again most often first.
func (r *Rerun) Hints(_ context.Context, id string) ([]Hint, error) {
	if err := r.is(id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return hints(r.in.Request.History, r.hiddenFrom(), func(p *chat.Part) int { return r.w.Meter().Counter().Part(p) }), nil
}

// hiddenFrom says for each message from which message on a plan hid it; the
// history's length is never.
func (r *Rerun) hiddenFrom() []int {
	n := r.in.Request.History.Len()
	from := make([]int, n)
	for i := range from {
		from[i] = n
	}
	for _, info := range r.plans {
		p := r.known[info.ID]
		if p == nil {
			continue
		}
		for i := range p.Edits {
			e := &p.Edits[i]
			if e.Made != info.ID || e.Kind != plan.Mask && e.Kind != plan.Fold && e.Kind != plan.Drop {
				continue
			}
			for m := e.From; m < e.To; m++ {
				from[m] = min(from[m], p.Len)
			}
		}
	}
	return from
}

// hints finds calls that were made again after their result was hidden.
func hints(h chat.History, hidden []int, count func(*chat.Part) int) []Hint {
	type seen struct {
		message, part, again, hiddenAt int
		result                         *chat.Part
	}
	calls := map[string]string{} // by id
	known := map[string]*seen{}
	for i := range h.Len() {
		m := h.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case chat.ToolCall:
				calls[p.ID] = p.Name + " " + p.Args
			case chat.ToolResult:
				call := calls[p.ID]
				if call == "" || p.Failed {
					continue
				}
				s := known[call]
				if s == nil {
					s = &seen{}
					known[call] = s
				} else if i >= s.hiddenAt {
					s.again++
				}
				s.message, s.part, s.hiddenAt, s.result = i, k, hidden[i], p
			}
		}
	}
	out := []Hint{}
	for _, s := range known {
		if s.again < hintAfter {
			continue
		}
		out = append(out, Hint{s.message, s.part, contents.Part(h, s.message, s.part, 80), s.again, count(s.result)})
	}
	sortHints(out)
	return out[:min(len(out), mostHints)]
}

func sortHints(all []Hint) {
	slices.SortFunc(all, func(a, b Hint) int {
		return cmp.Or(b.Again-a.Again, b.Message-a.Message, b.Part-a.Part)
	})
}
