package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/stage"
)

// Need says what a call needs a person's consent for.
type Need string

// The needs. Reading inside the folder has none.
const (
	None    Need = ""
	Write   Need = "write"   // changes a file
	Run     Need = "run"     // runs a command
	Outside Need = "outside" // reads outside of the folder
)

// Action is what a call would do.
type Action struct {
	Tool string
	Need Need

	// Title says it in one line, Detail shows it: a change as a diff.
	Title, Detail string

	run func(ctx context.Context) (string, error)

	// whole says that the text keeps within a budget of its own.
	whole bool
}

// Options say where and how tools work. The zero value works in the present
// folder.
type Options struct {
	// Dir is the folder; the default is the present one.
	Dir string

	// Limit returns the limits of one tool's output; the default is that of
	// [stage.LimitOutput]. It is asked at every call, since the model and with
	// it the window may change.
	Limit func() stage.OutputLimit

	// Remaining returns how many tokens remain for the conversation, and which
	// share of them a file may have that is read. Where it is nil, a file is
	// limited like any output.
	Remaining func() (tokens int, share float64)

	// Timeout is how long a command may run where the model does not say; the
	// default is two minutes.
	Timeout time.Duration

	// Recall gives the original behind a handle; nil offers no such tool.
	Recall func(handle string) (string, error)
}

// Box holds the tools of one folder. It is safe for concurrent use.
type Box struct {
	o    Options
	root string // the folder without symbolic links
}

// New returns the tools of a folder, which must be there.
func New(o Options) (*Box, error) {
	o.Dir = cmp.Or(o.Dir, ".")
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("tools: the folder %s cannot be used: %w; start in another one", o.Dir, withoutPath(err))
	}
	if o.Limit == nil {
		o.Limit = func() stage.OutputLimit { return stage.OutputLimit{} }
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	return &Box{o: o, root: dir}, nil
}

// Dir returns the folder in which the tools work.
func (b *Box) Dir() string { return b.root }

// tool is one tool: how it is described and how a call of it is looked at.
type tool struct {
	name, about, schema string
	look                func(b *Box, args string) (Action, error)
}

// toolList lists the tools in the order in which they are described.
func (b *Box) toolList() []tool {
	list := []tool{
		{"read_file", "Reads a text file, whole or some of its lines, or lists a folder.", readSchema, (*Box).lookRead},
		{"write_file", "Writes a text file, new or in place of the old one.", writeSchema, (*Box).lookWrite},
		{"edit_file", "Replaces a piece of a text file by another. The old piece must occur exactly once.", editSchema, (*Box).lookEdit},
		{"run", "Runs a shell command in the working folder and returns what it printed.", runSchema, (*Box).lookRun},
	}
	if b.o.Recall != nil {
		list = append(list, tool{"recall", "Returns the original of something that was shortened or left out of the conversation, by its handle.", recallSchema, (*Box).lookRecall})
	}
	return list
}

// Defs describes the tools to a model.
func (b *Box) Defs() []chat.ToolDef {
	list := b.toolList()
	defs := make([]chat.ToolDef, len(list))
	for i, t := range list {
		defs[i] = chat.ToolDef{Name: t.name, Description: t.about, Schema: t.schema}
	}
	return defs
}

// Look says what a call would do. The error is for the model to read.
func (b *Box) Look(name, args string) (Action, error) {
	list := b.toolList()
	for _, t := range list {
		if t.name != name {
			continue
		}
		a, err := t.look(b, args)
		a.Tool = name
		return a, err
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	return Action{Tool: name}, fmt.Errorf("there is no tool %q; there are %s", name, strings.Join(names, ", "))
}

// Do does what [Box.Look] described. The text is the answer to the model,
// within the limits; failed says that it tells of a failure.
func (b *Box) Do(ctx context.Context, a Action) (text string, failed bool) {
	if a.run == nil {
		return "this call cannot be run", true
	}
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
	limit := b.o.Limit()
	short, cut, lost := stage.LimitOutput(text, limit)
	if cut && lost != nil {
		short += "\n[the full output could not be kept]"
	}
	return short, err != nil
}

// parseArgs reads a call's arguments.
func parseArgs[T any](args string) (T, error) {
	var v T
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	if err := json.Unmarshal([]byte(args), &v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return v, fmt.Errorf("the argument %s must be %s, not %s; call again with the right kind", wrong.Field, kindName(wrong.Type.Kind().String()), wrong.Value)
		}
		return v, fmt.Errorf("the arguments are not a JSON object (%w); call again with one", err)
	}
	return v, nil
}

func kindName(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

// place is a path that a call names.
type place struct {
	abs, shown string
	outside    bool
}

// resolvePlace finds where a path leads, through symbolic links too, so that a link
// inside the folder does not lead out of it unnoticed.
func (b *Box) resolvePlace(path string) (place, error) {
	path = strings.TrimSpace(path)
	if path == "" {
		return place{}, errors.New("the argument path is missing")
	}
	if strings.ContainsRune(path, 0) {
		return place{}, errors.New("the path has a NUL character in it")
	}
	abs := filepath.FromSlash(path)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(b.root, abs)
	}
	abs = filepath.Clean(abs)
	real := resolveLinks(abs)
	rel, err := filepath.Rel(b.root, real)
	p := place{abs: abs, shown: path}
	p.outside = err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
	if !p.outside {
		p.shown = filepath.ToSlash(rel)
	}
	return p, nil
}

// resolveLinks follows the symbolic links of the part of a path that is there.
func resolveLinks(abs string) string {
	rest := ""
	for dir := abs; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if target, err := os.Readlink(dir); err == nil { // a link to nothing yet
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(dir), target)
			}
			return filepath.Join(target, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}

// reading returns the need of a call that reads a place.
func (p place) reading() Need {
	if p.outside {
		return Outside
	}
	return None
}

// withoutPath returns an error of the file system without the path of this machine.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
