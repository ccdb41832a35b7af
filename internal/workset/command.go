package workset

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// takeCommand takes in what a shell ran and printed.
func (s *Set) takeCommand(tool string, c *work.Call, res *chat.Part, at moment) {
	s.noteShellFolder(tool, c.Folder, res.Text)
	if work.NotRun(res.Text) {
		return
	}
	at.by = c.Command
	failed, exit, known := work.Status(res)
	o := commandOutput(res.Text)
	edits := slices.DeleteFunc(c.Changes(), func(e work.Op) bool { return e.Undo })
	if broken := o.hasShellError(); len(edits) > 0 && (failed || known && exit != 0 || o.running || !c.Clear || broken) {
		done := 0
		if !broken {
			done = writtenFirst(c.Ops)
		}
		edits = append(edits[:done:done], slices.DeleteFunc(edits[done:], func(e work.Op) bool { return s.File(e.Path) == nil })...)
		for i := range edits[done:] {
			edits[done+i] = work.Op{Kind: work.Unclear, Path: edits[done+i].Path}
		}
	}
	s.applyEdits(edits, at)
	at.now++ // programs change what was written before them: a tick leaves this moment free
	for _, e := range c.Effects {
		if e.Tree == work.Commit && failed { // a hook may have changed files, unless git did not begin
			if e.Tree = work.Stay; strings.Contains(res.Text, "fatal: ") {
				continue
			}
		}
		if e.Code == "" && e.Tree == work.Stay && len(c.Effects) == 1 {
			if files := pulledFiles(res.Text); files != "" {
				e.Code, e.Tree, e.Reach = files, work.Commit, work.NoOther
			}
		}
		if e.Tree != work.Stay || !nothingDone.In(res.Text) {
			s.doubtBy(e, at)
		}
	}
	switch {
	case !c.Clear:
		s.doubtBy(work.Effect{Code: c.Command, Reach: work.NoOther}, at)
	case !o.running:
		s.splitOutput(c.Streams, &o, s.tick())
	}
}

// pulledFiles returns the list of files that git brought in, where it is whole.
func pulledFiles(text string) string {
	m := pulled.FindStringSubmatch(text)
	if m == nil || strconv.Itoa(strings.Count(m[1], " | ")) != m[2] {
		return ""
	}
	return m[1]
}

var pulled = regexp.MustCompile(`(?s)\n(?:Fast-forward|Merge made by [^\n]*)\n(.*?)\n (\d+) files? changed`)

// writtenFirst returns how many files a command writes before it does anything else: what
// failed came later.
func writtenFirst(ops []work.Op) int {
	n := slices.IndexFunc(ops, func(o work.Op) bool { return o.Kind != work.Change || !o.Whole || o.Unsure })
	return max(n, 0)
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
func (s *Set) doubtBy(e work.Effect, at moment) {
	script := s.File(e.Script)
	if e.Script != "" {
		if script != nil {
			e.Code = script.knownText()
		}
		if !work.WritesFiles(e.Code) && !work.IsPatch(e.Code) {
			return
		}
	}
	named := e.Reach == work.NoOther || find.Any(e.Code, "tempfile", "/tmp/")
	s.work.Spend(len(s.files) * (len(e.Code) + 1))
	for k := range s.files {
		named = named || hasName(e.Code, path.Base(k))
	}
	lost := e.Code == "" && (e.Tree == work.Undo || e.Tree == work.Stash) // what was not committed
	for k, f := range s.files {
		switch {
		case e.Tree == work.Commit && e.Code == "":
			if s.mayReach(e.Dir, k) {
				f.uncommitted = false
			}
			continue
		case f == script: // does not change itself
			continue
		case e.Tree == work.Undo && f.counted != at.now-1 && (lost && s.mayReach(e.Dir, k) || s.takesBack(&e, k)): // the same command did not change it
			if f.uncommitted {
				f.forgetText()
				f.uncommitted = false
			}
			continue
		case namesFile(e.Code, k, e.Reach == work.NoOther):
			f.uncommitted = f.uncommitted || e.Tree == work.Stay
		case named || !s.mayReach(e.Dir, k) || lost && !f.uncommitted || e.Reach == work.Edited && f.counted <= s.formatted:
			continue
		case e.Reach == work.Edited:
			f.uncommitted = true
		}
		f.doubts.raise(at, Command)
	}
	if e.Reach == work.Edited && !named {
		s.formatted = at.now
	}
}

// namesFile reports whether code may mean a file, by its name or by a pattern.
func namesFile(code, key string, patterns bool) bool {
	name := path.Base(key)
	return hasName(code, name) || patterns && slices.ContainsFunc(strings.Fields(code), func(w string) bool {
		ok, _ := path.Match(path.Base(w), name)
		return ok && strings.ContainsAny(w, "*?")
	})
}

// hasName reports whether a file's name stands in code, from the start of a word on.
func hasName(code, name string) bool {
	for from := 0; ; from++ {
		i := strings.Index(code[from:], name)
		if i < 0 {
			return false
		}
		if from += i; from == 0 || !wordEnd.MatchString(code[from-1:from]) {
			return true
		}
	}
}

// wordEnd is what a longer name may have before a shorter one.
var wordEnd = regexp.MustCompile(`[\w.-]`)

// takesBack reports whether the words of git checkout or restore name a file or a folder
// above it, and no revision and nothing else that makes it another text than the last
// one committed. A revision stands before all files.
func (s *Set) takesBack(e *work.Effect, key string) (found bool) {
	files := false
	for w := range strings.FieldsSeq(e.Code) {
		p := s.fileKey(work.Join(e.Dir, w))
		switch {
		case strings.HasPrefix(key+"/", p+"/") || !work.IsAbs(p) && strings.HasSuffix(key, "/"+p):
			found, files = true, true
		case w == "--" || s.files[p] != nil:
			files = true
		case !files && !slices.Contains(plainUndo, w):
			return false
		}
	}
	return found
}

// plainUndo are words before the files that name no other revision.
var plainUndo = strings.Fields("HEAD -q --quiet -f --force -W --worktree -S --staged")

// mayReach reports whether a program that runs in dir may change the file with a key.
// Programs find the root of a project: any folder above dir up to that of the session,
// but no home and no folder with another project beside the session's.
func (s *Set) mayReach(dir, key string) bool {
	if !work.IsAbs(dir) || !work.IsAbs(key) {
		return true
	}
	dir, base := s.fileKey(dir), s.fileKey(s.base)
	root := dir
	for root != base && len(root) > 1 && !strings.HasPrefix(key, root+"/") {
		root = path.Dir(root)
	}
	return strings.HasPrefix(key, root+"/") && (root == dir || !strings.HasPrefix(base, root+"/") && !noProject.MatchString(root))
}

// noProject are folders with many projects.
var noProject = regexp.MustCompile(`^(?:[a-z]:)?(?:/(?:Users|home)(?:/[^/]+)?|/root|/tmp)?$`)

// nothingDone is what git and formatters write where they changed no file, or got nothing.
var nothingDone = find.Words("Already up to date", "Already up-to-date", "Current branch ", "No fixes applied", "left unchanged.",
	"cannot pull with rebase", "Could not read from remote repository", "Could not resolve host")

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
	p, numbers := "", false
	work.Members(call.Args, func(key, raw string) bool {
		switch key {
		case "path":
			p = work.Text(raw)
		case "n":
			numbers = raw == "true"
		}
		return true
	})
	if !numbers {
		return
	}
	o := output{text: plainNewlines(stripReminder(res.Text))}
	head, _ := o.lines()
	d := divider{lines: head, tidied: true, emit: func(run shown) {
		if work.IsAbs(run.path) || s.base != "" {
			s.showAll(run, at)
		}
	}}
	d.takeFound(&work.Stream{Path: p, Dir: s.base}, len(head))
}
