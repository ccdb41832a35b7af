package work

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// FileOp is what a call does to one file, as the kind of tool that does just that:
// a read, write, edit, delete or search of a path.
type FileOp struct {
	Kind Tool
	Path string

	// From and To are lines, counted from 1, both included. 0, 0 is the whole
	// file; To is 0 when the range has no end. Negative lines count from the
	// file's end, as tail does: -20, -1 are the last twenty.
	From, To int
}

// Covers reports whether everything that other showed is also shown by o: the
// same path, and a range that includes the other's.
func (o FileOp) Covers(other FileOp) bool {
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
// A shell command that does nothing but read one file is of kind ToolRead, one that
// only searches is of kind ToolSearch, and so on; then Command is set as well. A
// command that does several things, or that runs a program, is of kind ToolShell:
// it has no Path, and what it is known to do to files stands in Ops.
type Access struct {
	Kind Tool

	// Path is the file, or the folder that is searched; empty where the call
	// touches no file. From and To are as in [FileOp].
	Path     string
	From, To int

	// Paths are further files, of patches and of edits to several files.
	Paths []string

	// Command is what a shell runs, and Rest that without a change of folder at its
	// start. Folder is where it runs, "" where the call does not say. Query is what a
	// search looks for, or the address that is fetched.
	// Only is as in [Op].
	Command, Rest, Folder, Query, Only string

	Names bool // Query is of names of files
	Mixed bool // a shell's command looks for several things

	// Ops is every single thing that the call does to a file.
	Ops []FileOp
}

// Access reads what a call does from its name and arguments. Where the arguments are
// not a JSON object, only the name counts. A nil Kinds is the default.
func (k *Kinds) Access(call *chat.Part) Access {
	c := Read(call, k.Of(call.Name), Context{Bare: true})
	a := Access{Kind: c.Tool, Command: c.Command, Query: c.Query, Only: c.Only, Names: c.Names}
	if a.Command != "" {
		a.Folder, a.Rest = cutFolder(c.dir, a.Command)
	}
	shell, same := a.Kind == ToolShell, true
	for i := range c.Ops {
		o := &c.Ops[i]
		same = same && (o.Kind != Run || !shell) // no more is known of what ran
		a.Mixed = a.Mixed || shell && o.Kind == Search && o.Query != c.Query
		a.addOp(o)
	}
	for _, o := range a.Ops {
		same = same && o.Kind == a.Ops[0].Kind && (!shell || o.Kind != ToolRead || o.Path == a.Ops[0].Path)
	}
	for i, o := range a.Ops {
		switch {
		case i == 0 && (!shell || same):
			a.Path, a.From, a.To = o.Path, o.From, o.To
		case o.Path != a.Path && !slices.Contains(a.Paths, o.Path):
			a.Paths = append(a.Paths, o.Path)
		case shell && same && o.Kind == ToolRead: // of several ranges: see Ops
			a.From, a.To = min(a.From, o.From), max(a.To, o.To)
		}
	}
	if (shell || c.IsPatch) && same && len(a.Ops) > 0 {
		a.Kind = a.Ops[0].Kind
	}
	return a
}

// cutFolder takes a change of folder off the start of a command that runs in dir.
func cutFolder(dir, command string) (folder, rest string) {
	rest = strings.TrimSpace(command)
	if cd := changesFolder.FindStringSubmatch(rest); cd != nil {
		dir, rest = Join(dir, cd[1]), rest[len(cd[0]):]
	}
	if dir != "" {
		dir = path.Clean(dir)
	}
	return dir, rest
}

// changesFolder is a change of folder before a command.
var changesFolder = regexp.MustCompile(`^cd ["']?([^"'&;|\n]{1,200}?)["']?\s*(?:&&|;|\n)\s*`)

// addOp adds what an operation does to its file. What is done to a file several
// times in a row counts once.
func (a *Access) addOp(o *Op) {
	op := FileOp{Kind: ToolEdit, Path: o.Path}
	switch {
	case o.Kind == Delete:
		op.Kind = ToolDelete
	case o.Kind == Move:
		a.addOp(&Op{Kind: Delete, Path: o.Path})
		op = FileOp{Kind: ToolWrite, Path: o.New}
	case o.Kind == Copy:
		op = FileOp{Kind: ToolWrite, Path: o.New}
	case o.Whole || o.Kind == Touch:
		op.Kind = ToolWrite
	case o.Kind == Show:
		op = FileOp{ToolRead, o.Path, o.From, o.To}
	case o.Kind == Search:
		op.Kind = ToolSearch
	case o.Kind == Run:
		op.Kind = ToolOther
	}
	if n := len(a.Ops); op.Path != "" && (n == 0 || a.Ops[n-1] != op) {
		a.Ops = append(a.Ops, op)
	}
}
