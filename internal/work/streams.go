package work

import (
	"regexp"
	"strings"
)

// Stream is what one pipeline of a command line prints, as far as that is known, or
// what it prints of one file or range of several.
type Stream struct {
	Path string // the file whose lines it prints, "" for anything else

	From     int  // the first line
	Count    int  // how many lines it prints at most; ToEnd for up to the file's end
	Numbered bool // each line carries its number

	Literal []string // all lines that it prints, where they stand in the command
	Found   bool     // lines of files, each with its number or with path and number
	Diff    bool     // found in the hunks of a diff whose newer side is the files as they stand
	Silent  bool     // it prints nothing
	Dir     string   // where the paths of found lines start

	show bool // what it prints are the lines of its operations
}

// ToEnd is the count of lines that go on to the end of the file.
const ToEnd = -1

// setLines makes the stream that of the lines that an operation shows.
func (st *Stream) setLines(o *Op) {
	st.Path, st.From, st.Count = o.Path, max(o.From, 1), ToEnd
	if o.To > 0 {
		st.Count = o.To - st.From + 1
	}
}

// isPlainShow reports whether cat or nl print the lines as they are, or each with
// its number.
func (s *step) isPlainShow() bool {
	if s.name == "nl" {
		return s.has("-ba") && !s.has("-s", "-w", "-v", "-n")
	}
	return s.name == "cat" && !s.has("-A", "-e", "-v", "-t", "-E", "-T", "-s", "-b")
}

// passOn applies a program in a pipe to what comes in, and reports whether what
// comes out is still known.
func (s *step) passOn(in []Op, out *Stream) bool {
	var shown *Op
	if len(in) == 1 && in[0].Kind == Show {
		shown = &in[0]
	}
	switch s.does {
	case ends, seds:
		p := s.pickLines()
		switch {
		case len(p.files) > 0 || len(p.ranges) == 0 || len(p.ranges) > 1 && !out.Numbered:
			return false
		case shown == nil:
			return out.Found && s.name == "head" && p.strict
		}
		last := p.ranges[len(p.ranges)-1][1]
		for _, r := range p.ranges { // of numbered lines each tells its place
			if r[0] < p.ranges[0][0] || last > 0 && (r[1] == 0 || r[1] > last) {
				return false
			}
		}
		return shown.narrowLines(p.ranges[0][0], last) && p.strict && out.show
	case shows:
		return len(s.args) == 0 && s.name == "cat"
	case searches:
		pattern, files := s.searchWords()
		countsLines := shown != nil && !shown.Unsure && (shown.From == 0 || shown.From == 1) && len(files) == 0 &&
			out.show && !out.Numbered && s.linesNumbered()
		if shown != nil && len(files) == 0 {
			shown.Kind, shown.From, shown.To = Search, 0, 0
		}
		if n := len(in); n > 0 && in[n-1].Query == "" && len(files) == 0 {
			in[n-1].Query, in[n-1].Names = pattern, shown == nil
		}
		if countsLines {
			*out = Stream{Found: true, Path: shown.Path}
			return true
		}
		// What is left of numbered lines is still numbered.
		return out.Found && !out.Diff && out.Path == "" && !s.has("-c", "-o", "-n")
	}
	return false
}

// diffsFiles reports whether git diff, with the step's words, shows, line by line, how the files as they stand
// differ from what is staged or from one revision.
func (s *step) diffsFiles() bool {
	revisions := 0
	for _, w := range s.args {
		switch {
		case w.text == "--" && revisions < 2:
			return true
		case strings.Contains(w.text, ".."):
			return false
		case plainDiff.MatchString(w.text):
		case revision.MatchString(w.text):
			revisions++
		default:
			return false
		}
	}
	return revisions < 2
}

// What git diff may be given before two dashes: options that leave a diff as it is and
// files, which have an extension, or names of commits.
var (
	plainDiff = regexp.MustCompile(`^(?:--no-color|--no-ext-diff|--patch|-p|-u|-U\d+|--unified=\d+|--minimal|--histogram|--patience|[^-].*\.[A-Za-z]\w{0,5})$`)
	revision  = regexp.MustCompile(`^\w[\w./@{}~^-]*$`)
)

// narrowLines keeps the lines from to to of those that are shown, and reports whether
// they are known.
func (o *Op) narrowLines(from, to int) bool {
	if o.From < 0 || from < 0 {
		if o.From == 0 && o.To == 0 {
			o.From, o.To = from, to
		}
		return false
	}
	first, last := max(o.From, 1), o.To
	o.From = first + from - 1
	if to > 0 && (last == 0 || first+to-1 < last) {
		last = first + to - 1
	}
	if o.To = last; o.To > 0 && o.From > o.To {
		o.From = o.To
		return false
	}
	return true
}

// echoStream returns what echo and printf print.
func (s *step) echoStream() Stream {
	if text, ok := s.printedText(); ok && strings.HasSuffix(text, "\n") {
		return Stream{Literal: SplitLines(text)}
	}
	return Stream{}
}

// printedText returns what a step prints where that stands in the command itself.
func (s *step) printedText() (string, bool) {
	switch s.name {
	case "cat":
		doc, given := s.hereDocument()
		args := s.operands("")
		return doc.text, given && doc.exact && len(s.args) == len(args) && (len(args) == 0 || len(args) == 1 && args[0].text == "-")
	case "", ":", "true":
		return "", s.name != "" || len(s.args) == 0
	case "echo":
		words := make([]string, len(s.args))
		for i, w := range s.args {
			if !w.exact || strings.Contains(w.text, `\`) || len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "neE") == "" {
				return "", false
			}
			words[i] = w.text
		}
		return strings.Join(words, " ") + "\n", true
	case "printf":
		if args := s.operands(""); len(args) == 1 && args[0].exact && (len(s.args) == 1 || s.args[0].text == "--") {
			text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(args[0].text)
			return text, !strings.ContainsAny(text, `%\`)
		}
	}
	return "", false
}
