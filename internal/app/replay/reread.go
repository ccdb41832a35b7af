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

// rereader follows what the context of one replay shows.
type rereader struct {
	*nextIndex
	tokens func(p *chat.Part) int

	parts []partAt // that ride along
	extra int      // their tokens
}

// hasText reports whether an edit's old text is in the context.
func (r *rereader) hasText(w *wanted, i int, shown func() *shownView) bool {
	if w.source.msg == i {
		return true // the agent has just written it
	}
	for _, p := range r.parts {
		if anyContains(r.texts[p.msg][p.part], w.old) {
			return true
		}
	}
	return shown().isReady(w.path, w.old)
}

// readAgain takes the part that showed the text into the context and returns its
// tokens.
func (r *rereader) readAgain(w *wanted) int {
	n := r.tokens(&r.session.History.At(w.source.msg).Parts[w.source.part])
	r.parts = append(r.parts, w.source)
	r.extra += n
	return n
}

// judgeEdits judges the edits of message i against the context now and the size of
// its prompt, and charges the re-reads that they need.
func (d *driver) judgeEdits(out *Outcome, r *rereader, i, prompt int, now []*chat.Message) {
	shown := r.readViewOnce(now)
	for k := range r.wanted[i] {
		w := &r.wanted[i][k]
		if !w.known {
			continue
		}
		ok := r.hasText(w, i, shown)
		out.Edits.put(ok)
		if ok {
			continue
		}
		before := prompt + r.extra
		added := r.readAgain(w)
		out.Rereads++
		out.Again += rereadCost(&d.price, before, added)
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
func (r *rereader) measureRewrite(out *Outcome, i int, now []*chat.Message) {
	if out.Rewrites > lastMeasured {
		return
	}
	c := NextCut{At: i}
	r.findDemand(&c)
	out.rewritten = out.rewritten.plus(r.scoreView(&c, now))
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
