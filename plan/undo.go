package plan

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// # How a plan is taken back
//
// An edit names the plan that made it (Made). An edit that gave way to another stays
// in Replaced, oldest first, and names the plan that replaced it (By). [Undo] of plan
// id sorts all of them:
//
//   - gone: edits that id made, and every later edit that took in a gone one;
//   - back: edits that gave way to id or to a gone edit;
//   - the others stay as they are, in force or replaced.
//
// An example over 17 messages:
//
//	plan A   mask of message 3
//	plan B   fold of 0-7            replaced: A's mask
//	plan C   fold of 0-13           replaced: A's mask, B's fold
//
//	Undo(C, C)   C's fold goes, and B's fold is back
//	Undo(C, B)   B's fold goes, C's fold contains it and goes too; A's mask is back
//	Undo(C, A)   A's mask goes, and with it both folds: nothing is left
//
// In each case the result is a plan of its own, made for the whole present history,
// and can be taken back like any other.

// Undo returns a plan over the present history in which what plan id did is
// taken back: its edits go, the edits they replaced return, and every later
// edit that contains one of them goes too. It is a new plan and not the old
// one again, because a lookup by the longest prefix would find the plan that
// was taken back. Edits that a plan released do not return.
//
// The error wraps [ErrMismatch] when p was made for another history, and
// [ErrUnlinked] when p was read without the plans before it: see [Plan.Link].
func Undo(p *Plan, id ID, h chat.History, r chat.Rules) (*Plan, error) {
	if !p.Covers(h) {
		return nil, fmt.Errorf("plan: plan %s: %w", p.ID(), ErrMismatch)
	}
	if p.unlinked {
		return nil, fmt.Errorf("plan: plan %s: %w; link it to its parent %s first", p.id, ErrUnlinked, p.Parent)
	}
	made := func(e Edit) bool { return e.Made == id }
	if id != p.id && !slices.ContainsFunc(p.Edits, made) && !slices.ContainsFunc(p.Replaced, made) {
		return nil, fmt.Errorf("plan: plan %s holds no edits of plan %q; it holds those of %v", p.id, id, p.Makers())
	}

	// An edit that replaced a gone one contains it and goes too. Replaced is
	// oldest first, so one pass finds them all.
	g := gone{made: make(map[place]bool), by: make(map[place]bool)}
	var rest, back, stay []Edit
	q := &Plan{Len: h.Len(), Prefix: h.Chain(h.Len()), Results: p.Results, Parent: p.id, Strip: p.Strip}
	for _, e := range p.Replaced {
		if e.Made == id || g.takesAlong(&e) {
			g.add(&e)
			q.returned = append(q.returned, nameOf(&e, e.By))
		} else {
			rest = append(rest, e)
		}
	}
	first := h.Len()
	for _, e := range p.Edits {
		if e.Made == id || g.takesAlong(&e) {
			g.add(&e)
			first = min(first, e.firstChanged())
		} else {
			stay = append(stay, e)
		}
	}
	returns := make([]bool, len(rest))
	for i := range rest {
		returns[i] = rest[i].By == id || g.hadReplaced(&rest[i])
	}
	keepNewest(rest, returns)
	if !slices.ContainsFunc(stay, hidesMessages) {
		noState(rest, returns)
	}
	for i, e := range rest {
		if returns[i] {
			q.returned = append(q.returned, nameOf(&e, e.By))
			e.By = ""
			back = append(back, e)
			first = min(first, e.firstChanged())
		} else {
			q.Replaced = append(q.Replaced, e)
		}
	}
	sortEdits(back)
	stay, over := splitReplaced(stay, back, nil)
	q.Replaced = append(q.Replaced, over...)
	q.Edits = mergeSorted(stay, back)
	if at := lostState(q.Edits, nil); at >= 0 { // what it told is there to be read
		q.Replaced = append(q.Replaced, q.Edits[at])
		q.Edits = slices.Delete(q.Edits, at, at+1)
	}
	r = r.OrDefault()
	q.decideJoins(p, r, first, first < Seen(h))
	switch {
	case p.Parent == "" && len(q.Edits) == 0:
		// The only plan goes: thinking from before it stands after its own messages
		// again, and only thinking written under the plan is left out.
		q.Strip = nil
		if r.BoundThinking {
			q.Strip = stripFrom(nil, h, p.Len)
		}
	case r.BoundThinking:
		q.Strip = stripFrom(q.Strip, h, first)
	}
	if len(q.Edits) == 0 && len(q.Strip) == 0 && (p.Parent == "" || id != p.id) {
		// The history stands as it came, unless a plan that only joins goes before.
		q.Join, q.Seals = JoinNone, nil
	}
	if err := q.checkAlone(); err != nil {
		return nil, err
	}
	return q.seal(), nil
}

// keepNewest keeps, of the edits that would return to one place, the last that
// stood there. There are several where a pin was set and taken off in between.
// Edits that gave way to the same plan stood beside each other.
func keepNewest(edits []Edit, returns []bool) {
	taken := make(map[place]ID) // the plan that replaced what returns there
	var runs, single []*Edit
	for i := len(edits) - 1; i >= 0; i-- {
		e := &edits[i]
		if !returns[i] {
			continue
		}
		at := place{ref: e.Ref(), answer: e.CallID != ""}
		by, there := taken[at]
		if there && by != e.By || slices.ContainsFunc(runs, func(x *Edit) bool { return x.By != e.By && (x.swallows(e) || runsOverlap(x, e)) }) ||
			e.isRun() && slices.ContainsFunc(single, func(x *Edit) bool { return x.By != e.By && e.swallows(x) }) {
			returns[i] = false
			continue
		}
		taken[at] = e.By
		if e.isRun() {
			runs = append(runs, e)
		} else {
			single = append(single, e)
		}
	}
}

// noState lets no state return where no fold does.
func noState(edits []Edit, returns []bool) {
	for i := range edits {
		if returns[i] && hidesMessages(edits[i]) {
			return
		}
	}
	for i := range edits {
		returns[i] = returns[i] && edits[i].Kind != State
	}
}

// place is where an edit stands, and a plan that made or replaced it.
type place struct {
	plan   ID
	ref    Ref
	answer bool
}

// gone is the edits that are taken back.
type gone struct {
	edits, runs []*Edit
	made, by    map[place]bool
}

func (g *gone) add(e *Edit) {
	g.edits = append(g.edits, e)
	if e.isRun() {
		g.runs = append(g.runs, e)
	}
	g.made[place{e.Made, e.Ref(), e.CallID != ""}] = true
	g.by[place{e.By, e.Ref(), e.CallID != ""}] = true
}

// takesAlong reports whether e took the place of a gone edit. Runs are compared by
// their place alone: where a plan released the one in between, for a pin, no
// record leads from the gone edit to e, and no two runs in force overlap. A marker
// where e starts is told by the record, because it can also stand before e.
func (g *gone) takesAlong(e *Edit) bool {
	return g.by[place{e.Made, e.Ref(), e.CallID != ""}] ||
		e.isRun() && slices.ContainsFunc(g.edits, func(x *Edit) bool {
			if x.isRun() && x.From == x.To && x.From == e.From {
				return e.swallows(x) && x.By == e.Made
			}
			return e.swallows(x) || runsOverlap(x, e)
		})
}

// runsOverlap reports whether two runs have messages in common.
func runsOverlap(x, e *Edit) bool { return x.isRun() && e.isRun() && x.From < e.To && e.From < x.To }

// hadReplaced reports whether e was replaced by a gone edit.
func (g *gone) hadReplaced(e *Edit) bool {
	return g.made[place{e.By, e.Ref(), e.CallID != ""}] ||
		slices.ContainsFunc(g.runs, func(x *Edit) bool { return x.Made == e.By && x.swallows(e) })
}

// Makers returns the ids of the plans whose edits are in force, in the order
// in which they first appear.
func (p *Plan) Makers() []ID {
	if p == nil {
		return nil
	}
	var ids []ID
	for i := range p.Edits {
		if !slices.Contains(ids, p.Edits[i].Made) {
			ids = append(ids, p.Edits[i].Made)
		}
	}
	return ids
}
