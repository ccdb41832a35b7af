package stage

import (
	"runtime"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// What a fold takes away is told in two places. The fold itself says what
// happened, and never changes. How things stand now (the files that are worked on, and
// what is open) is the text of one state edit after the last fold, which every rewrite
// makes anew: it has what the target leaves beside the folds and the newest
// messages, at most the share of the target that the settings give it.

const stateStage = "state"

// readAhead begins to read how things stand while the history is still measured,
// on another processor, where a rewrite is all but certain: no plan is in force,
// and the history has more bytes than texts have that the trigger allows. Elsewhere
// d.standing reads when it is asked. Wait waits for the end of the reading.
func (d *Draft) readAhead(trigger int) (wait func()) {
	if d.Base != nil || d.Config.StateShare <= 0 || runtime.GOMAXPROCS(0) == 1 || !d.larger(sureBytes*trigger) {
		return func() {}
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = d.standing()
	})
	return reading.Wait
}

// sureBytes is more bytes for each token than texts have.
const sureBytes = 8

// larger reports whether the history has more than that many bytes.
func (d *Draft) larger(bytes int) bool {
	for i := range d.History.Len() {
		m := d.History.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			if bytes -= len(p.Text) + len(p.Args); bytes < 0 {
				return true
			}
		}
	}
	return false
}

// beside is what a state stands beside where the messages from tail on stand as
// they are, save those that are masked.
func (d *Draft) beside(tail int) summary.Beside {
	shown := make([]bool, d.History.Len())
	d.visible(tail, len(shown), func(i int, masks []plan.Edit) { shown[i] = len(masks) == 0 })
	return summary.Beside{Tail: tail, Shown: shown}
}

// stateRoom returns how many tokens of the target are kept for the state: what
// everything there is to show would have, and no more than its share.
func (d *Draft) stateRoom() int {
	most := d.stateMost()
	if most <= leastState {
		return 0
	}
	if d.reserve < 0 {
		d.reserve = 0
		d.stands(func(s *summary.State) { d.reserve = s.Size(d.beside(d.newest()), most) })
	}
	return d.reserve
}

// stateMost is the most tokens that the settings give a state.
func (d *Draft) stateMost() int { return int(d.Config.StateShare * float64(d.Target-d.fixed)) }

// leastState is the number of tokens below which a state is not worth its frame.
const leastState = 200

// stateFrame is what a message takes beside its text, and what may have to stand
// between it and its neighbours.
const stateFrame = 16

// leastSaving is what a rewrite must save with its state.
const leastSaving = 64

// newest returns the first message of the newest exchanges that stay whole: as
// many as the settings say, as long as they have no more than half of the target.
// The live exchange stays at any size.
func (d *Draft) newest() int {
	from, kept := d.Live, d.Tokens(d.Live, d.History.Len())
	room := (d.Target - d.fixed) / 2
	left := d.Config.Tail
	for i := len(d.Outline.Exchanges) - 1; i >= 0 && left > 0; i-- {
		x := d.Outline.Exchanges[i]
		left--
		if x.From >= from {
			continue
		}
		if kept += d.Tokens(x.From, from); kept > room {
			break
		}
		from = x.From
	}
	return from
}

// dropState takes the state of the plan in force away: a new one is made at the
// end.
func (r *run) dropState() {
	d := r.d
	if !slices.ContainsFunc(d.Edits(), isState) {
		return
	}
	d.release = append(d.release, stateRef)
	view, all, now, err := d.propose(r.Meter, nil)
	if err != nil {
		d.release = slices.DeleteFunc(d.release, isStateRef)
		r.note("%s: the one before stays: %v", stateStage, err)
		return
	}
	d.added, d.View, r.now = all, view, now
}

var stateRef = (&plan.Edit{Kind: plan.State}).Ref()

func isState(e plan.Edit) bool   { return e.Kind == plan.State }
func isStateRef(r plan.Ref) bool { return r == stateRef }

// state puts how things stand after the last fold, in what is left of the target.
// The view stays smaller than it was at the start.
func (r *run) state(start int) {
	d := r.d
	at, folded := -1, false
	for _, e := range d.Edits() {
		if isRun(&e) && e.From < e.To {
			at = e.To
			folded = folded || e.Kind == plan.Fold
		}
	}
	// What is open is told even where the target is full.
	room := max(d.Target-r.total().Tokens, min(2*leastState, r.goal.Available-r.total().Tokens))
	room = min(room, start-r.now.Tokens-leastSaving)
	if !folded || d.Config.StateShare <= 0 {
		return
	}
	e, ok := r.stateIn(at, room)
	if !ok {
		return
	}
	released := d.release
	d.release = slices.DeleteFunc(slices.Clone(d.release), isStateRef)
	if !r.take(stateStage, []plan.Edit{e}, true) {
		d.release = released
	}
}

// stateIn returns a state before message at that has at most room tokens, and no
// more bytes than are left where those are limited.
func (r *run) stateIn(at, room int) (plan.Edit, bool) {
	d := r.d
	left := r.goal.aim() - r.total().Bytes
	for range 4 {
		if room < leastState || r.goal.Bytes > 0 && left <= 0 {
			break
		}
		text := ""
		d.stands(func(s *summary.State) { text = s.Text(d.beside(at), room-stateFrame) })
		if text == "" {
			break
		}
		e := d.run(plan.State, stateStage, at, at, nil, text, "files as they stand, and what is open")
		e.Before, e.Handle = chat.Size{}, ""
		if r.goal.Bytes <= 0 || e.After.Bytes <= left {
			return e, true
		}
		room = min(room-1, int(int64(room)*int64(left)/int64(e.After.Bytes)))
	}
	return plan.Edit{}, false
}
