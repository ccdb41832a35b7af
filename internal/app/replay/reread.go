package replay

import (
	"slices"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
)

// An edit whose old text is not in the context makes the agent read again. That
// is charged to every policy alike:
//
//   - one more request, with the context as it stands, all of which the cache has
//     by then, and 150 tokens of output;
//   - the newest earlier part that showed the text joins the context, in its own
//     tokens. It rides along in every prompt, read from the cache, and its text
//     counts as there, until the policy rewrites.
//
// A policy's own count does not know of what rides along, so its trigger and the
// overflows stay those of its own view.

// rereadOutput is what the agent writes to read something again, in tokens.
const rereadOutput = 150

// lastMeasured is the last rewrite of a session whose view is looked at.
const lastMeasured = 5

// riding is what was read again and stays in the context until the next rewrite.
type riding struct {
	parts  []partAt
	tokens int
}

// judgeEdits judges the edits of message i against the context now and the size of
// its prompt, and charges the re-reads that they need.
func (d *driver) judgeEdits(out *Outcome, r *riding, i, prompt int, now []*chat.Message) {
	shown := d.next.readViewOnce(now)
	for _, w := range d.next.wanted[i] {
		if !w.known {
			continue
		}
		rides := func(p partAt) bool { return anyContains(d.next.texts[p.msg][p.part], w.old) }
		// What stands in the same message the agent has just written.
		ok := w.source.msg == i || slices.ContainsFunc(r.parts, rides) || shown().isReady(w.path, w.old)
		out.Edits.put(ok)
		if ok {
			continue
		}
		added := d.partTokens(&d.session.History.At(w.source.msg).Parts[w.source.part])
		out.Rereads++
		out.Again += rereadCost(&d.price, prompt+r.tokens, added)
		r.parts, r.tokens = append(r.parts, w.source), r.tokens+added
	}
}

// rereadCost returns the price of a request that reads something again: the context as
// it stood before, and the tokens added.
func rereadCost(m *model.Model, before, added int) float64 {
	use := chat.Usage{CacheRead: before, CacheWrite: added, Output: rereadOutput}
	if before < m.Cache.MinPrefix {
		use.CacheRead, use.CacheWrite = 0, before+added
	}
	return m.Prices.Cost(use)
}

// measureRewrite looks at the view right after a rewrite, if it is one of the first.
func (d *driver) measureRewrite(out *Outcome, i int, now []*chat.Message) {
	if out.Rewrites <= lastMeasured {
		c := NextCut{At: i}
		d.next.findDemand(&c)
		out.rewritten = out.rewritten.plus(d.next.scoreView(&c, now))
	}
}

// medianStep returns the median time between two answers of a session; 0 where it has
// no times.
func medianStep(h chat.History) time.Duration {
	var gaps []time.Duration
	last := int64(0)
	for _, m := range h.All() {
		if m.Role != chat.Assistant || m.Time == 0 {
			continue
		}
		if last > 0 && m.Time > last {
			gaps = append(gaps, time.Duration(m.Time-last)*time.Millisecond)
		}
		last = m.Time
	}
	return medianOf(gaps)
}

// medianOf returns the median of times; 0 of none.
func medianOf(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}
