package session

import (
	"context"
	"iter"
	"time"

	"github.com/winnow-llm/winnow/internal/pifile"
)

// Version is the version of the record format that sessions are written in:
// that of pi's session files, which both stores hold.
const Version = pifile.Version

// Header says what a session is. It is written once, when the session is made.
type Header struct {
	// ID names the session in its store. Create makes one where it is empty.
	ID string `json:"id"`

	// Dir is the folder that the conversation is about.
	Dir string `json:"dir"`

	// Parent is the session this one was forked from; "" for none.
	Parent string `json:"parent,omitempty"`

	// Time is when the session was made.
	Time time.Time `json:"created"`

	// Version is the format's version in the file, 1 to 3. Whatever it is, records
	// are handed out in version 3.
	Version int `json:"-"`

	// Raw is the header's record.
	Raw []byte `json:"-"`
}

// Record is one line of a session: a JSON object of version 3.
type Record struct {
	Raw  []byte
	Line int // where it stands in its file or table, from 1

	// At is where its bytes begin in its file, or its number in its table; 0 where they
	// cannot be read there again.
	At int64
}

// Info is what a store knows of a session without reading it whole.
type Info struct {
	Header

	// Name is the session's name, if someone gave it one. Title is how the
	// user's first message begins, for lists; "" where it stands far from the
	// start.
	Name  string `json:"name"`
	Title string `json:"title"`

	// Modified is when something was last added, Bytes how much it takes.
	Modified time.Time `json:"modified"`
	Bytes    int64     `json:"bytes"`

	// Path is the file that holds the session; "" in stores without files.
	Path string `json:"path,omitempty"`
}

// Store keeps sessions: in memory ([NewMemory]), in files (session/jsonl) or in a
// database (session/sqlite, session/postgres).
//
// A Store is safe for concurrent use, also by several processes.
type Store interface {
	// Create makes a session with its first records, often none; see [Records]. They
	// need not all be there at once; an error among them is returned. Whatever happens
	// meanwhile, a full disk or the end of the process, all of it is there afterwards
	// or nothing: half a conversation would be taken for all of it. It fails with an
	// error that wraps [ErrExists] when there is one with that id.
	Create(ctx context.Context, h Header, recs iter.Seq2[[]byte, error]) (Log, error)

	// Open opens a session by its id. It fails with an error that wraps
	// [ErrNotFound] when there is none.
	Open(ctx context.Context, id string) (Log, error)

	// List returns sessions, the last modified first, without the first skip
	// ones and at most limit of them; 0 is all.
	List(ctx context.Context, skip, limit int) ([]Info, error)

	// Delete removes a session. It fails with an error that wraps
	// [ErrNotFound] when there is none.
	Delete(ctx context.Context, id string) error

	// Close releases what the store holds.
	Close() error
}

// Records returns records as [Store.Create] takes them.
func Records(recs ...[]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, raw := range recs {
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// Log is the records of one session, to which records are only ever added.
type Log interface {
	Info() Info

	// Load returns the records that were not returned before, in order and
	// without the header, also those that other processes added. A record that
	// this Log appended may come back.
	Load(ctx context.Context) ([]Record, error)

	// Append queues records to be added after all that was queued before, and
	// returns a function that must be called: it returns nil once they are on
	// the disk for good. When it fails, none of them was acknowledged, and of
	// what reached the disk a reader sees whole records only. Records that are
	// queued together while a write is under way share the next one.
	Append(recs ...[]byte) (wait func(ctx context.Context) error)

	// Notes say what the reader mended or left out, for people.
	Notes() []string

	Close() error
}

// Searcher is a store that finds words in the messages of its sessions.
type Searcher interface {
	// Search returns the places where all words of the query stand, best first.
	Search(ctx context.Context, query string, limit int) ([]Hit, error)
}

// Hit is a place that a search found.
type Hit struct {
	Session string `json:"session"`
	Entry   string `json:"entry"`
	Snippet string `json:"snippet"`
	Time    int64  `json:"time"` // milliseconds since 1970
}
