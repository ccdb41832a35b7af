package stage

import (
	"context"
	"fmt"
	"math"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// foldHistory turns older history into one message: requests, actions and answers,
// and a summary. There is one: a later fold takes the place of the earlier one,
// from the originals, and a model brings its notes up to date. Where the current
// turn itself is long, the user's last request is kept inside the run: it stands
// after the summary, before the newest actions.
func (d *Draft) foldHistory(ctx context.Context, need chat.Size) ([]plan.Edit, error) {
	w := d.messageWeights()
	end := d.recentStart(w)
	share, all := SummaryRoom(d.Available)
	earlier, prose, since, lastEnd := false, "", 0, 0
	for _, e := range d.Edits() {
		if isRun(&e) && e.From < e.To {
			lastEnd = max(lastEnd, e.To)
			if e.To <= end {
				if earlier = true; e.Prose != "" {
					prose, since = e.Prose, e.To
				}
			}
		}
	}
	a, b, keep, ok := d.Run(0, end) // there is one summary, which takes the place of the earlier ones
	visible := 0
	if ok {
		visible = sum(w[a:b])
		for _, k := range keep {
			visible -= w[k]
		}
	}
	// The text may have half of what it is made of. What it replaces counts as it stands
	// now: an earlier summary is not made shorter and shorter.
	most := share
	if earlier {
		most = all
	}
	room := min(most, d.sizeOfRun(a, b, keep).Tokens/2, max(visible-need.Tokens, share/2, leastFold))
	if !ok || !d.must && (visible-room < leastFold/2 || room < 64) {
		return nil, nil
	}
	words := min(d.userWords(a, b, keep), d.Available/6, visible/2)
	room += words
	// A summary of the same messages that was asked for again may have the room
	// that the first had: else each would be shorter than the one before.
	if d.again = d.must && lastEnd >= b; d.must && !d.again {
		room = min(room, visible)
	}
	tail := fmt.Sprintf("\n[original: %s]", d.redeemHint(plan.Handle(d.History, a, b, -1)))
	in := summary.Input{
		History: d.History, From: a, To: b, Keep: keep, Turn: -1, Previous: prose, Since: since, Focus: d.Config.Focus,
		Max: room - d.Counter.Text(tail) - 4, Verbatim: words, Open: true, Counter: d.Counter, Kinds: d.Kinds,
	}
	if d.Config.Summarizer != nil {
		in.Turn = d.splitIn(a, b)
	}
	if since >= b { // nothing is new: the notes are written anew, from the originals
		in.Previous = ""
	}
	d.summaries = append(d.summaries, in)
	out, err := d.summarizeFold(ctx, in)
	if err != nil {
		return nil, err
	}
	e := d.editRun(plan.Fold, "fold", a, b, keep, out.Text+tail, fmt.Sprintf("%d older messages, summary: %s", b-a-len(keep), d.noteAuthor(&out)))
	e.Prose = out.Prose
	if e.After.Tokens < visible || d.must && e.After.Tokens == visible || d.again {
		return []plan.Edit{e}, nil
	}
	return nil, nil
}

// leastFold is the number of tokens below which a fold is not worth its frame.
const leastFold = 400

// recentStart returns where the recent messages start.
func (d *Draft) recentStart(w []int) int {
	share := int(d.Config.RecentShare * float64(d.Available))
	recent := d.Config.Recent(d.Available)
	least := max(d.Config.RecentMessages, int(math.Ceil(d.Config.RecentRatio*float64(d.History.Len()))))
	i, kept := d.History.Len(), 0
	for i > 0 && (kept < recent || d.History.Len()-i < least) {
		// A message that is far too large is left out, but not of the least.
		if kept > 0 && kept+w[i-1] > max(recent+recent/4, share) && i <= d.Live && d.History.Len()-i >= least {
			break
		}
		i--
		kept += w[i]
	}
	i = min(d.Outline.CutBefore(i), d.Live)
	if i > 0 && i < d.History.Len() {
		start := d.Outline.Turns[d.Outline.TurnOf(i)].From
		if start > 0 && sum(w[start:i]) <= d.Config.Snap {
			i = start
		}
	}
	return i
}

// splitIn returns where the turn begins that a run from a to b cuts in two, a
// where it begins before the run, and -1 where no turn is cut.
func (d *Draft) splitIn(a, b int) int {
	if b >= d.History.Len() {
		return -1
	}
	t := d.Outline.Turns[d.Outline.TurnOf(b)]
	if t.Headless || t.From >= b {
		return -1
	}
	return max(t.From, a)
}

// userWords returns the tokens of the user's requests in a run, with their
// frame in a summary. They are few, and they are what a summary must not lose.
func (d *Draft) userWords(from, to int, keep []int) int {
	n := 0
	for i := from; i < to; i++ {
		if containsSorted(keep, i) {
			continue
		}
		if t := typed.Words(d.History, i); t != "" {
			n += d.Counter.Text(t) + 8
		}
	}
	return n
}

// messageWeights returns, for every message of the history, the tokens it has in the
// draft's view. A run's text counts at the run's first message.
func (d *Draft) messageWeights() []int {
	w := make([]int, d.History.Len())
	edits := d.Edits()
	d.eachVisible(0, len(w), func(i int, masks []plan.Edit) {
		w[i] = d.tokensAt(i)
		for k := range masks {
			w[i] -= masks[k].Before.Tokens - masks[k].After.Tokens
		}
	})
	for i := range edits {
		if e := &edits[i]; isRun(e) && e.From < e.To {
			w[e.From] += e.After.Tokens
		}
	}
	return w
}

func sum(w []int) int {
	n := 0
	for _, x := range w {
		n += x
	}
	return n
}
