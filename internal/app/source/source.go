// Package source reads what the command is pointed at: a file or standard
// input, plain or compressed, in any format that winnow knows.
//
// [Load] returns an [Input] with its sessions as requests. A session that was
// read from the body of a request keeps that body, so that a view of it can be
// written back without losing a byte that no edit touches; every other session
// is written with [Session.Write] in the dialect that the caller names.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	fileinput "github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

// MaxBytes is the most that is read from one input, after decompression.
const MaxBytes = 2 << 30

// Input is one file or stream.
type Input struct {
	// Name is how people are told of it, Path where it lies; "" for a stream.
	Name, Path string

	// Format of the content and, in words, what gave it away.
	Format transcript.Format
	Saw    string

	// Data is the content, decompressed, which has Size bytes; see [Input.Bytes].
	Data []byte
	Size int

	Sessions []Session

	// Warnings say what could not be read.
	Warnings []string

	// Refused says why data that looks like the body of a request is read for
	// its messages alone; nil where it is none or could be read as one.
	Refused *fileinput.Error
}

// Session is one conversation of an input.
type Session struct {
	// Number counts from 1, as people do. ID and Title are the file's own.
	Number    int
	ID, Title string

	// Model is the model that the file names, perhaps "".
	Model   string
	Format  transcript.Format
	Request chat.Request

	// Body is the request's body; nil for sessions that are not requests.
	Body *wire.Body

	// Compactions are those that the original client made itself.
	Compactions []transcript.Compaction

	// Stated is the window that the file states; 0 where it states none. See
	// [Session.Window].
	Stated int

	// Folder is the working folder that the file names; "" where it names none.
	Folder string

	joined map[string]string // ids of records inside messages, with the message's id
}

// Load reads a path; "-" is stdin. A format overrides detection; "" detects.
// The bytes of a large log are not kept beside its messages. An input that was read and
// holds no session is returned with the error that says so.
func Load(path string, stdin io.Reader, format string) (*Input, error) {
	if in := loadLog(path, format); in != nil {
		return in, nil
	}
	in, err := Open(path, stdin)
	if err != nil {
		return nil, err
	}
	return in, in.Recognise(format)
}

// loadLog reads a large log without its bytes: its first line is a whole value, and more
// follow, so that it cannot be a request either. It returns nil for anything else, and
// where that does not work: [Open] and [Input.Recognise] say why.
func loadLog(path, format string) *Input {
	f, err := os.Open(path)
	if path == "-" || err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < fileinput.Large {
		return nil
	}
	head := make([]byte, 1<<20)
	n, err := io.ReadFull(f, head)
	if first, _, more := bytes.Cut(head[:n], []byte{'\n'}); err != nil || !more || !jsontext.Value(first).IsValid() {
		return nil
	}
	sessions, err := transcript.ReadFile(path, &transcript.Options{Format: transcript.Format(format), MaxBytes: MaxBytes})
	if err != nil {
		return nil
	}
	in := &Input{Name: path, Path: path, Size: int(info.Size())}
	in.takeSessions(sessions)
	return in
}

// Bytes returns the content, decompressed. That of a large log is read again.
func (in *Input) Bytes() ([]byte, error) {
	if in.Data == nil && in.Path != "" {
		whole, err := Open(in.Path, nil)
		if err != nil {
			return nil, err
		}
		in.Data = whole.Data
	}
	return in.Data, nil
}

// Open reads the bytes of a path and decompresses them, and looks no further.
func Open(path string, stdin io.Reader) (*Input, error) {
	in := &Input{Name: path, Path: path}
	var err error
	if path == "-" {
		in.Name, in.Path = "standard input", ""
		in.Data, err = fileinput.Stream(stdin, MaxBytes)
	} else {
		in.Data, err = fileinput.File(path, MaxBytes)
	}
	warning := ""
	if err == nil {
		in.Data, warning, err = fileinput.Plain(in.Data, MaxBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	if in.Size = len(in.Data); warning != "" {
		in.warn("%s", warning)
	}
	return in, nil
}

func (in *Input) warn(format string, args ...any) {
	in.Warnings = append(in.Warnings, fmt.Sprintf(format, args...))
}

// Recognise finds the sessions in an input that [Open] read. A format
// overrides detection. The error says that it holds none.
func (in *Input) Recognise(format string) error {
	if in.readBody(format) {
		return nil
	}
	sessions, err := transcript.Read(in.Data, &transcript.Options{Format: transcript.Format(format), Name: in.Name, MaxBytes: MaxBytes})
	if errors.Is(err, transcript.ErrUnknownFormat) {
		return in.notSent(err)
	}
	if err != nil {
		return err
	}
	if in.Refused != nil {
		in.warn("it is not a valid request (%s): only its messages are read", in.Refused.Problem)
	}
	in.takeSessions(sessions)
	return nil
}

// takeSessions takes over what a transcript holds.
func (in *Input) takeSessions(sessions []transcript.Session) {
	for i := range sessions {
		s := &sessions[i]
		for _, w := range s.Warnings {
			in.warn("%s", w)
		}
		in.Sessions = append(in.Sessions, Session{
			Number: i + 1, ID: s.ID, Title: s.Title, Model: s.Model, Format: s.Format,
			Request: s.Request(), Compactions: s.Compactions, Stated: s.Window, Folder: s.Folder, joined: s.Joined,
		})
	}
	in.Format = sessions[0].Format
	in.Saw = fmt.Sprintf("a session in the format %s", in.Format)
	if n := len(sessions); n > 1 {
		in.Saw = fmt.Sprintf("%d sessions in the format %s", n, in.Format)
	}
}

// readBody reads the data as the body of one request, or reports false. What
// is wrong with a body that cannot be read is better said by the transcript
// reader, which knows lines.
func (in *Input) readBody(format string) bool {
	dialect, _ := wire.ParseDialect(format) // none where it is the format of a session
	if format == "" && looksLikeBody(in.Data) {
		dialect, _ = wire.Detect(in.Data)
	}
	if dialect == "" {
		return false
	}
	body, err := wire.Parse(dialect, in.Data)
	if err != nil {
		in.Refused = bodyRefusal(in.Data, err)
		return false
	}
	if body.Request().History.Len() == 0 {
		return false
	}
	in.Format = transcript.Format(dialect)
	in.Saw = fmt.Sprintf("a request body in the dialect %s", dialect)
	if bytes.HasPrefix(bytes.TrimSpace(in.Data[:min(len(in.Data), 64)]), []byte{'['}) {
		in.Saw = fmt.Sprintf("an array of messages in the dialect %s", dialect)
	}
	in.Sessions = []Session{{
		Number: 1, Model: body.Model(), Format: in.Format, Request: body.Request(), Body: body,
	}}
	if name := body.Managed(); name != "" {
		in.warn("the body has %q: the provider holds or manages part of this conversation, and that part is not in the file", name)
	}
	return true
}

// bodyRefusal returns what is wrong with a body, or nil where the data is several
// JSON values and thus no body at all.
func bodyRefusal(data []byte, err error) *fileinput.Error {
	var wrong *wire.Error
	if !errors.As(err, &wrong) || decode.Valid(data) != nil {
		return nil //nolint:nilerr // the error is what is asked about, not a failure of this function
	}
	problem := wrong.Problem
	if wrong.Path != "" {
		problem = wrong.Path + ": " + problem
	}
	return &fileinput.Error{Problem: problem, Hint: wrong.Hint, Err: err}
}

// notSent says what is wrong with data of no known format that has the shape
// of a request, and else returns unknown.
func (in *Input) notSent(unknown error) error {
	d, ok := wire.Detect(in.Data)
	if !ok {
		return unknown
	}
	if _, err := wire.Parse(d, in.Data); err != nil {
		if refused := bodyRefusal(in.Data, err); refused != nil {
			return fmt.Errorf("%s: %w", in.Name, refused)
		}
		return unknown
	}
	for range decode.Elements(bytes.TrimSpace(in.Data)) {
		return unknown // an array of anything passes for one of items
	}
	return &fileinput.Error{Problem: fmt.Sprintf("%s: the request in the dialect %s has no messages", in.Name, d), Hint: "add the user's", Err: unknown}
}

// Choose returns the session that a person named by number or id. An empty
// name stands for the only session, or the longest; then the reason is given.
func (in *Input) Choose(name string) (*Session, string, error) {
	if name == "" {
		best := 0
		for i := range in.Sessions {
			if sessionBytes(&in.Sessions[i]) > sessionBytes(&in.Sessions[best]) {
				best = i
			}
		}
		s := &in.Sessions[best]
		if len(in.Sessions) == 1 {
			return s, "", nil
		}
		return s, fmt.Sprintf("%s holds %d sessions; taking the longest, %s; --session chooses another", in.Name, len(in.Sessions), s.Label()), nil
	}
	for i := range in.Sessions {
		if in.Sessions[i].ID == name {
			return &in.Sessions[i], "", nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n >= 1 && n <= len(in.Sessions) {
			return &in.Sessions[n-1], "", nil
		}
		return nil, "", fmt.Errorf("%s: there is no session %d; %s", in.Name, n, in.knownSessions())
	}
	return nil, "", fmt.Errorf("%s: no session has the id %q; %s", in.Name, name, in.knownSessions())
}

func (in *Input) knownSessions() string {
	if len(in.Sessions) == 1 {
		return "it holds one session; leave --session out"
	}
	var ids []string
	for i := range in.Sessions[:min(len(in.Sessions), 3)] {
		ids = append(ids, in.Sessions[i].ID)
	}
	if len(in.Sessions) > 3 {
		ids = append(ids, "…")
	}
	return fmt.Sprintf("use a number from 1 to %d or an id: %s", len(in.Sessions), strings.Join(ids, ", "))
}

// Covered returns the session that a plan was made for. The error wraps
// [plan.ErrMismatch] when there is none.
func (in *Input) Covered(p *plan.Plan) (*Session, error) {
	for i := range in.Sessions {
		if p.Covers(in.Sessions[i].Request.History) {
			return &in.Sessions[i], nil
		}
	}
	return nil, &fileinput.Error{
		Problem: fmt.Sprintf("%s: plan %s over %d messages was made for another history", in.Name, p.ID(), p.Len),
		Hint:    "name the file that it was made from, or make a new plan with winnow compact", Err: plan.ErrMismatch,
	}
}

// sessionBytes returns about how long a session is.
func sessionBytes(s *Session) int {
	n := 0
	for i := range s.Request.History.Len() {
		n += s.Request.History.At(i).Size().Bytes
	}
	return n
}

// Label names the session for people.
func (s *Session) Label() string {
	if s.ID == "" {
		return fmt.Sprintf("number %d", s.Number)
	}
	return fmt.Sprintf("number %d (%s)", s.Number, s.ID)
}
