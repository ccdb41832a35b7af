package workset

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// takeCommand takes in what a shell ran and printed.
func (s *Set) takeCommand(tool string, c *work.Call, res *chat.Part, at moment) {
	s.noteShellFolder(tool, c.Folder, res.Text)
	if wasRefused(res.Text) {
		return
	}
	at.by = c.Command
	failed, exit, known := work.Status(res)
	o := commandOutput(res.Text)
	edits := c.Changes()
	if len(edits) > 0 && (failed || known && exit != 0 || o.running || !c.Clear || o.hasShellError()) {
		edits = slices.DeleteFunc(edits, func(e work.Op) bool { return s.File(e.Path) == nil })
		for i := range edits {
			edits[i] = work.Op{Kind: work.Unclear, Path: edits[i].Path}
		}
	}
	s.applyEdits(edits, at)
	for _, e := range c.Effects {
		if e.Tree > work.Undo && (failed && e.Tree != work.Stash || find.Any(res.Text, "No local changes to save", "CONFLICT")) {
			e.Tree = work.Stay // not done, or not to the end
		}
		s.doubtBy(e, &o, at)
	}
	if !c.Clear && changesFiles(c.Command) {
		s.doubtBy(work.Effect{Code: c.Command, Reach: work.NoOther}, &o, at)
	}
	if !c.Clear || o.running {
		return
	}
	shownAt := s.tick()
	show := func(run shown) {
		if end, ok := strings.CutPrefix(run.path, diffFile); ok {
			f := s.fileWith(end)
			if f == nil || !f.contradictsKnown(run.from, run.lines, unknownEnd) {
				return // a look at what was done is no sign that it is needed next
			}
			run.path = f.Path
		}
		s.showAll(run, shownAt)
	}
	s.doubtHidden(splitOutput(c.Streams, &o, s.File, show), &o, moment{msg: at.msg, now: shownAt.now - 1})
}

// doubtHidden doubts the files of streams whose lines are somewhere in the output, where
// it lacks a line that is known of them.
func (s *Set) doubtHidden(list []work.Stream, o *output, at moment) {
	lines, whole := o.lines()
	if len(list) == 0 || !whole {
		return
	}
	shows := map[string]bool{"": true}
	for _, l := range lines {
		shows[strings.TrimSpace(l)] = true
	}
	for _, st := range list {
		f := s.File(st.Path)
		if f == nil || st.Found || st.Numbered {
			continue
		}
		lacks := slices.ContainsFunc(f.Regions, func(r Region) bool {
			from, to := max(0, st.From-r.From), len(r.Lines)
			if st.Count != work.ToEnd {
				to = min(to, st.From+st.Count-r.From)
			}
			return r.From > 0 && from < to && slices.ContainsFunc(r.Lines[from:to], func(l Line) bool { return !shows[strings.TrimSpace(l.Text)] })
		})
		if lacks {
			f.doubts.raise(at, Differs)
		}
	}
}

// wasRefused reports whether a command was not run. A longer text may speak of
// permissions too.
func wasRefused(text string) bool {
	_, undone := work.Refusal(text[:min(len(text), 200)])
	return undone && len(text) < 2000 || strings.HasPrefix(text, "<tool_use_error>")
}

// fileWith returns the known file whose path ends so, nil where none or several do.
func (s *Set) fileWith(end string) (found *File) {
	for k, f := range s.files {
		if strings.HasSuffix("/"+k, "/"+end) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
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

// doubtBy marks what a program may have changed: the files that it names, or those of
// its reach where it names none.
func (s *Set) doubtBy(e work.Effect, o *output, at moment) {
	if e.Tree != work.Stay && e.Code == "" && s.changeTree(e.Tree, e.Dir, at) {
		return
	}
	if e.Script != "" {
		if f := s.File(e.Script); f != nil {
			e.Code = f.knownText()
		}
		if !work.WritesFiles(e.Code) && !work.IsPatch(e.Code) {
			return
		}
	}
	listed, all := []string(nil), true
	if e.Reach == work.Listed {
		listed, all = o.changedFiles()
	} else if e.Tree == work.Stay && nothingDone.In(o.text) {
		return
	}
	named := e.Reach == work.NoOther || find.Any(e.Code, "tempfile", "/tmp/")
	s.work.Spend(len(s.files) * (len(e.Code) + 1))
	for k := range s.files {
		named = named || strings.Contains(e.Code, path.Base(k))
	}
	for k, f := range s.files {
		switch {
		case namesFile(e.Code, k) || e.Reach == work.NoOther && matchesFile(e.Code, k):
			if e.Tree == work.Undo && f.committed != nil && slices.ContainsFunc(strings.Fields(e.Code), func(w string) bool { return strings.HasSuffix("/"+k, "/"+s.fileKey(w)) }) {
				f.returnTo(f.committed)
			}
		case named || !s.mayReach(e.Dir, k), (e.Tree == work.Undo || e.Tree == work.Stash) && e.Code == "" && f.committed == nil, e.Reach == work.Edited && f.counted <= s.formatted,
			!all && !slices.ContainsFunc(listed, func(p string) bool { return strings.HasSuffix(k, p) }):
			continue
		}
		f.doubts.raise(at, Command)
	}
	if e.Reach == work.Edited && !named {
		s.formatted = at.now
	}
}

// mayReach reports whether a program that runs in dir may change the file with a key.
// Programs find the root of a project: that of the session where dir is in it, and any
// folder above dir but a home while the session's is not known.
func (s *Set) mayReach(dir, key string) bool {
	if !work.IsAbs(dir) {
		return true
	}
	dir = s.fileKey(dir)
	root := dir
	if base := s.fileKey(s.base); s.base != "" && strings.HasPrefix(dir+"/", base+"/") {
		root = base
	}
	for s.base == "" && len(root) > 1 && !strings.HasPrefix(key, root+"/") {
		root = path.Dir(root)
	}
	return strings.HasPrefix(key, root+"/") && (root == dir || !noProject.MatchString(root))
}

// noProject are folders with many projects.
var noProject = regexp.MustCompile(`^(?:[a-z]:)?(?:/(?:Users|home)(?:/[^/]+)?|/root|/tmp)?$`)

// changedFiles returns the ends of the paths that git lists as changed, and whether
// there may be more.
func (o *output) changedFiles() (ends []string, more bool) {
	for line := range strings.Lines(o.text) {
		if m := statLine.FindStringSubmatch(line); m != nil {
			ends = append(ends, strings.TrimPrefix(m[1], "..."))
		}
		if m := statSum.FindStringSubmatch(line); m != nil {
			return ends, m[1] != strconv.Itoa(len(ends))
		}
	}
	return nil, !nothingDone.In(o.text)
}

// nothingDone is what git and formatters write where they changed no file, or got nothing.
var nothingDone = find.Words("Already up to date", "Already up-to-date", "Current branch ", "No fixes applied", "left unchanged.",
	"cannot pull with rebase", "Could not read from remote repository", "Could not resolve host")

// What git writes of the files that it changed: one line for each, and their number.
var (
	statLine = regexp.MustCompile(`^ (\S.*?) +\|  *(?:\d|Bin)`)
	statSum  = regexp.MustCompile(`^ (\d+) files? changed`)
)

// matchesFile reports whether a pattern among these words may be meant for a file.
func matchesFile(code, key string) bool {
	for w := range strings.FieldsSeq(code) {
		if ok, _ := path.Match(path.Base(w), path.Base(key)); ok && strings.ContainsAny(w, "*?") {
			return true
		}
	}
	return false
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
func (s *Set) changeTree(tree work.Tree, dir string, at moment) bool {
	if tree == work.Unstash && s.stashedAt == 0 {
		return false
	}
	for k, f := range s.files {
		known := f.committed != nil && len(f.committed.Regions) > 0
		switch {
		case !s.mayReach(dir, k):
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
		s.stashedAt = at.now
	case work.Unstash:
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
