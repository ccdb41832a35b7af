package stage

import (
	"slices"

	"github.com/winnow-llm/winnow/plan"
)

// What a fold takes away is told in two places. The fold itself says what
// happened, and never changes. How things stand now (the files that are worked on,
// and what is open) is the text of one state edit after the last fold, which every
// rewrite makes anew.

const stateStage = "state"

// stateFrame is what a message takes beside its text, and what may have to stand
// between it and its neighbours.
const stateFrame = 16

// dropState takes the state of the plan in force away: a new one is made at the
// end. Until then its tokens count, so that files do not give way to nothing.
func (r *run) dropState() {
	d := r.d
	if !slices.ContainsFunc(d.Edits(), isState) {
		return
	}
	d.release = append(d.release, stateRef)
	view, all, now, err := d.proposeEdits(r.Meter, nil)
	if err != nil {
		d.release = slices.DeleteFunc(d.release, isStateRef)
		r.note("%s: the one before stays: %v", stateStage, err)
		return
	}
	r.state = max(0, r.now.Tokens-now.Tokens)
	d.added, d.View, r.now = all, view, now
}

var stateRef = (&plan.Edit{Kind: plan.State}).Ref()

func isState(e plan.Edit) bool   { return e.Kind == plan.State }
func isStateRef(r plan.Ref) bool { return r == stateRef }
