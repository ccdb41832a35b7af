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
	known := map[string]*result{}
	eachAnswer(h, func(i, k int, p *chat.Part) {
		call := p.Name + " " + p.Args
		r := known[call]
		if r == nil {
			r = &result{}
			known[call] = r
		} else if i >= r.hiddenAt {
			r.again++
		}
		r.message, r.part, r.hiddenAt = i, k, hidden[i]
	})
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
	last := map[string]int{} // message of the newest result, by path
	again := 0
	eachAnswer(h, func(i, _ int, call *chat.Part) {
		for _, o := range kinds.Access(call).Ops {
			was, known := last[o.Path]
			if o.Kind == work.ToolRead && known && i >= hidden[was] && i >= from {
				again++
			}
			if o.Kind == work.ToolRead || o.Kind == work.ToolWrite || o.Kind == work.ToolEdit {
				last[o.Path] = i
			}
		}
	})
	return again
}

// eachAnswer calls f with the place of every result that did not fail, and with the
// call that it answers.
func eachAnswer(h chat.History, f func(message, part int, call *chat.Part)) {
	calls := map[string]*chat.Part{}
	for i, m := range h.All() {
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind == chat.ToolCall {
				calls[p.ID] = p
			}
			if call := calls[p.ID]; p.Kind == chat.ToolResult && !p.Failed && call != nil {
				f(i, k, call)
			}
		}
	}
}

// hiddenFrom says for each of n messages how long the history was when a plan hid
// it; n is never.
func hiddenFrom(n int, plans []*plan.Plan) []int {
	from := slices.Repeat([]int{n}, n)
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
