package workset

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// splitOutput gives each pipeline of a command line its lines of the output, where it
// is certain which they are: by counts, by numbers, or by lines that the command prints
// between them.
func (s *Set) splitOutput(list []work.Stream, o *output, at moment) {
	if !slices.ContainsFunc(list, func(s work.Stream) bool { return s.Path != "" || s.Found }) || o.hasShellError() {
		return // it shows no file
	}
	d := divider{closed: strings.HasSuffix(o.text, "\n"), set: s, emit: func(run shown) { s.showAll(run, at) }}
	d.lines, d.whole = o.lines()
	d.list = slices.DeleteFunc(slices.Clone(list), func(s work.Stream) bool { return s.Silent })
	d.trimmed = o.trimmed && !d.closed
	if d.trimmed && slices.ContainsFunc(d.lines, func(l string) bool { return l != strings.TrimRight(l, " \t") }) {
		d.lines, d.whole = d.lines[:len(d.lines)-1], false // the last line may have lost its blanks
	}
	for k := range d.list {
		if !d.takeStream(k) {
			return
		}
	}
}

// hasShellError reports whether the shell, or a program that shows files, says that a
// file could not be shown.
func (o *output) hasShellError() bool {
	lines, _ := o.lines()
	return slices.ContainsFunc(lines, func(l string) bool {
		return find.AnyStart(l, "sed: ", "cat: ", "head: ", "tail: ", "nl: ", "rg: ", "grep: ", "bash: ", "zsh:", "sh: ", "/bin/sh: ", "/bin/bash: ")
	})
}

type divider struct {
	list    []work.Stream
	lines   []string
	pos     int
	whole   bool
	trimmed bool
	closed  bool // the output ends with a newline
	tidied  bool // a tool took what stands before a colon for a path: // became /
	set     *Set
	emit    func(shown)
}

// takeStream gives stream k its lines and reports whether the next one's begin is known.
func (d *divider) takeStream(k int) bool {
	s := &d.list[k]
	switch {
	case s.Literal != nil:
		if !d.matchesAt(s.Literal, d.pos) {
			return false
		}
		d.pos += len(s.Literal)
		return true
	case s.Diff:
		d.takeDiff(s.Dir, d.streamLimit(k))
		return true
	case s.Found:
		return d.takeFound(s, d.streamLimit(k))
	case s.Numbered && s.Path != "":
		return d.takeNumbered(s)
	case s.Path != "":
		return d.takeBare(k)
	}
	// Something else printed: only a line that the command prints can end it.
	next := d.findMarker(k, len(d.lines)-d.pos)
	d.pos = max(d.pos, next)
	return next >= 0
}

// matchesAt reports whether lines stand at a place of the output.
func (d *divider) matchesAt(lines []string, pos int) bool {
	return pos+len(lines) <= len(d.lines) && slices.Equal(d.lines[pos:pos+len(lines)], lines)
}

// streamLimit returns where the lines of a stream that ends by itself must have
// ended.
func (d *divider) streamLimit(k int) int {
	if m := d.findMarker(k, len(d.lines)-d.pos); m >= 0 {
		return m
	}
	return len(d.lines)
}

// findMarker finds the lines that the command prints after stream k, at most n lines
// on; -1 where there are none or more than it prints. Exactly n lines on they are certain.
func (d *divider) findMarker(k, n int) int {
	if k+1 >= len(d.list) {
		return len(d.lines)
	}
	mark := d.list[k+1].Literal
	if mark == nil {
		return -1
	}
	if d.matchesAt(mark, d.pos+n) && n < len(d.lines)-d.pos {
		return d.pos + n
	}
	var at []int // where they stand
	for i := d.pos; i < len(d.lines); i++ {
		if d.matchesAt(mark, i) {
			at = append(at, i)
		}
	}
	markers := 0 // that are still to come
	for _, s := range d.list[k+1:] {
		if slices.Equal(s.Literal, mark) {
			markers++
		}
	}
	if len(at) == 0 || at[0] > d.pos+n || len(at) > markers || strings.Join(mark, "") == "" { // blank lines stand in files too
		return -1
	}
	return at[0]
}

// takeBare gives a stream its lines where they have no numbers.
func (d *divider) takeBare(k int) bool {
	s := &d.list[k]
	n, rest, last := s.Count, len(d.lines)-d.pos, k == len(d.list)-1
	if !d.whole && (n == work.ToEnd || rest <= n) {
		// The output breaks off inside this stream, or a later one: certain only
		// where nothing follows that could have begun already.
		if last {
			d.putLines(s, rest, false)
		}
		return false
	}
	take := rest
	switch {
	case last:
	case d.list[k+1].Literal != nil:
		most := n
		if n == work.ToEnd {
			most = rest
		}
		take = d.findMarker(k, most) - d.pos
	case !d.whole || n == work.ToEnd || n+d.sumLines(k+1) != rest:
		return false
	default:
		take = n
	}
	shifted := d.trimmed && d.pos == 0 && s.From > 1 && take != n // blank lines may be missing
	if take < 0 || shifted || n != work.ToEnd && take > n {
		return false
	}
	d.putLines(s, take, take != n && !(last && d.trimmed))
	return true
}

// sumLines returns how many lines the streams from k on print if none is short; a number
// below any count where that is not known.
func (d *divider) sumLines(k int) int {
	n := 0
	for _, s := range d.list[k:] {
		switch {
		case s.Literal != nil:
			n += len(s.Literal)
		case s.Path != "" && !s.Found && s.Count != work.ToEnd:
			n += s.Count
		default:
			return math.MinInt32
		}
	}
	return n
}

func (d *divider) putLines(s *work.Stream, n int, end bool) {
	lines := d.lines[d.pos : d.pos+n]
	d.pos += n
	run := shown{path: s.Path, from: s.From, lines: lines, end: endIf(end)}
	if end && (d.closed || d.pos < len(d.lines)) {
		run.end = closedEnd
	}
	d.emit(run)
}

// takeNumbered gives a stream its lines by their numbers, which rise.
func (d *divider) takeNumbered(s *work.Stream) bool {
	run := shown{path: s.Path, from: s.From}
	start := d.pos
	for ; d.pos < len(d.lines); d.pos++ {
		n, _, text, ok := work.NumberAt(d.lines[d.pos])
		if !ok || n < run.from+len(run.lines) || s.Count != work.ToEnd && n >= s.From+s.Count {
			break
		}
		d.extendRun(&run, s.Path, n, text)
	}
	d.emit(run)
	return d.pos > start
}

// takeFound reads the lines of a search, each with its number.
func (d *divider) takeFound(s *work.Stream, limit int) bool {
	var run shown
	for ; d.pos < limit; d.pos++ {
		p, n, text := foundLine(d.lines[d.pos])
		if k, after := d.countedLine(run.from + len(run.lines)); s.Path != "" && k > 0 {
			p, n, text = "", k, after
		}
		if n == 0 {
			continue
		}
		if p == "" {
			p = s.Path
		} else {
			p = work.Join(s.Dir, strings.TrimPrefix(p, "./"))
		}
		d.extendRun(&run, p, n, text)
	}
	d.emit(run)
	return true
}

// extendRun puts a line behind a run of lines, or begins the next run with it.
func (d *divider) extendRun(run *shown, p string, n int, text string) {
	if p != run.path || n != run.from+len(run.lines) {
		d.emit(*run)
		*run = shown{path: p, from: n}
	}
	run.lines = append(run.lines, text)
}

// foundLine reads "path:12:text". The number is 0 where a line is something else.
func foundLine(line string) (path string, n int, text string) {
	m := foundInFiles.FindStringSubmatch(line)
	if m == nil {
		return "", 0, ""
	}
	n, _ = strconv.Atoi(m[2])
	return m[1], n, m[3]
}

// countedLine reads "12:text" and "12-text", which a search in one file prints. A line
// of context that holds a colon may begin with a path, unless its number comes next
// or the next line counts on from it.
func (d *divider) countedLine(next int) (n int, text string) {
	m := foundInOne.FindStringSubmatch(d.lines[d.pos])
	if m == nil {
		return 0, ""
	}
	n, _ = strconv.Atoi(m[1])
	after := strconv.Itoa(n + 1)
	counts := n == next || d.pos+1 < len(d.lines) && find.AnyStart(d.lines[d.pos+1], after+"-", after+":")
	if m[2] == "-" && strings.Contains(m[3], ":") && (!counts || d.tidied) {
		return 0, ""
	}
	return n, m[3]
}

// How a search writes what it found.
var (
	foundInFiles = regexp.MustCompile(`^((?:[A-Za-z]:[\\/])?[^: \t"'(]+):(\d{1,9}):(.*)$`)
	foundInOne   = regexp.MustCompile(`^(\d{1,9})([:-])(.*)$`)
)
