package workset

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// Cause says what may have changed a line since it was last seen.
type Cause uint8

// The causes, from none to the strongest.
const (
	Certain    Cause = iota // nothing could have changed it
	Turn                    // a person spoke, and may have worked on the files before
	Differs                 // an edit of the file has no certain place
	SubAgent                // another agent worked
	Command                 // a command ran that may have changed it
	Reported                // another agent worked, whose report names the file
	Person                  // a person changed another file before he spoke
	ReadUnlike              // another part of the file was read otherwise than it had been rebuilt
)

var causeNames = [...]string{"certain", "turn", "differs", "subagent", "command", "reported", "person", "read unlike"}

// String returns the cause's name as it stands in reports.
func (c Cause) String() string { return causeNames[c] }

// Line is one line of a file.
type Line struct {
	Text string

	// Touched is the last message that showed or changed the line.
	Touched int

	// Edited is true where an edit wrote the line and nothing has shown it since.
	Edited bool

	// Doubt is what may have changed the line or its number since. Of a line that
	// was edited after that the text is right, and the number may not be.
	Doubt Cause

	seen int // when the line was last known to be so, on the set's clock
}

// Region is a run of lines that stand together in a file.
type Region struct {
	From  int // the number of the first line, counted from 1
	Lines []Line
}

// end returns the number of the last line.
func (r *Region) end() int { return r.From + len(r.Lines) - 1 }

// Piece is new text whose place in its file is not known. It may begin and end
// in the middle of a line.
type Piece struct {
	Text    string
	Touched int
	Doubt   Cause // what may have changed it since

	seen int // when it was last known to be so
}

// File is one file as far as the history shows it.
type File struct {
	Path string

	// Regions are the known lines, in order.
	Regions []Region

	// Loose are the new texts of edits whose place is not known.
	Loose []Piece

	Complete bool // every line of the file is known
	Deleted  bool

	// Touched, Edited and Read are the last messages that had to do with the
	// file, changed it or showed it; -1 where none did.
	Touched, Edited, Read int

	// Edits counts the calls that changed the file. Made says that the first of them
	// wrote it, and nothing was known of it before.
	Edits int
	Made  bool

	// CopyOf is the file that this one was copied from, if nothing has touched it since.
	CopyOf *File

	uncommitted bool // it was changed since the last commit

	counted int // when a change was counted last

	total  int     // the number of lines, -1 where it is not known
	tally  int     // when the number of lines was known
	end    ending  // what stands behind the last line, where that is known
	doubts         // of this file alone
	shared *doubts // of all files
}

// ending says what is known of the file behind lines.
type ending uint8

const (
	unknownEnd ending = iota // perhaps more lines
	fileEnd                  // nothing
	vagueEnd                 // the last line's newline, and perhaps an empty line
	closedEnd                // the last line's newline
)

// endOf returns what stands behind a text that is all of a file.
func endOf(text string) ending {
	if text == "" || text[len(text)-1] == '\n' {
		return closedEnd
	}
	return fileEnd
}

// doubts says when each cause last may have changed files, on the set's clock.
type doubts struct {
	last [ReadUnlike + 1]int
	by   string // the command, where one is the cause
}

func (d *doubts) raise(at moment, c Cause) {
	if d.last[c] = at.now; c == Command {
		d.by = at.by
	}
}

// of returns the strongest cause that may have changed a line that was last seen then.
func (d *doubts) of(seen int) Cause {
	for c := ReadUnlike; c > Certain; c-- {
		if d.last[c] > seen {
			return c
		}
	}
	return Certain
}

// doubtSince returns the reason to doubt lines last seen then.
func (f *File) doubtSince(seen int) Cause { return max(f.doubts.of(seen), f.shared.of(seen)) }

// setTotal notes how many lines the file has.
func (f *File) setTotal(n int, at moment) { f.total, f.tally = n, at.now }

// isCounted reports whether it is certain how many lines the file has.
func (f *File) isCounted() bool {
	return f.total >= 0 && f.doubtSince(f.tally) == Certain
}

// Total returns how many lines the file has, as far as the agent knows; 0 where
// that is not known.
func (f *File) Total() int {
	if f.doubtSince(f.tally) > Turn {
		return 0
	}
	return max(0, f.total)
}

// noteEdit notes that a call changed the file, once for all its edits.
func (f *File) noteEdit(at moment) {
	if f.counted != at.now {
		f.Edits++
	}
	f.Touched, f.Edited, f.counted = at.msg, at.msg, at.now
}

// IsUncommitted reports whether the file was changed since the last commit.
func (f *File) IsUncommitted() bool { return f.uncommitted && f.Edited >= 0 }

// DoubtedBy returns the command that may have changed the file since it was last seen; ""
// where it is not known.
func (f *File) DoubtedBy() string { return f.by }

// moment is a place in the history: the message, the set's clock, and the command that
// runs then.
type moment struct {
	msg, now int
	by       string
}

// isComplete reports whether all lines of the file are known by their numbers.
func (f *File) isComplete() bool {
	if f.total == 0 {
		return len(f.Regions) == 0 && len(f.Loose) == 0
	}
	return len(f.Regions) == 1 && f.Regions[0].From == 1 && len(f.Regions[0].Lines) == f.total
}

// writeWhole sets the whole file.
func (f *File) writeWhole(text string, at moment) {
	f.forgetText()
	f.end = endOf(text)
	texts := work.SplitLines(text)
	f.putLines(1, newLines(texts, at, true))
	f.setTotal(len(texts), at)
}

// forgetText drops all that is known of the text.
func (f *File) forgetText() {
	f.Regions, f.Loose, f.total = nil, nil, -1
}

// copyText gives the file the text of another one.
func (f *File) copyText(from *File) {
	f.Regions, f.Loose = nil, slices.Clone(from.Loose)
	for _, r := range from.Regions {
		f.Regions = append(f.Regions, Region{r.From, slices.Clone(r.Lines)})
	}
	f.total, f.tally, f.end, f.doubts = from.total, from.tally, from.end, from.doubts
}

func newLines(texts []string, at moment, edited bool) []Line {
	lines := make([]Line, len(texts))
	for i, t := range texts {
		lines[i] = Line{Text: t, Touched: at.msg, Edited: edited, seen: at.now}
	}
	return lines
}

// shiftAfter moves the regions that begin after line n by d lines.
func (f *File) shiftAfter(n, d int) {
	if d == 0 {
		return
	}
	for i := range f.Regions {
		if f.Regions[i].From > n {
			f.Regions[i].From += d
		}
	}
	if f.total >= 0 {
		f.total += d
	}
}

// cutAt splits the numbered region that holds both line n and line n+1.
func (f *File) cutAt(n int) {
	for i := range f.Regions {
		r := &f.Regions[i]
		if r.From <= n && n < r.end() {
			k := n - r.From + 1
			rest := Region{From: n + 1, Lines: r.Lines[k:]}
			r.Lines = r.Lines[:k:k]
			f.Regions = slices.Insert(f.Regions, i+1, rest)
			return
		}
	}
}

// removeLines takes the lines from a to b out of the numbered regions, without
// moving what follows.
func (f *File) removeLines(a, b int) {
	f.cutAt(a - 1)
	f.cutAt(b)
	for i := range f.Regions {
		if r := &f.Regions[i]; r.From >= a && r.end() <= b {
			r.Lines = nil
		}
	}
	f.tidyRegions()
}

// putLines adds lines at number n, where none are known.
func (f *File) putLines(n int, lines []Line) {
	if len(lines) > 0 {
		f.Regions = append(f.Regions, Region{From: n, Lines: lines})
	}
	f.tidyRegions()
}

// tidyRegions brings the regions into order: empty ones go, neighbours join.
func (f *File) tidyRegions() {
	f.Regions = slices.DeleteFunc(f.Regions, func(r Region) bool { return len(r.Lines) == 0 })
	slices.SortStableFunc(f.Regions, func(a, b Region) int { return a.From - b.From })
	out := f.Regions[:0]
	for _, r := range f.Regions {
		if n := len(out); n > 0 && out[n-1].end()+1 == r.From {
			out[n-1].Lines = append(out[n-1].Lines, r.Lines...)
			continue
		}
		out = append(out, r)
	}
	clear(f.Regions[len(out):])
	f.Regions = out
}

// plainNewlines makes the ends of all lines alike.
func plainNewlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}
