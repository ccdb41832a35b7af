package workset

import (
	"path"
	"strconv"
	"strings"
)

// shellEdits returns what a command line changes, as far as that can be read.
func shellEdits(src, dir string) []Edit {
	if e, ok := windowEdit(src); ok {
		return []Edit{e}
	}
	list, _, clear := steps(src, dir)
	return stepEdits(list, clear)
}

// stepEdits returns what programs change. Clear is as [steps] has it.
func stepEdits(list []step, clear bool) []Edit {
	var edits []Edit
	for i := range list {
		s := &list[i]
		from := len(edits)
		edits = append(edits, s.edits()...)
		for k := from; k < len(edits); k++ {
			if (!s.certain || !clear) && edits[k].Kind != Unclear {
				edits[k] = Edit{Kind: Unclear, Path: edits[k].Path}
			}
		}
	}
	return edits
}

// windowEdit reads the edit command of agents that show a file in a window:
// "edit 12:20", the new lines, "end_of_edit". It changes the file that is open.
func windowEdit(src string) (Edit, bool) {
	head, body := cutLine(strings.TrimLeft(src, " \n"))
	span, ok := strings.CutPrefix(head, "edit ")
	if !ok {
		return Edit{}, false
	}
	a, b, ok := strings.Cut(strings.TrimSpace(span), ":")
	from, err1 := strconv.Atoi(a)
	to, err2 := strconv.Atoi(b)
	end := strings.LastIndex(body, "end_of_edit")
	if !ok || err1 != nil || err2 != nil || end < 0 {
		return Edit{}, false
	}
	return Edit{From: from, To: to, New: body[:end], Lines: true}, true
}

// edits returns what one program changes.
func (s *step) edits() []Edit {
	var edits []Edit
	add := func(e Edit) {
		if e.Path != "" {
			edits = append(edits, e)
		}
	}
	file, more, given := s.out()
	doc, exact, hasDoc := s.doc()
	switch s.name {
	case "apply_patch", "applypatch":
		for _, w := range s.args {
			if isPatch(w.text) {
				doc, exact, hasDoc = w.text, w.exact, true
			}
		}
		if hasDoc {
			s.patch(doc, exact, add)
		}
	case "patch", "git":
		if s.name == "git" && (len(s.args) == 0 || s.args[0].text != "apply") {
			s.git(add)
			break
		}
		if s.has("--check", "--stat", "--dry-run", "--numstat", "--summary") {
			break
		}
		if hasDoc && isPatch(doc) {
			s.patch(doc, exact && !s.has("-R", "--reverse", "--cached"), add)
		}
	case "rm", "unlink", "trash":
		for _, w := range s.operands("") {
			if !w.exact && !s.lost && strings.ContainsAny(w.text, "*?") && !strings.ContainsAny(w.text, "$`{~") {
				w.exact = true // a pattern that the set can match
			}
			add(Edit{Kind: Delete, Path: s.path(w)})
		}
	case "mv", "cp":
		s.moves(s.operands("tS"), s.name == "cp", add)
	case "sed", "gsed":
		s.sed(add)
	case "tee":
		for _, w := range s.operands("") {
			e := Edit{Path: s.path(w), New: doc, Whole: true}
			if s.has("-a", "--append") {
				e.Kind, e.Whole = Append, false
			}
			if !hasDoc || !exact {
				e = Edit{Kind: Unclear, Path: e.Path}
			}
			add(e)
		}
	case "perl", "ruby":
		if s.inPlace() {
			for _, w := range s.operands("e") {
				add(Edit{Kind: Unclear, Path: s.path(w)})
			}
		}
	case "truncate", "ed", "ex":
		for _, w := range s.operands("s") {
			add(Edit{Kind: Unclear, Path: s.path(w)})
		}
	}
	if given && file.text != "" {
		e := Edit{Kind: Unclear, Path: s.path(file), Whole: !more}
		if text, ok := s.prints(); ok {
			e = Edit{Path: e.Path, New: text, Whole: !more}
			if more {
				e.Kind = Append
			}
		}
		add(e)
	}
	return edits
}

// prints returns what a step writes where that stands in the command itself.
func (s *step) prints() (string, bool) {
	doc, exact, hasDoc := s.doc()
	switch s.name {
	case "cat":
		args := s.operands("")
		return doc, hasDoc && exact && (len(args) == 0 || len(args) == 1 && args[0].text == "-") && len(s.args) == len(args)
	case "", ":", "true":
		return "", s.name != "" || len(s.args) == 0
	case "echo":
		var b strings.Builder
		for i, w := range s.args {
			if !w.exact || strings.Contains(w.text, `\`) || len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "neE") == "" {
				return "", false
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w.text)
		}
		b.WriteByte('\n')
		return b.String(), true
	case "printf":
		if len(s.args) == 1 && s.args[0].exact && !strings.ContainsAny(s.args[0].text, `%\`) {
			return s.args[0].text, true
		}
	}
	return "", false
}

func (s *step) patch(doc string, exact bool, add func(Edit)) {
	for _, e := range patchEdits(doc) {
		e.Path = s.path(word{e.Path, true})
		if e.Kind == Move {
			e.New = s.path(word{e.New, true})
		}
		if !exact {
			e = Edit{Kind: Unclear, Path: e.Path}
		}
		add(e)
	}
}

// git adds what git does to files that it names.
func (s *step) git(add func(Edit)) {
	t := *s
	for len(t.args) > 1 && (t.args[0].text == "-C" || t.args[0].text == "-c" || t.args[0].text == "--no-pager") {
		switch t.args[0].text {
		case "--no-pager":
			t.args = t.args[1:]
			continue
		case "-C":
			t.lost = t.lost || !t.args[1].exact
			t.dir = join(t.dir, t.args[1].text)
		}
		t.args = t.args[2:]
	}
	if len(t.args) == 0 {
		return
	}
	sub := t.args[0].text
	t.args = t.args[1:]
	switch sub {
	case "mv":
		t.moves(t.operands(""), false, add)
	case "rm":
		if !t.has("--cached") {
			for _, w := range t.operands("") {
				add(Edit{Kind: Delete, Path: t.path(w)})
			}
		}
	case "restore":
		if t.has("--staged", "-S") && !t.has("--worktree", "-W") {
			return
		}
		for _, w := range t.operands("s") {
			add(Edit{Kind: Unclear, Path: t.path(w)})
		}
	case "checkout":
		for i, w := range t.args {
			if w.text == "--" {
				for _, f := range t.args[i+1:] {
					add(Edit{Kind: Unclear, Path: t.path(f)})
				}
			}
		}
	}
}

// moves adds what mv and cp do. A target without a slash at its end may be a
// folder; it is taken for a file where it has the source's extension.
func (s *step) moves(f []word, copies bool, add func(Edit)) {
	if len(f) < 2 {
		return
	}
	kind := Move
	if copies {
		kind = Copy
	}
	to := f[len(f)-1]
	from := f[:len(f)-1]
	folder := strings.HasSuffix(to.text, "/") || len(from) > 1 || to.text == "." || to.text == ".." || s.has("-t")
	for _, w := range from {
		target := to
		if folder {
			target.text = path.Join(to.text, path.Base(w.text))
		}
		ext := path.Ext(target.text)
		sure := !s.has("-t", "-r", "-R", "-a", "-n") && (folder || ext != "" && ext == path.Ext(w.text))
		switch {
		case sure:
			add(Edit{Kind: kind, Path: s.path(w), New: s.path(target)})
		case copies:
			add(Edit{Kind: Unclear, Path: s.path(target)})
		default:
			add(Edit{Kind: Unclear, Path: s.path(target)})
			add(Edit{Kind: Delete, Path: s.path(w)})
		}
	}
}
