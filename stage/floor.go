package stage

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// FloorItem is something that must stay, with its tokens.
type FloorItem struct {
	What   string `json:"what"`
	Tokens int    `json:"tokens"`
}

// CannotFitError says that what must stay is larger than what is available,
// and lists it, largest first.
type CannotFitError struct {
	Available int // tokens
	Floor     int // tokens of all that must stay, as counted
	Upper     int // the upper end of that count, which must fit
	Items     []FloorItem

	// Bytes and Images are set when those are over their limit instead.
	Bytes, MaxBytes   int
	Images, MaxImages int

	// Off names stages that are switched off and without which it does not fit.
	Off []string
}

// Code is "stage_off" where it is for stages that are switched off that the
// request does not fit, else "cannot_fit".
func (e *CannotFitError) Code() string {
	if len(e.Off) > 0 {
		return "stage_off"
	}
	return "cannot_fit"
}

// Error says what is too large and what can be done.
func (e *CannotFitError) Error() string {
	need, limit, what := e.Floor, e.Available, "tokens"
	switch {
	case e.Floor > e.Available:
	case e.Upper > e.Available:
		what = "tokens by the count, but possibly up to " + text.Number(e.Upper)
	case e.MaxBytes > 0 && e.Bytes > e.MaxBytes:
		need, limit, what = e.Bytes, e.MaxBytes, "bytes"
	default:
		need, limit, what = e.Images, e.MaxImages, "images"
	}
	said := fmt.Sprintf("cannot fit: what must stay has %s %s, the limit is %s", text.Number(need), what, text.Number(limit))
	if len(e.Off) > 0 {
		said = fmt.Sprintf("does not fit, because these stages are switched off: %s; %s", strings.Join(e.Off, ", "), said)
	}
	for i, it := range e.Items[:min(3, len(e.Items))] {
		said += [2]string{"; largest: ", ", "}[min(i, 1)] + it.What + " " + text.Number(it.Tokens)
	}
	return said + "; use a larger window, lower the output reserve, or shorten or unpin one of these"
}

// reachFloor goes down as far as anything goes. What the next call is about is
// shortened only where it does not fit by itself: where it does, older messages
// go first. Where that is not enough, the live messages shrink item by item beside
// what the stages left; then everything else goes, and they keep what that leaves them.
func (r *run) reachFloor(ctx context.Context) error {
	live := func() { r.shrinkRun(r.d.Live, r.d.History.Len()) }
	attempts := []func(){func() { r.shareRoom(ctx) }, r.truncateToFit, live, r.dropAll, func() { r.dropAll(); live() }}
	if slices.ContainsFunc(attempts, r.attemptToFit) {
		return nil
	}
	// System messages in the middle stay as long as they can, but they are not
	// part of what must.
	r.dropAll()
	r.dropSystem()
	for _, shrink := range []func(){live, func() { r.leaveHandles(0, r.d.History.Len()) }} {
		if r.isOver(r.goal.Available) {
			shrink()
		}
	}
	if files := r.d.attachedFiles(); r.isOver(r.goal.Available) { // whatever their share is
		if room := tokensOf(files) - (r.totalSize().Tokens - r.goal.Available) - 64; room > 0 {
			r.shortenFiles(files, room, 1)
		}
	}
	if !r.isOver(r.goal.Available) {
		return nil
	}
	if r.isOver(r.goal.Try) {
		return r.blameSwitchedOff(r.cannotFit())
	}
	if !r.goal.Ceiling {
		r.note("what must stay may not fit: it fits only if the estimate is too high")
	}
	return nil
}

// isOff reports whether somebody switched the stage off: then the floor does
// nothing in its name.
func (r *run) isOff(name string) bool { return slices.Contains(r.Off, name) }

// blameSwitchedOff says whether it is for stages that are switched off that nothing fits.
func (r *run) blameSwitchedOff(e *CannotFitError) error {
	off := slices.DeleteFunc([]string{"limit", "truncate"}, func(n string) bool { return !r.isOff(n) })
	if len(off) == 0 {
		return e
	}
	all := *r.Pipeline
	all.Off = nil
	r.Pipeline = &all
	if r.reachFloor(context.Background()) == nil {
		e.Off = off
	}
	return e
}

// attemptToFit does something and takes it back where the request does not fit then.
func (r *run) attemptToFit(do func()) bool {
	added, view, now, notes := r.d.added, r.d.View, r.now, r.notes
	do()
	if !r.isOver(r.goal.Available) {
		return true
	}
	r.d.added, r.d.View, r.now, r.notes = added, view, now, notes
	return false
}

// truncateToFit drops what Truncate would, so that the request fits.
func (r *run) truncateToFit() {
	need := r.totalSize().Sub(chat.Size{Tokens: r.goal.Available, Bytes: r.goal.Bytes})
	if r.goal.Bytes == 0 {
		need.Bytes = 0
	}
	edits, _ := r.d.truncateTurns(context.Background(), need)
	r.acceptEdits("truncate", edits)
}

// keptSystem lists the system messages that stay though nothing pins them.
func (d *Draft) keptSystem() []int {
	var at []int
	for i, kept := range d.keep {
		if kept && d.History.At(i).Role == chat.System && !d.Pinned(i, -1) {
			at = append(at, i)
		}
	}
	return at
}

// dropSystem drops system messages in the middle, oldest first, as many as it takes.
func (r *run) dropSystem() {
	d := r.d
	added, view, now, notes := d.added, d.View, r.now, r.notes
	system := d.keptSystem()
	without := func(n int) bool {
		d.added, d.View, r.now, r.notes = added, view, now, notes
		for k, i := range system {
			d.keep[i] = k >= n
		}
		r.dropAll()
		return !r.isOver(r.goal.Available)
	}
	if len(system) > 0 {
		without(sort.Search(len(system), without))
	}
}

// dropAll drops everything that may go.
func (r *run) dropAll() {
	if e, ok := r.d.dropRun("truncate", 0, r.d.Live); ok { // the user's last request is kept inside
		r.acceptEdits("truncate", []plan.Edit{e})
	}
}

const largerThanRoom = "what must stay is larger than what is available"

// leastItem is the number of tokens below which an item is not shortened further.
const leastItem = 28

// shareRoom shortens what the next call is about to two thirds of the room where it
// has more, so that the conversation before it is told in the rest, or to what that
// leaves where it is short.
func (r *run) shareRoom(ctx context.Context) {
	d := r.d
	w := d.messageWeights()
	live, before := sum(w[d.Live:]), sum(w[:d.Live])
	room := min(r.goal.Target, r.goal.Available) - r.fixed.Tokens
	most := max(room*2/3, room-before)
	if live <= most || before < leastFold || r.Pipeline.Stages == nil || !r.Says() {
		return
	}
	items := d.shrinkableItems(d.Live, d.History.Len())
	if r.squeezeTo(items, capFor(items, tokensOf(items)-(live-most))) {
		_ = r.runStages(ctx) // where it is cancelled, the view does not fit
	}
}

// squeezeTo shortens items to that many tokens each.
func (r *run) squeezeTo(items []item, limit int) bool {
	return r.acceptEdits("limit", r.d.squeezeItems(items, limit))
}

func (d *Draft) squeezeItems(items []item, limit int) (edits []plan.Edit) {
	for _, it := range items {
		if it.tokens <= limit {
			continue
		}
		if e, ok := d.shortenItem(it, itemSize{work.KeepBoth, anySize, anySize, limit}, largerThanRoom); ok {
			edits = append(edits, e)
		}
	}
	return edits
}

// shrinkRun shortens the largest parts of a run of messages, so that together they
// fit. A part that must be shortened anyway comes down to what the target leaves it, or
// to a quarter of what is available: the rewrite should last.
func (r *run) shrinkRun(from, to int) {
	d := r.d
	over := r.totalSize().Tokens - r.goal.Available
	for round := range 3 {
		items := d.shrinkableItems(from, to)
		room := tokensOf(items) - over - round*16
		limit := capFor(items, room)
		if over <= 0 {
			limit = leastItem << 4
		} else {
			aim := room - (r.goal.Available - r.goal.Target)
			limit = min(limit, max(capFor(items, aim), r.goal.Available/4))
		}
		if !r.squeezeTo(items, limit) {
			return
		}
		over = r.totalSize().Tokens - r.goal.Available
		if !r.isOver(r.goal.Available) {
			return
		}
	}
}

// capFor returns the most tokens an item may have so that all together have at
// most room, and never less than leastItem.
func capFor(items []item, room int) int {
	sizes := make([]int, len(items))
	for i := range items {
		sizes[i] = items[i].tokens
	}
	return max(equalShare(sizes, room), leastItem)
}

// shrinkableItems lists the parts of a run of messages that may shrink: all but the
// user's last request and pins.
func (d *Draft) shrinkableItems(from, to int) []item {
	var items []item
	for p := range d.visibleParts(from, to) {
		if d.mayMask(p.message, p.index) && (p.Signature == "" || p.Kind == chat.Thinking) && (p.mask == nil || p.mask.Stage != "repair") {
			items = append(items, d.asItem(p))
		}
	}
	return items
}

// cannotFit lists what is left, largest first.
func (r *run) cannotFit() *CannotFitError {
	d := r.d
	t := r.totalSize()
	e := &CannotFitError{
		Available: r.goal.Available, Floor: t.Tokens, Upper: t.Tokens,
		Bytes: t.Bytes, MaxBytes: r.goal.Bytes, Images: t.Images, MaxImages: r.goal.Images,
	}
	add := func(what string, tokens int) {
		if tokens > 0 {
			e.Items = append(e.Items, FloorItem{what, tokens})
		}
	}
	add("system prompt and tool definitions", r.fixed.Tokens)
	for i := range d.View.Len() {
		o := d.View.Origin(i)
		tokens := d.Counter.Message(d.View.At(i))
		switch {
		case o.Message < 0:
			add("markers for what was left out", tokens)
		case o.Message == d.LastUser:
			add(fmt.Sprintf("last user message (message %d)", o.Message), tokens)
		case d.Pinned(o.Message, -1):
			add(fmt.Sprintf("pinned message %d", o.Message), tokens)
		case o.Message >= d.Live:
			add(fmt.Sprintf("live message %d, after reduction", o.Message), tokens)
		default:
			add(fmt.Sprintf("message %d", o.Message), tokens)
		}
	}
	slices.SortStableFunc(e.Items, func(a, b FloorItem) int { return b.Tokens - a.Tokens })
	if n := d.History.Len(); d.lead >= 0 && d.keep[n-1] && n-1 != d.LastUser {
		e.Items = slices.Insert(e.Items, 0, FloorItem{
			What:   fmt.Sprintf("pinned message %d: it is part of an open tool loop, whose thinking depends on everything before it; unpin it, or wait for the end of the turn", n-1),
			Tokens: d.Tokens(d.Live, n),
		})
	}
	return e
}

// leaveHandles leaves of every part in a run of messages that may be shortened its handle
// alone, where that is smaller: in the live messages, and in those that only stay
// because a pinned message of their exchange does. It is the last resort before an
// error, which must not be wrong.
func (r *run) leaveHandles(from, to int) {
	var edits []plan.Edit
	for _, it := range r.d.shrinkableItems(from, to) {
		if e, ok := r.d.shortenItem(it, itemSize{}, largerThanRoom); ok {
			edits = append(edits, e)
		}
	}
	r.acceptEdits("limit", edits)
}
