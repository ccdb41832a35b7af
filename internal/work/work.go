// Package work reads what an agent did: every call of every tool dialect, and
// what a shell was told, becomes a list of operations on files, each exact or
// marked as unsure. Files as they stand, lists of actions and the decision which
// result a later one replaces are all built on this one reading.
//
// # Method
//
// [Read] looks at a call in three steps. The arguments are read into one form,
// whatever the tool calls them (file_path, filePath, target_file). If they hold a
// patch, each of its hunks is an operation. If they hold a command, the shell's
// grammar is followed word by word: a word is exact where the shell would take it
// as it stands, without variables, substitutions and patterns. A table says what
// each program does with its words. Everything else is judged by the kind of the
// tool, which the caller knows from its name.
//
// # Example
//
// The command
//
//	cd pkg && sed -n '10,20p' a.go && echo --- && gofmt -w a.go > log.$USER
//
// run in /w is read as
//
//	Ops      Show /w/pkg/a.go 10-20
//	         Run
//	         Unclear /w/pkg/log.$USER, Unsure: the name depends on a variable
//	Streams  lines 10-20 of /w/pkg/a.go, the line "---", nothing
//	Effects  gofmt may have changed /w/pkg/a.go
//	Folder   /w/pkg
//
// so that the lines of its output can be told apart and are known to be lines of
// a.go, which gofmt may have changed since.
//
// Nothing is guessed: what cannot be read to the letter is Unclear (the file was
// changed, nobody knows how) or Unsure (perhaps not this file, or not these
// lines). Work and depth are bounded for any input.
package work

import (
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// Kind says what an operation does to its file.
type Kind uint8

// The kinds of operations. Those up to Unclear change files.
const (
	Change  Kind = iota // replaces text, lines or the whole file
	Insert              // puts New after line From; 0 is the file's start
	Append              // puts New at the file's end
	Delete              // removes the file
	Move                // gives the file the path in New
	Copy                // makes the file in New a copy of this one
	Unclear             // changes the file in a way that cannot be read from the call
	Touch               // makes the file where it is missing
	Show                // shows the lines From to To
	Search              // looks for Query in the file or folder, or lists it
	Run                 // does something else; Path is the file that it was given
)

// Op is one thing that a call does to one file.
type Op struct {
	Kind Kind

	// Path is the file: absolute where the call or the folder it runs in says
	// so, and empty where the tool works on whatever file is open.
	Path string

	// Old is the text that is replaced, New the text in its place. Old is ""
	// for a whole write, an insertion and an edit that names lines.
	Old, New string

	// After is text that stands somewhere before Old: the heading of a hunk.
	// Context are whole lines before it that a patch repeats without a change.
	After, Context string

	// From and To are the lines that are shown, or replaced where the edit names
	// lines instead of text; a hint where a hunk names both. 0, 0 is the whole
	// file, To is 0 where the range has no end. Negative lines count from the
	// file's end: -20, -1 are the last twenty.
	From, To int

	Query string // what a search looks for
	Only  string // the patterns or types of the files that it looks at, "" for all

	Whole   bool // New is the whole file, or what it is cannot be read
	All     bool // every occurrence of Old is replaced; of a move, New may be a folder
	InLines bool // Old is replaced in each line that has it, of From to To: the first, or with All every one
	Lines   bool // Old and New are whole lines, each with its newline
	Newline bool // with New empty, the newline behind Old goes too
	Names   bool // Query is of names of files
	Unsure  bool // Path depends on something that is not known
	Undo    bool // it takes back what is not committed: an effect says more
}

// Changes reports whether the operation changes its file.
func (o *Op) Changes() bool { return o.Kind <= Unclear }

// Context is where a call is made.
type Context struct {
	Dir   string // the folder that relative paths start from; "" where it is not known
	Shell string // the folder of a shell that stays where it was taken
	Bare  bool   // the texts of changes and the effects of programs are not wanted
}

// Call is a call as [Read] understands it.
type Call struct {
	Tool    Tool // what the call does: an editor's own command may say more than its name
	Ops     []Op
	Query   string // what is searched for, or the address that is fetched
	Only    string // as in [Op]
	Names   bool   // as in [Op]
	IsPatch bool   // the operations are those of a patch

	// Of a shell's command: what it prints, what it may have changed besides, and
	// the folder that it ends up in, "?" where that is not known. Clear is false
	// where the command could not be read.
	Command string
	Streams []Stream
	Effects []Effect
	Folder  string
	Clear   bool

	dir string // the folder that its arguments name
}

// Read reads a call of a tool of some kind. Whether it was done stands in its
// result.
func Read(call *chat.Part, tool Tool, in Context) *Call {
	a := readArgs(call.Args)
	c := &Call{Tool: tool, dir: a.dir}
	a.bare = in.Bare
	if c.Query = a.query; tool == ToolSearch && a.only != a.query {
		c.Only = a.only
	}
	if kind, ok := modes[a.mode]; ok && tool != ToolShell {
		c.Tool, a.command = kind, ""
	}
	dir := in.Dir
	if a.dir != "" {
		dir = Join(dir, a.dir)
	}
	switch {
	case IsPatch(call.Args):
		c.readPatch(call.Args)
	case a.patch != "" && tool != ToolShell:
		c.readPatch(a.patch)
	case !a.object && tool == ToolShell:
		a.command = Text(strings.TrimSpace(call.Args))
		fallthrough
	case a.command != "" && (c.Tool == ToolShell || c.Tool == ToolOther && a.path == "" && a.runs):
		if a.dir == "" && in.Shell != "" {
			dir = strings.TrimSuffix(in.Shell, "?")
		}
		c.Tool, c.Command = ToolShell, inProgram(a.command)
		c.readCommand(dir, in.Bare)
		return c
	default:
		c.Ops = a.argumentOps(c.Tool, call.Name)
	}
	for i := range c.Ops {
		o := &c.Ops[i]
		o.Path = Join(dir, o.Path)
		if o.Kind == Move || o.Kind == Copy {
			o.New = Join(dir, o.New)
		}
	}
	return c
}

func (c *Call) readPatch(s string) {
	c.Ops, c.IsPatch, c.Tool = readPatch(s), true, ToolEdit
}

// inProgram returns the command that a program runs, where it runs one: Codex's
// newer models call commands from JavaScript, as in
//
//	const r = await tools.exec_command({"cmd":"go test ./..."});
//
// Any other command is returned as it is.
func inProgram(command string) string {
	const call = "tools.exec_command("
	_, inner, ok := strings.Cut(command, call)
	if !ok || strings.Contains(inner, call) {
		return command
	}
	RawMembers(inner, func(key, raw string) bool {
		if key == "cmd" && IsString(raw) {
			command = Text(raw)
		}
		return true
	})
	return command
}

// Edits returns what a call asks to change, in the order in which it is done.
// Whether it was done stands in the call's result. Dir is the folder that
// relative paths start from; where it is "" they stay as they are. A nil Kinds
// is the default.
func Edits(call *chat.Part, kinds *Kinds, dir string) []Op {
	return Read(call, kinds.Of(call.Name), Context{Dir: dir}).Changes()
}

// Changes returns the operations of a call that change files for certain.
func (c *Call) Changes() []Op {
	return slices.DeleteFunc(slices.Clone(c.Ops), func(o Op) bool { return !o.Changes() || o.Unsure })
}

// Join puts a relative path below a folder.
func Join(dir, p string) string {
	if p == "" || IsAbs(p) {
		return p
	}
	if dir == "" {
		return path.Clean(p)
	}
	if HasDrive(dir) && strings.Contains(dir, `\`) {
		return strings.TrimRight(dir, `\/`) + `\` + strings.ReplaceAll(p, "/", `\`)
	}
	return path.Join(dir, p)
}

// IsAbs reports whether a path does not depend on a folder: it starts at the
// root, at a drive or at somebody's home.
func IsAbs(p string) bool {
	return p != "" && (p[0] == '/' || p[0] == '~' || HasDrive(p))
}

// HasDrive reports whether a path starts with a drive, as C:\ is one.
func HasDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z'
}

// tidyPath removes what stands around a path but is not part of it.
func tidyPath(p string) string {
	p = strings.TrimSpace(p)
	if len(p) > 1 && strings.IndexByte("\"'`", p[0]) >= 0 && p[len(p)-1] == p[0] {
		p = p[1 : len(p)-1]
	}
	p = strings.TrimPrefix(p, "file://")
	for strings.HasPrefix(p, "./") && len(p) > 2 {
		p = p[2:]
	}
	if len(p) > 1024 || strings.ContainsAny(p, "\n\x00") {
		return ""
	}
	return p
}
