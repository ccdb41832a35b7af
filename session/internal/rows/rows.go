// Package rows is the session stores that keep records as rows of a database. Its
// statements are written once, in PostgreSQL's words; a database brings how it finds
// words, and what to say about its errors.
package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/sqldb"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/commit"
	"github.com/winnow-llm/winnow/session/internal/find"
)

// Store is a database of sessions.
type Store struct {
	DB   sqldb.DB
	Name string // of the database, for people

	// Timeout is how long a few statements may take. More records take longer.
	Timeout time.Duration

	// Hint fills in what to do about an error of the database.
	Hint func(*session.Error)

	Index Index
}

// Index is how a database finds words.
type Index struct {
	// Add indexes the words of an entry, by the key of its session, its number there
	// and what Words makes of its text.
	Add   string
	Words func(text string) string

	// Search finds the ids of sessions and records by what Match makes of a query, and
	// by how many are wanted.
	Search string
	Match  func(find.Query) string

	// Forget removes a session's words by its id; "" where they go with it.
	Forget string
}

var _ session.Searcher = (*Store)(nil)

// RunStatements runs statements: those that write wait for the disk.
func (s *Store) RunStatements(ctx context.Context, op, id string, records int, w sqldb.Work, f func(context.Context, sqldb.Conn) error) error {
	w.What, w.Most = op+" a session", s.Timeout+time.Duration(records)*10*time.Millisecond
	return s.Explain(op, id, s.DB.Run(ctx, w, f))
}

// Explain says what failed, and what to do about it.
func (s *Store) Explain(op, id string, err error) error {
	var known *session.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &session.Error{Op: op, Session: s.Name, Problem: err.Error(), Err: err}
	if id != "" {
		e.Session = id + " in " + s.Name
	}
	s.Hint(e)
	return e
}

// Create makes a session with its first records, in one transaction.
func (s *Store) Create(ctx context.Context, h session.Header, recs iter.Seq2[[]byte, error]) (session.Log, error) {
	if h.ID == "" {
		return nil, &session.Error{Op: "create", Session: s.Name, Problem: "a session needs an id"}
	}
	if h.Time.IsZero() {
		h.Time = time.Now()
	}
	records := 0 // of a few it is known how long they may take
	for range recs {
		if records++; records == 1000 {
			records = 1_000_000
			break
		}
	}
	raw := session.HeaderRecord(h)
	err := s.RunStatements(ctx, "create", h.ID, records, sqldb.Work{Tx: true, Durable: true}, func(ctx context.Context, tx sqldb.Conn) error {
		var key int64
		if err := tx.Query(ctx, `insert into winnow.sessions (id, header, created, modified, bytes, entries, name, title)
			values ($1, $2, clock_timestamp(), clock_timestamp(), $3, 0, '', '') on conflict (id) do nothing returning key`,
			[]any{h.ID, raw, len(raw)}, func(r sqldb.Row) error { return r.Scan(&key) }); err != nil {
			return err
		}
		if key == 0 {
			return &session.Error{Op: "create", Session: h.ID, Problem: "there is one already", Hint: "open it, or choose another id", Err: session.ErrExists}
		}
		var part [][]byte
		sum := 0
		for raw, err := range recs {
			if err != nil {
				return err
			}
			if part, sum = append(part, raw), sum+len(raw); sum >= maxStatement {
				if err := addRecords(ctx, tx, key, h.ID, part); err != nil {
					return err
				}
				part, sum = nil, 0
			}
		}
		return addRecords(ctx, tx, key, h.ID, part)
	})
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, h.ID)
}

// Open opens a session by its id.
func (s *Store) Open(ctx context.Context, id string) (session.Log, error) {
	l := &Log{s: s}
	l.group.Write = l.writeRecords
	err := s.RunStatements(ctx, "open", id, 0, sqldb.Work{}, func(ctx context.Context, c sqldb.Conn) error {
		return c.Query(ctx, `select key, header from winnow.sessions where id = $1`, []any{id}, func(r sqldb.Row) error {
			var header []byte
			err := r.Scan(&l.key, &header)
			if err == nil {
				l.header, err = session.ParseHeader(header)
			}
			return err
		})
	})
	if err == nil && l.key == 0 {
		err = s.missing("open", id)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// missing says that the store has no such session.
func (s *Store) missing(op, id string) error {
	return &session.Error{Op: op, Session: id, Problem: "there is no such session in " + s.Name, Hint: "list the sessions to find it", Err: session.ErrNotFound}
}

// List returns sessions, the last modified first.
func (s *Store) List(ctx context.Context, skip, limit int) (all []session.Info, err error) {
	if limit <= 0 {
		limit = math.MaxInt
	}
	err = s.RunStatements(ctx, "list", "", 0, sqldb.Work{}, func(ctx context.Context, c sqldb.Conn) error {
		return c.Query(ctx, `select header, modified, bytes, name, title from winnow.sessions order by modified desc, id desc limit $1 offset $2`,
			[]any{limit, max(skip, 0)}, func(r sqldb.Row) error {
				var raw []byte
				var info session.Info
				if err := r.Scan(&raw, (*moment)(&info.Modified), &info.Bytes, &info.Name, &info.Title); err != nil {
					return err
				}
				if info.Header, err = session.ParseHeader(raw); err == nil { // one bad header does not hide the others
					all = append(all, info)
				}
				return nil
			})
	})
	return all, err
}

// Delete removes a session and its words from the index.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.RunStatements(ctx, "delete", id, 10_000, sqldb.Work{Durable: true}, func(ctx context.Context, c sqldb.Conn) error {
		var gone int64
		all := []sqldb.Statement{
			{Query: `delete from winnow.entries where session = (select key from winnow.sessions where id = $1)`, Args: []any{id}},
			{Query: `delete from winnow.sessions where id = $1`, Args: []any{id}, Changed: &gone},
		}
		if s.Index.Forget != "" {
			all = append([]sqldb.Statement{{Query: s.Index.Forget, Args: []any{id}}}, all...)
		}
		err := c.Batch(ctx, all)
		if err == nil && gone == 0 {
			err = s.missing("delete", id)
		}
		return err
	})
}

// Search returns the entries in which all words of the query stand, best first.
// Words are compared without case and accents; a star at the end of a word
// stands for any ending.
func (s *Store) Search(ctx context.Context, query string, limit int) (hits []session.Hit, err error) {
	q := find.Parse(query)
	if len(q.Words) == 0 {
		return nil, &session.Error{Op: "search", Session: s.Name, Problem: "the query has no words", Hint: "give one or more words"}
	}
	if limit <= 0 {
		limit = 50
	}
	if err := s.indexNew(ctx); err != nil {
		return nil, err
	}
	err = s.RunStatements(ctx, "search", "", 0, sqldb.Work{}, func(ctx context.Context, c sqldb.Conn) error {
		return c.Query(ctx, s.Index.Search, []any{s.Index.Match(q), limit}, func(r sqldb.Row) error {
			var id string
			var raw []byte
			err := r.Scan(&id, &raw)
			hits = append(hits, session.Hit{Session: id, Entry: decode.Str(raw, "id"), Time: session.RecordTime(raw).UnixMilli(), Snippet: q.Snippet(session.RecordText(raw))})
			return err
		})
	})
	return hits, err
}

// indexNew indexes the entries added since the last search, a session and a piece
// at a time so that writers do not wait long. It leaves sessions that another process
// indexes at this moment.
func (s *Store) indexNew(ctx context.Context) error {
	const piece = 500
	for more := true; more; {
		if err := s.RunStatements(ctx, "search", "", piece, sqldb.Work{Tx: true, Durable: true}, func(ctx context.Context, tx sqldb.Conn) error {
			var key, from int64
			more = false
			if err := tx.Query(ctx, `select key, indexed from winnow.sessions where indexed < entries order by key limit 1 for update skip locked`, nil, func(r sqldb.Row) error {
				more = true
				return r.Scan(&key, &from)
			}); err != nil || !more {
				return err
			}
			var all []sqldb.Statement
			if err := tx.Query(ctx, `select seq, raw from winnow.entries where session = $1 and seq > $2 order by seq limit $3`, []any{key, from, piece}, func(r sqldb.Row) error {
				var raw []byte
				err := r.Scan(&from, &raw)
				if words := s.Index.Words(text.Head(session.RecordText(raw), maxIndexed)); words != "" {
					all = append(all, sqldb.Statement{Query: s.Index.Add, Args: []any{key, from, words}})
				}
				return err
			}); err != nil {
				return err
			}
			return tx.Batch(ctx, append(all, sqldb.Statement{Query: `update winnow.sessions set indexed = $2 where key = $1`, Args: []any{key, from}}))
		}); err != nil {
			return err
		}
	}
	return nil
}

// maxIndexed is how many bytes of an entry's words are indexed. What follows
// in a longer one is mostly more of the same tool output.
const maxIndexed = 256 << 10

// moment reads a time, which SQLite keeps in milliseconds since 1970.
type moment time.Time

// Scan implements [sql.Scanner].
func (m *moment) Scan(v any) error {
	switch v := v.(type) {
	case time.Time:
		*m = moment(v.UTC())
	case int64:
		*m = moment(time.UnixMilli(v).UTC())
	default:
		return fmt.Errorf("%T where a time is expected", v)
	}
	return nil
}

// Log is one session of a database.
type Log struct {
	s      *Store
	key    int64
	header session.Header
	group  commit.Group

	mu     sync.Mutex
	seen   int64
	closed bool
	piece  int64     // how many rows are read at once where not all are
	near   [8]nearby // pieces that were read again, by their number modulo 8
}

// nearby is a piece of the rows: records are read again one after another, by several
// goroutines at once.
type nearby struct {
	number int64 // from 1; 0 for none
	recs   []session.Record
}

var _ session.Log = (*Log)(nil)

// Info returns what is known of the session.
func (l *Log) Info() session.Info {
	info := session.Info{Header: l.header}
	// What is not known stays empty.
	_ = l.s.RunStatements(context.Background(), "read", l.header.ID, 0, sqldb.Work{}, func(ctx context.Context, c sqldb.Conn) error {
		return c.Query(ctx, `select modified, bytes, name, title from winnow.sessions where key = $1`, []any{l.key}, func(r sqldb.Row) error {
			return r.Scan((*moment)(&info.Modified), &info.Bytes, &info.Name, &info.Title)
		})
	})
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
	return l.loadRows(ctx, math.MaxInt)
}

// LoadPiece reads about size bytes of the records added since the last time. The first
// few say how large they are.
func (l *Log) LoadPiece(ctx context.Context, size int) ([]session.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.piece > 0 {
		return l.loadRows(ctx, l.piece)
	}
	const few = 64
	recs, err := l.loadRows(ctx, few)
	bytes := 1
	for i := range recs {
		bytes += len(recs[i].Raw)
	}
	l.piece = int64(min(max(size*len(recs)/bytes, 8), 4096))
	return recs, err
}

func (l *Log) loadRows(ctx context.Context, most int64) ([]session.Record, error) {
	l.group.Reset()
	recs, err := l.selectRows(ctx, l.seen, most)
	if n := len(recs); n > 0 {
		l.seen = recs[n-1].At
	}
	return recs, err
}

// Reread reads a record again by its number.
func (l *Log) Reread(at int64, raw []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	number, i := (at-1)/l.piece, (at-1)%l.piece
	near := &l.near[number%int64(len(l.near))]
	if near.number != number+1 || i >= int64(len(near.recs)) {
		recs, err := l.selectRows(context.Background(), number*l.piece, l.piece)
		if err != nil {
			return err
		}
		*near = nearby{number + 1, recs}
	}
	if i >= int64(len(near.recs)) || near.recs[i].At != at || len(near.recs[i].Raw) != len(raw) {
		return l.s.missing("read", l.header.ID)
	}
	copy(raw, near.recs[i].Raw)
	return nil
}

// selectRows returns at most that many records after the one numbered after.
func (l *Log) selectRows(ctx context.Context, after, most int64) (recs []session.Record, err error) {
	if l.closed {
		return nil, session.ErrClosed
	}
	err = l.s.RunStatements(ctx, "read", l.header.ID, 100_000, sqldb.Work{}, func(ctx context.Context, c sqldb.Conn) error {
		recs = nil
		return c.Query(ctx, `select seq, raw from winnow.entries where session = $1 and seq > $2 order by seq limit $3`, []any{l.key, after, most}, func(r sqldb.Row) error {
			var rec session.Record
			err := r.Scan(&rec.At, &rec.Raw)
			rec.Line = int(rec.At)
			recs = append(recs, rec)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return recs, nil
}

// Append queues records to be added.
func (l *Log) Append(recs ...[]byte) func(context.Context) error { return l.group.Add(recs) }

// writeRecords adds records for good, all or none.
func (l *Log) writeRecords(ctx context.Context, recs [][]byte) error {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return session.ErrClosed
	}
	w := sqldb.Work{Tx: sizeOf(recs) > maxStatement, Durable: true}
	return l.s.RunStatements(ctx, "append to", l.header.ID, len(recs), w, func(ctx context.Context, c sqldb.Conn) error {
		return addRecords(ctx, c, l.key, l.header.ID, recs)
	})
}

const (
	// maxStatement is how many bytes of records are added at once.
	maxStatement = 8 << 20

	// firstFew is among how many entries the session's title is looked for.
	firstFew = 12
)

// addRecords adds records to a session, which are there and back once where they are not
// very large. The entries of a session are numbered without gaps: whoever adds some holds
// its row.
func addRecords(ctx context.Context, c sqldb.Conn, key int64, id string, recs [][]byte) error {
	for len(recs) > 0 {
		n := 1
		for sum := len(recs[0]); n < len(recs) && sum+len(recs[n]) < maxStatement; n++ {
			sum += len(recs[n])
		}
		part := recs[:n]
		recs = recs[n:]
		title := ""
		for _, raw := range part[:min(firstFew, n)] {
			if title = cleanText(session.RecordTitle(raw)); title != "" {
				break
			}
		}
		var found int64
		all := make([]sqldb.Statement, 1, n+1)
		all[0] = sqldb.Statement{Query: `update winnow.sessions set entries = entries + $2, bytes = bytes + $3, modified = clock_timestamp(), name = coalesce($4, name),
			title = case when title = '' and entries < $6 then $5 else title end where key = $1`, Args: []any{key, n, sizeOf(part), lastName(part), title, firstFew}, Changed: &found}
		for i, raw := range part {
			all = append(all, sqldb.Statement{
				Query: `insert into winnow.entries (session, seq, raw) select key, entries - $2, $3 from winnow.sessions where key = $1`,
				Args:  []any{key, n - 1 - i, raw},
			})
		}
		if err := c.Batch(ctx, all); err != nil {
			return err
		}
		if found == 0 {
			return &session.Error{Op: "append to", Session: id, Problem: "it was deleted", Hint: "list the sessions", Err: session.ErrNotFound}
		}
	}
	return nil
}

// lastName returns the name that records give their session, the last one where
// there are several; nil where they give none.
func lastName(recs [][]byte) *string {
	for _, raw := range slices.Backward(recs) {
		if bytes.HasPrefix(raw, []byte(`{"type":"session_info"`)) {
			return new(cleanText(decode.Str(raw, "name")))
		}
	}
	return nil
}

// cleanText returns a text that every database takes: PostgreSQL refuses NUL.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// sizeOf returns how many bytes records have as lines of a file.
func sizeOf(recs [][]byte) int {
	n := 0
	for _, r := range recs {
		n += len(r) + 1
	}
	return n
}
