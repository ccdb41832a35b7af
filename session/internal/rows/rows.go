// Package rows has what session stores share that keep records as rows of a
// database: a [Log], and what a query, a hit and an error are. A store brings its
// own statements.
package rows

import (
	"bytes"
	"context"
	"sync"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/commit"
	"github.com/winnow-llm/winnow/session/internal/find"
)

// Statements are those of a store for one session, which has this key.
type Statements interface {
	// About fills in what is known of the session; what is not stays empty.
	About(key int64, info *session.Info)

	// Read hands the records behind a number to each, in order. A raw record is
	// copied there. Where it starts again, it calls each with the first one again.
	Read(ctx context.Context, key int64, id string, after int64, each func(seq int64, raw []byte)) error

	// Add adds records for good, all or none.
	Add(ctx context.Context, key int64, id string, recs [][]byte) error
}

// Log is one session of a database.
type Log struct {
	by     Statements
	key    int64
	header session.Header
	group  commit.Group

	mu     sync.Mutex
	seen   int64
	closed bool
}

var _ session.Log = (*Log)(nil)

// NewLog returns the session with a key and the record of its header.
func NewLog(by Statements, key int64, header []byte) (*Log, error) {
	l := &Log{by: by, key: key}
	l.group.Write = l.addRecords
	var err error
	l.header, err = session.ParseHeader(header)
	return l, err
}

// Info returns what is known of the session.
func (l *Log) Info() session.Info {
	info := session.Info{Header: l.header}
	l.by.About(l.key, &info)
	return info
}

// Notes is always empty: a database has no torn lines.
func (l *Log) Notes() []string { return nil }

// Close ends the use of the session; the database stays open.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// Load reads the records added since the last time.
func (l *Log) Load(ctx context.Context) ([]session.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group.Reset()
	if l.closed {
		return nil, session.ErrClosed
	}
	var read reader
	seen := l.seen
	if err := l.by.Read(ctx, l.key, l.header.ID, l.seen, func(seq int64, raw []byte) {
		if seq <= seen { // it starts again
			read = reader{}
		}
		seen = seq
		read.add(seq, raw)
	}); err != nil {
		return nil, err
	}
	l.seen = seen
	return read.records, nil
}

// Append queues records to be added.
func (l *Log) Append(recs ...[]byte) func(context.Context) error { return l.group.Add(recs) }

// addRecords writes records in one transaction.
func (l *Log) addRecords(ctx context.Context, recs [][]byte) error {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return session.ErrClosed
	}
	return l.by.Add(ctx, l.key, l.header.ID, recs)
}

// MaxIndexed is how many bytes of an entry's words are indexed. What follows
// in a longer one is mostly more of the same tool output.
const MaxIndexed = 256 << 10

// ParseQuery returns the words of a query, and how many hits are wanted.
func ParseQuery(store, query string, limit int) (find.Query, int, error) {
	q := find.Parse(query)
	if len(q.Words) == 0 {
		return q, 0, &session.Error{Op: "search", Session: store, Problem: "the query has no words", Hint: "give one or more words"}
	}
	if limit <= 0 {
		limit = 50
	}
	return q, limit, nil
}

// Hit returns what a query finds in a record.
func Hit(q find.Query, id string, raw []byte) session.Hit {
	return session.Hit{Session: id, Entry: decode.Str(raw, "id"), Time: session.RecordTime(raw).UnixMilli(), Snippet: q.Snippet(session.RecordText(raw))}
}

// reader collects records that come row by row. It has one allocation for many
// of them.
type reader struct {
	records []session.Record
	arena   []byte
}

// add copies a row: its bytes may be the driver's own.
func (r *reader) add(seq int64, raw []byte) {
	if cap(r.arena)-len(r.arena) < len(raw) {
		r.arena = make([]byte, 0, max(1<<20, len(raw)))
	}
	from := len(r.arena)
	r.arena = append(r.arena, raw...)
	r.records = append(r.records, session.Record{Raw: r.arena[from:len(r.arena):len(r.arena)], Line: int(seq)})
}

// Name returns the name that records give their session, the last one where
// there are several; nil where they give none.
func Name(recs [][]byte) *string {
	for i := len(recs) - 1; i >= 0; i-- {
		if bytes.HasPrefix(recs[i], []byte(`{"type":"session_info"`)) {
			name := decode.Str(recs[i], "name")
			return &name
		}
	}
	return nil
}

// Size returns how many bytes records have as lines of a file.
func Size(recs [][]byte) int {
	n := 0
	for _, r := range recs {
		n += len(r) + 1
	}
	return n
}

// Deleted says that a session is gone to which somebody adds.
func Deleted(id string) error {
	return &session.Error{Op: "append to", Session: id, Problem: "it was deleted", Hint: "list the sessions", Err: session.ErrNotFound}
}

// None says that a store has no such session.
func None(op, id, store string) error {
	return &session.Error{Op: op, Session: id, Problem: "there is no such session in " + store, Hint: "list the sessions to find it", Err: session.ErrNotFound}
}

// Exists says that a store has a session of that id already.
func Exists(id string) error {
	return &session.Error{Op: "create", Session: id, Problem: "there is one already", Hint: "open it, or choose another id", Err: session.ErrExists}
}
