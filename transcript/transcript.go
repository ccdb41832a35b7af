package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
)

// Format names a kind of session file.
type Format string

// The formats that can be read.
const (
	OpenAI       Format = "openai"         // messages of chat completions
	Responses    Format = "responses"      // input items of OpenAI's responses
	Anthropic    Format = "anthropic"      // messages of Anthropic's API
	Gemini       Format = "gemini"         // contents of Gemini's API
	NeuroLink    Format = "neurolink"      // messages with NeuroLink's tags
	Pi           Format = "pi"             // JSONL tree, versions 1 to 3
	ClaudeCode   Format = "claude-code"    // JSONL
	Codex        Format = "codex"          // JSONL rollout
	OpenCode     Format = "opencode"       // exported session
	GeminiCLI    Format = "gemini-cli"     // saved chat
	OpenHandsV0  Format = "openhands-v0"   // evaluation output with a history of events
	OpenHandsV1  Format = "openhands-v1"   // events, one per line
	SWEAgent     Format = "swe-agent"      // .traj
	MiniSWEAgent Format = "mini-swe-agent" // .traj.json
	TauBench     Format = "tau-bench"      // list of trajectories
	Tau2Bench    Format = "tau2-bench"     // simulations
)

// Formats returns all formats, in the order in which they are listed to people.
func Formats() []Format {
	return []Format{
		OpenAI, Responses, Anthropic, Gemini, Pi, ClaudeCode, Codex, OpenCode, GeminiCLI, NeuroLink,
		OpenHandsV0, OpenHandsV1, SWEAgent, MiniSWEAgent, TauBench, Tau2Bench,
	}
}

// Session is one conversation as an agent recorded it.
type Session struct {
	// ID is the session's name in its file, Title what a person would call it.
	ID, Title string

	// Model is the last model that answered, as the file names it.
	Model  string
	Format Format

	// Folder is the working folder that the file names first; "" where it names none.
	Folder string

	// Window is the context window that the file states for its last model, in
	// tokens; 0 where it states none.
	Window int

	System  []chat.Part
	Tools   []chat.ToolDef
	History chat.History

	// Compactions are those that the original client made, in order.
	Compactions []Compaction

	// Joined has the ids of records that became part of an earlier record's
	// message, each with that message's id.
	Joined map[string]string

	// Skipped counts the other records than messages, by their type.
	Skipped map[string]int

	// Warnings say what could not be read or was left out.
	Warnings []Warning
}

// Request returns the session as a request, so that it can be measured and compacted.
func (s *Session) Request() chat.Request {
	return chat.Request{System: s.System, Tools: s.Tools, History: s.History}
}

// Compaction is one place where the original client compacted its context.
type Compaction struct {
	// At is the index in the history before which it happened.
	At int

	// Summary is what the client put in place of the messages before; "" where
	// the file does not tell (it may be encrypted).
	Summary string

	// Kept is how many messages before At the client kept beside the summary; 0
	// where it kept none or the file does not tell.
	Kept int

	// TokensBefore and TokensAfter are the context's size as far as the file
	// tells: what the client noted, else the usage reported next to the place.
	TokensBefore, TokensAfter int

	// Trigger is the client's word for the reason: auto, manual, overflow. It is
	// "" where the file does not tell. See [Compaction.Automatic].
	Trigger string

	// Took is how long the client waited for it, as far as the file tells: what the
	// client noted, else the time since the message before. It is 0 where a person
	// asked for it and nothing was noted.
	Took time.Duration

	// Line of the file that records it; 0 where the file has no lines of its own.
	Line int
}

// Automatic reports whether the client compacted by itself, because the context
// had grown too large for it.
func (c *Compaction) Automatic() bool { return c.Trigger == "auto" || c.Trigger == "overflow" }

// Warning is something about a file that a person should know, though it was read.
type Warning struct {
	Line    int // 0 concerns the whole file
	Message string
}

// String returns the warning as one line.
func (w Warning) String() string {
	if w.Line == 0 {
		return w.Message
	}
	return fmt.Sprintf("line %d: %s", w.Line, w.Message)
}

// Options say how to read. Nil and the zero value work.
type Options struct {
	// Format overrides detection; "" is to detect.
	Format Format

	// Name stands for the input in errors; by default "input", or the file's path.
	Name string

	// MaxBytes is the most that is read, after decompression; 0 is 2 GiB.
	MaxBytes int64
}

func (o *Options) orDefault(name string) Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	out.Name = cmp.Or(out.Name, name)
	if out.MaxBytes <= 0 {
		out.MaxBytes = 2 << 30
	}
	return out
}

// ErrUnknownFormat is wrapped by the error for JSON that is not a known session.
var ErrUnknownFormat = errors.New("no known session format")

// Error says why a file could not be read, and what can be done.
type Error struct {
	File    string
	Line    int // 0 concerns the whole file
	Problem string
	Hint    string // what to do; may be ""
	Err     error  // the cause; may be nil
}

// Error returns everything in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": " + e.Problem)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, b.String())
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// readers turn the records of a file into sessions.
var readers = map[Format]func(*input) ([]Session, error){
	OpenAI:       readPlain,
	Responses:    readPlain,
	Anthropic:    readPlain,
	Gemini:       readPlain,
	NeuroLink:    readNeuroLink,
	Pi:           readPi,
	ClaudeCode:   readClaude,
	Codex:        readCodex,
	OpenCode:     readOpenCode,
	GeminiCLI:    readGeminiCLI,
	OpenHandsV0:  readOpenHandsV0,
	OpenHandsV1:  readOpenHandsV1,
	SWEAgent:     documents((*builder).sweAgent),
	MiniSWEAgent: documents((*builder).miniAgent),
	TauBench:     documents((*builder).tauBench),
	Tau2Bench:    readTau2,
}

// Read returns the sessions in data. Compressed data is decompressed. The
// bytes may be reused afterwards.
func Read(data []byte, o *Options) ([]Session, error) {
	opts := o.orDefault("input")
	in := &input{name: opts.Name}
	if err := in.loadData(data, opts.MaxBytes); err != nil {
		return nil, err
	}
	if opts.Format != "" && readers[opts.Format] == nil {
		return nil, in.newError(0, fmt.Sprintf("there is no format %q", opts.Format), "known formats: "+formatNames(Formats()))
	}
	if what := foreignKind(in.data); what != "" {
		return nil, in.newError(0, "this is "+what+", not a session", hintFormats)
	}
	in.splitRecords()
	return in.readSessions(&opts)
}

// readSessions reads the records.
func (in *input) readSessions(opts *Options) ([]Session, error) {
	if len(in.records) == 0 {
		if in.bad != nil {
			return nil, in.bad
		}
		return nil, in.newError(0, "no JSON value in it", hintFormats)
	}
	in.format = opts.Format
	if in.format == "" {
		f, what, ok := classifyRecords(in.records)
		if !ok {
			if in.bad != nil {
				return nil, in.bad
			}
			return nil, &Error{File: in.name, Line: in.records[0].line, Problem: "no known session format: " + what, Hint: hintFormats, Err: ErrUnknownFormat}
		}
		in.format = f
	}
	in.spreadArrays()
	sessions, err := readers[in.format](in)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(sessions, func(s Session) bool { return s.History.Len() > 0 || len(s.System) > 0 }) {
		if in.bad != nil {
			return nil, in.bad
		}
		return nil, in.newError(0, fmt.Sprintf("it has no message that can be read as %s", in.format), "name another format with --format, or check the file")
	}
	sessions[0].Warnings = append(in.warnings, sessions[0].Warnings...)
	nameSessions(sessions, opts.Name)
	return sessions, nil
}

const hintFormats = "give a session file of an agent or a JSON array of messages (--format names its kind)"

// nameSessions gives sessions without an id the name of their file.
func nameSessions(sessions []Session, file string) {
	base := filepath.Base(file)
	if dot := strings.IndexByte(base, '.'); dot > 0 {
		base = base[:dot]
	}
	for i := range sessions {
		if s := &sessions[i]; s.ID == "" {
			s.ID = base
			if i > 0 {
				s.ID = fmt.Sprintf("%s-%d", base, i+1)
			}
		}
	}
}

func formatNames(fs []Format) string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
