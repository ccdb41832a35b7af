package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/defaults"
	"github.com/winnow-llm/winnow/internal/private"
	"github.com/winnow-llm/winnow/session"
)

// Options say how a store works. Nil and the zero value work.
type Options struct {
	// LockTimeout is how long to wait for another process; the default is 10
	// seconds.
	LockTimeout time.Duration
}

func (o *Options) orDefault() Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	defaults.Set(&out.LockTimeout, 10*time.Second)
	return out
}

// store is the sessions in a folder and in the folders directly below it.
type store struct {
	dir string
	o   Options
}

var _ session.Store = (*store)(nil)

// Open returns the store in a folder, which is made when the first session is.
func Open(dir string, o *Options) (session.Store, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &session.Error{Op: "open the store", Session: dir, Problem: "this is a file", Hint: "name the folder that holds sessions, or open the file by itself"}
	}
	return &store{dir: dir, o: o.orDefault()}, nil
}

// Close does nothing: a folder needs no closing.
func (s *store) Close() error { return nil }

// extension of session files.
const extension = ".jsonl"

// Create makes a session's file with its first records, whole or not at
// all.
func (s *store) Create(_ context.Context, h session.Header, recs iter.Seq2[[]byte, error]) (session.Log, error) {
	if h.ID == "" || strings.ContainsAny(h.ID, "/\\\x00\n") {
		return nil, &session.Error{Op: "create", Session: h.ID, Problem: "this cannot be the id of a session", Hint: "use letters, digits and hyphens"}
	}
	if path, err := s.findFile(h.ID); err == nil {
		return nil, &session.Error{Op: "create", Session: h.ID, Problem: "there is one already, in " + path, Hint: "open it, or choose another id", Err: session.ErrExists}
	}
	if h.Time.IsZero() {
		h.Time = time.Now()
	}
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(h.Time.UTC().Format("2006-01-02T15:04:05.000Z"))
	path := filepath.Join(s.dir, stamp+"_"+h.ID+extension)
	err := os.MkdirAll(s.dir, 0o700)
	if err == nil {
		err = writeWhole(path, session.HeaderRecord(h), recs)
	}
	if err != nil {
		return nil, writeError("create", path, err)
	}
	return OpenFile(path, &s.o)
}

// writeWhole writes a session's file under another name first, so that it is
// there whole or not at all, and never in place of another file.
func writeWhole(path string, header []byte, recs iter.Seq2[[]byte, error]) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".winnow-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	b := bufio.NewWriter(f)
	write := func(raw []byte) {
		_, _ = b.Write(raw) // Flush tells of an error
		_ = b.WriteByte('\n')
	}
	write(header)
	for raw, err := range recs {
		if err == nil && bytes.IndexByte(raw, '\n') >= 0 {
			err = errors.New("a record has more than one line: write it as compact JSON")
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		write(raw)
	}
	if err := errors.Join(b.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		if _, there := os.Lstat(path); there == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if os.Rename(f.Name(), path) != nil { // a file system without links
			return err
		}
	}
	return syncDir(filepath.Dir(path))
}

// Open opens a session by its id, or a file by its path.
func (s *store) Open(ctx context.Context, id string) (session.Log, error) {
	path, err := s.findFile(id)
	if err != nil {
		return nil, err
	}
	l, err := openFile(path, &s.o)
	if err != nil {
		return nil, err
	}
	if path != id { // a file that somebody names keeps its mode
		if err := private.Tighten(l.path); err != nil {
			l.note("%v", err)
		}
	}
	return l, nil
}

// eachFile calls f for every session file in the folder and in those directly below it,
// also where a folder or a file is a link, until f returns an error; of [fs.SkipAll] it
// says nothing.
func (s *store) eachFile(f func(path string, info fs.FileInfo) error) error {
	top, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError("list", s.dir, err)
	}
	for _, d := range top {
		dir, files := s.dir, []fs.DirEntry{d}
		if d.IsDir() || d.Type()&fs.ModeSymlink != 0 {
			folder := filepath.Join(s.dir, d.Name())
			if below, err := os.ReadDir(folder); err == nil { // one that cannot be read holds no sessions of ours
				dir, files = folder, below
			}
		}
		for _, d := range files {
			path := filepath.Join(dir, d.Name())
			if !strings.HasSuffix(path, extension) {
				continue
			}
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue // it was deleted meanwhile, or is none
			}
			if err := f(path, info); err == fs.SkipAll {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// findFile returns the file of a session.
func (s *store) findFile(id string) (string, error) {
	if strings.HasSuffix(id, extension) {
		if _, err := os.Stat(id); err == nil {
			return id, nil
		}
	}
	found := ""
	var others []string // most files have the id in their name; the others have to be looked into
	err := s.eachFile(func(path string, _ fs.FileInfo) error {
		base := strings.TrimSuffix(filepath.Base(path), extension)
		if base == id || strings.HasSuffix(base, "_"+id) || strings.HasSuffix(base, "_"+id+copySuffix) {
			// One of a newer version is found too, so that opening it says so.
			if h, err := readHeader(path); err == nil && h.ID == id || errors.Is(err, session.ErrNewer) {
				found = path
				return fs.SkipAll
			}
		}
		others = append(others, path)
		return nil
	})
	if err != nil {
		return "", err
	}
	if found != "" {
		return found, nil
	}
	for _, path := range others {
		if h, err := readHeader(path); err == nil && h.ID == id {
			return path, nil
		}
	}
	return "", &session.Error{Op: "open", Session: id, Problem: "there is no such session in " + s.dir, Hint: "list the sessions to find it", Err: session.ErrNotFound}
}

// readHeader reads a file's header.
func readHeader(path string) (session.Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return session.Header{}, err
	}
	defer f.Close()
	line, err := firstLine(f)
	if err != nil {
		return session.Header{}, err
	}
	return session.ParseHeader(line)
}

const maxHeader = 1 << 20

func firstLine(r io.Reader) ([]byte, error) {
	b := bufio.NewReader(io.LimitReader(r, maxHeader))
	for {
		line, err := b.ReadBytes('\n')
		if t := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))); len(t) > 0 {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the file is empty: %w", session.ErrNotSession)
		}
	}
}

// List returns the sessions in the folder. It passes over other files.
func (s *store) List(ctx context.Context, skip, limit int) ([]session.Info, error) {
	var all []session.Info
	err := s.eachFile(func(path string, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := readHeader(path)
		if err != nil {
			return nil //nolint:nilerr // no session, so nothing to list
		}
		if h.Version < session.Version {
			if _, err := os.Stat(copyPath(path)); err == nil {
				return nil // it is continued in its copy
			}
		}
		all = append(all, session.Info{Header: h, Modified: info.ModTime().UTC(), Bytes: info.Size(), Path: path})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b session.Info) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(b.ID, a.ID))
	})
	all = all[min(max(skip, 0), len(all)):]
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	for i := range all {
		if f, err := os.Open(all[i].Path); err == nil {
			all[i].Title, all[i].Name = firstWords(f), lastName(f, all[i].Bytes)
			f.Close()
		}
	}
	return all, nil
}

// firstWords finds how the user's first message begins, near the start of a
// file.
func firstWords(f io.Reader) string {
	b := bufio.NewReader(io.LimitReader(f, 256<<10))
	for range 12 {
		line, err := b.ReadBytes('\n')
		if err != nil {
			return ""
		}
		if decode.Valid(bytes.TrimSpace(line)) != nil {
			continue
		}
		if t := session.RecordTitle(line); t != "" {
			return t
		}
	}
	return ""
}

// lastName finds a session's name: the last one in its file, which is looked
// through from its end.
func lastName(f io.ReaderAt, size int64) string {
	start := []byte("\n{\"type\":\"session_info\"")
	buf := make([]byte, min(size, 64<<10)+int64(len(start)))
	for end := size; end > 0; {
		from := max(0, end-64<<10)
		piece := buf[:min(end+int64(len(start)), size)-from] // with the start of the piece after it
		if _, err := f.ReadAt(piece, from); err != nil && err != io.EOF {
			return ""
		}
		if i := bytes.LastIndex(piece, start); i >= 0 {
			line, _ := bufio.NewReader(io.NewSectionReader(f, from+int64(i)+1, maxHeader)).ReadBytes('\n')
			if line = bytes.TrimSpace(line); decode.Valid(line) == nil {
				return decode.Str(line, "name")
			}
			return ""
		}
		end = from
	}
	return ""
}

// Delete removes a session's file, once no one writes to it, and the file of an
// older version that it was continued from.
func (s *store) Delete(ctx context.Context, id string) error {
	path, err := s.findFile(id)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return writeError("delete", path, err)
	}
	unlock, err := lockFile(ctx, f, true, s.o.LockTimeout)
	if err != nil {
		f.Close()
		return writeError("delete", path, err)
	}
	done := sync.OnceFunc(func() { unlock(); f.Close() })
	defer done()
	paths := []string{path}
	if old, ok := strings.CutSuffix(path, copySuffix+extension); ok {
		if h, err := readHeader(old + extension); err == nil && h.ID == id {
			paths = append(paths, old+extension)
		}
	} else if h, err := readHeader(copyPath(path)); err == nil && h.ID == id {
		paths = append(paths, copyPath(path))
	}
	if !removesOpen {
		done()
	}
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			return writeError("delete", p, err)
		}
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !isInvalid(err) {
		return err
	}
	return nil
}

// writeError says what to do about an error of the file system; nil is none.
func writeError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	e := &session.Error{Op: op, Session: path, Problem: err.Error(), Err: err}
	var p *fs.PathError
	if errors.As(err, &p) {
		e.Problem = p.Err.Error()
	}
	switch {
	case errors.Is(err, session.ErrBusy):
		e.Hint = "try again, or end the program that holds it"
	case isDiskFull(err):
		e.Hint = "nothing was added; free some space and try again"
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		e.Hint = "check the owner and mode of the file and its folder"
		e.Err = errors.Join(session.ErrReadOnly, err)
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "it was moved or deleted; list the sessions"
		e.Err = errors.Join(session.ErrNotFound, err)
	case errors.Is(err, fs.ErrExist):
		e.Err = errors.Join(session.ErrExists, err)
	}
	return e
}
