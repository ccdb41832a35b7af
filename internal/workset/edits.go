package workset

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/evidence"
	"github.com/winnow-llm/winnow/internal/work"
)

// Edit is one change that a call asks for in one file.
type Edit = work.Op

// The kinds of edits.
const (
	Change  = work.Change
	Insert  = work.Insert
	Append  = work.Append
	Delete  = work.Delete
	Move    = work.Move
	Copy    = work.Copy
	Unclear = work.Unclear
)

// Edits returns what a call asks to change, in the order in which it is done.
// Whether it was done stands in the call's result. Dir is the folder that
// relative paths start from; where it is "" they stay as they are. A nil Kinds
// is the default.
func Edits(call *chat.Part, kinds *evidence.Kinds, dir string) []Edit {
	return changes(read(call, kinds, work.Context{Dir: dir}))
}

func read(call *chat.Part, kinds *evidence.Kinds, in work.Context) *work.Call {
	return work.Read(call, work.Tool(kinds.Of(call.Name)), in)
}

// changes returns the operations of a call that change files for certain.
func changes(c *work.Call) []Edit {
	return slices.DeleteFunc(slices.Clone(c.Ops), func(o work.Op) bool { return !o.Changes() || o.Unsure })
}
