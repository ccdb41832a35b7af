package ladder

import (
	"cmp"
	"slices"

	"github.com/winnow-llm/winnow/internal/workset"
)

// # How Fill spends the room
//
// Each try goes through the steps up the ladder once, by falling worth, and takes a
// step if it fits both the room and the share of its kind: the user's words have a
// sixth, standing instructions a quarter, the story (actions, remarks, results) a quarter at most,
// a third of it for the turn that goes on, one file a third.
// So no single kind can take all of the room. Before that, the frames, the notes and
// what stands open are set aside, and in a large room an eighth for short outlines.
// After it, three passes use what is left: short outlines, then parts of the runs that
// did not fit whole, then the user's words beyond their share.
//
// In the example of the package's comment, a room of 2,000 tokens instead of 3,000
// would let a file have 666: the file of 900 would wait, the file of 400 would be
// taken first, and the larger one would then have its lines from what is left.
//
// Texts are counted in pieces, and the whole counts a little more or less. So Fill
// tries again with a room corrected by the difference, six times at most, and keeps
// the form that leaves least.

// Room is what Fill fills.
type Room struct {
	// Tokens is the most that the texts of fold and state may have together.
	Tokens int

	// Whole is the room of the conversation, of which shares are taken: what the
	// target leaves beside the fixed part. 0 is Tokens.
	Whole int

	// From and To are the messages that the fold tells, without those in Keep,
	// which stay. To is also where the newest messages begin. Where From is To,
	// nothing is folded.
	From, To int
	Keep     []int

	// Lift lets words and actions have more than their share of the room, where
	// nothing else has a use for it.
	Lift bool

	// NoState leaves the state out, for a text that stands alone. Open then has
	// the fold say what is open.
	NoState, Open bool

	// Typed is the most tokens that what the user typed may have; 0 is its share
	// of the whole.
	Typed int

	// Turn is the message with which the turn began that the fold cuts in two; -1
	// where it cuts none, or the caller does not care.
	Turn int

	// Focus is what somebody asked to pay attention to.
	Focus string

	// Shown says of each message whether the view shows it as it is.
	Shown []bool

	// Beside says that earlier folds tell what came before.
	Beside bool

	// Redeem says how the originals of the fold are had back, "" for no way.
	Redeem string

	// Outline names the lines that say what a file defines, as indexes; nil, or
	// no line, leaves that to the rules.
	Outline func(path string, lines []string) []int

	// Notes are lines that the agent wrote down, oldest first, which the state shows.
	Notes []string

	// Prose is a model's summary of the stretch, which the fold shows first.
	Prose string
}

// Form is what Fill made.
type Form struct {
	Fold, State string

	// Full says that every item stands on its highest rung: more room would
	// change nothing.
	Full bool

	// Unbound is how many sentences of the user that bind found no room.
	Unbound int
}

// raise is one step up the ladder. A history may have a million.
type raise struct {
	worth float64
	item  *item // of the dialogue
	rung  int8
	run   int32 // where there is no item: its place among the runs of files
}

// filler fills one room.
type filler struct {
	*Reading
	Room
	newest, calling string // words that name files which are wanted
	focus           []string

	left   int // tokens
	story  int // tokens left for words and actions
	going  int // tokens left for those of the fold's last turn beside the story
	goesOn int // the first step of that turn
	typing int // tokens left for what the user typed
	answer int // tokens left for the agent's closing messages beside the story
	rules  int // tokens left for standing instructions

	listing int // tokens that the list of files has for certain
	full    bool

	noted    string // the notes
	open     string // what is open, for a fold that says so
	turns    []turn
	fileRuns []run
	views    map[*workset.File]*fileView
	shown    []*fileView

	forgot  bool // the least items, see forgetLeast
	unbound int  // sentences that bind in those
}

// isShown reports whether the view shows a message as it is.
func (f *filler) isShown(message int) bool {
	return message >= 0 && message < len(f.Shown) && f.Shown[message]
}

// Shares of the room. In a small one the tokens of the story are worth more as files and
// newest messages; of all that came before it has 1/firstStory there.
const (
	typedShare   = 6
	bindingShare = 4
	foldShare    = 4
	firstStory   = 8
	answerShare  = 14
	goingShare   = 3 // of the story
	rulesShare   = 10
	fileShare    = 3
	outlineShare = 20
	shortShare   = 8
	notesShare   = 6
	smallRoom    = 30000
	smallStory   = 1500
)

// Of how many tokens of a file its outline has one, and a short one: in a small room,
// and where the file would else have its name only.
const (
	outlinePart = 10
	shortPart   = 15
)

// storySlope is how much of each further token of a room above smallRoom the story
// may have.
const storySlope = 0.3

// Fill writes the natural form of the conversation as far as the room allows.
func (r *Reading) Fill(room Room) Form {
	if room.Whole <= 0 {
		room.Whole = room.Tokens
	}
	var best Form
	f := r.newFiller(room)
	tokens, least := room.Tokens, room.Tokens+1 // the least that a try left over
	for range 6 {
		form := f.fillTokens(tokens)
		left := room.Tokens - r.countTokens(form.Fold) - r.countTokens(form.State)
		// The parts are counted one by one, and a whole counts a little more or
		// less: the room is corrected by what the last try missed it by.
		switch {
		case left < 0 && tokens <= 0 && least > room.Tokens:
			return form // nothing is smaller
		case left < 0:
			tokens += left + left/8 - 4
		case left < least:
			best, least = form, left
			if form.Full || left <= room.Tokens/64 {
				return best
			}
			tokens += left * 7 / 8
		default:
			return best
		}
	}
	return best
}

// newFiller reads what every try has to choose from.
func (r *Reading) newFiller(room Room) *filler {
	r.readPresent()
	f := &filler{Reading: r, Room: room, focus: focusWords(room.Focus)}
	f.newest, f.calling = f.newestWords()
	f.newest += "\n" + f.Focus
	f.readTurns()
	if !f.NoState {
		f.fileRuns = f.readRuns()
	}
	for k := range f.fileRuns {
		f.raises = append(f.raises, raise{worth: f.fileRuns[k].worth, run: int32(k)})
	}
	f.sortRaises()
	return f
}

func (f *filler) sortRaises() {
	slices.SortStableFunc(f.raises, func(a, b raise) int { return cmp.Compare(b.worth, a.worth) })
}

// forgetLeast lets go of the raises that are worth least, and of the turns that had
// no others, where there are twice as many as the room may ever take: a raise has four
// tokens on the average at the very least. A history may have a million messages.
func (f *filler) forgetLeast() {
	most := max(mostKept, f.Tokens/4)
	if len(f.raises) < 2*most {
		return
	}
	f.sortRaises()
	least := f.raises[most].worth
	for i := range f.turns {
		t := &f.turns[i]
		if t.worth >= least {
			continue
		}
		for _, x := range t.items {
			f.unbound += int(x.binds)
		}
		t.items = nil
	}
	clear(f.raises[most:])
	f.raises, f.forgot = f.raises[:most], true
}

// fillTokens fills that many tokens.
func (f *filler) fillTokens(tokens int) Form {
	f.left, f.full, f.shown = tokens, !f.forgot, nil
	f.views = map[*workset.File]*fileView{}
	f.typing = cmp.Or(f.Typed, f.Whole/typedShare)
	f.rules = f.Whole / bindingShare
	f.answer = max(f.Whole/answerShare, min(f.Whole/typedShare, int(storySlope*float64(max(0, f.Whole-smallRoom)))))
	f.story = smallStory + int(storySlope*float64(max(0, f.Whole-smallRoom)))
	if !f.Beside {
		f.story = max(f.story, f.Whole/firstStory)
	}
	f.story = min(f.story, f.Whole/foldShare)
	if f.NoState || f.Lift {
		f.story = f.left
	}
	f.going = f.story / goingShare
	f.story -= f.going
	f.left -= f.countTokens(f.foldFrame()) + f.countTokens(f.Prose)
	standing := ""
	switch {
	case f.Open:
		f.open = f.describeStanding(f.left / 6)
		f.left -= f.countTokens(f.open)
	case !f.NoState:
		f.left -= f.countTokens(stateHead) + f.countTokens(stateEnd) + 2*fileFrame
		f.noted = f.writeNotes(min(f.left, f.Whole) / notesShare)
		f.left -= f.countTokens(f.noted)
		standing = f.describeStanding(max(f.left/6, min(f.left/2, 400)))
		f.listing = min(f.left, f.Whole) / 100
		f.left -= f.countTokens(standing) + f.listing
	}
	for t := range f.turns {
		for _, x := range f.turns[t].items {
			x.rung = -1
		}
	}
	part, short := shortPart, 0 // the second is kept back for short outlines
	if !f.NoState && f.Whole >= smallRoom {
		part, short = outlinePart, min(max(0, f.left), f.Whole)/shortShare
	}
	f.left -= short
	var partial []*run
	for k := range f.raises {
		s := &f.raises[k]
		if s.item != nil {
			s.item.raise(f, s.rung)
		} else if x := &f.fileRuns[s.run]; x.isOutline() {
			f.takeOutline(x.file, part)
		} else if !f.takeRun(x, f.Whole/fileShare) {
			partial = append(partial, x)
		}
	}
	f.story, f.going = f.story+f.going, 0 // what the turn that goes on left is for all
	f.raiseItems(func(x *item) bool { return x.kind != asked })
	f.left += short
	if short > 0 {
		for k := range f.raises {
			if s := &f.raises[k]; s.item == nil && f.fileRuns[s.run].isOutline() {
				f.takeOutline(f.fileRuns[s.run].file, shortPart)
			}
		}
	}
	for _, x := range partial { // what did not fit whole comes in part
		f.takePart(x)
	}
	f.typing = f.left // the rest is for the user's words beyond their share
	f.raiseItems(func(x *item) bool { return x.kind == asked })
	form := Form{Fold: f.writeFold(), Full: f.full, Unbound: f.unbound}
	for t := range f.turns {
		for _, x := range f.turns[t].items {
			if x.rung < 0 {
				form.Unbound += int(x.binds)
			}
		}
	}
	if !f.NoState {
		form.State = f.writeState(standing)
	}
	return form
}

// raiseItems puts items of some kinds that found no room higher where there is some now.
func (f *filler) raiseItems(which func(x *item) bool) {
	for k := range f.raises {
		if s := &f.raises[k]; s.item != nil && which(s.item) && s.item.rung == s.rung-1 {
			s.item.raise(f, s.rung)
		}
	}
}

// readRuns returns the runs of all files, and their outlines.
func (f *filler) readRuns() (all []run) {
	for _, file := range f.readPresent().files {
		rules, spent := f.instructs(file), f.isSpent(file)
		runs := f.runsOf(file)
		for _, x := range runs {
			if x.instructs = rules; rules {
				x.worth *= 1000
			}
			if !spent {
				all = append(all, x)
			}
		}
		if len(runs) > 0 && weights.Outline > 0 {
			const about = 200 // tokens of an outline
			all = append(all, run{file: file, worth: f.worthPerToken(f.weightOf(file)*weights.Outline, file.Touched, about)})
		}
	}
	return all
}

// takeRun shows a run if it fits whole. No file takes more than that many tokens
// while others wait.
func (f *filler) takeRun(x *run, most int) bool {
	cost := f.runCost(x, x.from, x.to)
	if cost == 0 {
		return true
	}
	if x.instructs {
		most = min(most, f.Whole/rulesShare)
	}
	if v := f.views[x.file]; v != nil {
		most -= v.tokens
	}
	if cost > min(f.left, most) {
		return false
	}
	f.showLines(x, x.from, x.to, cost)
	f.left -= cost
	return true
}

// takePart shows as much of a run as fits.
func (f *filler) takePart(x *run) {
	if f.takeRun(x, f.left) {
		return
	}
	f.full = false
	if x.region == nil || f.left < 2*runFrame {
		return
	}
	from, to := f.fittingPart(x, f.left)
	cost := f.runCost(x, from, to)
	if cost == 0 || cost > f.left {
		return
	}
	f.showLines(x, from, to, cost)
	f.left -= cost
}

// takeOutline shows the outline of a file that is not shown for the most part: at
// most one token for every part tokens of the file.
func (f *filler) takeOutline(file *workset.File, part int) {
	if f.left < leastOutline {
		f.full = false
		return
	}
	tokens := f.knownTokens(file)
	if v := f.views[file]; v != nil && (v.outline != nil || 2*v.tokens > tokens) {
		return
	}
	outline, cost := f.outlineOf(file, min(tokens/part, f.Whole/outlineShare, f.left-runFrame))
	if len(outline) < leastOutlined {
		return
	}
	if f.views[file] == nil {
		cost += f.countTokens(file.Path) + fileFrame
	}
	if cost += runFrame; cost > f.left {
		f.full = false
		return
	}
	f.viewOf(file).outline = outline
	f.left -= cost
}
