package stage

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// A request with thinking switched on must show the thinking that its open tool
// loop starts with. This file keeps that true: the stages cut a loop only before
// a message that starts with thinking ([Draft.cutLoop]); where the model binds
// thinking to what stands before it, a rewrite waits for the end of the turn;
// and where neither is possible the loop is folded whole, with its newest
// results as they came ([run.takeLive]).

// findLead finds the message that an open tool loop starts with, where the rules
// ask for thinking there and the history has it.
func (d *Draft) findLead() {
	d.lead = -1
	if !d.Rules.LeadThinking {
		return
	}
	if i := chat.OpenLoop(d.History); i >= 0 && d.History.At(i).StartsWithThinking() {
		d.lead = i
	}
}

// cutLoop returns the last place at or before to where what is left of the open
// loop starts with thinking: there a run may end.
func (d *Draft) cutLoop(to int) int {
	if d.lead < 0 || to <= d.lead || to >= d.History.Len() {
		return to
	}
	for to > d.lead && !d.History.At(to).StartsWithThinking() {
		to--
	}
	return to
}

// lostLead reports whether a view has the open loop without the thinking that
// it must start with.
func (d *Draft) lostLead(v chat.Sequence) []chat.Problem {
	if d.lead < 0 {
		return nil
	}
	i := chat.OpenLoop(v)
	if i < 0 || v.At(i).StartsWithThinking() {
		return nil
	}
	return []chat.Problem{{Rule: "lead_thinking", At: i, Part: -1, Message: "the open tool loop would not start with its thinking"}}
}

// mustWait reports whether a rewrite now would take away the thinking that an
// open tool loop must start with.
func (r *run) mustWait() bool {
	d := r.d
	return d.Rules.BoundThinking && d.lead >= 0 && d.History.At(d.lead).Parts[0].Signature != ""
}

// turnRoom returns the tokens that the current turn may have so that the target is
// reached: the stages leave at most a quarter of the target of what stands before
// it.
func (r *run) turnRoom() int {
	d := r.d
	start := d.LastUser + 1
	stay := d.keptTokens(0, start)
	before := min(sum(d.messageWeights()[:start])-stay, r.goal.Target/4)
	return max(r.goal.Target-r.fixed.Tokens-stay-before, d.Available/8)
}

// takeLive folds the current turn with its live exchange, when all calls of it
// are answered: the thinking that the loop must start with cannot stay, and
// without it the exchange cannot either. It reports whether it did.
//
// Exchanges of the turn that are pinned stay, without their thinking, and what
// follows the last of them is folded by itself: behind it they are not part of an
// open loop any more. The live exchange has nothing behind it, so a pin on it
// stands against every rewrite. Then only its newest results can shrink, and where
// that is not enough the error says so.
func (r *run) takeLive(ctx context.Context) (bool, error) {
	d := r.d
	n := d.History.Len()
	x := d.Outline.ExchangeOf(d.live)
	if x < 0 || len(d.Outline.Exchanges[x].Open) > 0 {
		return false, nil
	}
	start := d.LastUser + 1
	split := n
	for split > start && !d.keep[split-1] {
		split--
	}
	if split == n {
		if r.loopShrinks() || !r.mustWait() {
			return false, nil
		}
		return false, r.cannotFit()
	}
	room := r.turnRoom()
	var edits []plan.Edit
	if split > start {
		if e, ok := d.turnFold(ctx, start, split, room/4, 0); ok {
			edits = append(edits, e)
			room -= e.After.Tokens
		}
		room -= d.keptTokens(start, split)
	}
	room = max(room, d.Available/8)
	whole := max(room*3/4, room-room/16-512-100*(n-split)) // the rest is for the lines of the steps
	e, ok := d.turnFold(ctx, split, n, room, whole)
	if !ok || !r.takeEdits("split-turn", append(edits, e), true) {
		return false, nil
	}
	d.Live, d.live, d.lead = start, start, -1 // what the next call is about is in there now
	r.releasePinned()                         // it is a rewrite, whatever the stages do
	r.note("the open tool loop is folded too: the thinking that it must start with cannot stay")
	return true, nil
}

// loopShrinks shortens what stands in the open loop, without touching the thinking
// that it starts with, and reports whether the request fits then: its older
// messages, whose later thinking is left out; or else what the provider has not
// seen yet, the newest results; or else all of it.
func (r *run) loopShrinks() bool {
	d := r.d
	n := d.History.Len()
	for _, run := range [][2]int{{d.lead + 1, d.Live}, {plan.Seen(d.History), n}, {d.lead + 1, n}} {
		from, to := run[0], max(run[0], run[1])
		if r.attemptToFit(func() { r.shrinkRun(from, to) }) || r.attemptToFit(func() { r.leaveHandles(from, to) }) {
			return true
		}
	}
	return false
}
