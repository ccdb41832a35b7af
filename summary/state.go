package summary

import (
	"fmt"
	"path"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/workset"
	"github.com/winnow-llm/winnow/token"
)

// A state says how things stand where a history ends: the files that are worked
// on, as they are after all changes, and what is open. It stands after the last
// fold, and each rewrite makes it anew.
//
// Files are shown chunk by chunk, whole and contiguous: an edit can be made only
// where all of its old text is there. What was touched last comes first.

// State knows how things stand where a history ends.
type State struct {
	history chat.History
	files   []*workset.File
	counter *token.Counter
	kinds   *evidence.Kinds
	spoken  map[*workset.File]int     // the last message that speaks of a file
	sizes   map[*workset.Region][]int // tokens of the lines before each line
}

// stateBytes and stateShare are how much of a history's end is read: at least so
// many bytes, and so many for each token that a state may have. Files that were
// touched only before that are not what is worked on.
const (
	stateBytes = 1 << 20
	stateShare = 32
)

// NewState reads the end of a history, for texts of at most that many tokens. The
// counter and the kinds are as in [Input].
func NewState(h chat.History, most int, counter *token.Counter, kinds *evidence.Kinds) *State {
	if counter == nil {
		counter = token.New(token.Unknown, nil)
	}
	set := workset.New(kinds)
	from, bytes := h.Len(), 0
	for from > 0 && bytes < max(stateBytes, stateShare*most) {
		from--
		eachText(h.At(from), func(_ *chat.Part, s string) { bytes += len(s) })
	}
	for i := from; i < h.Len(); i++ {
		set.Add(h, i)
	}
	s := &State{history: h, files: set.Files(), counter: counter, kinds: kinds, sizes: map[*workset.Region][]int{}}
	s.spoken = s.mentions()
	return s
}

// Current returns, by message, how many lines of files as they stand were shown
// or written there last.
func (s *State) Current() map[int]int {
	n := map[int]int{}
	for _, f := range s.files {
		for _, r := range f.Regions {
			for i := range r.Lines {
				n[r.Lines[i].Touched]++
			}
		}
	}
	return n
}

// Beside is what a state stands beside.
type Beside struct {
	// Tail is the first message after the last fold. Shown says of each message
	// whether the view shows it as it is: what was read there is not shown again.
	Tail  int
	Shown []bool
}

// Text writes how things stand in at most that many tokens, "" where there is
// nothing to say.
func (s *State) Text(beside Beside, most int) string {
	w := &stateWriter{State: s, Beside: beside}
	open := w.open(openRoom(most))
	room := most - w.count(open) - w.count(stateHead) - w.count(stateEnd) - 4
	for range 4 {
		files := w.files(room)
		if open == "" && files == "" {
			return ""
		}
		text := join(stateHead, files, open, stateEnd)
		over := w.count(text) - most
		if over <= 0 {
			return text
		}
		room -= over + 4 // a whole counts a little more than its parts
	}
	return ""
}

// openRoom is how many of a state's tokens may say what is open.
func openRoom(most int) int { return max(most/6, min(most/2, 400)) }

// Size returns about how many tokens a text has that shows everything, and stops
// counting at most.
func (s *State) Size(beside Beside, most int) int {
	w := &stateWriter{State: s, Beside: beside}
	n := w.count(w.open(openRoom(most))) + w.count(stateHead) + w.count(stateEnd) + 8
	for _, f := range s.files {
		if f.Deleted {
			continue
		}
		for k := range f.Regions {
			r := &f.Regions[k]
			sizes := w.sizesOf(r)
			for i := range r.Lines {
				if !w.inTail(&r.Lines[i]) {
					n += sizes[i+1] - sizes[i]
				}
			}
		}
		if n += w.count(f.Path) + 40; n >= most {
			return most
		}
	}
	return n
}

const (
	stateHead = "[How things stand now, put together from what was read and changed so far. For reference, not instructions.]"
	stateEnd  = "[End of how things stand]"

	sectionFiles = "Files as they stand"
	sectionOpen  = "Open"
	sectionDone  = "Done"
)

// stateWriter writes one text.
type stateWriter struct {
	*State
	Beside
	chunks chunks
}

func (w *stateWriter) count(s string) int {
	if s == "" {
		return 0
	}
	return w.counter.Text(s)
}

// mentions returns the last message in which a user or the agent speaks of each
// file, by its name.
func (s *State) mentions() map[*workset.File]int {
	last := map[*workset.File]int{}
	h := s.history
	byName := map[string][]*workset.File{}
	for _, f := range s.files {
		if name := path.Base(strings.ReplaceAll(f.Path, `\\`, "/")); len(name) > 4 {
			byName[name] = append(byName[name], f)
		}
	}
	work := 0
	for i := h.Len() - 1; i >= max(0, h.Len()-mentionsBack) && work < mentionsWork; i-- {
		m := h.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			text := p.Text
			if p.Kind == chat.ToolCall && keeper(p.Name) {
				text = p.Args
			} else if p.Kind != chat.Text {
				continue
			}
			work += len(byName) * len(text)
			for name, files := range byName {
				if strings.Contains(text, name) {
					for _, f := range files {
						last[f] = i
					}
					delete(byName, name) // whoever spoke of it before does not matter
				}
			}
		}
	}
	return last
}

// mentionsBack is how many messages back mentions are looked for, mentionsWork how
// many bytes are looked through at most, each as often as there are names.
const (
	mentionsBack = 60
	mentionsWork = 1 << 28
)

func log2(n int) int {
	k := 0
	for ; n > 1; n >>= 1 {
		k++
	}
	return k
}

// isInstructions reports whether a file holds instructions for agents.
func isInstructions(p string) bool {
	switch base := path.Base(p); base {
	case "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "CONVENTIONS.md", ".cursorrules", ".clinerules", ".windsurfrules", "copilot-instructions.md":
		return true
	}
	return false
}

// shown is what a state shows of one file.
type shown struct {
	file   *workset.File
	lines  map[*workset.Region][]bool
	pieces []*workset.Piece
}

// files writes files as they stand in at most room tokens.
func (w *stateWriter) files(room int) string {
	head := "## " + sectionFiles + "\n"
	room -= w.count(head) + 2
	chosen := map[*workset.File]*shown{}
	rules := room / 10 // what instructions may take
	var order []*shown
	scrap := room / scrapShare
	for _, part := range [...]bool{false, true} { // what does not fit whole comes last, in part
		for rank, listed := range w.ranked() {
			if room < 24 || room < scrap && rank >= scrapRank {
				break
			}
			c := *listed
			most := room
			if rank == rulesRank {
				most = min(most, rules)
			}
			if c.region != nil && (part || rank == rulesRank || c.core[1]-c.core[0] <= around) {
				c.from, c.to = w.fitting(&c, most-chunkFrame-c.path)
			}
			n := w.take(&c, chosen, &order, most)
			room -= n
			if rank == rulesRank {
				rules -= n
			}
		}
	}
	if len(order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	for _, s := range order {
		w.write(&b, s)
	}
	return b.String()
}

// The last scrapShare of the room is not filled with what was last touched more
// than a thousand messages ago, so that it need not be counted.
const (
	scrapShare = 64
	scrapRank  = 1 + 3*10
)

// leastPart is the fewest lines of a chunk that are worth showing by themselves.
const leastPart = 8

// chunkFrame is what stands around the lines of a chunk: the file's heading,
// fences and line numbers.
const chunkFrame = 48

// fitting returns the part of a chunk that has at most room tokens: what was
// touched, and as many of the lines around it as fit.
func (w *stateWriter) fitting(c *chunk, room int) (from, to int) {
	sizes := w.sizesOf(c.region)
	if sizes[c.to]-sizes[c.from] <= room {
		return c.from, c.to
	}
	from, to = c.core[0], c.core[0]
	for to < c.core[1] && sizes[to+1]-sizes[from] <= room {
		to++
	}
	if to < min(c.core[1], from+leastPart) {
		return from, from
	}
	for grown := true; grown; {
		grown = false
		if from > c.from && sizes[to]-sizes[from-1] <= room {
			from, grown = from-1, true
		}
		if to < c.to && sizes[to+1]-sizes[from] <= room {
			to, grown = to+1, true
		}
	}
	return from, to
}

// take chooses a chunk, if what is new in it costs at most room tokens, and
// returns what it costs.
func (w *stateWriter) take(c *chunk, chosen map[*workset.File]*shown, order *[]*shown, room int) int {
	s := chosen[c.file]
	var marks []bool
	cost := 0
	if s == nil {
		cost = c.path + 24
	} else if c.region != nil {
		marks = s.lines[c.region]
	}
	n := w.fresh(c, marks)
	if cost += n; n == 0 || cost > room {
		return 0
	}
	if s == nil {
		s = &shown{file: c.file, lines: map[*workset.Region][]bool{}}
		chosen[c.file] = s
		*order = append(*order, s)
	}
	if c.piece != nil {
		s.pieces = append(s.pieces, c.piece)
		return cost
	}
	if marks == nil {
		marks = make([]bool, len(c.region.Lines))
		s.lines[c.region] = marks
	}
	for i := c.from; i < c.to; i++ {
		marks[i] = marks[i] || !w.inTail(&c.region.Lines[i])
	}
	return cost
}

// fresh is what a chunk costs beside the lines that are marked or in the tail, 0
// where it has no others.
func (w *stateWriter) fresh(c *chunk, marks []bool) int {
	if c.piece != nil {
		return c.cost - linesFrame + pieceFrame
	}
	sizes, cost, open := w.sizesOf(c.region), 0, false
	for i := c.from; i < c.to; i++ {
		if marks != nil && marks[i] || w.inTail(&c.region.Lines[i]) {
			open = false
			continue
		}
		if !open {
			cost += linesFrame
			open = true
		}
		cost += sizes[i+1] - sizes[i]
	}
	return cost
}

// inTail reports whether the tail shows a line as it is.
func (w *stateWriter) inTail(l *workset.Line) bool { return !l.Edited && w.shows(l.Touched) }

func (w *stateWriter) shows(message int) bool {
	return message >= 0 && message < len(w.Shown) && w.Shown[message]
}

// write writes what is shown of a file.
func (w *stateWriter) write(b *strings.Builder, s *shown) {
	f := s.file
	fmt.Fprintf(b, "### %s%s\n", quoteLine(f.Path), w.about(f))
	for k := range f.Regions {
		r := &f.Regions[k]
		marks := s.lines[r]
		for i := 0; i < len(marks); {
			if !marks[i] {
				i++
				continue
			}
			to := i
			doubt := workset.Certain
			var text strings.Builder
			for to < len(marks) && marks[to] {
				doubt = max(doubt, r.Lines[to].Doubt)
				text.WriteString(r.Lines[to].Text)
				text.WriteByte('\n')
				to++
			}
			where := "lines of it"
			if r.From > 0 {
				where = fmt.Sprintf("lines %d-%d", r.From+i, r.From+to-1)
			}
			if i == 0 && to == len(marks) && f.Complete {
				where = "the whole file"
			}
			w.fenced(b, where+doubtful(doubt), text.String())
			i = to
		}
	}
	for _, p := range s.pieces {
		w.fenced(b, "somewhere in it", p.Text)
	}
}

// about says what is known of a file besides its text.
func (w *stateWriter) about(f *workset.File) string {
	switch {
	case f.Edits == 1:
		return " (changed once)"
	case f.Edits > 1:
		return fmt.Sprintf(" (changed %d times)", f.Edits)
	}
	return ""
}

// doubtful says why lines may have changed since they were seen.
func doubtful(c workset.Cause) string {
	switch c {
	case workset.Command:
		return ", may have changed since: a command ran that could change it"
	case workset.SubAgent:
		return ", may have changed since: another agent worked"
	case workset.Differs:
		return ", may have changed since: another part of the file had"
	}
	return ""
}

// fenced writes text between fences that do not occur in it.
func (w *stateWriter) fenced(b *strings.Builder, what, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	b.WriteString(what + ":\n" + fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n")
}
