// Package tools are the tools that winnow's own agent offers to a model: files
// and a shell, in one folder.
//
// [New] makes a [Box] for a folder, [Box.Defs] describes its tools to a model,
// [Box.Look] says what a call would do before it does it, and [Box.Do] does
// it. Looking is apart from doing so that a person can be asked in between:
// everything that writes or runs has a [Need].
//
// What is promised: no file outside the folder is touched, whatever its links say; a
// call ends within its time-out and when its context does, with all processes that it
// started; no output is larger than the limit; a mistake of the model (a wrong name, bad
// arguments, a file that is not there) is an answer to the model, never a failure of the
// program.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/stage"
)

// Need says what a call needs a person's consent for.
type Need string

// The needs. Reading has none.
const (
	None  Need = ""
	Write Need = "write" // changes a file
	Run   Need = "run"   // runs a command
)

// Action is what a call would do.
type Action struct {
	Tool string
	Need Need

	// Title says it in one line, Detail shows it: a change as a diff.
	Title, Detail string

	run   func(ctx context.Context) (string, error)
	whole bool // what run returns keeps within a budget of its own
}

// Options say where and how tools work. The functions are asked at every call, since
// the model and with it the window may change.
type Options struct {
	// Dir is the folder; the default is the present one.
	Dir string

	// Limit returns the limits of one tool's output; the default is that of
	// [stage.LimitOutput].
	Limit func() stage.OutputLimit

	// Remaining returns how many tokens remain for the conversation, and which
	// share of them a file may have that is read; the default is room for one output.
	Remaining func() (tokens int, share float64)

	// Recall gives the original behind a handle.
	Recall func(handle string) (string, error)
}

// Box holds the tools of one folder. It is safe for concurrent use.
type Box struct {
	o     Options
	root  *os.Root
	tools []tool
}

// tool is one tool: how it is described and how a call of it is looked at.
type tool struct {
	def  chat.ToolDef
	look func(a *arguments) (Action, error)
}

// arguments are those of all tools.
type arguments struct {
	Path    string  `json:"path"`
	Offset  int     `json:"offset"`
	Limit   int     `json:"limit"`
	Content *string `json:"content"`
	Old     string  `json:"old"`
	New     string  `json:"new"`
	All     bool    `json:"all"`
	Command string  `json:"command"`
	Timeout int     `json:"timeout_seconds"`
	Handle  string  `json:"handle"`
}

// New returns the tools of a folder, which must be there.
func New(o Options) (*Box, error) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	b := &Box{o: o}
	if err == nil {
		b.root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("tools: the folder cannot be used: %w; start in another one", err)
	}
	if o.Limit == nil {
		b.o.Limit = func() stage.OutputLimit { return stage.OutputLimit{} }
	}
	if o.Remaining == nil {
		b.o.Remaining = func() (int, float64) { return stage.OutputBytes / 4, 1 }
	}
	add := func(name, about, schema string, look func(*arguments) (Action, error)) {
		b.tools = append(b.tools, tool{chat.ToolDef{Name: name, Description: about, Schema: schema}, look})
	}
	add("read_file", "Reads a text file, whole or some of its lines, or lists a folder.",
		`{"type":"object","properties":{"path":{"type":"string","description":"file, or folder, whose entries are listed"},"offset":{"type":"integer","description":"first line, from 1","minimum":1},"limit":{"type":"integer","description":"how many lines; default: all","minimum":1}},"required":["path"]}`, b.lookRead)
	add("write_file", "Writes a text file, new or in place of the old one.",
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`, b.lookWrite)
	add("edit_file", "Replaces a piece of a text file by another. The old piece must occur exactly once.",
		`{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string","description":"the exact piece of the file"},"new":{"type":"string"},"all":{"type":"boolean","description":"replace every occurrence"}},"required":["path","old","new"]}`, b.lookEdit)
	add("run", "Runs a shell command in the working folder and returns what it printed.",
		`{"type":"object","properties":{"command":{"type":"string"},"timeout_seconds":{"type":"integer","minimum":1,"maximum":600}},"required":["command"]}`, b.lookRun)
	add("recall", "Returns the original of something that was shortened or left out of the conversation, by its handle.",
		`{"type":"object","properties":{"handle":{"type":"string","description":"the handle that stands where something was shortened, such as w12ab34cd"}},"required":["handle"]}`, func(in *arguments) (Action, error) {
			if in.Handle == "" {
				return Action{}, errors.New("the argument handle is missing")
			}
			return Action{Title: "recall " + in.Handle, run: func(context.Context) (string, error) { return o.Recall(in.Handle) }}, nil
		})
	return b, nil
}

// Dir returns the folder in which the tools work.
func (b *Box) Dir() string { return b.root.Name() }

// Defs describes the tools to a model.
func (b *Box) Defs() []chat.ToolDef {
	defs := make([]chat.ToolDef, len(b.tools))
	for i := range b.tools {
		defs[i] = b.tools[i].def
	}
	return defs
}

// Look says what a call would do. The error is for the model to read.
func (b *Box) Look(name, args string) (Action, error) {
	var names []string
	for _, t := range b.tools {
		if t.def.Name != name {
			names = append(names, t.def.Name)
			continue
		}
		var in arguments
		err := json.Unmarshal([]byte(args), &in)
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return Action{}, fmt.Errorf("the argument %s must be a %s, not a %s; call again with the right kind", wrong.Field, wrong.Type, wrong.Value)
		}
		if err != nil && strings.TrimSpace(args) != "" {
			return Action{}, fmt.Errorf("the arguments are not a JSON object (%w); call again with one", err)
		}
		a, err := t.look(&in)
		a.Tool = name
		return a, err
	}
	return Action{}, fmt.Errorf("there is no tool %q; there are %s", name, strings.Join(names, ", "))
}

// Do does what [Box.Look] described. The text is the answer to the model,
// within the limits; failed says that it tells of a failure.
func (b *Box) Do(ctx context.Context, a Action) (text string, failed bool) {
	text, err := a.run(ctx)
	text = strings.ToValidUTF8(text, "\uFFFD")
	if err != nil {
		if text != "" {
			text = strings.TrimRight(text, "\n") + "\n"
		}
		text += err.Error()
	}
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	if a.whole && err == nil {
		return text, false
	}
	short, cut, lost := stage.LimitOutput(text, b.o.Limit())
	if cut && lost != nil {
		short += "\n[the full output could not be kept]"
	}
	return short, err != nil
}
