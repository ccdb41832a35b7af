package stage

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// # How a rewrite divides the room
//
// The room is what the target leaves beside the fixed part. The newest messages get a
// third of it, in whole exchanges; a fold and a state tell the rest of the history in
// what remains. Where they need less than that, the next try gives the surplus to the
// newest messages, until less than a 32nd of the room is left, or the next exchange is
// too large: then the words and actions of the fold may have more than their share.
//
// An example: a target of 60,000 tokens, 12,000 of them fixed, and exchanges of 5,000.
//
//	try   for the newest   they take   left for fold and state   these need   surplus
//	1     16,000           15,000      33,000                    20,000       13,000
//	2     28,000           25,000      23,000                    19,000        4,000
//	3     29,000           25,000      23,000                    more words are let in
//
// If the third leaves more than a 32nd too, the next try has the large exchange among
// the newest messages. The files that it shows leave the state, so both may fit.

// ladderName is the name of the stage that says the conversation once.
const ladderName = "ladder"

// TailPart says that the newest messages have 1/TailPart of the room while
// something else has a use for the rest.
const TailPart = 3

// foldsShare says that folds above 1/foldsShare of the room are rendered afresh.
const foldsShare = 4

// mostNotes is how many tokens a model's notes may have beside a small story.
const mostNotes = 1500

// leastTexts says that fold and state keep 1/leastTexts of the room beside an exchange
// that fills it.
const leastTexts = 5

// leastText is the number of tokens below which a fold and a state say nothing.
const leastText = 100

// What a fold takes away is told in two places. The fold itself says what
// happened, and never changes. How things stand now (the files that are worked on,
// and what is open) is the text of one state edit after the last fold, which every
// rewrite makes anew.

const stateStage = "state"

// stateFrame is what a message takes beside its text, and what may have to stand
// between it and its neighbours.
const stateFrame = 16

// sayOnce says the conversation once: older messages become a dialogue of requests,
// actions and answers, the files stand after it as they are now, and the newest messages
// stay as they are. Together they fill the target. Package ladder chooses what fits, by
// its worth.
//
// An earlier fold keeps its bytes, so that they stay in the provider's cache, until
// all folds together have more than a quarter of the room; then one is made of them
// all, from the originals.
func (d *Draft) sayOnce(ctx context.Context, _ chat.Size) ([]plan.Edit, error) {
	room := d.Target - d.fixed
	w := d.messageWeights()
	first := len(w) // of the messages that may be the newest ones
	for n := 0; first > 0 && n < room; first-- {
		n += w[first-1]
	}
	copies := d.findCopies(first, false)
	for _, e := range copies {
		w[e.From] -= e.Before.Tokens - e.After.Tokens
	}
	must := d.keep
	d.keep = d.keepImages(w, room)
	defer func() { d.keep = must }()
	free := room // beside what stays anyway
	for i := range d.Live {
		if d.keep[i] {
			free -= w[i]
		}
	}
	tail := max(free/TailPart, min(d.Config.KeepRecent, free/2))
	var best *layout
	last := -1    // where the newest messages began in the try before
	over := false // the try has one exchange more than there seemed to be room for
	for range 8 {
		x := d.layOut(w, room, tail)
		if x.from >= x.to || x.room < leastText {
			break
		}
		// What the natural form leaves is for more of the newest messages, and
		// where the next of them is too large, for more of the story. What that
		// leaves, too, is for this large one: the files that it shows leave the state.
		if over && (x.cut == last || x.room < room/leastTexts) {
			break
		}
		x.lift = x.cut == last || over
		left := x.fillFold("")
		if over && left < 0 {
			break
		}
		best = x
		if left < room/32 || ctx.Err() != nil {
			break
		}
		over = x.lift
		last, tail = x.cut, x.kept+left
		if over && x.cut > 0 {
			tail = max(tail, x.kept+sum(w[d.Outline.CutBefore(x.cut-1):x.cut]))
		}
	}
	if best == nil {
		return nil, ctx.Err()
	}
	in := best.summaryInput()
	d.summaries = append(d.summaries, in)
	if d.Config.Summarizer != nil {
		out, err := d.summarizeFold(ctx, in)
		if err != nil {
			return nil, err
		}
		d.noteAuthor(&out)
		best.fillFold(out.Prose)
	}
	if best.unbound != "" {
		d.notes = append(d.notes, best.unbound)
	}
	for _, e := range copies {
		if e.From >= best.cut {
			best.edits = append(best.edits, e)
		}
	}
	return best.edits, ctx.Err()
}

// layout is where a rewrite divides the history, and what room it has.
type layout struct {
	*Draft
	from, to int // of the new fold
	keep     []int
	cut      int // where the newest messages begin
	kept     int // their tokens
	folds    int // the tokens of earlier ones beside it
	whole    int // the room
	room     int // for the texts of fold and state
	lift     bool
	edits    []plan.Edit
	unbound  string // says how many sentences that bind have no room
}

// layOut finds the newest messages that have that many tokens, and what is left
// for the rest.
func (d *Draft) layOut(w []int, room, tail int) *layout {
	x := &layout{Draft: d, whole: room, cut: d.Live}
	for i := d.Live; i < len(w); i++ {
		x.kept += w[i]
	}
	for x.cut > 0 {
		to := d.Outline.CutBefore(x.cut - 1)
		n := sum(w[to:x.cut])
		if x.kept+n > tail {
			break
		}
		x.cut, x.kept = to, x.kept+n
	}
	from, folds := 0, 0
	for _, e := range d.Edits() {
		if isRun(&e) && e.From < e.To && e.To <= x.cut {
			from = e.To
			folds += e.After.Tokens
		}
	}
	if folds*foldsShare <= room && !d.must && x.divideRoom(w, from, folds) {
		return x
	}
	if !x.divideRoom(w, 0, 0) && x.from < x.to {
		// The target is out of reach; what is available may not be.
		x.room = min(leastFold, (d.Available-d.fixed-room+x.room)/4)
	}
	return x
}

// divideRoom lays a fold over what stands between message from and the newest messages,
// beside earlier folds, which have that many tokens. It reports whether the target
// leaves room for it.
func (x *layout) divideRoom(w []int, from, folds int) bool {
	d := x.Draft
	a, b, keep, ok := d.Run(from, x.cut)
	if !ok {
		x.from, x.to = 0, 0
		return false
	}
	cut, kept := x.cut, x.kept
	if b > cut { // a run of the plan in force reaches further
		kept -= sum(w[cut:b])
		cut = b
	}
	stay := folds
	for i := range cut {
		if i >= from && (i < a || i >= b) || d.keep[i] { // between the runs, and inside them
			stay += w[i]
		}
	}
	x.from, x.to, x.keep, x.cut, x.kept, x.folds = a, b, keep, cut, kept, folds
	x.room = x.whole - kept - stay - 2*stateFrame
	return x.room >= leastFold
}

// fillFold makes the fold and the state, with what a summariser wrote, and returns how
// many tokens of the room are left.
func (x *layout) fillFold(prose string) (left int) {
	d := x.Draft
	in := ladder.Room{
		Tokens: x.room, Whole: x.whole, From: x.from, To: x.to, Keep: x.keep, Prose: prose,
		Shown: d.shownFrom(x.cut), Redeem: d.redeemFold(plan.Handle(d.History, x.from, x.to, -1)), Lift: x.lift, Turn: -1, Beside: x.folds > 0, Focus: d.Config.Focus, Notes: d.written,
	}
	if d.Config.Outliner != nil {
		in.Outline = d.Config.Outliner.Outline
	}
	form := ladder.Form{Fold: "[Earlier messages, left out. " + in.Redeem + "]"}
	d.makePart(partSummary, func() { form = d.ladderReading().Fill(in) })
	fold := d.editRun(plan.Fold, ladderName, x.from, x.to, x.keep, form.Fold, fmt.Sprintf("%d older messages, shortened", x.to-x.from-len(x.keep)))
	fold.Prose = prose
	x.edits = []plan.Edit{fold}
	left = x.room - fold.After.Tokens
	if form.State != "" {
		e := d.editRun(plan.State, stateStage, x.cut, x.cut, nil, form.State, "files as they stand, and where the work stands")
		e.Before, e.Handle = chat.Size{}, ""
		x.edits = append(x.edits, e)
		left -= e.After.Tokens
	}
	if form.Unbound > 0 {
		x.unbound = fmt.Sprintf("ladder: %d sentences of the user that bind have no room", form.Unbound)
	}
	return left
}

// summaryInput returns what a summariser gets of the stretch: the notes so far,
// where the fold takes the place of an earlier one, and what came since.
func (x *layout) summaryInput() summary.Input {
	d := x.Draft
	in := summary.Input{
		History: d.History, From: x.from, To: x.to, Keep: x.keep, Turn: -1, Focus: d.Config.Focus,
		Max: max(x.room/foldsShare, min(x.room/2, mostNotes), leastFold), Counter: d.Counter, Kinds: d.Kinds,
	}
	if d.Config.Summarizer != nil {
		in.Turn = d.splitIn(x.from, x.to)
	}
	for _, e := range d.Edits() {
		if isRun(&e) && e.Prose != "" && e.From >= x.from && e.To < x.to { // else nothing is new
			in.Previous, in.Since = e.Prose, e.To
		}
	}
	return in
}

// redeemFold says how what a fold leaves out is had back.
func (d *Draft) redeemFold(handle string) string {
	if d.Config.RecallTool == "" {
		return "`winnow recall " + handle + "` shows what is left out; original: " + handle
	}
	return "What is left out stands in the original: " + d.redeemHint(handle)
}

// ladderReading returns the history as the ladder reads it, read once.
func (d *Draft) ladderReading() *ladder.Reading {
	if d.read == nil {
		d.read = d.readings.Take(d.system, d.History, d.Counter, d.Kinds)
		d.noteLeftOut(d.read.LeftOut())
	}
	return d.read
}

// shownFrom says of each message whether it stands in the view as it is where
// the newest messages begin with message cut, and of those that must stay.
func (d *Draft) shownFrom(cut int) []bool {
	shown := make([]bool, d.History.Len())
	d.eachVisible(0, len(shown), func(i int, masks []plan.Edit) { shown[i] = len(masks) == 0 && (i >= cut || d.keep[i]) })
	return shown
}
