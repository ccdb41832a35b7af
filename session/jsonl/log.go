package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/commit"
)

// file is what a log writes to: an *os.File, or what a test puts in its place.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Fd() uintptr
	Close() error
}

// log is one session's file.
type log struct {
	o     Options
	group commit.Group

	mu     sync.Mutex
	path   string
	header session.Header
	r      *os.File
	w      file
	open   func(path string) (file, error) // for appending

	offset  int64 // bytes read so far
	line    int
	started bool // the header was read
	torn    bool // a torn last line was noted
	notes   []string
	old     [][]byte // the records of an older version, as version 3
	closed  bool
}

var _ session.Log = (*log)(nil)

// OpenFile opens a session file. It fails with an error that wraps
// [session.ErrNotSession] when the file is none, and leaves it as it is. An
// older version that was continued in a copy opens the copy.
func OpenFile(path string, o *Options) (session.Log, error) {
	l, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func openFile(path string, o *Options) (*log, error) {
	l := &log{o: o.orDefault(), path: path, open: openAppend}
	l.group.Write = l.writeRecords
	if err := l.reopen(path); err != nil {
		return nil, err
	}
	if l.header.Version < session.Version {
		if h, err := readHeader(copyPath(path)); err == nil && h.ID == l.header.ID {
			if err := l.goOnIn(copyPath(path)); err != nil {
				l.r.Close()
				return nil, err
			}
		}
	}
	return l, nil
}

func openAppend(path string) (file, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) }

func (l *log) reopen(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return writeError("open", path, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return &session.Error{Op: "open", Session: path, Problem: "this is a folder", Hint: "name a file in it", Err: session.ErrNotSession}
	}
	line, err := firstLine(f)
	var h session.Header
	if err == nil {
		h, err = session.ParseHeader(line)
	}
	if err != nil {
		f.Close()
		hint := "nothing was changed; name a session file"
		if errors.Is(err, session.ErrNewer) {
			hint = "nothing was changed; use a newer winnow"
		}
		return &session.Error{Op: "open", Session: path, Problem: err.Error(), Hint: hint, Err: err}
	}
	h.Raw = bytes.Clone(line)
	l.path, l.header, l.r = path, h, f
	l.offset, l.line, l.started, l.torn = 0, 0, false, false
	return nil
}

// goOnIn goes on in the copy that a file of an older version is continued in.
func (l *log) goOnIn(path string) error {
	was, from := l.r, l.header.Version
	if err := l.reopen(path); err != nil {
		return err
	}
	was.Close()
	l.note("version %d of this session is continued in %s", from, filepath.Base(path))
	return nil
}

func (l *log) note(format string, args ...any) {
	if len(l.notes) < 50 {
		l.notes = append(l.notes, fmt.Sprintf(format, args...))
	}
}

// Info returns what is known of the session.
func (l *log) Info() session.Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	info := session.Info{Header: l.header, Path: l.path}
	if st, err := l.r.Stat(); err == nil {
		info.Modified, info.Bytes = st.ModTime().UTC(), st.Size()
	}
	return info
}

// Notes say what the reader left out or mended.
func (l *log) Notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.notes...)
}

// Close closes the file.
func (l *log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.r.Close()
	if l.w != nil {
		err = errors.Join(err, l.w.Close())
	}
	return err
}

// Load reads the records added since the last time.
func (l *log) Load(ctx context.Context) ([]session.Record, error) { return l.load(ctx, 0) }

// LoadPiece reads about size bytes of records, and returns none at the end. Files of
// older versions are read whole.
func (l *log) LoadPiece(ctx context.Context, size int) ([]session.Record, error) {
	return l.load(ctx, size)
}

// Reread reads the bytes of a record again.
func (l *log) Reread(at int64, raw []byte) error {
	_, err := l.r.ReadAt(raw, at)
	return err
}

// load reads records from at least size bytes; 0 reads all.
func (l *log) load(ctx context.Context, size int) ([]session.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group.Reset()
	if l.closed {
		return nil, session.ErrClosed
	}
	if l.header.Version < session.Version {
		size = 0
	}
	for {
		before := l.offset
		data, err := l.readRest(ctx, size)
		if err != nil {
			return nil, writeError("read", l.path, err)
		}
		if recs := l.takeRecords(data); len(recs) > 0 || l.offset == before {
			return recs, nil
		}
	}
}

// readRest reads the file from where the last reading ended: all of it, or with a
// size the whole lines in about that many bytes.
func (l *log) readRest(ctx context.Context, size int) ([]byte, error) {
	unlock, err := lockFile(ctx, l.r, false, l.o.LockTimeout)
	if err != nil {
		return nil, err
	}
	defer unlock()
	info, err := l.r.Stat()
	if err != nil {
		return nil, err
	}
	n := info.Size() - l.offset
	if n <= 0 {
		return nil, nil
	}
	for ; ; size *= 2 {
		want := n
		if size > 0 {
			want = min(n, int64(size))
		}
		buf := make([]byte, want)
		got, err := l.r.ReadAt(buf, l.offset)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if want == n {
			return buf[:got], nil
		}
		if end := bytes.LastIndexByte(buf[:got], '\n') + 1; end > 0 {
			return buf[:end], nil
		}
	}
}

// takeRecords turns bytes into records. It leaves a last line without an end for
// the next time, unless it is a whole record: the rest may be on its way.
func (l *log) takeRecords(data []byte) []session.Record {
	end := len(data)
	if end == 0 {
		return nil
	}
	if data[end-1] != '\n' {
		last := bytes.LastIndexByte(data, '\n') + 1
		if !isWholeObject(data[last:]) {
			if !l.torn {
				l.torn = true
				l.note("line %d ends in the middle: it is left out", l.line+bytes.Count(data, []byte{'\n'})+1)
			}
			end = last
		}
	}
	lines := splitLines(data[:end], l.line+1, l.offset)
	l.offset += int64(end)
	l.line += bytes.Count(data[:end], []byte{'\n'})
	recs, notes := parseLines(lines)
	for _, n := range notes {
		l.note("%s", n)
	}
	if !l.started && len(recs) > 0 {
		l.started = true
		recs = recs[1:] // the header
	}
	if l.header.Version < session.Version {
		recs = l.migrateRecords(recs)
	}
	return recs
}

// Append queues records to be added to the file.
func (l *log) Append(recs ...[]byte) func(context.Context) error { return l.group.Add(recs) }

// writeRecords adds records to the file: one write under the lock, one fsync.
func (l *log) writeRecords(ctx context.Context, recs [][]byte) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return session.ErrClosed
	}
	if l.header.Version < session.Version {
		if err := l.moveToCopy(ctx); err != nil {
			l.mu.Unlock()
			return err
		}
	}
	if l.w == nil {
		w, err := l.open(l.path)
		if err != nil {
			l.mu.Unlock()
			return writeError("append to", l.path, err)
		}
		l.w = w
	}
	w, r, path := l.w, l.r, l.path
	l.mu.Unlock()

	if slices.ContainsFunc(recs, func(rec []byte) bool { return bytes.IndexByte(rec, '\n') >= 0 }) {
		return &session.Error{Op: "append to", Session: path, Problem: "a record has more than one line", Hint: "write it as compact JSON"}
	}
	buf := bytes.Join(append(slices.Clip(recs), nil), []byte{'\n'}) // the last line has an end too
	unlock, err := lockFile(ctx, w, true, l.o.LockTimeout)
	if err != nil {
		return writeError("append to", path, err)
	}
	err = addTo(w, r, path, buf)
	unlock()
	if err == nil {
		err = w.Sync()
	}
	return writeError("append to", path, err)
}

// addTo adds bytes to the end of the file, after a line end if someone left a
// line without one. What is written in part is taken away again.
func addTo(w file, r *os.File, path string, buf []byte) error {
	info, err := w.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil {
		return err
	} else if !os.SameFile(info, now) {
		return &fs.PathError{Op: "append", Path: path, Err: fs.ErrNotExist}
	}
	size := info.Size()
	if size > 0 {
		var last [1]byte
		if _, err := r.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			buf = append([]byte{'\n'}, buf...)
		}
	}
	if n, err := w.Write(buf); err != nil || n < len(buf) {
		if err == nil {
			err = io.ErrShortWrite
		}
		if n > 0 {
			return errors.Join(err, w.Truncate(size))
		}
		return err
	}
	return nil
}
