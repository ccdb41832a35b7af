package replay

import (
	"slices"
	"time"

	"github.com/winnow-llm/winnow/chat"
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

// chained are the rewrites of a session after which the next edits are looked at.
var chained = [...]int{1, 2, 3, 5}

// rereader follows what the context of one replay shows.
type rereader struct {
	*nextIndex
	tokens func(p *chat.Part) int

	in    map[*chat.Message]int // messages of the context
	parts []partAt              // that ride along
	extra int                   // their tokens
}

func newRereader(x *nextIndex, tokens func(*chat.Part) int) *rereader {
	return &rereader{nextIndex: x, tokens: tokens, in: map[*chat.Message]int{}}
}

// moved notes which messages left the context and which came.
func (r *rereader) moved(gone, came []*chat.Message) {
	if len(gone) > 0 { // a rewrite
		r.parts, r.extra = nil, 0
	}
	for _, m := range gone {
		if r.in[m]--; r.in[m] == 0 {
			delete(r.in, m)
		}
	}
	for _, m := range came {
		r.in[m]++
	}
}

// there reports whether an edit's old text is in the context.
func (r *rereader) there(w *wanted, i int, shown func() *shownView) bool {
	if w.source.msg == i {
		return true // the agent has just written it
	}
	for _, p := range r.parts {
		if holds(r.texts[p.msg][p.part], w.old) {
			return true
		}
	}
	m := r.session.History.At(w.source.msg)
	if r.in[m] > 0 && r.sourceUnder(w) {
		return true // the newest showing is there as it was
	}
	return shown().ready(w.path, w.old)
}

// sourceUnder reports whether the newest showing stands under the file's path.
func (r *rereader) sourceUnder(w *wanted) bool {
	return r.shown([]*chat.Message{r.session.History.At(w.source.msg)}).ready(w.path, w.old)
}

// read takes the part that showed the text into the context and returns its
// tokens.
func (r *rereader) read(w *wanted) int {
	n := r.tokens(&r.session.History.At(w.source.msg).Parts[w.source.part])
	r.parts = append(r.parts, w.source)
	r.extra += n
	return n
}

// answer judges the edits of message i against the context now, whose prompt has
// so many tokens, and charges what was read again.
func (d *driver) answer(out *Outcome, r *rereader, i, prompt int, now []*chat.Message) {
	var view *shownView
	shown := func() *shownView {
		if view == nil {
			view = r.shown(now)
		}
		return view
	}
	for k := range r.wanted[i] {
		w := &r.wanted[i][k]
		if !w.known {
			continue
		}
		ok := r.there(w, i, shown)
		out.Edits.put(ok)
		if ok {
			continue
		}
		before := prompt + r.extra
		added := r.read(w)
		out.Rereads++
		for m := range d.prices {
			p := &d.prices[m]
			use := chat.Usage{CacheRead: before, CacheWrite: added, Output: rereadOutput}
			if before < p.Cache.MinPrefix {
				use.CacheRead, use.CacheWrite = 0, before+added
			}
			out.Again[m] += p.Prices.Cost(use)
		}
	}
}

// ride charges what rides along in a request that was not the first to have it.
func (d *driver) ride(out *Outcome, extra int) {
	for m := range d.prices {
		out.Again[m] += d.prices[m].Prices.Cost(chat.Usage{CacheRead: extra})
	}
}

// rewritten looks at the next edits after a rewrite, where it is one of those
// that are looked at.
func (r *rereader) rewritten(out *Outcome, i int, now []*chat.Message) {
	k := slices.Index(chained[:], out.Rewrites)
	if k < 0 {
		return
	}
	c := NextCut{Session: r.session, At: i}
	r.demand(&c)
	if len(c.Edits) > 0 {
		out.Chain[k] = out.Chain[k].plus(c.score(r.shown(now)))
	}
}

// medianStep is the median time between two answers of a session; 0 where it has
// no times.
func medianStep(h chat.History) time.Duration {
	var gaps []int64
	last := int64(0)
	for _, m := range h.All() {
		if m.Role != chat.Assistant || m.Time == 0 {
			continue
		}
		if last > 0 && m.Time > last {
			gaps = append(gaps, m.Time-last)
		}
		last = m.Time
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return time.Duration(gaps[len(gaps)/2]) * time.Millisecond
}
