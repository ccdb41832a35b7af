package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/stage"
)

const (
	listSchema   = `{"type":"object","properties":{"path":{"type":"string","description":"folder; default: the working folder"},"depth":{"type":"integer","description":"how many levels; default 2","minimum":1,"maximum":8}}}`
	readSchema   = `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","description":"first line, from 1","minimum":1},"limit":{"type":"integer","description":"how many lines; default: all","minimum":1}},"required":["path"]}`
	grepSchema   = `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string","description":"file or folder; default: the working folder"},"glob":{"type":"string","description":"only files whose name matches, such as *.go"}},"required":["pattern"]}`
	recallSchema = `{"type":"object","properties":{"handle":{"type":"string","description":"the handle that stands where something was shortened, such as w12ab34cd"}},"required":["handle"]}`
)

// Bounds of what one call looks at.
const (
	maxFile    = 16 << 20
	maxListed  = 2000
	maxMatches = 500
	maxWalk    = 50_000
)

// passedOver are folders that hold nothing a person wrote.
var passedOver = []string{".git", "node_modules", ".hg", ".svn", "__pycache__", ".venv"}

func (b *Box) lookList(args string) (Action, error) {
	in, err := parse[struct {
		Path  string
		Depth int
	}](args)
	if err != nil {
		return Action{}, err
	}
	in.Path = cmp.Or(in.Path, ".")
	if in.Depth <= 0 {
		in.Depth = 2
	}
	p, err := b.place(in.Path)
	if err != nil {
		return Action{}, err
	}
	return Action{
		Need: p.reading(), Title: "list " + p.shown,
		run: func(ctx context.Context) (string, error) { return list(ctx, p, min(in.Depth, 8)) },
	}, nil
}

func list(ctx context.Context, p place, depth int) (string, error) {
	info, err := os.Stat(p.abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	if !info.IsDir() {
		return fmt.Sprintf("%s  %d bytes", p.shown, info.Size()), nil
	}
	var out strings.Builder
	n, more := 0, false
	err = walk(ctx, p.abs, depth, func(rel string, d fs.DirEntry) error {
		if n++; n > maxListed {
			more = true
			return fs.SkipAll
		}
		if d.IsDir() {
			fmt.Fprintf(&out, "%s/\n", rel)
			return nil
		}
		size := int64(0)
		if info, err := d.Info(); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(&out, "%s  %d bytes\n", rel, size)
		return nil
	})
	if more {
		fmt.Fprintf(&out, "[more than %d: list a folder below]\n", maxListed)
	}
	if n == 0 && err == nil {
		return p.shown + " is empty", nil
	}
	return out.String(), err
}

// walk visits what is below a folder, in order, without what is passed over.
// What cannot be read is left out.
func walk(ctx context.Context, root string, depth int, visit func(rel string, d fs.DirEntry) error) error {
	seen := 0
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return errors.New("the call was cancelled")
		}
		if seen++; seen > maxWalk {
			return fs.SkipAll
		}
		if err != nil || name == root {
			if err != nil && name == root {
				return cause(err)
			}
			return nil
		}
		if d.IsDir() && slices.Contains(passedOver, d.Name()) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil //nolint:nilerr // it is not below root then, and left out
		}
		if err := visit(filepath.ToSlash(rel), d); err != nil {
			return err
		}
		if d.IsDir() && strings.Count(filepath.ToSlash(rel), "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
}

func (b *Box) lookRead(args string) (Action, error) {
	in, err := parse[struct {
		Path          string
		Offset, Limit int
	}](args)
	if err != nil {
		return Action{}, err
	}
	p, err := b.place(in.Path)
	if err != nil {
		return Action{}, err
	}
	title := "read " + p.shown
	if in.Offset > 1 || in.Limit > 0 {
		title += fmt.Sprintf(" from line %d", max(in.Offset, 1))
	}
	return Action{
		Need: p.reading(), Title: title, whole: b.o.Remaining != nil,
		run: func(context.Context) (string, error) { return b.read(p, max(in.Offset, 1), in.Limit) },
	}, nil
}

// read reads a file within the budget for files: small ones whole, of others what
// has room, and of very large ones how they begin.
func (b *Box) read(p place, offset, limit int) (string, error) {
	if b.o.Remaining == nil {
		return read(p, offset, limit)
	}
	remaining, share := b.o.Remaining()
	if info, err := os.Stat(p.abs); err == nil && info.Mode().IsRegular() && info.Size() > stage.LargeFile && offset == 1 && limit <= 0 {
		budget := stage.ReadBudget(info.Size(), remaining, share)
		head, err := begin(p, budget.Bytes)
		return fmt.Sprintf("%s\n[%s has %d bytes, of which these are the first %d; use grep, or offset and limit]", head, p.shown, info.Size(), len(head)), err
	}
	said, err := read(p, offset, limit)
	if err != nil {
		return said, err
	}
	budget := stage.ReadBudget(int64(len(said)), remaining, share)
	if budget.Mode == stage.ReadWhole {
		return said, nil
	}
	short, _ := work.Limit(said, budget.Bytes, 0)
	return fmt.Sprintf("%s\n[%s has %d bytes, and the conversation has room for %d of them; use grep, or offset and limit]", short, p.shown, len(said), budget.Bytes), nil
}

// begin returns how a file begins.
func begin(p place, n int) (string, error) {
	f, err := os.Open(p.abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(n)))
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	for k := 0; k < utf8.UTFMax && len(data) > 0 && !utf8.Valid(data); k++ {
		data = data[:len(data)-1] // a character that was cut
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("%s is not text; use run with a program that reads it", p.shown)
	}
	return string(data), nil
}

func read(p place, offset, limit int) (string, error) {
	data, err := load(p)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data[:min(len(data), 8192)], 0) >= 0 {
		return "", fmt.Errorf("%s is not text: %d bytes with NUL characters; use run with a program that reads it", p.shown, len(data))
	}
	if offset == 1 && limit <= 0 {
		return string(data), nil
	}
	lines := strings.SplitAfter(string(data), "\n")
	if offset > len(lines) {
		return "", fmt.Errorf("%s has %d lines; there is no line %d", p.shown, len(lines), offset)
	}
	lines = lines[offset-1:]
	if limit > 0 && limit < len(lines) {
		lines = lines[:limit]
	}
	return strings.Join(lines, ""), nil
}

// load reads a file that is neither too large nor anything but a file: a pipe
// would block for ever.
func load(p place) ([]byte, error) {
	info, err := os.Stat(p.abs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; use list_files", p.shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a plain file", p.shown)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, more than %d; use grep, or run with head or sed", p.shown, info.Size(), maxFile)
	}
	f, err := os.Open(p.abs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	return data, nil
}

func (b *Box) lookGrep(args string) (Action, error) {
	in, err := parse[struct{ Pattern, Path, Glob string }](args)
	if err != nil {
		return Action{}, err
	}
	if in.Pattern == "" {
		return Action{}, errors.New("the argument pattern is missing")
	}
	re, err := regexp.Compile(in.Pattern)
	if err != nil {
		return Action{}, fmt.Errorf("the pattern is not a regular expression: %w", err)
	}
	if _, err := path.Match(in.Glob, ""); err != nil {
		return Action{}, fmt.Errorf("the glob %q is not well formed", in.Glob)
	}
	in.Path = cmp.Or(in.Path, ".")
	p, err := b.place(in.Path)
	if err != nil {
		return Action{}, err
	}
	return Action{
		Need: p.reading(), Title: "grep " + in.Pattern + " in " + p.shown,
		run: func(ctx context.Context) (string, error) { return grep(ctx, p, re, in.Glob) },
	}, nil
}

func grep(ctx context.Context, p place, re *regexp.Regexp, glob string) (string, error) {
	info, err := os.Stat(p.abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.shown, cause(err))
	}
	var out strings.Builder
	found := 0
	if !info.IsDir() {
		found = grepFile(&out, p.abs, p.shown, re, maxMatches)
	} else {
		err = walk(ctx, p.abs, maxWalk, func(rel string, d fs.DirEntry) error {
			if !d.Type().IsRegular() {
				return nil
			}
			if ok, _ := path.Match(glob, d.Name()); glob != "" && !ok {
				return nil
			}
			found += grepFile(&out, filepath.Join(p.abs, filepath.FromSlash(rel)), path.Join(p.shown, rel), re, maxMatches-found)
			if found >= maxMatches {
				return fs.SkipAll
			}
			return nil
		})
	}
	switch {
	case found >= maxMatches:
		fmt.Fprintf(&out, "[%d matches, there may be more: narrow the pattern]\n", found)
	case found == 0 && err == nil:
		return "no line matches", nil
	}
	return out.String(), err
}

// grepFile writes the lines of a text file that match.
func grepFile(out *strings.Builder, name, shown string, re *regexp.Regexp, most int) int {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return 0
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 64<<10), 1<<20)
	n := 0
	for line := 1; sc.Scan() && n < most; line++ {
		found := sc.Bytes()
		if bytes.IndexByte(found, 0) >= 0 {
			return n // no text
		}
		if re.Match(found) {
			fmt.Fprintf(out, "%s:%d:%s\n", shown, line, text.Clip(string(found), 400))
			n++
		}
	}
	return n
}

func (b *Box) lookRecall(args string) (Action, error) {
	in, err := parse[struct{ Handle string }](args)
	if err != nil {
		return Action{}, err
	}
	if in.Handle == "" {
		return Action{}, errors.New("the argument handle is missing")
	}
	return Action{
		Title: "recall " + in.Handle,
		run:   func(context.Context) (string, error) { return b.o.Recall(in.Handle) },
	}, nil
}
