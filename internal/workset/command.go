package workset

import (
	"path"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// command takes in what a shell ran and printed.
func (s *Set) command(tool, src, dir string, res *chat.Part, at moment) {
	switch {
	case dir != "":
		dir = join(s.base, dir)
		if !isAbs(dir) {
			dir = ""
		}
	case s.shell != "":
		dir = s.shell
	default:
		dir = s.base
	}
	if dir == "?" {
		dir = ""
	}
	s.visit(dir)
	list, folder, clear := steps(src, dir)
	s.visit(folder)
	s.stay(tool, folder, res.Text)
	failed, exit, known := evidence.Status(res)
	rejected := refusedToRun(res.Text)
	if rejected {
		return
	}
	o := commandOutput(res.Text)
	edits := stepEdits(list, clear)
	if e, ok := windowEdit(src); ok {
		edits = []Edit{e}
	}
	if len(edits) > 0 {
		sure := !failed && (!known || exit == 0) && !o.running && clear
		if sure {
			head, _, _ := o.lines()
			for _, l := range head {
				sure = sure && !shellError(l)
			}
		}
		if !sure {
			for i := range edits {
				edits[i] = Edit{Kind: Unclear, Path: edits[i].Path}
			}
			edits = known1(edits, s)
		}
		s.edits(edits, at)
	}
	for i := range list {
		s.doubtBy(&list[i], o.text, at)
	}
	if !clear {
		if changes(src) {
			s.doubts.raise(at, Command)
		}
		return
	}
	if o.running {
		return
	}
	shownAt := s.tick()
	split(streams(list), &o, func(p string) int {
		if f := s.files[s.key(p)]; f != nil && f.counted() {
			return f.total
		}
		return -1
	}, func(run shown) { s.showAll(run, shownAt) })
}

// visit notes a folder that the session works in.
func (s *Set) visit(dir string) {
	if isAbs(dir) {
		s.dirs[s.key(dir)] = true
	}
}

// known1 keeps the edits of files that the set knows.
func known1(edits []Edit, s *Set) []Edit {
	out := edits[:0]
	for _, e := range edits {
		if s.files[s.key(e.Path)] != nil {
			out = append(out, e)
		}
	}
	return out
}

// refusedToRun reports whether a command was not run at all.
func refusedToRun(text string) bool {
	head := text[:min(len(text), 300)]
	return strings.Contains(head, "doesn't want to proceed") || strings.HasPrefix(head, "<tool_use_error>")
}

// changes reports whether a command that could not be read holds a word that
// changes files.
func changes(src string) bool {
	for _, w := range [...]string{">", "sed -i", "git checkout", "git stash", "git reset", "mv ", "rm ", "cp ", "tee ", "apply_patch", "write"} {
		if strings.Contains(src, w) {
			return true
		}
	}
	return false
}

// stay notes the folder that a shell is left in. Most agents start a new shell
// for every command; those whose shell stays say where it is, or are known.
func (s *Set) stay(tool, folder, text string) {
	if dir := folderIn(text); dir != "" && isAbs(dir) {
		s.settleIn(dir)
		s.shell = dir
		return
	}
	if tool == "Bash" || tool == "execute_bash" {
		s.shell = folder
	}
}

// doubtBy marks what a program may have changed. Out is what the whole command
// printed.
func (s *Set) doubtBy(st *step, out string, at moment) {
	e := st.effect()
	if f := s.script(st); f != nil {
		if code := f.text(); writesFiles(code) {
			e.code = code
		}
	}
	if (e.all || e.format) && unchanged(out) {
		return
	}
	if e.all && len(e.files) > 0 {
		e.all = !s.knows(st, e.files)
	}
	switch {
	case e.format && len(e.files) == 0:
		s.within(st, func(f *File) { f.reformat(at) })
	case e.all:
		s.within(st, func(f *File) { f.doubts.raise(at, Command) })
	case e.code != "":
		s.doubtNamed(st, e.code, at)
	}
	for _, w := range e.files {
		s.doubtFile(st, w, e.format, at)
	}
	for _, n := range e.names {
		for k, f := range s.files {
			if path.Base(k) == n {
				f.doubts.raise(at, Command)
			}
		}
	}
}

// knows reports whether one of the words names a file of the set.
func (s *Set) knows(st *step, words []word) bool {
	for _, w := range words {
		if p := st.path(w); p != "" && s.files[s.key(p)] != nil {
			return true
		}
	}
	return false
}

// doubtFile marks a file, or the files of a folder, that a program was given.
func (s *Set) doubtFile(st *step, w word, format bool, at moment) {
	mark := func(f *File) {
		if format {
			f.reformat(at)
		} else {
			f.doubts.raise(at, Command)
		}
	}
	if st.certain && !format && w.exact {
		switch st.name {
		case "mv", "cp", "rm", "tee", "sed", "gsed":
			return // its edits say more
		}
	}
	p := st.path(w)
	if p == "" { // a pattern or a variable
		s.within(st, mark)
		return
	}
	s.relatives(p)
	k := s.key(p)
	if f := s.files[k]; f != nil {
		mark(f)
		return
	}
	for name, f := range s.files {
		if k == "." || strings.HasPrefix(name, k+"/") {
			mark(f)
		}
	}
}

// doubtNamed marks the files that a program's text names. One that names none
// and looks for files may have changed any.
func (s *Set) doubtNamed(st *step, code string, at moment) {
	named := false
	s.work.Spend(len(s.files) * len(code))
	for k, f := range s.files {
		if strings.Contains(code, path.Base(k)) {
			f.doubts.raise(at, Command)
			named = true
		}
	}
	if finds(code) || !named && !strings.Contains(code, "tempfile") && !strings.Contains(code, "/tmp/") {
		s.within(st, func(f *File) { f.doubts.raise(at, Command) })
	}
}

// within calls mark with the files of the project that a program runs in: those
// below the highest folder around it that the session works in.
func (s *Set) within(st *step, mark func(*File)) {
	s.work.Spend(len(s.files))
	root := ""
	dir := st.dir
	if dir == "" {
		dir = s.base
	}
	if !st.lost && isAbs(dir) {
		dir = s.key(dir)
		for d := range s.dirs {
			if (d == dir || strings.HasPrefix(dir, d+"/")) && strings.Count(d, "/") > 1 && (root == "" || len(d) < len(root)) {
				root = d
			}
		}
	}
	for k, f := range s.files {
		if root == "" || !isAbs(k) || strings.HasPrefix(k, root+"/") {
			mark(f)
		}
	}
}

// reformat doubts a file that was edited since it was last formatted: a
// formatter leaves alone what it has formatted.
func (f *File) reformat(at moment) {
	if f.changed > f.formatted {
		f.doubts.raise(at, Command)
	}
	f.formatted = at.now
}

// script returns the file that an interpreter runs, where the set knows it.
func (s *Set) script(st *step) *File {
	switch st.name {
	case "python", "python3", "node", "bash", "sh", "tsx", "bun", "ruby", "perl", "php":
	default:
		return nil
	}
	for _, w := range st.args {
		if strings.HasPrefix(w.text, "-") {
			if w.text == "-m" || w.text == "-c" {
				return nil
			}
			continue
		}
		if p := st.path(w); p != "" {
			return s.files[s.key(p)]
		}
		return nil
	}
	return nil
}

// text returns the known lines of a file.
func (f *File) text() string {
	var b strings.Builder
	for _, r := range f.Regions {
		for _, l := range r.Lines {
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// search takes in the lines that a search tool found.
func (s *Set) search(call, res *chat.Part, at moment) {
	if res.Failed {
		return
	}
	p, content, numbers := "", false, false
	evidence.Members(call.Args, func(key, raw string) bool {
		switch key {
		case "path":
			p = evidence.Text(raw)
		case "outputmode":
			content = evidence.Text(raw) == "content"
		case "n":
			numbers = raw == "true"
		}
		return true
	})
	if !content || !numbers {
		return
	}
	o := output{text: plainNewlines(stripReminder(res.Text))}
	head, _, _ := o.lines()
	d := divider{lines: head, emit: func(run shown) {
		if isAbs(run.path) || s.base != "" {
			s.showAll(run, at)
		}
	}}
	d.found(&stream{grep: true, path: p, dir: s.base}, len(head))
}
