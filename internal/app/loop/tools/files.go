package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/stage"
)

// Bounds of what one call looks at.
const (
	maxFile   = 16 << 20
	maxListed = 2000
)

// filePath returns the path of a file as the folder knows it.
func (b *Box) filePath(path string) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", errors.New("the argument path is missing")
	}
	name := filepath.Clean(filepath.FromSlash(path))
	if filepath.IsAbs(name) {
		if inside, err := filepath.Rel(b.root.Name(), name); err == nil {
			name = inside
		}
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is outside the working folder; use run, if the user agrees", path)
	}
	return name, nil
}

// pathError says what is wrong with a file, without the path of this machine.
func pathError(name string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", filepath.ToSlash(name), err)
}

func (b *Box) lookRead(in *arguments) (Action, error) {
	name, err := b.filePath(in.Path)
	if err != nil {
		return Action{}, err
	}
	offset := max(in.Offset, 1)
	title := "read " + filepath.ToSlash(name)
	if offset > 1 || in.Limit > 0 {
		title += fmt.Sprintf(" from line %d", offset)
	}
	return Action{
		Title: title, whole: true,
		run: func(context.Context) (string, error) { return b.readFile(name, offset, in.Limit) },
	}, nil
}

// readFile reads a file within the budget for files: small ones whole, of others what
// has room, and of very large ones how they begin. Of a folder it lists the entries.
func (b *Box) readFile(name string, offset, limit int) (string, error) {
	info, err := b.root.Stat(name)
	if err == nil && info.IsDir() {
		return b.listFolder(name)
	}
	tokens, share := b.o.Remaining()
	if err == nil && info.Size() > stage.LargeFile && offset == 1 && limit <= 0 {
		head, err := b.loadText(name, stage.ReadBudget(info.Size(), tokens, share), true)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s\n[%s has %d bytes, of which these are the first %d; use offset and limit, or run with grep]", head, name, info.Size(), len(head)), nil
	}
	said, err := b.loadText(name, maxFile, false)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(said, "\n")
	if offset > len(lines) {
		return "", fmt.Errorf("%s has %d lines; there is no line %d", name, len(lines), offset)
	}
	lines = lines[offset-1:]
	said = strings.Join(lines[:min(cmp.Or(max(limit, 0), len(lines)), len(lines))], "")
	budget := int(stage.ReadBudget(int64(len(said)), tokens, share))
	if budget == len(said) {
		return said, nil
	}
	short, _ := work.Limit(said, budget, 0)
	return fmt.Sprintf("%s\n[%s has %d bytes, and the conversation has room for %d of them; use offset and limit, or run with grep]", short, name, len(said), budget), nil
}

// listFolder names the entries of a folder, files with their sizes.
func (b *Box) listFolder(name string) (string, error) {
	entries, err := fs.ReadDir(b.root.FS(), filepath.ToSlash(name))
	if err != nil {
		return "", pathError(name, err)
	}
	var out strings.Builder
	for _, e := range entries[:min(len(entries), maxListed)] {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			fmt.Fprintf(&out, "%s  %d bytes\n", e.Name(), info.Size())
		} else {
			fmt.Fprintf(&out, "%s/\n", e.Name())
		}
	}
	if n := len(entries) - maxListed; n > 0 {
		fmt.Fprintf(&out, "[and %d more]\n", n)
	}
	return out.String(), nil
}

// loadText reads a file of text, or how one begins. A pipe would block for ever.
func (b *Box) loadText(name string, most int64, head bool) (string, error) {
	info, err := b.root.Stat(name)
	switch {
	case err != nil:
		return "", pathError(name, err)
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder", name)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a plain file", name)
	case info.Size() > most && !head:
		return "", fmt.Errorf("%s has %d bytes, more than %d; use run with grep, head or sed", name, info.Size(), most)
	}
	f, err := b.root.Open(name)
	if err != nil {
		return "", pathError(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", pathError(name, err)
	}
	if bytes.IndexByte(data[:min(len(data), 8192)], 0) >= 0 {
		return "", fmt.Errorf("%s is not text; use run with a program that reads it", name)
	}
	return string(data), nil
}

func (b *Box) lookWrite(in *arguments) (Action, error) {
	name, err := b.filePath(in.Path)
	if err != nil {
		return Action{}, err
	}
	if in.Content == nil {
		return Action{}, errors.New("the argument content is missing")
	}
	return Action{
		Need: Write, Title: fmt.Sprintf("write %s, %d bytes", filepath.ToSlash(name), len(*in.Content)), Detail: changedLines("", *in.Content),
		run: func(context.Context) (string, error) {
			return fmt.Sprintf("%s written, %d bytes", filepath.ToSlash(name), len(*in.Content)), b.writeFile(name, *in.Content)
		},
	}, nil
}

func (b *Box) lookEdit(in *arguments) (Action, error) {
	name, err := b.filePath(in.Path)
	if err != nil {
		return Action{}, err
	}
	if _, _, err := b.editedText(name, in); err != nil {
		return Action{}, err
	}
	return Action{
		Need: Write, Title: "edit " + filepath.ToSlash(name), Detail: changedLines(in.Old, in.New),
		run: func(context.Context) (string, error) {
			now, n, err := b.editedText(name, in) // it may have changed while the person thought
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s edited in %d place(s)", filepath.ToSlash(name), n), b.writeFile(name, now)
		},
	}, nil
}

// editedText returns a file's text after an edit, and how many places it changes.
func (b *Box) editedText(name string, in *arguments) (now string, places int, err error) {
	old, err := b.loadText(name, maxFile, false)
	if err != nil {
		return "", 0, err
	}
	switch places = strings.Count(old, in.Old); {
	case in.Old == "" || in.Old == in.New:
		return "", 0, errors.New("old must be a piece of the file, and new must differ from it")
	case places == 0:
		return "", 0, fmt.Errorf("the old piece is not in %s; read the file again", name)
	case places > 1 && !in.All:
		return "", 0, fmt.Errorf("the old piece occurs %d times in %s; include more of what is around it, or set all", places, name)
	}
	return strings.ReplaceAll(old, in.Old, in.New), places, nil
}

// writeFile writes a file, with the folders that it needs: beside its place first, so
// that nobody sees a part of it. An old one keeps its mode.
func (b *Box) writeFile(name, content string) error {
	err := b.root.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = b.replaceFile(name, content)
	}
	if err != nil {
		return pathError(name, err)
	}
	return nil
}

func (b *Box) replaceFile(name, content string) error {
	info, err := b.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() { // a link stays one
		return b.root.WriteFile(name, []byte(content), 0o644)
	}
	mode := fs.FileMode(0o644)
	if err == nil {
		mode = info.Mode().Perm()
		f, err := b.root.OpenFile(name, os.O_WRONLY, 0) // a folder's permission to rename is not the file's
		if err != nil {
			return err
		}
		f.Close()
	}
	temp := filepath.Join(filepath.Dir(name), ".winnow-"+rand.Text()+".tmp")
	err = b.root.WriteFile(temp, []byte(content), mode)
	if err == nil && info != nil {
		err = b.root.Chmod(temp, mode) // also what the umask took
	}
	if err == nil {
		err = b.root.Rename(temp, name)
	}
	if err != nil {
		_ = b.root.Remove(temp)
	}
	return err
}

// detailLines is how much of a change is shown.
const detailLines = 24

// changedLines shows a change: the lines that go and the lines that come.
func changedLines(old, now string) string {
	var out []string
	for i, s := range []string{old, now} {
		for l := range strings.Lines(s) {
			out = append(out, [...]string{"- ", "+ "}[i]+text.Clip(strings.TrimSuffix(l, "\n"), 200))
		}
	}
	if len(out) > detailLines {
		more := len(out) - detailLines + 1
		out = append(out[:detailLines-1], fmt.Sprintf("… %d more lines", more))
	}
	return strings.Join(out, "\n")
}
