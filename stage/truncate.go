package stage

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// truncateTurns drops whole turns, oldest first, and leaves a marker. It is the
// last resort: what a fold kept stays as long as that is enough. Turns before the
// current one go first, then exchanges of the current turn before the live one, until
// need is met.
func (d *Draft) truncateTurns(_ context.Context, need chat.Size) ([]plan.Edit, error) {
	w := d.messageWeights()
	older := d.Live
	if d.LastUser >= 0 {
		older = min(older, d.LastUser)
	}
	behindRuns := func(start, stop int) int {
		for _, e := range d.Edits() {
			if isRun(&e) && e.From < stop {
				start = max(start, min(e.To, stop))
			}
		}
		return start
	}
	start := behindRuns(0, older)
	if start == 0 && d.Config.KeepFirst {
		start = d.firstExchange(w, older)
	}
	for i := range w {
		if d.keep[i] {
			w[i] = 0 // it stays, so that dropping what is around it saves nothing here
		}
	}
	var edits []plan.Edit
	left, bytes := need.Tokens+marker, need.Bytes
	if need.Tokens <= 0 {
		left = 0
	}
	b := make([]int, len(w))
	for i := range b {
		if bytes > 0 && !d.keep[i] {
			b[i] = d.History.At(i).Size().Bytes
		}
	}
	drop := func(start, stop, least int, next func(i int) int) {
		end := start
		for end < stop && (left > 0 || bytes > 0 || end < least) {
			to := min(next(end), stop)
			left -= sum(w[end:to])
			bytes -= sum(b[end:to])
			end = to
		}
		if e, ok := d.dropRun("truncate", start, end); ok {
			edits = append(edits, e)
		}
	}
	least := start + int(d.Config.TruncateFraction*float64(older-start))
	drop(start, older, least, func(i int) int { return d.Outline.Turns[d.Outline.TurnOf(i)].To })
	if d.LastUser >= 0 {
		drop(behindRuns(d.LastUser+1, d.Live), d.Live, 0, func(i int) int {
			_, to := d.exchangeAround(i)
			return to
		})
	}
	return edits, nil
}

// marker is about what the text has, in tokens, that stands for dropped messages.
const marker = 32

// firstExchange returns where the first exchange of the conversation ends, or 0
// when it does not fit beside what must stay, which is noted.
func (d *Draft) firstExchange(w []int, before int) int {
	if before == 0 || !d.History.At(0).StartsTurn() {
		return 0
	}
	end := 1
	if end < before {
		_, end = d.exchangeAround(1)
	}
	if end > before {
		return 0
	}
	must := d.fixed + d.Tokens(d.Live, d.History.Len()) + 2*marker
	for i := end; i < d.Live; i++ {
		if d.keep[i] {
			must += w[i]
		}
	}
	if first := sum(w[:end]); first > d.Available-must {
		d.notes = append(d.notes, fmt.Sprintf("truncate: the first exchange goes too: its %d tokens do not fit beside the %d that must stay", first, must))
		return 0
	}
	return end
}

// dropRun returns a drop of the messages between from and to that may go.
func (d *Draft) dropRun(stage string, from, to int) (plan.Edit, bool) {
	a, b, keep, ok := d.Run(from, to)
	if !ok {
		return plan.Edit{}, false
	}
	n := b - a - len(keep)
	text := fmt.Sprintf("[%d earlier messages left out; original: %s]", n, d.redeemHint(plan.Handle(d.History, a, b, -1)))
	return d.editRun(plan.Drop, stage, a, b, keep, text, fmt.Sprintf("%d messages from %d on", n, a)), true
}

// dropHalf drops the older half of the turns before the current one, whatever is
// needed: the forced compression that some agents fall back to.
func (d *Draft) dropHalf(context.Context, chat.Size) ([]plan.Edit, error) {
	older := d.Live
	if d.LastUser >= 0 {
		older = min(older, d.LastUser)
	}
	turns := d.Outline.Turns
	if len(turns) < 2 {
		return nil, nil
	}
	end := min(turns[len(turns)/2].From, older)
	if e, ok := d.dropRun("half", 0, end); ok {
		return []plan.Edit{e}, nil
	}
	return nil, nil
}
