package workset

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// takeCommand takes in what a shell ran and printed.
func (s *Set) takeCommand(tool string, c *work.Call, res *chat.Part, at moment) {
	s.noteShellFolder(tool, c.Folder, res.Text)
	if refusedToRun(res.Text) {
		return
	}
	failed, exit, known := work.Status(res)
	o := commandOutput(res.Text)
	edits := c.Changes()
	if len(edits) > 0 && (failed || known && exit != 0 || o.running || !c.Clear || o.hasShellError()) {
		edits = slices.DeleteFunc(edits, func(e work.Op) bool { return s.files[s.fileKey(e.Path)] == nil })
		for i := range edits {
			edits[i] = work.Op{Kind: work.Unclear, Path: edits[i].Path}
		}
	}
	s.applyEdits(edits, at)
	for _, e := range c.Effects {
		if e.Tree > work.Undo && (failed && e.Tree != work.Stash || find.Any(res.Text, "No local changes to save", "CONFLICT")) {
			e.Tree = work.Stay // not done, or not to the end
		}
		s.doubtBy(e, at)
	}
	if !c.Clear && changesFiles(c.Command) {
		s.doubts.raise(at, Command)
	}
	if !c.Clear || o.running {
		return
	}
	shownAt := s.tick()
	splitOutput(c.Streams, &o, func(run shown) { s.showAll(run, shownAt) })
}

// refusedToRun reports whether a command was not run at all.
func refusedToRun(text string) bool {
	head := text[:min(len(text), 300)]
	return strings.Contains(head, "doesn't want to proceed") || strings.HasPrefix(head, "<tool_use_error>")
}

// changesFiles reports whether a command that could not be read holds a word that
// changes files.
func changesFiles(src string) bool {
	return find.Any(src, ">", "sed -i", "git checkout", "git stash", "git reset", "mv ", "rm ", "cp ", "tee ", "apply_patch", "write")
}

// noteShellFolder notes the folder that a shell is left in. Most agents start a new shell
// for every command; those whose shell stays say where it is, or are known.
func (s *Set) noteShellFolder(tool, folder, text string) {
	if dir := folderIn(text); dir != "" && work.IsAbs(dir) {
		s.settleIn(dir)
		s.shell = dir
		return
	}
	if (tool == "Bash" || tool == "execute_bash") && !find.Any(text[:min(len(text), 400)], " cd: ", ":cd:") { // else there is no such folder
		s.shell = folder
	}
}

// doubtBy marks what a program may have changed: the files that it names, or all
// where it names none.
func (s *Set) doubtBy(e work.Effect, at moment) {
	if e.Tree != work.Stay && e.Code == "" && s.changeTree(e.Tree, at) {
		return
	}
	if e.Script != "" {
		if f := s.files[s.fileKey(e.Script)]; f != nil {
			e.Code = f.knownText()
		}
		if !work.WritesFiles(e.Code) {
			return
		}
	}
	named := strings.Contains(e.Code, "tempfile") || strings.Contains(e.Code, "/tmp/")
	s.work.Spend(len(s.files) * (len(e.Code) + 1))
	for k, f := range s.files {
		named = named || strings.Contains(e.Code, path.Base(k))
		if namesFile(e.Code, k) {
			f.doubts.raise(at, Command)
			if e.Tree == work.Undo && f.committed != nil && slices.ContainsFunc(strings.Fields(e.Code), func(w string) bool { return strings.HasSuffix("/"+k, "/"+s.fileKey(w)) }) {
				f.returnTo(f.committed)
				f.doubts.raise(at, Command)
			}
		}
	}
	if !named && !e.Only {
		s.doubts.raise(at, Command)
	}
}

// namesFile reports whether code may name the file with a path: by its name, and no
// other folder before that.
func namesFile(code, key string) bool {
	dir, name := path.Split(key)
	for i := strings.Index(code, name); i >= 0; i = strings.Index(code, name) {
		from := 1 + strings.LastIndexFunc(code[:i], func(r rune) bool {
			return r != '/' && r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		folder := code[from:i]
		if up := strings.LastIndex(folder, "./"); up >= 0 {
			folder = folder[up+2:]
		}
		open := folder == "/" || from > 0 && strings.IndexByte("$%*})]~@", code[from-1]) >= 0 // something stands before it
		if open || strings.HasSuffix("/"+dir, "/"+folder) || strings.HasSuffix("/"+folder, "/"+dir) {
			return true
		}
		code = code[i+len(name):]
	}
	return false
}

// changeTree follows what git does with all changes since the last commit, as far as
// files were known before them, and reports whether everything is as certain as it was.
func (s *Set) changeTree(tree work.Tree, at moment) bool {
	if tree == work.Unstash && s.stashedAt == 0 {
		return false
	}
	for _, f := range s.files {
		known := f.committed != nil && len(f.committed.Regions) > 0
		switch {
		case tree == work.Commit:
			f.committed = nil
		case tree == work.Unstash && f.stashed != nil && f.Edited == f.stashed.Edited:
			f.returnTo(f.stashed)
		case tree == work.Unstash && f.stashed != nil: // changed in between
			f.doubts.raise(at, Command)
		case tree == work.Stash && known:
			f.stashed = f.copyNow()
			f.returnTo(f.committed)
		case tree == work.Stash:
			f.stashed = nil
		case known: // Undo
			f.returnTo(f.committed)
		}
	}
	switch tree {
	case work.Stash:
		s.stashedAt, s.unstashed = at.now, s.doubts
	case work.Unstash:
		if s.doubts.strong == s.stashedAt {
			s.doubts.strong, s.doubts.cause = s.unstashed.strong, s.unstashed.cause
		}
		s.stashedAt = 0
	}
	return tree == work.Unstash || tree == work.Commit
}

// knownText returns the known lines of a file.
func (f *File) knownText() string {
	var b strings.Builder
	for i := range f.Regions {
		for k := range f.Regions[i].Lines {
			b.WriteString(f.Regions[i].Lines[k].Text + "\n")
		}
	}
	return b.String()
}

// takeSearch takes in the lines that a search tool found.
func (s *Set) takeSearch(call, res *chat.Part, at moment) {
	if res.Failed {
		return
	}
	p, content, numbers := "", false, false
	work.Members(call.Args, func(key, raw string) bool {
		switch key {
		case "path":
			p = work.Text(raw)
		case "outputmode":
			content = work.Text(raw) == "content"
		case "n":
			numbers = raw == "true"
		}
		return true
	})
	if !content || !numbers {
		return
	}
	o := output{text: plainNewlines(stripReminder(res.Text))}
	head, _ := o.lines()
	d := divider{lines: head, emit: func(run shown) {
		if work.IsAbs(run.path) || s.base != "" {
			s.showAll(run, at)
		}
	}}
	d.takeFound(&work.Stream{Path: p, Dir: s.base}, len(head))
}
