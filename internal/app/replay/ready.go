package replay

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// showing is one place of a view that shows or changes text of files.
type showing struct {
	paths []string // of the files
	texts []string // in the forms that are compared

	// about is what else may name the file: a command's words and its output.
	about []string

	edit  *work.Op // that was made here; texts are then what it put in
	whole bool     // the whole file is shown
}

// standsUnder reports whether the place stands under a file's path.
func (s *showing) standsUnder(file string) bool {
	for _, p := range s.paths {
		if samePath(p, file) {
			return true
		}
	}
	if len(s.about) == 0 {
		return false
	}
	name := plainPath(file)
	if dir, base := path.Split(name); dir != "" {
		name = path.Join(path.Base(dir), base)
	}
	return anyContains(s.about, name)
}

// shownView is a view as the measure reads it: what it shows, oldest first.
type shownView struct{ places []showing }

// readView reads a view. What stands in messages of the session is known already;
// what a policy made is read as text.
func (x *nextIndex) readView(msgs []*chat.Message) *shownView {
	v := &shownView{}
	var now []showing // of messages that say how files stand, which is newer than all else
	for _, m := range msgs {
		raw, isRaw := x.raw[m]
		if isCurrent(m) && !isRaw {
			for k := range m.Parts {
				now = x.addBlocks(now, m.Parts[k].Text)
			}
			continue
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case chat.Text, chat.Document:
				v.places = x.addBlocks(v.places, p.Text)
			case chat.ToolCall:
				v.places = append(v.places, x.callChanges(p)...)
			case chat.ToolResult:
				var texts []string
				if isRaw {
					texts = x.texts[raw][k]
				} else {
					texts = partTexts(p)
				}
				v.places = append(v.places, x.shownBy(p, texts, isRaw))
			}
		}
	}
	v.places = append(v.places, now...)
	return v
}

// readViewOnce reads a view when it is first asked for.
func (x *nextIndex) readViewOnce(msgs []*chat.Message) func() *shownView {
	return sync.OnceValue(func() *shownView { return x.readView(msgs) })
}

// callChanges returns what a call changes in files.
func (x *nextIndex) callChanges(call *chat.Part) []showing {
	edits, ok := x.edits[call]
	if !ok {
		edits = work.Edits(call, work.DefaultKinds(), "")
	}
	if x.failed[call.ID] {
		return nil // what it was to change stayed as it was
	}
	var out []showing
	args := partTexts(call)
	for i := range edits {
		e := &edits[i]
		s := showing{paths: []string{e.Path}, edit: e}
		// The new lines of a patch stand behind plus signs, with the old ones
		// between them: nobody could copy them as one text.
		if now := trimLines(e.New); anyContains(args, strings.Trim(now, "\n")) {
			s.texts = []string{now}
		}
		out = append(out, s)
	}
	return out
}

// shownBy returns what a result shows.
func (x *nextIndex) shownBy(p *chat.Part, texts []string, raw bool) showing {
	s := showing{texts: texts}
	call := x.callOf(p)
	if call == nil {
		return s
	}
	a := x.access[call]
	for _, o := range a.Ops {
		s.paths = append(s.paths, o.Path)
	}
	if a.Kind == work.ToolRead && len(s.paths) == 1 && a.From == 0 && a.To == 0 && raw && !p.Failed {
		s.whole = true
	}
	if a.Kind != work.ToolRead {
		s.about = append(s.about, call.Args)
		s.about = append(s.about, texts[:min(1, len(texts))]...)
	}
	return s
}

// isCurrent reports whether a message that a policy made says how files stand
// now, whatever stands after it in the view. Adapt this to the views that are
// measured: other made messages are as old as their place.
func isCurrent(m *chat.Message) bool {
	return m.Role == chat.User && strings.Contains(m.Text(), "## Files as they stand")
}

// addBlocks adds what a text shows of files.
func (x *nextIndex) addBlocks(to []showing, text string) []showing {
	x.eachBlock(text, func(file, _ string, lines []string) {
		to = append(to, showing{paths: []string{file}, texts: comparedForms(strings.Join(lines, "\n"))})
	})
	return to
}

// eachBlock calls f with each run of lines under a line that names a file, its
// header. Lines inside a fence and lines with numbers name no file.
func (x *nextIndex) eachBlock(text string, f func(file, header string, lines []string)) {
	file, fence, start := "", "", 0
	lines := strings.Split(text, "\n")
	end := func(i int) {
		if file != "" && start < i {
			f(file, lines[start-1], lines[start:i])
		}
	}
	for i, l := range lines {
		if f := fenceOf(l); f != "" {
			switch {
			case fence == "":
				fence = f
			case strings.HasPrefix(f, fence) && strings.Trim(l, " `~") == "":
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		if _, ok := numberOf(l); ok {
			continue
		}
		if named := x.files.namedFile(l); named != "" {
			end(i)
			file, start = named, i+1
		}
	}
	end(len(lines))
}

// fenceOf returns the back-ticks or tildes that a line starts with, three at
// least.
func fenceOf(l string) string {
	l = strings.TrimLeft(l, " ")
	if len(l) < 3 || l[0] != '`' && l[0] != '~' {
		return ""
	}
	n := 1
	for n < len(l) && l[n] == l[0] {
		n++
	}
	if n < 3 {
		return ""
	}
	return l[:n]
}

// isReady reports whether an edit's whole old text stands in one place of the
// view, under its file's path, in the newest version that the view shows: a later
// edit of the view that takes the text away, or a later reading of the whole file
// without it, makes the place an old one.
func (v *shownView) isReady(file, old string) bool {
	have := "" // the newest text that has it
	for i := range v.places {
		s := &v.places[i]
		if !s.standsUnder(file) {
			continue
		}
		found := ""
		for _, t := range s.texts {
			if strings.Contains(t, old) {
				found = t
				break
			}
		}
		switch {
		case found != "":
			have = found
		case s.edit != nil && have != "":
			if s.edit.Whole {
				have = ""
				continue
			}
			if gone := trimLines(s.edit.Old); gone != "" {
				n := 1
				if s.edit.All {
					n = -1
				}
				if after := strings.Replace(have, gone, trimLines(s.edit.New), n); !strings.Contains(after, old) {
					have = ""
				}
			}
		case s.whole:
			have = ""
		}
	}
	return have != ""
}

// fileNames knows the files that a session's calls touch, by their last segment,
// so that a line of text that names one of them is found.
type fileNames map[string][]string

func (f fileNames) add(p string) {
	p = plainPath(p)
	base := path.Base(p)
	if p == "" || base == "." || base == "/" || slices.Contains(f[base], p) {
		return
	}
	f[base] = append(f[base], p)
}

// namedFile returns the file that a line names: the first of its words that is the
// path, or the end of the path, of a file that is known. "" is none.
func (f fileNames) namedFile(line string) string {
	for _, marks := range [...]string{"`'\"<>,;*=|", "`'\"<>,;*=|()[]{}"} { // a path may have brackets of its own
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || strings.ContainsRune(marks, r) }) {
			w = strings.Trim(w, "#.:")
			if i := strings.IndexByte(w, ':'); i > 1 { // path:12-40
				w = w[:i]
			}
			w = plainPath(w)
			for _, p := range f[path.Base(w)] {
				if samePath(w, p) {
					return w
				}
			}
		}
	}
	return ""
}

func plainPath(p string) string {
	return strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./")
}

// samePath reports whether two names mean the same file: one is the other, or
// its end from a slash or a blank on: paths are given below a folder or the root,
// and words end at blanks.
func samePath(a, b string) bool {
	a, b = plainPath(a), plainPath(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && strings.HasSuffix(b, a) && (len(a) == len(b) || a[0] == '/' || strings.IndexByte("/ ", b[len(b)-len(a)-1]) >= 0)
}
