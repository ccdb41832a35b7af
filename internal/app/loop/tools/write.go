package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

const (
	writeSchema = `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`
	editSchema  = `{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string","description":"the exact piece of the file"},"new":{"type":"string"},"all":{"type":"boolean","description":"replace every occurrence"}},"required":["path","old","new"]}`
)

func (b *Box) lookWrite(args string) (Action, error) {
	in, err := parseArgs[struct {
		Path    string
		Content *string
	}](args)
	if err != nil {
		return Action{}, err
	}
	p, err := b.resolvePlace(in.Path)
	if err != nil {
		return Action{}, err
	}
	if in.Content == nil {
		return Action{}, errors.New("the argument content is missing")
	}
	content := *in.Content
	a := Action{Need: Write, Title: fmt.Sprintf("write %s, %d bytes", p.shown, len(content)), Detail: changedLines("", content)}
	if old, err := loadFile(p); err == nil {
		a.Title += fmt.Sprintf(" in place of %d", len(old))
		a.Detail = changedLines(string(old), content)
	}
	a.run = func(context.Context) (string, error) {
		if err := os.MkdirAll(filepath.Dir(p.abs), 0o755); err != nil {
			return "", fmt.Errorf("%s: %w", p.shown, withoutPath(err))
		}
		if err := replaceFile(p.abs, content); err != nil {
			return "", fmt.Errorf("%s: %w", p.shown, withoutPath(err))
		}
		return fmt.Sprintf("%s written, %d bytes", p.shown, len(content)), nil
	}
	return a, nil
}

func (b *Box) lookEdit(args string) (Action, error) {
	in, err := parseArgs[struct {
		Path, Old, New string
		All            bool
	}](args)
	if err != nil {
		return Action{}, err
	}
	p, err := b.resolvePlace(in.Path)
	if err != nil {
		return Action{}, err
	}
	edit := func() (old, text string, n int, err error) {
		data, err := loadFile(p)
		if err != nil {
			return "", "", 0, err
		}
		old = string(data)
		if in.Old == "" || in.Old == in.New {
			return old, "", 0, errors.New("old must be a piece of the file, and new must differ from it")
		}
		switch n = strings.Count(old, in.Old); {
		case n == 0:
			return old, "", 0, fmt.Errorf("the old piece is not in %s; read the file again", p.shown)
		case n > 1 && !in.All:
			return old, "", n, fmt.Errorf("the old piece occurs %d times in %s; include more of what is around it, or set all", n, p.shown)
		}
		return old, strings.ReplaceAll(old, in.Old, in.New), n, nil
	}
	old, text, _, err := edit()
	if err != nil {
		if p.outside { // whether it is there is not told without consent
			return Action{}, fmt.Errorf("%s is outside the working folder; it can be read, and written with write_file, if the user agrees", p.shown)
		}
		return Action{}, err
	}
	return Action{
		Need: Write, Title: "edit " + p.shown, Detail: changedLines(old, text),
		run: func(context.Context) (string, error) {
			_, text, n, err := edit() // it may have changed while the person thought
			if err != nil {
				return "", err
			}
			if err := replaceFile(p.abs, text); err != nil {
				return "", fmt.Errorf("%s: %w", p.shown, withoutPath(err))
			}
			return fmt.Sprintf("%s edited in %d place(s)", p.shown, n), nil
		},
	}, nil
}

// replaceFile writes a file whole or not at all, and keeps its mode. A symbolic
// link stays one: what it points to is written.
func replaceFile(name, content string) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return errors.New("it is not a plain file")
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".winnow-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing once it has its name
	if _, err = f.WriteString(content); err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// detailLines is how much of a change is shown.
const detailLines = 24

// changedLines shows a change: the lines that go and the lines that come, between
// those that both begin and both end with.
func changedLines(old, now string) string {
	a, b := splitLines(old), splitLines(now)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, l := range a[head : len(a)-tail] {
		out = append(out, "- "+text.Clip(l, 200))
	}
	for _, l := range b[head : len(b)-tail] {
		out = append(out, "+ "+text.Clip(l, 200))
	}
	if len(out) > detailLines {
		more := len(out) - detailLines + 1
		out = append(out[:detailLines-1:detailLines-1], fmt.Sprintf("… %d more lines", more))
	}
	return strings.Join(out, "\n")
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
