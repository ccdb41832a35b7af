package plan

import "fmt"

// A plan in memory holds every edit that gave way since the first plan, so that
// any plan can be taken back. Written down with each plan these edits would be
// most of a long session: each plan would repeat what all plans before it hold.
// So a plan as JSON names what it changed in that list, and Link finds the edits
// again in the plan before it:
//
//	plan A   mask of message 3
//	plan B   fold of 0-8           replaced: A's mask of 3
//	plan C   (B taken back)        returned: A's mask of 3, which B replaced

// lineage is what a plan changed in the list of replaced edits, and whether it
// has that list.
type lineage struct {
	replaced []name // of the parent's edits
	returned []name // of the parent's Replaced: they are in force again, or gone

	unlinked bool // Replaced lacks what the plans before this one replaced
	whole    bool // it was read with all of Replaced, and is written so
	byHand   bool // it was read without an id, so its edits were never checked against a history
}

// name names an edit.
type name struct {
	Made ID   `json:"made"`
	From int  `json:"from"`
	To   int  `json:"to"`
	Part int  `json:"part"`           // stateName for a state
	Call bool `json:"call,omitempty"` // it gives a call a result
	By   ID   `json:"by,omitempty"`   // the plan that replaced it, where that is another one
}

// stateName stands in the names of states for the part, which runs do not have: a
// marker can stand at the same place.
const stateName = -2

func nameOf(e *Edit, by ID) name {
	n := name{e.Made, e.From, e.To, e.Part, e.CallID != "", by}
	if e.Kind == State {
		n.Part = stateName
	}
	return n
}

// namesOf is a set of names.
func namesOf(list []name) map[name]bool {
	set := make(map[name]bool, len(list))
	for _, n := range list {
		set[n] = true
	}
	return set
}

// Linked reports whether the plan knows everything that it and the plans before
// it replaced, so that [Undo] can take any of them back. Plans that [Compose]
// made are, if the plan that they grew from is. A plan that was read is where it
// is the first one or holds the others' edits itself, as [Plan.File] writes it.
func (p *Plan) Linked() bool { return p == nil || !p.unlinked }

// Link returns the plan with the edits that it names and those that its parent
// knows, which must be linked itself. Edits that the parent does not have are
// left out: taking back what replaced them then shows the messages themselves.
func (p *Plan) Link(parent *Plan) (*Plan, error) {
	if p.Linked() {
		return p, nil
	}
	if parent == nil || parent.unlinked {
		return nil, fmt.Errorf("plan: plan %s grew from plan %s: %w; link that one first", p.id, p.Parent, ErrUnlinked)
	}
	q := p.Bare()
	q.head.Store(p.head.Load())
	q.Replaced, q.unlinked = nil, false
	gone := namesOf(p.returned)
	for i := range parent.Replaced {
		if e := &parent.Replaced[i]; !gone[nameOf(e, e.By)] {
			q.Replaced = append(q.Replaced, *e)
		}
	}
	took := namesOf(p.replaced)
	for _, e := range parent.Edits {
		if took[nameOf(&e, "")] {
			e.By = p.id
			q.Replaced = append(q.Replaced, e)
		}
	}
	return q, nil
}
