package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	fileinput "github.com/winnow-llm/winnow/internal/input"
)

// ReadFile returns the sessions in a file. "-" is standard input; compressed
// files are recognised by their first bytes, whatever they are called.
//
// The text of a large log is not held twice, as bytes and as messages: bytes are
// let go of as they are read.
func ReadFile(path string, o *Options) ([]Session, error) {
	opts := o.orDefault(path)
	if sessions, ok := readLog(path, &opts); ok {
		return sessions, nil
	}
	var data []byte
	var err error
	if path == "-" {
		if opts.Name == "-" {
			opts.Name = "standard input"
		}
		data, err = fileinput.Stream(os.Stdin, opts.MaxBytes)
	} else {
		data, err = fileinput.File(path, opts.MaxBytes)
	}
	if err != nil {
		return nil, fileError(opts.Name, err)
	}
	return Read(data, &opts)
}

func fileError(name string, err error) error {
	e := &Error{File: name, Err: err, Problem: err.Error()}
	var in *fileinput.Error
	if errors.As(err, &in) {
		e.Problem, e.Hint = in.Problem, in.Hint
		if in.Err != nil {
			e.Err = in.Err
		}
	}
	return e
}

// readLog reads a large file that has a value on each line. It reports false
// for any other, and for one that cannot be read to its end so: [Read] says what
// is wrong there, or mends it.
func readLog(path string, opts *Options) ([]Session, bool) {
	pieces, err := fileinput.Pieces(path, opts.MaxBytes)
	if err != nil || pieces == nil || opts.Format != "" && readers[opts.Format] == nil {
		return nil, false
	}
	in := &input{name: opts.Name}
	line := 1
	for i, data := range pieces {
		piece := input{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
		piece.splitRecords()
		if piece.bad != nil || len(piece.warnings) > 0 {
			return nil, false
		}
		for _, r := range piece.records {
			in.records = append(in.records, record{line + r.line - 1, r.raw})
		}
		line += bytes.Count(data, []byte{'\n'})
		pieces[i] = nil // its records hold it
	}
	if len(in.records) < 2 {
		return nil, false
	}
	sessions, err := in.readSessions(opts)
	return sessions, err == nil
}

// input is a file on its way to sessions.
type input struct {
	name     string
	data     []byte
	format   Format
	records  []record
	warnings []Warning
	bad      *Error // the first thing that could not be read

	// counted is a place of which the line is known, so that lines are not
	// counted from the top for every record.
	counted, line int

	// at is the line of the record that is being read, for those of a log whose
	// bytes are not in data.
	at int
}

// loadData takes over the data: decompressed, without byte order mark.
func (in *input) loadData(data []byte, limit int64) error {
	plain, warning, err := fileinput.Plain(data, limit)
	if err != nil {
		return fileError(in.name, err)
	}
	if warning != "" {
		in.warn(0, "%s", warning)
	}
	in.data = plain
	if len(bytes.TrimSpace(in.data)) == 0 {
		return in.newError(0, "the file is empty", "check that the agent has written to it")
	}
	return nil
}

func (in *input) newError(line int, problem, hint string) *Error {
	return &Error{File: in.name, Line: line, Problem: problem, Hint: hint}
}

// warn notes something about the file. Floods are cut: a file of another kind
// would otherwise fill the screen.
func (in *input) warn(line int, format string, args ...any) {
	in.warnings = appendWarning(in.warnings, line, fmt.Sprintf(format, args...))
}

const maxWarnings = 50

func appendWarning(ws []Warning, line int, message string) []Warning {
	switch {
	case len(ws) < maxWarnings:
		return append(ws, Warning{line, message})
	case len(ws) == maxWarnings:
		return append(ws, Warning{0, "more warnings of this kind are left out"})
	}
	return ws
}

// lineOf returns the line on which a value stands that was cut out of the data.
func (in *input) lineOf(v jsontext.Value) int {
	if in.data == nil {
		return in.at
	}
	if len(v) == 0 {
		return 0
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(v))) - uintptr(unsafe.Pointer(unsafe.SliceData(in.data)))
	if at >= uintptr(len(in.data)) {
		return 0
	}
	if int(at) < in.counted {
		in.counted, in.line = 0, 0
	}
	in.line += bytes.Count(in.data[in.counted:at], []byte{'\n'})
	in.counted = int(at)
	return 1 + in.line
}

// foreignKind names the kind of data whose first bytes say that it is not JSON.
func foreignKind(data []byte) string {
	for _, s := range [...]struct{ magic, what string }{
		{"\x89PNG", "a PNG image"},
		{"\xff\xd8\xff", "a JPEG image"},
		{"GIF8", "a GIF image"},
		{"RIFF", "a media file"},
		{"\x7fELF", "a program (ELF)"},
		{"MZ\x90", "a Windows program"},
		{"\xcf\xfa\xed\xfe", "a program (Mach-O)"},
		{"PK\x03\x04", "a zip archive"},
		{"%PDF", "a PDF document"},
		{"SQLite format 3\x00", "an SQLite database"},
		{"\x28\xb5\x2f\xfd", "zstd-compressed data"},
		{"BZh", "bzip2-compressed data"},
		{"\xfd7zXZ", "xz-compressed data"},
		{"\xff\xfe", "UTF-16 text"},
		{"\xfe\xff", "UTF-16 text"},
	} {
		if bytes.HasPrefix(data, []byte(s.magic)) {
			return s.what
		}
	}
	head := bytes.TrimSpace(bytes.Trim(data[:min(len(data), 512)], "\x00"))
	switch {
	case len(head) == 0:
		return ""
	case head[0] == '<':
		return "HTML or XML"
	case head[0] == '#' || bytes.HasPrefix(head, []byte("---")):
		return "Markdown or YAML text"
	case bytes.IndexByte([]byte("{[\""), head[0]) < 0 && bytes.ContainsFunc(head, isBinary):
		return "binary data"
	}
	return ""
}

// isBinary reports whether a character has no place in text.
func isBinary(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' }
