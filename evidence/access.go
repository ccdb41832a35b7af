package evidence

import (
	"cmp"
	"path"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// Op is one thing that a call does to one file: a read, write, edit, delete or
// search of a path.
type Op struct {
	Kind ToolKind
	Path string

	// From and To are lines, counted from 1, both included. 0, 0 is the whole
	// file; To is 0 when the range has no end. Negative lines count from the
	// file's end, as tail does: -20, -1 are the last twenty.
	From, To int
}

// Covers reports whether everything that other showed is also shown by o: the
// same path, and a range that includes the other's.
func (o Op) Covers(other Op) bool {
	if o.Path != other.Path || o.Path == "" {
		return false
	}
	if o.From == 0 && o.To == 0 {
		return true
	}
	if other.From == 0 && other.To == 0 || (o.From < 0) != (other.From < 0) {
		return false
	}
	return o.From <= other.From && (o.To == 0 || other.To != 0 && other.To <= o.To)
}

// Access is what a call does: to which file, in which lines, by which command.
//
// A shell command that does nothing but read one file is of kind Read, one that
// only searches is of kind Search, and so on; then Command is set as well. A
// command that does several things, or that runs a program, is of kind Shell:
// it has no Path, and what it is known to do to files stands in Ops.
type Access struct {
	Kind ToolKind

	// Path is the file, or the folder that is searched; empty where the call
	// touches no file. From and To are as in [Op].
	Path     string
	From, To int

	// Paths are further files, of patches and of edits to several files.
	Paths []string

	// Command is what a shell runs, Query what a search looks for or the
	// address that is fetched.
	Command, Query string

	// Ops is every single thing done where that is more than Kind and Path say.
	Ops []Op
}

// Each calls f with every single thing that the call does to a file.
func (a *Access) Each(f func(Op)) {
	if a.Ops != nil {
		for _, o := range a.Ops {
			f(o)
		}
		return
	}
	if a.Path != "" {
		f(Op{a.Kind, a.Path, a.From, a.To})
	}
	for _, p := range a.Paths {
		f(Op{Kind: a.Kind, Path: p})
	}
}

// Access reads what a call does from its name and arguments. Arguments that
// are no JSON object give what can be told from the name. A nil Kinds is the default.
func (k *Kinds) Access(call *chat.Part) Access {
	a := Access{Kind: k.Of(call.Name)}
	if looksLikePatch(call.Args) {
		a.patch(call.Args)
		return a
	}
	var r argReader
	if !members(call.Args, r.member) {
		if a.Kind == Shell {
			a.shell(text(strings.TrimSpace(call.Args)), "")
		}
		return a
	}
	a.Query = r.query
	if r.mode != "" {
		if kind, ok := modeKind(r.mode); ok && a.Kind != Shell {
			a.Kind = kind
			r.command = ""
		}
	}
	if r.patch != "" && a.Kind != Shell {
		a.patch(r.patch)
		return a
	}
	if r.command != "" && (a.Kind == Shell || a.Kind == Other && r.path == "" && r.runs) {
		a.Kind = Shell
		a.shell(inProgram(r.command), r.dir)
		return a
	}
	a.Path, a.Paths = r.path, r.paths
	if a.Path == "" && len(a.Paths) > 0 {
		a.Path, a.Paths = a.Paths[0], a.Paths[1:]
	}
	if a.Path == "" && a.Kind == Search {
		a.Path = r.dir
	}
	if verb := moving(call.Name); verb != 0 && (r.source != "" || a.Path != "") && r.target != "" {
		a.move(verb, cmp.Or(r.source, a.Path), r.target)
		return a
	}
	switch a.Kind {
	case Read:
		a.From, a.To = r.lines()
	case Edit:
		if r.from > 0 {
			a.From, a.To = r.from, max(r.to, r.from)
		}
	}
	return a
}

// inProgram returns the command that a program runs, where it runs one: Codex's
// newer models call commands from JavaScript, as in
//
//	const r = await tools.exec_command({"cmd":"go test ./..."});
//
// Any other command is returned as it is.
func inProgram(command string) string {
	const call = "tools.exec_command("
	at := strings.Index(command, call)
	if at < 0 || strings.Contains(command[at+len(call):], call) {
		return command
	}
	inner := ""
	members(command[at+len(call):], func(key, raw string) bool {
		if key == "cmd" && isString(raw) {
			inner = text(raw)
		}
		return inner == ""
	})
	return cmp.Or(inner, command)
}

// moving tells tools that give a file another name (m) or copy it (c).
func moving(name string) byte {
	if indexFold(name, "move") >= 0 || indexFold(name, "rename") >= 0 {
		return 'm'
	}
	if indexFold(name, "copy") >= 0 {
		return 'c'
	}
	return 0
}

// move makes the access one of a file that was moved or copied.
func (a *Access) move(verb byte, source, target string) {
	a.Path, a.Paths, a.Kind = target, nil, Write
	if verb == 'm' {
		a.Kind, a.Path, a.Paths = Edit, source, []string{target}
		a.Ops = []Op{{Kind: Delete, Path: source}, {Kind: Write, Path: target}}
	}
}

// patch makes the access that of a patch. One that adds one file or deletes
// one is of that kind.
func (a *Access) patch(s string) {
	patchOps(s, func(o Op) { a.Ops = append(a.Ops, o) })
	a.fromOps(Edit)
}

// fromOps sets Kind, Path and Paths from Ops. Mixed is the kind for several
// things of different kinds.
func (a *Access) fromOps(mixed ToolKind) {
	a.Kind = mixed
	if len(a.Ops) == 0 {
		return
	}
	same := true
	for _, o := range a.Ops[1:] {
		same = same && o.Kind == a.Ops[0].Kind
	}
	if same {
		a.Kind = a.Ops[0].Kind
	}
	a.Path, a.From, a.To = a.Ops[0].Path, a.Ops[0].From, a.Ops[0].To
	for _, o := range a.Ops[1:] {
		if o.Path != a.Path && !contains(a.Paths, o.Path) {
			a.Paths = append(a.Paths, o.Path)
		}
	}
	if len(a.Ops) == 1 {
		a.Ops = nil
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// modeKind is the kind of an editor tool's own command.
func modeKind(mode string) (ToolKind, bool) {
	switch mode {
	case "view", "read", "open", "cat":
		return Read, true
	case "create", "write", "overwrite":
		return Write, true
	case "str_replace", "insert", "edit", "undo_edit", "replace", "append", "update", "patch":
		return Edit, true
	case "delete", "remove":
		return Delete, true
	}
	return Other, false
}

// argReader collects what matters from the members of a call's arguments.
type argReader struct {
	path, dir      string
	source, target string // of moves and copies
	rank           int    // of the key that gave path; lower is better
	paths          []string
	command, mode  string
	runs           bool // the command came from a key that only shells have, or has blanks
	query          string
	patch          string

	from, to      int // first and last line
	offset, limit int
	whole         bool
	inner         bool // it reads one of several
}

func (r *argReader) member(key, raw string) bool {
	var buf [32]byte
	switch k := plainKey(&buf, key); string(k) {
	case "filepath", "path", "absolutepath", "targetfile", "notebookpath", "relativeworkspacepath", "relativepath", "pathinproject", "fullpath":
		r.setPath(raw, 1)
	case "file", "filename", "fileuri", "uri":
		r.setPath(raw, 2)
	case "source", "src", "oldpath", "sourcepath", "from", "oldname":
		if isString(raw) {
			r.source = cleanPath(text(raw))
		}
	case "dirpath", "directory", "dir", "folder", "targetdirectory", "directorypath", "searchpath", "searchdirectory":
		r.setPath(raw, 3)
	case "workdir", "cwd", "workingdirectory", "workingdir":
		if isString(raw) {
			r.dir = cleanPath(text(raw))
		}
	case "destination", "dest", "newpath", "destinationpath", "targetpath", "newname", "newfilepath", "to":
		if isString(raw) {
			r.target = cleanPath(text(raw))
		}
	case "paths", "files", "filepaths", "filenames", "targetfiles", "edits", "operations", "changes":
		r.several(raw)
	case "command", "cmd", "script", "commandline", "commands":
		r.setCommand(raw, string(k) != "script")
	case "action", "operation", "mode", "subcommand":
		if isString(raw) && len(raw) < 24 {
			r.mode = text(raw)
		}
	case "pattern", "query", "regex", "patterns", "searchterm", "searchquery", "glob", "url", "searchpattern", "regexp", "question", "q":
		if r.query == "" {
			if isString(raw) {
				r.query = text(raw)
			} else {
				elements(raw, func(e string) bool {
					if r.query != "" {
						r.query += "|"
					}
					r.query += text(e)
					return true
				})
			}
		}
	case "patch", "patchtext", "input", "diff":
		if isString(raw) {
			if s := text(raw); looksLikePatch(strings.TrimLeft(s, " \n")) {
				r.patch = s
			} else if r.command == "" && string(k) == "input" {
				r.command = s
			}
		}
	case "offset", "startlineoffset":
		r.offset, _ = number(raw)
	case "limit", "numlines", "linecount":
		r.limit, _ = number(raw)
	case "startline", "linestart", "startlineoneindexed", "firstline", "fromline", "linenumber", "insertline":
		r.from, _ = number(raw)
	case "endline", "lineend", "endlineoneindexedinclusive", "lastline", "toline":
		r.to, _ = number(raw)
	case "viewrange", "linerange", "lines", "range":
		r.setRange(raw)
	case "shouldreadentirefile":
		r.whole = raw == "true"
	}
	return true
}

func (r *argReader) setPath(raw string, rank int) {
	if !isString(raw) {
		if rank < 3 {
			r.several(raw)
		}
		return
	}
	p := cleanPath(text(raw))
	if p == "" || r.path != "" && r.rank <= rank {
		return
	}
	if rank == 2 && strings.ContainsRune(p, ' ') && !strings.ContainsRune(p, '/') {
		return
	}
	r.path, r.rank = p, rank
}

// several reads a list of paths, or of objects that have one.
func (r *argReader) several(raw string) {
	if r.inner {
		return // no tool takes lists of lists
	}
	elements(raw, func(e string) bool {
		p := ""
		if isString(e) {
			p = cleanPath(text(e))
		} else {
			one := argReader{inner: true}
			members(e, one.member)
			p = one.path
			if p != "" && one.from > 0 && r.from == 0 {
				r.from, r.to = one.from, one.to
			}
		}
		if p != "" && p != r.path && !contains(r.paths, p) {
			r.paths = append(r.paths, p)
		}
		return len(r.paths) < 256
	})
}

// setCommand reads a command line: a string, or the words of one. An editor
// tool's own command is a mode.
func (r *argReader) setCommand(raw string, runs bool) {
	if isString(raw) {
		s := text(raw)
		if _, ok := modeKind(s); ok {
			r.mode = s
			return
		}
		r.command, r.runs = s, runs
		return
	}
	var words []string
	elements(raw, func(e string) bool {
		words = append(words, text(e))
		return true
	})
	if len(words) == 3 && len(words[1]) > 1 && words[1][0] == '-' && strings.HasSuffix(words[1], "c") {
		r.command = words[2]
	} else {
		r.command = quoteWords(words)
	}
	r.runs = true
}

func quoteWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w == "" || strings.ContainsAny(w, " \t\n\"'|&;<>()$`*?") {
			b.WriteByte('\'')
			b.WriteString(strings.ReplaceAll(w, "'", `'\''`))
			b.WriteByte('\'')
		} else {
			b.WriteString(w)
		}
	}
	return b.String()
}

// setRange reads [from, to] or "from-to".
func (r *argReader) setRange(raw string) {
	var n [2]int
	i := 0
	if !elements(raw, func(e string) bool {
		n[i], _ = number(e)
		i++
		return i < 2
	}) && isString(raw) {
		a, b, ok := strings.Cut(strings.ReplaceAll(text(raw), ",", "-"), "-")
		if ok {
			n[0], _ = number(a)
			n[1], _ = number(b)
			i = 2
		}
	}
	if i == 2 && n[0] >= 0 {
		r.from, r.to = n[0], max(n[1], 0)
	}
}

// lines returns the range of a read.
func (r *argReader) lines() (from, to int) {
	switch {
	case r.whole:
		return 0, 0
	case r.from > 0 || r.to > 0:
		from, to = max(r.from, 1), max(r.to, 0)
		if to != 0 && to < from {
			to = from
		}
		if from == 1 && to == 0 {
			return 0, 0
		}
		return from, to
	case r.limit > 0:
		from = max(r.offset, 1)
		return from, from + min(r.limit, 1<<30) - 1
	case r.offset > 1:
		return r.offset, 0
	}
	return 0, 0
}

// joinDir puts a relative path below the folder a command runs in.
func joinDir(dir, p string) string {
	if dir == "" || p == "" || p[0] == '/' || p[0] == '~' || p[0] == '$' || len(p) > 1 && p[1] == ':' {
		return p
	}
	return path.Join(dir, p)
}
