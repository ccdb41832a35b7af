package workset

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// command takes in what a shell ran and printed.
func (s *Set) command(tool string, c *work.Call, res *chat.Part, at moment) {
	s.visit(c.Dir)
	s.visit(c.Folder)
	s.stay(tool, c.Folder, res.Text)
	if refusedToRun(res.Text) {
		return
	}
	failed, exit, known := evidence.Status(res)
	o := commandOutput(res.Text)
	edits := changes(c)
	if len(edits) > 0 && (failed || known && exit != 0 || o.running || !c.Clear || o.hasShellError()) {
		edits = slices.DeleteFunc(edits, func(e Edit) bool { return s.files[s.key(e.Path)] == nil })
		for i := range edits {
			edits[i] = Edit{Kind: Unclear, Path: edits[i].Path}
		}
	}
	s.edits(edits, at)
	for i := range c.Effects {
		s.doubtBy(c.Effects[i], o.text, at)
	}
	if !c.Clear && changesFiles(c.Command) {
		s.doubts.raise(at, Command)
	}
	if !c.Clear || o.running {
		return
	}
	shownAt := s.tick()
	split(c.Streams, &o, func(run shown) { s.showAll(run, shownAt) })
}

// visit notes a folder that the session works in.
func (s *Set) visit(dir string) {
	if work.IsAbs(dir) {
		s.dirs[s.key(dir)] = true
	}
}

// refusedToRun reports whether a command was not run at all.
func refusedToRun(text string) bool {
	head := text[:min(len(text), 300)]
	return strings.Contains(head, "doesn't want to proceed") || strings.HasPrefix(head, "<tool_use_error>")
}

// changesFiles reports whether a command that could not be read holds a word that
// changes files.
func changesFiles(src string) bool {
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
	if dir := folderIn(text); dir != "" && work.IsAbs(dir) {
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
func (s *Set) doubtBy(e work.Effect, out string, at moment) {
	if f := s.files[s.key(e.Script)]; e.Script != "" && f != nil {
		if code := f.text(); work.WritesFiles(code) {
			e.Code = code
		}
	}
	if e.All && nothingDone.In(out) {
		return
	}
	known := slices.ContainsFunc(e.Files, func(p string) bool { return p != "" && s.files[s.key(p)] != nil })
	if e.All && !known || slices.Contains(e.Files, "") || e.Code != "" && !s.doubtNamed(e.Code, at) {
		s.doubtProject(&e, at)
	}
	for _, p := range e.Files {
		s.doubtFile(p, at)
	}
}

// nothingDone is what programs print that changed nothing.
var nothingDone = find.Words("Already up to date", "Already up-to-date", "No local changes to save", "is up to date.", "No fixes applied")

// doubtFile marks a file, or the files of a folder, that a program was given.
func (s *Set) doubtFile(p string, at moment) {
	s.relatives(p)
	k := s.key(p)
	for name, f := range s.files {
		if name == k || k == "." || strings.HasPrefix(name, k+"/") {
			f.doubts.raise(at, Command)
		}
	}
}

// doubtNamed marks the files that a program's text names. It reports false where
// the program may have changed any: it names none, or looks for files.
func (s *Set) doubtNamed(code string, at moment) bool {
	named := strings.Contains(code, "tempfile") || strings.Contains(code, "/tmp/")
	s.work.Spend(len(s.files) * len(code))
	for k, f := range s.files {
		if strings.Contains(code, path.Base(k)) {
			f.doubts.raise(at, Command)
			named = true
		}
	}
	return named && !work.FindsFiles(code)
}

// doubtProject marks the files of the project that a program runs in: those below
// the highest folder around it that the session works in.
func (s *Set) doubtProject(e *work.Effect, at moment) {
	s.work.Spend(len(s.files))
	root := ""
	if dir := cmp.Or(e.Dir, s.base); !e.Lost && work.IsAbs(dir) {
		if dir = s.key(dir); strings.Count(dir, "/") > 1 {
			root = dir
		}
		for d := range s.dirs {
			if strings.HasPrefix(dir, d+"/") && strings.Count(d, "/") > 1 && len(d) < len(root) {
				root = d
			}
		}
	}
	for k, f := range s.files {
		if root == "" || !work.IsAbs(k) || strings.HasPrefix(k, root+"/") {
			f.doubts.raise(at, Command)
		}
	}
}

// text returns the known lines of a file.
func (f *File) text() string {
	var b strings.Builder
	for i := range f.Regions {
		b.WriteString(f.Regions[i].text())
	}
	return b.String()
}
