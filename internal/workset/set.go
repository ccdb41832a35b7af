package workset

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/work"
)

// Set is the working set of a history as far as it was read: every file that was
// shown or changed, as it stands. It is not safe for concurrent use.
type Set struct {
	kinds *work.Kinds
	files map[string]*File
	calls map[string]*chat.Part

	at     moment          // the clock, which each event moves on
	doubts                 // of all files
	base   string          // the folder that the session works in, "" while it is not known
	shell  string          // the folder of a shell that stays where it was taken
	window string          // the file that is open in an editor with a window
	drives bool            // paths with drive letters were seen
	home   string          // the user's folder, "" while no path in it was seen
	bare   map[string]bool // tools that show lines without numbers

	formatted int // when a formatter last ran over all files

	work guard.Work // the work done for all files

	// watch is told of lines and edits before they are taken in: for measuring.
	watch interface {
		shows(f *File, run shown)
		edits(f *File, e *work.Op)
	}

	explorers []string // the ids of agents that only look around

	reported chat.Part // a call that the client told last of those it made by itself

	placed map[*chat.Part]int // by result: the lines of files that it showed
	lines  int                // of files that were shown so far
}

// New returns an empty set. A nil Kinds is the default.
func New(kinds *work.Kinds) *Set {
	return &Set{kinds: kinds, files: make(map[string]*File), calls: make(map[string]*chat.Part), bare: make(map[string]bool), placed: make(map[*chat.Part]int)}
}

// Add reads message i. Messages are added in order, each once.
func (s *Set) Add(h chat.History, i int) {
	m := h.At(i)
	s.at.msg = i
	if m.StartsTurn() {
		s.doubts.raise(s.tick(), Turn)
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		s.work.Spend(len(p.Text) + len(p.Args))
		switch p.Kind {
		case chat.ToolCall:
			s.calls[p.ID] = p
		case chat.ToolResult:
			if call := s.calls[p.ID]; call != nil {
				delete(s.calls, p.ID)
				before := s.lines
				s.takeResult(call, p, s.tick())
				if n := s.lines - before; n > 0 {
					s.placed[p] = n
				}
			}
			s.readNotes(p.Text[max(0, len(p.Text)-4096):])
		case chat.Text:
			if i == 0 || m.Role == chat.System {
				s.FindFolder(p.Text)
			}
			if m.Role == chat.User {
				if path, rest, _ := strings.Cut(p.Text, "\n"); work.IsAbs(path) && len(path) < maxPath && ownNumbers(rest) { // somebody else changed it
					s.noteChanged(path, rest)
				}
				s.readNotes(p.Text)
				if strings.Contains(p.Text, " of calling the ") || strings.Contains(p.Text, "Called the ") {
					s.readReported(p.Text)
				}
			}
		}
	}
}

// Files returns the files, the most recently touched first. They are the set's
// own and change when it reads on.
func (s *Set) Files() []*File {
	list := make([]*File, 0, len(s.files))
	for _, f := range s.files {
		for i := range f.Regions {
			lines := f.Regions[i].Lines
			for k := range lines {
				lines[k].Doubt = f.doubtSince(lines[k].seen)
			}
		}
		for i := range f.Loose {
			f.Loose[i].Doubt = f.doubtSince(f.Loose[i].seen)
		}
		f.Complete = !f.Deleted && f.isComplete()
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *File) int {
		if a.Touched != b.Touched {
			return b.Touched - a.Touched
		}
		return strings.Compare(a.Path, b.Path)
	})
	return list
}

// File returns the file with a path, as the set names it, or nil.
func (s *Set) File(p string) *File { return s.files[s.fileKey(p)] }

// Placed returns how many lines of files a result showed, as far as their places
// are known.
func (s *Set) Placed(result *chat.Part) int { return s.placed[result] }

// tick moves the clock on. It leaves a moment free in between, so that what a
// read contradicts can be doubted as of just before it.
func (s *Set) tick() moment {
	s.at.now += 2
	return s.at
}

// fileKey returns a path in the one form in which it is looked up.
func (s *Set) fileKey(p string) string {
	if s.base != "" {
		p = work.Join(s.base, p)
	}
	if work.HasDrive(p) {
		s.drives = true
		p = strings.ToLower(p[:1]) + strings.ReplaceAll(p[1:], `\`, "/")
	} else if s.drives && len(p) > 2 && p[0] == '/' && p[2] == '/' { // a Unix shell on Windows
		p = p[1:2] + ":" + p[2:]
	}
	if s.home == "" {
		s.home = inHome.FindString(p)
	}
	if strings.HasPrefix(p, "~/") && s.home != "" {
		p = s.home + p[2:]
	}
	return path.Clean(p)
}

// inHome begins the path of what is in a user's folder.
var inHome = regexp.MustCompile(`^(?:(?:[a-z]:)?/(?:Users|home)/[^/]+|/root)/`)

// Base returns the folder that the session works in, "" where it is not known.
func (s *Set) Base() string { return s.base }

// fileAt returns the file with a path and makes it where there is none.
func (s *Set) fileAt(p string) *File {
	k := s.fileKey(p)
	f := s.files[k]
	if f == nil {
		f = &File{Path: p, shared: &s.doubts, total: -1, Touched: -1, Edited: -1, Read: -1}
		s.files[k] = f
	}
	return f
}

// FindFolder reads the folder that the session works in out of a system prompt, or of
// what a client says first.
func (s *Set) FindFolder(text string) {
	if m := namedFolder.FindStringSubmatch(text); m != nil && s.base == "" {
		s.settleIn(m[1])
	}
}

var namedFolder = regexp.MustCompile("(?im)(?:working directory|working in the directory|current directory)(?: is)?:? [\"`]?((?:/|[a-z]:[/\\\\])[^\\n\"`]*[^\\s\"`.,])")

// settleIn notes the folder that the session works in. Files that were named
// from it get their full paths.
func (s *Set) settleIn(dir string) {
	if s.base != "" || !work.IsAbs(dir) || dir[0] == '~' {
		return
	}
	s.base = dir
	for k, f := range s.files {
		if !work.IsAbs(k) {
			s.renameFile(k, f, work.Join(dir, f.Path))
		}
	}
}

// renameFile gives a file its full path.
func (s *Set) renameFile(key string, f *File, full string) {
	delete(s.files, key)
	k := s.fileKey(full)
	if other := s.files[k]; other != nil { // two views of one file that did not know of each other
		f.doubts.raise(s.at, Differs)
		other.doubts.raise(s.at, Differs)
		if f.Touched < other.Touched {
			return
		}
	}
	f.Path = full
	s.files[k] = f
}

// anyNote finds the notes that are rare.
var anyNote = find.Words("<task-notification>", "<agent-notification>", modifiedNote)

const modifiedNote = " was modified, either by the user or by a linter"

// readNotes reads what an agent's harness tells about folders and files.
func (s *Set) readNotes(text string) {
	if i := strings.Index(text, "<cwd>"); i >= 0 {
		if dir, _, ok := strings.Cut(text[i+5:], "</cwd>"); ok {
			s.settleIn(dir)
		}
	}
	if !anyNote.In(text) {
		return
	}
	if find.Any(text, "<task-notification>", "<agent-notification>") {
		s.work.Spend(len(s.explorers) * (len(text) + 1))
		if !find.Any(text, s.explorers...) {
			s.doubtBySubAgent(text, s.tick())
		}
	}
	for rest := text; ; {
		i := strings.Index(rest, modifiedNote)
		if i < 0 {
			break
		}
		line := rest[strings.LastIndexByte(rest[:i], '\n')+1 : i]
		if _, p, ok := strings.Cut(line, "Note: "); ok {
			_, after, _ := strings.Cut(rest[i:], "\n")
			s.noteChanged(p, after)
		}
		rest = rest[i+10:]
	}
}

// maxPath bounds a line that is taken for a path.
const maxPath = 400

// noteChanged takes in a file that somebody else changed, whose note shows lines by
// their numbers, in one run or in several.
func (s *Set) noteChanged(p, text string) {
	if f := s.File(p); f != nil {
		f.doubts.raise(s.tick(), Command)
	}
	text, _, _ = strings.Cut(text, "</system-reminder>")
	for at := s.tick(); text != ""; {
		if !ownNumbers(text) {
			_, text, _ = strings.Cut(text, "\n")
			continue
		}
		first, lines, rest, _ := readNumbered(text)
		s.showAll(shown{p, first, withoutLast(lines), unknownEnd, false}, at)
		text = rest
	}
}

// takeResult reads a call together with what came of it.
func (s *Set) takeResult(call, res *chat.Part, at moment) {
	if work.StartsAgent(call.Name) {
		if !work.OnlyExplores(call) {
			s.doubtBySubAgent(res.Text, at)
		} else if id := work.AgentID(res.Text); id != "" {
			s.explorers = append(s.explorers, id)
		}
		return
	}
	in := work.Context{Dir: s.base, Shell: s.shell}
	if s.kinds.Of(call.Name) == work.ToolRead {
		in.Dir = "" // reads name the file as the agent does
	}
	c := work.Read(call, s.kinds.Of(call.Name), in)
	shell, folder := s.fileKey(s.shell), s.fileKey(c.Folder)
	if below := strings.TrimPrefix(shell, s.fileKey(s.base)); below != "" && folder == shell+below { // cd src, twice: the shell was taken back in between
		in.Shell = s.base
		c = work.Read(call, s.kinds.Of(call.Name), in)
	}
	switch c.Tool {
	case work.ToolShell:
		if c.Command != "" {
			s.takeCommand(call.Name, c, res, at)
		}
	case work.ToolRead:
		s.takeRead(call.Name, c.Ops, res, at)
	case work.ToolSearch:
		s.takeSearch(call, res, at)
	default:
		s.takeChange(c.Changes(), res, at)
	}
}

// doubtBySubAgent marks all files as ones that another agent may have changed, those above
// all that its report names.
func (s *Set) doubtBySubAgent(report string, at moment) {
	s.doubts.raise(at, SubAgent)
	s.work.Spend(len(s.files) * (len(report) + 1))
	for key, f := range s.files {
		if name := path.Base(key); len(name) > 3 && hasName(report, name) {
			f.doubts.raise(at, Reported)
		}
	}
}

// noText is what tools for reading write instead of a file's text: that the agent has
// it already, or what stands in a folder.
var noText = find.Words("unchanged since last read", "File unchanged", "<type>directory</type>", "files and directories up to")

// takeRead takes in what a tool for reading files showed.
func (s *Set) takeRead(tool string, ops []work.Op, res *chat.Part, at moment) {
	if len(ops) != 1 || strings.Contains(ops[0].Path, "://") {
		return
	}
	op := &ops[0]
	s.window = op.Path
	if res.Failed {
		return
	}
	text := plainNewlines(res.Text)
	head := text[:min(len(text), 300)]
	if noText.In(head) {
		return
	}
	first, lines, end, ok := readResult(text, op.From, op.To, s.bare[tool])
	if !ok {
		return
	}
	if len(lines) > 2 && !s.bare[tool] {
		line, _, _ := strings.Cut(stripReminder(text), "\n")
		s.bare[tool] = line == lines[0] && line != ""
	}
	s.showAll(shown{op.Path, first, lines, end, firstCut(text, lines) < 0}, at)
}

// showAll places the lines of a run that were not shortened.
func (s *Set) showAll(run shown, at moment) {
	if run.path == "" {
		return
	}
	from := 0
	for i, l := range run.lines {
		if !run.whole && cutShort(l) {
			s.showRun(shown{run.path, run.from + from, run.lines[from:i], unknownEnd, true}, at)
			from = i + 1
		}
	}
	s.showRun(shown{run.path, run.from + from, run.lines[from:], run.end, true}, at)
}

func (s *Set) showRun(run shown, at moment) {
	if len(run.lines) == 0 {
		return
	}
	f := s.fileAt(run.path)
	if s.watch != nil {
		s.watch.shows(f, run)
	}
	s.lines += len(run.lines)
	f.showLines(run.from, run.lines, run.end, at)
	f.Touched, f.Read, f.CopyOf = at.msg, at.msg, nil
}

// takeChange takes in what an editing tool did.
func (s *Set) takeChange(edits []work.Op, res *chat.Part, at moment) {
	if len(edits) == 0 {
		return
	}
	failed, _, _ := work.Status(res)
	if failed || work.Undone(res.Text) {
		return
	}
	s.applyEdits(edits, at)
	text := plainNewlines(res.Text)
	last := edits[len(edits)-1]
	if strings.Contains(text[:min(len(text), 2000)], "modified on disk since you last read it") {
		if f := s.File(last.Path); f != nil {
			f.doubts.raise(moment{msg: at.msg, now: at.now - 1}, ReadUnlike)
		}
	}
	if last.Kind != work.Delete && last.Kind != work.Move {
		s.takeSnippet(cmp.Or(last.Path, s.window), text, at)
	}
}

// takeSnippet takes in the lines that an editing tool shows around its edit.
func (s *Set) takeSnippet(p, text string, at moment) {
	i := strings.Index(text, "`cat -n`")
	if i < 0 {
		if i = strings.Index(text, "[File: "); i < 0 {
			return
		}
	}
	_, text, _ = strings.Cut(text[i:], "\n")
	text, _ = cutHeader(text)
	if first, lines, _, ok := readNumbered(text); ok {
		s.showAll(shown{p, first, withoutLast(lines), unknownEnd, false}, at)
	}
}

// withoutLast drops an empty last line: some tools count what stands behind the last
// newline as one.
func withoutLast(lines []string) []string {
	if n := len(lines); lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}
