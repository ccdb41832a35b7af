// Package input reads the bytes that a person named: a file or a stream,
// compressed or not, of any size up to a limit. [File] and [Stream] read,
// [Plain] decompresses. Errors say what to do, without the file's name, which
// the caller knows better.
package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Error says what is wrong with an input and what to do about it.
type Error struct {
	Problem, Hint string
	Err           error // the cause; may be nil
}

// Error returns problem and hint in one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Problem
	}
	return e.Problem + "; " + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// File reads a file of at most limit bytes.
func File(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fileError(err)
	case info.IsDir():
		return nil, &Error{Problem: "this is a folder", Hint: "name one of the files in it"}
	case info.Mode().IsRegular():
		return readLimited(f, limit, info.Size())
	}
	return readLimited(f, limit, 0)
}

// Large is the size from which on a log is read in pieces, Piece about how many
// bytes each has. They are variables for tests.
var (
	Large int64 = 16 << 20
	Piece       = 1 << 20
)

// Pieces reads a file that is large and not compressed in pieces of whole lines,
// so that the caller can let go of them one by one. It returns none for any other
// file.
func Pieces(path string, limit int64) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < Large || info.Size() > limit {
		return nil, nil //nolint:nilerr // File says what is wrong
	}
	var out [][]byte
	var rest []byte // the beginning of a line
	for {
		piece := make([]byte, len(rest)+Piece)
		n, err := io.ReadFull(f, piece[copy(piece, rest):])
		piece = piece[:len(rest)+n]
		if len(out) == 0 && bytes.HasPrefix(piece, []byte{0x1f, 0x8b}) {
			return nil, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return append(out, piece), nil
		}
		if err != nil {
			return nil, fileError(err)
		}
		end := bytes.LastIndexByte(piece, '\n') + 1
		rest = bytes.Clone(piece[end:])
		if end > 0 {
			out = append(out, piece[:end:end])
		}
	}
}

// Stream reads a stream of at most limit bytes to its end.
func Stream(r io.Reader, limit int64) ([]byte, error) { return readLimited(r, limit, 0) }

// readLimited reads to the end, with room for size bytes at first.
func readLimited(r io.Reader, limit, size int64) ([]byte, error) {
	tooLarge := &Error{Problem: fmt.Sprintf("it has more than %d bytes", limit), Hint: "split it"}
	if size > limit {
		return nil, tooLarge
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return b.Bytes(), fileError(err)
	}
	if n > limit {
		return nil, tooLarge
	}
	return b.Bytes(), nil
}

func fileError(err error) *Error {
	var path *os.PathError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &Error{"there is no such file", "check the path", err}
	case errors.Is(err, os.ErrPermission):
		return &Error{"no permission to read it", "check its owner and mode", err}
	case errors.As(err, &path):
		return &Error{path.Err.Error(), "", err}
	}
	return &Error{err.Error(), "", err}
}

// Compressed data may have mostExpansion times their size, or leastUnpacked bytes if
// that is more. Sessions have at most some twenty times; a megabyte that is made to
// have a thousand would fill the memory.
const mostExpansion, leastUnpacked = 100, 64 << 20

// Plain decompresses data that starts like a gzip file, also one inside
// another, to at most limit bytes, and takes a byte order mark off. Where the
// compressed data is damaged it returns what could be read and a warning.
func Plain(data []byte, limit int64) (plain []byte, warning string, err error) {
	for depth := 0; bytes.HasPrefix(data, []byte{0x1f, 0x8b}); depth++ {
		if depth == 3 {
			return nil, "", &Error{Problem: "it is compressed several times over", Hint: "decompress it first"}
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, "", &Error{"it starts like a gzip file but is not one", "check that it was copied whole", err}
		}
		limit := min(limit, max(leastUnpacked, mostExpansion*int64(len(data))))
		out, err := readLimited(z, limit, min(limit, int64(4*len(data))))
		var e *Error
		switch {
		case err == nil:
		case errors.As(err, &e) && e.Err == nil: // too large
			return nil, "", &Error{Problem: e.Problem + " when decompressed", Hint: "decompress it first, or split it"}
		case len(out) == 0:
			return nil, "", &Error{"the compressed data is damaged (" + err.Error() + ")", "check that it was copied whole", err}
		default:
			warning = fmt.Sprintf("the compressed data is damaged (%v): only the part that could be decompressed was read", err)
		}
		data = out
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), warning, nil
}
