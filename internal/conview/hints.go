package conview

import (
	"cmp"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

const (
	hintAfter = 2 // once may be chance
	mostHints = 3
)

// findHints says what is worth pinning: results that one of the plans, given in the
// order in which they came into force, hid, and that the agent fetched again by
// the same call after that. The result fetched again most often comes first.
func findHints(h chat.History, plans []*plan.Plan, c *token.Counter) []control.Hint {
	hidden := hiddenFrom(h.Len(), plans)
	type result struct{ message, part, again, hiddenAt int }
	calls := map[string]string{} // by id
	known := map[string]*result{}
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
				r := known[call]
				if r == nil {
					r = &result{}
					known[call] = r
				} else if i >= r.hiddenAt {
					r.again++
				}
				r.message, r.part, r.hiddenAt = i, k, hidden[i]
			}
		}
	}
	out := []control.Hint{}
	for _, r := range known {
		if r.again >= hintAfter {
			out = append(out, control.Hint{
				Message: r.message, Part: r.part, About: text.Brief(About(h, r.message, r.part), maxAbout), Again: r.again,
				Tokens: c.Part(&h.At(r.message).Parts[r.part]),
			})
		}
	}
	slices.SortFunc(out, func(a, b control.Hint) int {
		return cmp.Or(b.Again-a.Again, b.Message-a.Message, b.Part-a.Part)
	})
	return out[:min(len(out), mostHints)]
}

// ReadAgain counts the reads, in message from or later, of files that were last
// shown or written in what one of the plans had hidden by then. Whether the plan
// shows the file elsewhere does not matter: the agent went to read it.
func ReadAgain(h chat.History, from int, plans []*plan.Plan, kinds *work.Kinds) int {
	hidden := hiddenFrom(h.Len(), plans)
	calls := map[string]*chat.Part{}
	last := map[string]int{} // message of the newest result, by path
	again := 0
	for i := range h.Len() {
		m := h.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind == chat.ToolCall {
				calls[p.ID] = p
			}
			call := calls[p.ID]
			if p.Kind != chat.ToolResult || p.Failed || call == nil {
				continue
			}
			for _, o := range kinds.Access(call).Ops {
				was, known := last[o.Path]
				if o.Kind == work.ToolRead && known && i >= hidden[was] && i >= from {
					again++
				}
				if o.Kind == work.ToolRead || o.Kind == work.ToolWrite || o.Kind == work.ToolEdit {
					last[o.Path] = i
				}
			}
		}
	}
	return again
}

// hiddenFrom says for each of n messages how long the history was when a plan hid
// it; n is never.
func hiddenFrom(n int, plans []*plan.Plan) []int {
	from := make([]int, n)
	for i := range from {
		from[i] = n
	}
	for _, p := range plans {
		for i := range p.Edits {
			e := &p.Edits[i]
			if e.Made != p.ID() || e.Kind != plan.Mask && e.Kind != plan.Fold && e.Kind != plan.Drop {
				continue
			}
			for m := e.From; m < min(e.To, n); m++ {
				from[m] = min(from[m], p.Len)
			}
		}
	}
	return from
}
