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
	list, folder, clear := steps(src, dir)
	s.stay(tool, folder, res.Text)
	failed, exit, known := evidence.Status(res)
	rejected := refusedToRun(res.Text)
	if rejected {
		return
	}
	o := commandOutput(res.Text)
	if edits := shellEdits(src, dir); len(edits) > 0 {
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
		s.doubtBy(&list[i], at)
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
		if f := s.files[s.key(p)]; f != nil {
			return f.total
		}
		return -1
	}, func(run shown) { s.showAll(run, shownAt) })
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

// doubtBy marks what a program may have changed.
func (s *Set) doubtBy(st *step, at moment) {
	e := st.effect()
	if st.certain && (st.name == "mv" || st.name == "cp" || st.name == "rm" || st.name == "tee") && !e.all {
		return // its edits say more
	}
	script := s.script(st)
	if script != nil {
		if !writesFiles(script.text()) {
			script = nil
		} else {
			e.all = true
		}
	}
	if e.all {
		s.doubts.raise(at, Command)
		return
	}
	for _, w := range e.files {
		p := st.path(w)
		if p == "" {
			s.doubts.raise(at, Command)
			return
		}
		s.relatives(p)
		if f := s.files[s.key(p)]; f != nil {
			if st.name != "sed" && st.name != "gsed" {
				f.doubts.raise(at, Command)
			}
			continue
		}
		s.below(p, at)
		if p == st.dir || p == "." {
			s.doubts.raise(at, Command)
		}
	}
	for _, n := range e.names {
		for k, f := range s.files {
			if path.Base(k) == n {
				f.doubts.raise(at, Command)
			}
		}
	}
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
