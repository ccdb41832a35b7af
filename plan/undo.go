package plan

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// Undo returns a plan over the present history in which what plan id did is
// taken back: its edits go, the edits they replaced return, and every later
// edit that contains one of them goes too. It is a new plan and not the old
// one again, because a lookup by the longest prefix would find the plan that
// was taken back.
func Undo(p *Plan, id ID, h chat.History, r chat.Rules) (*Plan, error) {
	if !p.Covers(h) {
		return nil, fmt.Errorf("plan: plan %s: %w", p.ID(), ErrMismatch)
	}
	made := func(e Edit) bool { return e.Made == id }
	if !slices.ContainsFunc(p.Edits, made) && !slices.ContainsFunc(p.Replaced, made) {
		return nil, fmt.Errorf("plan: plan %s holds no edits of plan %q; it holds those of %v", p.id, id, p.Makers())
	}

	// A later run that swallowed an edit of the plan contains it.
	swallowed := make(map[int]bool)
	for _, e := range p.Replaced {
		if e.Made == id {
			swallowed[e.From] = true
		}
	}
	contains := func(e *Edit) bool {
		if !e.run() {
			return swallowed[e.From]
		}
		for at := range swallowed {
			if e.From <= at && at < e.To {
				return true
			}
		}
		return false
	}
	var stay, gone []Edit
	first := h.Len()
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Made == id || len(swallowed) > 0 && contains(e) {
			gone = append(gone, *e)
			first = min(first, e.From)
		} else {
			stay = append(stay, *e)
		}
	}

	q := &Plan{
		Len: h.Len(), Prefix: h.Chain(h.Len()), Join: p.Join, Results: p.Results, Parent: p.id,
		Strip: p.Strip, Edits: stay,
	}
	q.Replaced = q.restore(p.Replaced, gone, id)
	if r.OrDefault().BoundThinking {
		q.Strip = stripFrom(q.Strip, h, first)
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	return q.seal(), nil
}

// restore puts back the replaced edits that the gone ones hid, newest first,
// where nothing else stands by now. It returns the edits that stay replaced.
func (p *Plan) restore(replaced, gone []Edit, id ID) []Edit {
	var rest []Edit
	for i := len(replaced) - 1; i >= 0; i-- {
		e := replaced[i]
		if e.Made == id {
			continue
		}
		hidden := slices.ContainsFunc(gone, func(g Edit) bool {
			return g.From <= e.From && e.To <= g.To && (g.run() || g.Part == e.Part)
		})
		if hidden && p.free(&e) {
			e.By = ""
			at, _ := slices.BinarySearchFunc(p.Edits, e, compare)
			p.Edits = slices.Insert(p.Edits, at, e)
			continue
		}
		rest = append(rest, e)
	}
	slices.Reverse(rest)
	return rest
}

// free reports whether no edit of the plan overlaps e.
func (p *Plan) free(e *Edit) bool {
	for i := range p.Edits {
		f := &p.Edits[i]
		switch {
		case f.From >= e.To && f.From > e.From || f.To <= e.From && f.From < e.From:
		case f.run() && !e.run() && f.keeps(e.From), e.run() && !f.run() && e.keeps(f.From):
		case !f.run() && !e.run() && f.Part != e.Part:
		default:
			return false
		}
	}
	return true
}

// Makers returns the ids of the plans whose edits are in force, in the order
// in which they first appear.
func (p *Plan) Makers() []ID {
	var ids []ID
	for i := range p.Edits {
		if !slices.Contains(ids, p.Edits[i].Made) {
			ids = append(ids, p.Edits[i].Made)
		}
	}
	return ids
}
