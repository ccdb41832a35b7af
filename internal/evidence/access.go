package evidence

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
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
	c := work.Read(call, work.Tool(k.Of(call.Name)), work.Context{Bare: true})
	a := Access{Kind: ToolKind(c.Tool), Command: c.Command, Query: c.Query}
	shell, moves, same := a.Kind == Shell, false, true
	for i := range c.Ops {
		o := &c.Ops[i]
		moves = moves || o.Kind == work.Move || o.Kind == work.Copy
		same = same && (o.Kind != work.Run || !shell) // no more is known of what ran
		a.add(o)
	}
	for _, o := range a.Ops {
		same = same && o.Kind == a.Ops[0].Kind && (!shell || o.Kind != Read || o.Path == a.Ops[0].Path)
	}
	if len(a.Ops) > 0 && (!shell || same) {
		first := a.Ops[0]
		a.Path, a.From, a.To = first.Path, first.From, first.To
	}
	for _, o := range a.Ops {
		if o.Path != a.Path && !slices.Contains(a.Paths, o.Path) {
			a.Paths = append(a.Paths, o.Path)
		}
		if shell && same && o.Kind == Read { // of several ranges: see Ops
			a.From, a.To = min(a.From, o.From), max(a.To, o.To)
		}
	}
	switch {
	case !shell && !c.IsPatch && !moves: // the tool's kind says more than how its arguments are read
		a.Ops = nil
	case same && len(a.Ops) > 0:
		a.Kind = a.Ops[0].Kind
	case !shell:
		a.Kind = Edit
	}
	if len(a.Ops) == 1 && a.Path != "" {
		a.Ops = nil
	}
	return a
}

// add adds what an operation does to its file. What is done to a file several
// times in a row counts once.
func (a *Access) add(o *work.Op) {
	op := Op{Kind: Edit, Path: o.Path}
	switch {
	case o.Kind == work.Delete:
		op.Kind = Delete
	case o.Kind == work.Move:
		a.add(&work.Op{Kind: work.Delete, Path: o.Path})
		op = Op{Kind: Write, Path: o.New}
	case o.Kind == work.Copy:
		op = Op{Kind: Write, Path: o.New}
	case o.Whole || o.Kind == work.Touch:
		op.Kind = Write
	case o.Kind == work.Show:
		op = Op{Read, o.Path, o.From, o.To}
	case o.Kind == work.Search:
		op.Kind = Search
	case o.Kind == work.Run:
		op.Kind = Other
	}
	if n := len(a.Ops); op.Path != "" && (n == 0 || a.Ops[n-1] != op) {
		a.Ops = append(a.Ops, op)
	}
}
