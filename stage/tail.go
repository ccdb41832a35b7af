package stage

import (
	"context"
	"slices"
)

// The newest exchanges are what the model is working with, and the next step
// most likely needs them as they are. While they have room beside what must stay,
// no stage touches them: the first of them takes the place of the live exchange,
// from which on messages are left alone. Only where the request cannot fit that
// way are they reduced like everything else, the live exchange last.

// tailMargin says that the newest exchanges leave 1/tailMargin of what is available
// for the text that stands for the rest.
const tailMargin = 16

// protectTail moves d.Live to the first of the newest exchanges that stay whole.
// Those of the current turn stay as long as they fit what is available, or half of
// what the ladder fills. Those of
// earlier turns stay as long as they have no more than half of the target, with
// all that was said since: else nothing would be left to compact. A summary that
// somebody asked for goes by the recent tokens alone.
func (r *run) protectTail() {
	d := r.d
	if r.goal.Summarise {
		return
	}
	stay := r.fixed.Tokens + d.keptTokens(0, d.Live)
	room := r.goal.Available - r.goal.Available/tailMargin - 2*marker
	if r.Says() {
		room = min(room, r.fixed.Tokens+(r.goal.Target-r.fixed.Tokens)/2)
	}
	half := (d.Target - d.fixed) / 2
	kept := d.Tokens(d.Live, d.History.Len())
	left := d.Config.Tail
	for k := len(d.Outline.Exchanges) - 1; k >= 0 && left > 0; k-- {
		x := d.Outline.Exchanges[k]
		left--
		if x.From >= d.Live {
			continue
		}
		kept += d.Tokens(x.From, d.Live)
		stay -= d.keptTokens(x.From, d.Live)
		if stay+kept > room || x.From < d.LastUser && kept > half {
			return
		}
		d.Live = x.From
	}
}

// loosenTail lets the newest exchanges go too, up to the live one, and runs the
// stages again, where they and what may be dropped otherwise were not enough.
func (r *run) loosenTail(ctx context.Context, goal Goal) error {
	d := r.d
	if d.Live == d.live {
		return nil
	}
	if r.attemptToFit(r.truncateToFit) || r.attemptToFit(r.dropAll) {
		return nil
	}
	r.note("the last %d exchanges do not all stay whole: they do not fit", d.Config.Tail)
	d.Live = d.live
	r.goal = goal
	d.Available, d.Target = r.stageLimits()
	r.makeRoom()
	return r.runStages(ctx)
}

// stageLimits returns what is available to the stages and what they aim at.
func (r *run) stageLimits() (available, target int) {
	available, target = r.goal.Available, r.goal.Target
	if r.goal.Whole > 0 {
		available = min(available, r.goal.Whole)
	}
	if r.goal.Bytes > 0 { // a share of a large window may be more bytes than a request may have
		available = min(available, r.goal.Bytes/bytesPerToken)
		target = min(target, r.goal.byteTarget()/bytesPerToken)
	}
	return available, target
}

// makeRoom raises a target that nobody asked for where what must stay would leave less
// than a third of it for all that came before: up to three quarters of the way to where
// compaction starts.
func (r *run) makeRoom() {
	d := r.d
	if r.goal.Hard || r.goal.Ceiling {
		return
	}
	stay := d.fixed + d.keptTokens(0, d.Live) + d.Tokens(d.Live, d.History.Len())
	most := d.fixed + (r.goal.Trigger-d.fixed)*3/4
	if stay > most { // the exchange is reduced itself
		return
	}
	d.Target = max(d.Target, min(stay+(d.Target-d.fixed)/TailPart, most))
	r.goal.Target = max(r.goal.Target, d.Target)
}

// keptTokens returns the tokens of the messages from from to to-1 that stay when a run
// around them goes.
func (d *Draft) keptTokens(from, to int) (n int) {
	for i := from; i < to; i++ {
		if d.keep[i] {
			n += d.tokensAt(i)
		}
	}
	return n
}

// Says reports whether the ladder runs, which fills the target as it is.
func (p *Pipeline) Says() bool {
	return p.Stages == nil || slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Name() == ladderName })
}
