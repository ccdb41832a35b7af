package work

import (
	"cmp"
	"slices"
	"strings"
)

// args is what the arguments of a call say, in the words of any tool. The texts
// of changes are kept as they stand, with their quotes, since an empty text is a
// text too.
type args struct {
	object         bool // the arguments are a JSON object
	path           string
	rank           int // of the key that gave the path; lower is better
	paths          []string
	source, target string // of moves and copies
	dir            string
	mode, command  string
	runs           bool // the command came from a key that only shells have
	query, only    string
	patch          string

	old, new, content string // raw

	from, to      int
	hasFrom       bool
	offset, limit int
	whole         bool
	all, append   bool
	cell          bool // a cell of a notebook, or a sketch that another model applies
	several       []args
	inner         bool // one of several
	bare          bool // texts are not wanted
}

// The ranks of keys that name a file. Folders are not files that a call changes.
const (
	pathKey = iota + 1
	fileKey
	folderKey
)

func readArgs(s string) args {
	var a args
	a.object = Members(s, a.readMember)
	return a
}

func (a *args) readMember(key, raw string) bool {
	switch key {
	case "filepath", "path", "absolutepath", "targetfile", "notebookpath", "relativeworkspacepath", "relativepath", "pathinproject", "fullpath":
		a.setPath(raw, pathKey)
	case "file", "filename", "fileuri", "uri":
		a.setPath(raw, fileKey)
	case "dirpath", "directory", "dir", "folder", "targetdirectory", "directorypath", "searchpath", "searchdirectory":
		a.setPath(raw, folderKey)
	case "paths", "files", "filepaths", "filenames", "targetfiles", "edits", "operations", "changes", "replacements", "replacementchunks":
		a.readPaths(raw)
	case "command", "cmd", "script", "commandline", "commands":
		a.setCommand(raw, key != "script")
	case "pattern", "query", "regex", "patterns", "searchterm", "searchquery", "glob", "url", "searchpattern", "regexp", "question", "q":
		a.setQuery(raw)
		if key == "glob" {
			a.only = strings.Join(textsOf(raw), ", ")
		}
	case "include", "includepattern", "filetype", "type":
		a.only = strings.Join(textsOf(raw), ", ")
	case "offset", "startlineoffset":
		a.offset, _ = Number(raw)
	case "limit", "numlines", "linecount":
		a.limit, _ = Number(raw)
	case "startline", "linestart", "startlineoneindexed", "firstline", "fromline", "linenumber", "insertline", "line", "afterline":
		a.from, a.hasFrom = Number(raw)
	case "endline", "lineend", "endlineoneindexedinclusive", "lastline", "toline":
		a.to, _ = Number(raw)
	case "viewrange", "linerange", "lines", "range":
		a.setRange(raw)
	case "shouldreadentirefile":
		a.whole = raw == "true"
	case "replaceall", "allowmultiple", "globalreplace", "expectedreplacements":
		n, _ := Number(raw)
		a.all = a.all || n > 1 || Text(raw) == "true"
	case "append":
		a.append = raw == "true"
	case "cellid", "cellnumber", "editmode", "celltype", "codeedit":
		a.cell = true
	default:
		if IsString(raw) {
			a.readText(key, raw)
		}
	}
	return true
}

// readText reads a member that is a text.
func (a *args) readText(key, raw string) {
	switch key {
	case "source", "sourcepath", "src", "oldpath", "from", "oldname":
		a.source = tidyPath(Text(raw))
	case "destination", "dest", "newpath", "destinationpath", "targetpath", "newfilepath", "newname", "to":
		a.target = tidyPath(Text(raw))
	case "workdir", "cwd", "workingdirectory", "workingdir":
		a.dir = tidyPath(Text(raw))
	case "action", "operation", "mode", "subcommand":
		if m := Text(raw); modes[m] != ToolOther {
			a.mode = m
		}
	case "patch", "patchtext", "input", "diff":
		if s := Text(raw); IsPatch(s) {
			a.patch = s
		} else if key == "input" && a.command == "" {
			a.command = s
		}
	case "oldstring", "oldstr", "oldtext", "old", "oldcode", "oldcontent", "search", "searchtext", "find", "targetcontent", "original", "originaltext":
		a.old = raw
	case "newstring", "newstr", "newtext", "new", "newcode", "newcontent", "replace", "replacement", "replacementtext", "replacementcontent", "replacewith", "newsource", "updatedtext", "inserttext":
		a.new = raw
		a.cell = a.cell || key == "newsource"
	case "content", "contents", "filetext", "text", "filecontent", "codecontent", "body":
		a.content = raw
	}
}

func (a *args) setPath(raw string, rank int) {
	if !IsString(raw) {
		if rank != folderKey {
			a.readPaths(raw)
		}
		return
	}
	p := tidyPath(Text(raw))
	isWords := rank == fileKey && strings.Contains(p, " ") && !strings.Contains(p, "/")
	if p != "" && !isWords && (a.path == "" || rank < a.rank) {
		a.path, a.rank = p, rank
	}
}

// readPaths reads a list of paths, or of objects that have one. Some models write the
// list as a string that holds JSON.
func (a *args) readPaths(raw string) {
	if a.inner {
		return // no tool takes lists of lists
	}
	Elements(Text(raw), func(e string) bool {
		one := args{inner: true}
		if IsString(e) {
			one.path = tidyPath(Text(e))
		} else if one.object = Members(e, one.readMember); one.object {
			a.several = append(a.several, one)
		}
		if one.path != "" && len(a.paths) < 256 && !slices.Contains(a.paths, one.path) {
			a.paths = append(a.paths, one.path)
		}
		return len(a.several) < maxEdits
	})
}

// setCommand reads a command line: a string, or the words of one. An editor
// tool's own command is a mode.
func (a *args) setCommand(raw string, runs bool) {
	if IsString(raw) {
		if s := Text(raw); modes[s] != ToolOther {
			a.mode = s
		} else {
			a.command, a.runs = s, runs
		}
		return
	}
	words := textsOf(raw)
	if len(words) == 3 && len(words[1]) > 1 && words[1][0] == '-' && strings.HasSuffix(words[1], "c") {
		a.command = words[2]
	} else {
		a.command = quoteWords(words)
	}
	a.runs = true
}

// quoteWords writes words as a shell would read them.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'|&;<>()$`*?[]#~\\{}!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

func (a *args) setQuery(raw string) {
	if a.query == "" {
		a.query = strings.Join(textsOf(raw), "|")
	}
}

// textsOf returns the elements of a list, or the one text that a value is.
func textsOf(raw string) (list []string) {
	if !Elements(raw, func(e string) bool {
		list = append(list, Text(e))
		return true
	}) {
		list = append(list, Text(raw))
	}
	return list
}

// setRange reads [from, to] or "from-to".
func (a *args) setRange(raw string) {
	list := textsOf(raw)
	if IsString(raw) {
		list = strings.SplitN(strings.ReplaceAll(list[0], ",", "-"), "-", 2)
	}
	if len(list) >= 2 {
		from, _ := Number(list[0])
		to, _ := Number(list[1])
		if from >= 0 {
			a.from, a.to = from, max(to, 0)
		}
	}
}

// lineRange returns the range of a read.
func (a *args) lineRange() (from, to int) {
	switch {
	case a.whole:
		return 0, 0
	case a.to > 0:
		from = max(a.from, 1)
		return from, max(a.to, from)
	case a.from > 1:
		return a.from, 0
	case a.limit > 0:
		from = max(a.offset, 1)
		return from, from + min(a.limit, 1<<30) - 1
	case a.offset > 1:
		return a.offset, 0
	}
	return 0, 0
}

// argumentOps returns the operations that arguments without a patch or a command ask for.
func (a *args) argumentOps(tool Tool, name string) []Op {
	kind := Run
	switch tool {
	case ToolEdit, ToolWrite, ToolDelete:
		if ops := a.editOps(tool, name, strings.ToLower(name)); len(ops) > 0 || len(a.paths) == 0 {
			return ops
		}
		kind = Unclear
	case ToolRead:
		kind = Show
	case ToolSearch:
		if kind = Search; a.path == "" && a.dir != "" {
			a.path = "." // of the folder that it runs in
		}
	}
	var ops []Op
	if a.path != "" {
		ops = append(ops, Op{Kind: kind, Path: a.path, Query: a.query})
	}
	for _, p := range a.paths {
		if p != a.path {
			ops = append(ops, Op{Kind: kind, Path: p, Query: a.query})
		}
	}
	if kind == Show && len(ops) > 0 {
		ops[0].From, ops[0].To = a.lineRange()
	}
	return ops
}

// editOps returns what an editor tool's arguments ask for.
func (a *args) editOps(tool Tool, name, lower string) []Op {
	file := cmp.Or(a.path, a.source)
	if a.rank == folderKey && tool != ToolDelete {
		file = a.source
	}
	if len(a.several) > 0 && a.old == "" {
		var all []Op
		for i := range a.several {
			one := &a.several[i]
			one.path, one.bare = cmp.Or(one.path, file), a.bare
			all = append(all, one.editOps(tool, name, lower)...)
		}
		return all
	}
	e := Op{Path: file, All: a.all}
	old, now := a.wantedText(a.old), a.wantedText(a.new)
	text := a.wantedText(cmp.Or(a.new, a.content))
	switch {
	case tool == ToolDelete:
		e.Kind = Delete
	case a.target != "" && (strings.Contains(lower, "move") || strings.Contains(lower, "rename")):
		e.Kind, e.New = Move, a.target
	case a.target != "" && strings.Contains(lower, "copy"):
		e.Kind, e.New = Copy, a.target
	case a.cell || a.mode == "undo_edit" || a.mode == "undo":
		e.Kind, e.New = Unclear, now
	case a.mode == "insert" || strings.Contains(lower, "insert"):
		a.readInsertion(&e, text, Plain(lower))
	case a.append || a.mode == "append" || strings.Contains(lower, "append"):
		e.Kind, e.New = Append, text
	case a.old != "" && (a.old != `""` || a.new == ""):
		e.Old, e.New = old, now
		// One family of tools leaves no empty line where it removes a text.
		e.Newline = now == "" && (name == "Edit" || name == "MultiEdit") && !strings.HasSuffix(old, "\n")
	case a.old != "":
		e.New, e.Whole = now, true
	case a.hasFrom && a.from > 0 && (a.new != "" || a.content != ""):
		e.From, e.To, e.New, e.Lines = a.from, max(a.to, a.from), endLine(text), true
	case a.content != "":
		e.New, e.Whole = a.wantedText(a.content), true
	case a.new != "" && tool == ToolWrite:
		e.New, e.Whole = now, true
	default:
		e.Kind = Unclear
	}
	if e.Path == "" && (e.Whole || e.Kind == Delete || e.Kind == Unclear) {
		return nil // not about a file
	}
	return []Op{e}
}

// readInsertion reads where a text goes. Most tools name the line before it; an
// insert_content tool names the line that it pushes down, 0 for the end.
func (a *args) readInsertion(e *Op, text, tool string) {
	e.Kind, e.From, e.New, e.Lines = Insert, a.from, endLine(text), true
	pushes := strings.Contains(tool, "insertcontent")
	switch {
	case !a.hasFrom || pushes && a.from == 0:
		e.Kind, e.From = Append, 0
	case pushes:
		e.From--
	}
}

func (a *args) wantedText(raw string) string {
	if a.bare {
		return ""
	}
	return Text(raw)
}

// endLine gives a text that is put in as lines the newline that it needs.
func endLine(s string) string {
	if s == "" || s[len(s)-1] == '\n' {
		return s
	}
	return s + "\n"
}

// modes are the commands of editor tools.
var modes = map[string]Tool{
	"view": ToolRead, "read": ToolRead, "open": ToolRead, "cat": ToolRead,
	"create": ToolWrite, "write": ToolWrite, "overwrite": ToolWrite,
	"str_replace": ToolEdit, "insert": ToolEdit, "edit": ToolEdit, "undo_edit": ToolEdit, "undo": ToolEdit,
	"replace": ToolEdit, "append": ToolEdit, "update": ToolEdit, "patch": ToolEdit,
	"delete": ToolDelete, "remove": ToolDelete,
}
