package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/stage"
)

const (
	readSchema   = `{"type":"object","properties":{"path":{"type":"string","description":"file, or folder, whose entries are listed"},"offset":{"type":"integer","description":"first line, from 1","minimum":1},"limit":{"type":"integer","description":"how many lines; default: all","minimum":1}},"required":["path"]}`
	recallSchema = `{"type":"object","properties":{"handle":{"type":"string","description":"the handle that stands where something was shortened, such as w12ab34cd"}},"required":["handle"]}`
)

// Bounds of what one call looks at.
const (
	maxFile   = 16 << 20
	maxListed = 2000
)

func (b *Box) lookRead(args string) (Action, error) {
	in, err := parseArgs[struct {
		Path          string
		Offset, Limit int
	}](args)
	if err != nil {
		return Action{}, err
	}
	p, err := b.resolvePlace(in.Path)
	if err != nil {
		return Action{}, err
	}
	title := "read " + p.shown
	if in.Offset > 1 || in.Limit > 0 {
		title += fmt.Sprintf(" from line %d", max(in.Offset, 1))
	}
	return Action{
		Need: p.reading(), Title: title, whole: b.o.Remaining != nil,
		run: func(context.Context) (string, error) { return b.readWithinBudget(p, max(in.Offset, 1), in.Limit) },
	}, nil
}

// readWithinBudget reads a file within the budget for files: small ones whole, of others what
// has room, and of very large ones how they begin. Of a folder it lists the entries.
func (b *Box) readWithinBudget(p place, offset, limit int) (string, error) {
	info, err := os.Stat(p.abs)
	switch {
	case err == nil && info.IsDir():
		return listFolder(p)
	case b.o.Remaining == nil:
		return readLines(p, offset, limit)
	}
	remaining, share := b.o.Remaining()
	if err == nil && info.Mode().IsRegular() && info.Size() > stage.LargeFile && offset == 1 && limit <= 0 {
		head, err := readHead(p, stage.ReadBudget(info.Size(), remaining, share))
		return fmt.Sprintf("%s\n[%s has %d bytes, of which these are the first %d; use offset and limit, or run with grep]", head, p.shown, info.Size(), len(head)), err
	}
	said, err := readLines(p, offset, limit)
	if err != nil {
		return said, err
	}
	budget := stage.ReadBudget(int64(len(said)), remaining, share)
	if budget == int64(len(said)) {
		return said, nil
	}
	short, _ := work.Limit(said, int(budget), 0)
	return fmt.Sprintf("%s\n[%s has %d bytes, and the conversation has room for %d of them; use offset and limit, or run with grep]", short, p.shown, len(said), budget), nil
}

// listFolder names the entries of a folder, files with their sizes.
func listFolder(p place) (string, error) {
	entries, err := os.ReadDir(p.abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.shown, withoutPath(err))
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

// readBytes returns the first bytes of a file.
func readBytes(p place, most int64) ([]byte, error) {
	f, err := os.Open(p.abs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.shown, withoutPath(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.shown, withoutPath(err))
	}
	return data, nil
}

// readHead returns how a file begins.
func readHead(p place, n int64) (string, error) {
	data, err := readBytes(p, n)
	if err != nil {
		return "", err
	}
	for k := 0; k < utf8.UTFMax && len(data) > 0 && !utf8.Valid(data); k++ {
		data = data[:len(data)-1] // a character that was cut
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("%s is not text; use run with a program that reads it", p.shown)
	}
	return string(data), nil
}

func readLines(p place, offset, limit int) (string, error) {
	data, err := loadFile(p)
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

// loadFile reads a file that is neither too large nor anything but a file: a pipe
// would block for ever.
func loadFile(p place) ([]byte, error) {
	info, err := os.Stat(p.abs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.shown, withoutPath(err))
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder", p.shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a plain file", p.shown)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, more than %d; use run with grep, head or sed", p.shown, info.Size(), maxFile)
	}
	return readBytes(p, maxFile)
}

func (b *Box) lookRecall(args string) (Action, error) {
	in, err := parseArgs[struct{ Handle string }](args)
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
