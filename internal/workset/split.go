package workset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// splitOutput gives each pipeline of a command line its lines of the output, where it
// is certain which they are: by counts, by numbers, by lines that the command prints
// between them, or by the end of a file that is known. Each run is handed to emit. It
// returns the streams whose lines are somewhere in the output.
func splitOutput(list []work.Stream, o *output, known func(path string) *File, emit func(shown)) (left []work.Stream) {
	if !slices.ContainsFunc(list, func(s work.Stream) bool { return s.Path != "" || s.Found || s.Diff }) || o.hasShellError() {
		return nil // it shows no file
	}
	d := divider{closed: strings.HasSuffix(o.text, "\n"), known: known, emit: emit}
	d.lines, d.whole = o.lines()
	d.list = slices.DeleteFunc(slices.Clone(list), func(s work.Stream) bool { return s.Silent })
	d.trimmed = o.trimmed && !d.closed
	d.blanks = d.trimmed && slices.ContainsFunc(d.lines, func(l string) bool { return l != strings.TrimRight(l, " \t") })
	for k := range d.list {
		if !d.takeStream(k) {
			return d.list[k:]
		}
	}
	return nil
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
	blanks  bool // blanks at the output's end may be missing, and lines of it end in blanks
	known   func(path string) *File
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
	case s.Found:
		return d.takeFound(s, d.streamLimit(k))
	case s.Diff:
		return d.takeDiff(d.streamLimit(k))
	case s.Numbered && s.Path != "":
		return d.takeNumbered(s)
	case s.Path != "":
		return d.takeBare(k)
	}
	// Something else printed: only a line that the command prints can end it.
	next := d.findMarker(k, len(d.lines)-d.pos)
	d.pos = next
	return next >= 0
}

// matchesAt reports whether lines stand at a place of the output.
func (d *divider) matchesAt(lines []string, pos int) bool {
	if pos+len(lines) > len(d.lines) {
		return false
	}
	for i, l := range lines {
		if d.lines[pos+i] != l {
			return false
		}
	}
	return true
}

// streamLimit returns where the lines of a stream that ends by itself must have
// ended.
func (d *divider) streamLimit(k int) int {
	if k+1 < len(d.list) && d.list[k+1].Literal != nil {
		if m := d.findMarker(k, len(d.lines)-d.pos); m >= 0 {
			return m
		}
	}
	return len(d.lines)
}

// findMarker finds the lines that the command prints after stream k, at most n lines
// on; -1 where there are none or more than it prints. Exactly n lines on they are certain.
func (d *divider) findMarker(k, n int) int {
	if k+1 >= len(d.list) {
		return len(d.lines)
	}
	if d.list[k+1].Literal == nil {
		return -1
	}
	mark := d.list[k+1].Literal
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
	near := len(at) > 0 && at[0] <= d.pos+n
	several := len(at) > 1 && at[1] <= d.pos+n
	if !near || several && !(d.whole && len(at) == markers) || strings.Join(mark, "") == "" { // blank lines stand in files too
		return -1
	}
	return at[0]
}

// takeBare gives a stream its lines where they have no numbers.
func (d *divider) takeBare(k int) bool {
	s := &d.list[k]
	n := s.Count
	rest := len(d.lines) - d.pos
	last := k == len(d.list)-1
	switch {
	case !d.whole && (n == work.ToEnd || rest <= n):
		// The output breaks off inside this stream, or a later one: certain only
		// where nothing follows that could have begun already.
		if last {
			d.putLines(s, rest, false)
		}
		return false
	case last:
		if n != work.ToEnd && rest > n || d.trimmed && rest != n && s.From > 1 {
			return false
		}
		d.putLines(s, rest, (n == work.ToEnd || rest < n) && !d.trimmed)
		return true
	case d.list[k+1].Literal != nil:
		limit := n
		if c := d.knownCount(s); c > 0 {
			limit = c
		} else if n == work.ToEnd {
			limit = rest
		}
		next := d.findMarker(k, limit)
		if next < 0 || d.trimmed && d.pos == 0 && next-d.pos != n && s.From > 1 {
			return false
		}
		d.putLines(s, next-d.pos, n == work.ToEnd || next-d.pos < n)
		return true
	case d.trimmed && d.pos == 0 && s.From > 1 && d.sumLines(k) != rest:
		return false // blank lines may be missing
	case d.list[k+1].Found && d.list[k+1].Path == "" && n > 0 && n < rest && d.isFound(d.pos+n) && !d.isFound(d.pos+n-1):
		d.putLines(s, n, false)
		return true
	case d.goesOnInFile(k):
		d.putLines(s, min(n, rest), false)
		return true
	}
	if c := d.knownCount(s); c > 0 {
		d.putLines(s, c, c != n)
		return true
	}
	if most := d.sumLines(k + 1); d.whole && n != work.ToEnd && most >= 0 && rest-most <= n { // the first ones are certain
		d.putLines(s, max(0, rest-most), false)
		return rest-most == n
	}
	return false
}

// goesOnInFile reports whether all that follows stream k are later lines of its file: they
// are printed only if all of its own are.
func (d *divider) goesOnInFile(k int) bool {
	end := 0
	for _, s := range d.list[k:] {
		if s.Path != d.list[k].Path || s.Found || s.Numbered || s.From <= end || end == work.ToEnd {
			return false
		}
		if end = work.ToEnd; s.Count != work.ToEnd {
			end = s.From + s.Count - 1
		}
	}
	return d.whole && d.list[k].Count != work.ToEnd
}

// knownCount returns how many lines a stream prints of a file that is known, where the
// output repeats the last of them in their place; 0 where that is not certain.
func (d *divider) knownCount(s *work.Stream) int {
	f := d.known(s.Path)
	if f == nil {
		return 0
	}
	n := s.Count
	if left := f.total - s.From + 1; f.isCounted() && (n == work.ToEnd || left < n) {
		n = left
	}
	tells := false
	for i := n; i > max(0, n-3); i-- {
		l := f.line(s.From + i - 1)
		if l == nil || d.pos+i >= len(d.lines) || l.Text != d.lines[d.pos+i-1] {
			return 0
		}
		tells = tells || len(strings.TrimSpace(l.Text)) >= 8
	}
	if !tells {
		return 0
	}
	return n
}

// isFound reports whether a line of the output is one that a search in files found.
func (d *divider) isFound(at int) bool {
	_, _, _, ok := foundLine(d.lines[at], false)
	return ok
}

// sumLines returns how many lines the streams from k on print if none is short; -1
// where that is not known.
func (d *divider) sumLines(k int) int {
	n := 0
	for _, s := range d.list[k:] {
		switch {
		case s.Literal != nil:
			n += len(s.Literal)
		case s.Path != "" && !s.Found && s.Count != work.ToEnd:
			n += s.Count
		default:
			return -1
		}
	}
	return n
}

func (d *divider) putLines(s *work.Stream, n int, end bool) {
	lines := d.lines[d.pos : d.pos+n]
	if d.pos += n; d.blanks && d.pos == len(d.lines) {
		n, end = n-1, false
	}
	if n <= 0 {
		return
	}
	lines = lines[:n]
	run := shown{path: s.Path, from: s.From, lines: lines, end: endIf(end)}
	if end && (d.closed || d.pos < len(d.lines)) {
		run.end = closedEnd
	}
	d.emit(run)
}

// takeNumbered gives a stream its lines by their numbers, which rise, in one run or in
// several.
func (d *divider) takeNumbered(s *work.Stream) bool {
	run := shown{path: s.Path, from: s.From}
	start, last := d.pos, len(d.lines)
	if d.blanks {
		last--
	}
	for ; d.pos < len(d.lines); d.pos++ {
		k, _, text, ok := numberAt(d.lines[d.pos])
		next := run.from + len(run.lines)
		if !ok || k < next || s.Count != work.ToEnd && k >= s.From+s.Count {
			break
		}
		if k > next {
			d.emit(run)
			run = shown{path: s.Path, from: k}
		}
		if d.pos < last {
			run.lines = append(run.lines, text)
		}
	}
	d.emit(run)
	return d.pos > start
}

// takeDiff reads the lines that a diff shows of files as they stand.
func (d *divider) takeDiff(limit int) bool {
	file, left := "", 0 // of the hunk's lines
	var run shown
	for ; d.pos < limit; d.pos++ {
		line := d.lines[d.pos]
		m := hunkHead.FindStringSubmatch(line)
		switch {
		case left > 0 && line != "" && (line[0] == ' ' || line[0] == '+'):
			run.lines = append(run.lines, line[1:])
			if left--; left == 0 {
				d.emit(run)
			}
		case strings.HasPrefix(line, diffFile):
			file = line
		case m != nil:
			run.path, run.lines = file, nil
			run.from, _ = strconv.Atoi(m[1])
			if left = 1; m[2] != "" {
				left, _ = strconv.Atoi(m[2])
			}
		}
	}
	return true
}

// diffFile stands before the path of a file below the root of its project.
const diffFile = "+++ b/"

// hunkHead starts a hunk of a diff.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// takeFound reads the lines of a search, each with its number.
func (d *divider) takeFound(s *work.Stream, limit int) bool {
	var run shown
	flush := func() {
		if len(run.lines) > 0 {
			d.emit(run)
		}
		run = shown{}
	}
	for ; d.pos < limit; d.pos++ {
		p, n, text, ok := foundLine(d.lines[d.pos], s.Path != "")
		if !ok || cutShort(text) {
			flush()
			continue
		}
		if p == "" {
			p = s.Path
		} else {
			p = work.Join(s.Dir, strings.TrimPrefix(p, "./"))
		}
		if p == run.path && n == run.from+len(run.lines) {
			run.lines = append(run.lines, text)
			continue
		}
		flush()
		run = shown{path: p, from: n, lines: []string{text}}
	}
	flush()
	return true
}

// foundLine reads "path:12:text", or where only one file is searched "12:text"
// and "12-text".
func foundLine(line string, one bool) (path string, n int, text string, ok bool) {
	if one {
		i := 0
		for i < len(line) && i < 9 && line[i] >= '0' && line[i] <= '9' {
			i++
		}
		// A line of context that holds a colon may have been taken for a path.
		if i > 0 && i < len(line) && (line[i] == ':' || line[i] == '-' && strings.IndexByte(line, ':') < 0) {
			n, _ = strconv.Atoi(line[:i])
			return "", n, line[i+1:], n > 0
		}
	}
	from := 0
	if work.HasDrive(line) {
		from = 2
	}
	i := strings.IndexByte(line[from:], ':')
	if i <= 0 {
		return "", 0, "", false
	}
	i += from
	k := strings.IndexByte(line[i+1:], ':')
	if k <= 0 || k > 9 {
		return "", 0, "", false
	}
	n, err := strconv.Atoi(line[i+1 : i+1+k])
	if err != nil || n < 1 || strings.ContainsAny(line[:i], " \t\"'(") {
		return "", 0, "", false
	}
	return line[:i], n, line[i+2+k:], true
}
