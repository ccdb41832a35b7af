package workset

import (
	"path"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// Kind says what an edit does to its file.
type Kind uint8

// The kinds of edits.
const (
	Change  Kind = iota // replaces text, lines or the whole file
	Insert              // puts New after line From; 0 is the file's start
	Append              // puts New at the file's end
	Delete              // removes the file
	Move                // gives the file the path in New
	Copy                // makes the file in New a copy of this one
	Unclear             // changes the file in a way that cannot be read from the call
)

// Edit is one replacement that a call asks for in one file.
type Edit struct {
	Kind Kind

	// Path is the file: absolute where the call or the folder it runs in says
	// so, and empty where the tool edits whatever file is open.
	Path string

	// Old is the text that is replaced, New the text in its place. Old is ""
	// for a whole write, an insertion and an edit that names lines.
	Old, New string

	// After is text that stands somewhere before Old: the heading of a hunk.
	After string

	// From and To are the lines that are replaced where the edit names lines
	// instead of text, and a hint where a hunk names both; otherwise 0.
	From, To int

	Whole   bool // New is the whole file
	All     bool // every occurrence of Old is replaced
	Lines   bool // Old and New are whole lines, each with its newline
	PerLine bool // Old is replaced once in each line, as sed does
}

// Edits returns what a call asks to change, in the order in which it is done.
// Whether it was done stands in the call's result. Dir is the folder that
// relative paths start from; where it is "" they stay as they are. A nil Kinds
// is the default.
func Edits(call *chat.Part, kinds *evidence.Kinds, dir string) []Edit {
	kind := kinds.Of(call.Name)
	a := readArgs(call.Args)
	if a.dir != "" {
		dir = join(dir, a.dir)
	}
	var edits []Edit
	switch {
	case isPatch(call.Args):
		edits = patchEdits(call.Args)
	case a.patch != "" && kind != evidence.Shell:
		edits = patchEdits(a.patch)
	case a.command != "" && (kind == evidence.Shell || kind == evidence.Other && a.path == ""):
		return shellEdits(a.command, dir)
	case !a.object && kind == evidence.Shell:
		return shellEdits(call.Args, dir)
	default:
		edits = a.edits(kind, call.Name)
	}
	for i := range edits {
		edits[i].Path = join(dir, edits[i].Path)
		if edits[i].Kind == Move || edits[i].Kind == Copy {
			edits[i].New = join(dir, edits[i].New)
		}
	}
	return edits
}

// join puts a relative path below a folder.
func join(dir, p string) string {
	if p == "" || isAbs(p) {
		return p
	}
	if dir == "" {
		return path.Clean(p)
	}
	if drive(dir) {
		return strings.TrimRight(dir, `\/`) + `\` + strings.ReplaceAll(p, "/", `\`)
	}
	return path.Join(dir, p)
}

// isAbs reports whether a path does not depend on a folder: it starts at the
// root, at a drive or at somebody's home.
func isAbs(p string) bool {
	return p != "" && (p[0] == '/' || p[0] == '~' || drive(p))
}

func drive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z'
}
