package postgres

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/commit"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

// log is one session of a database.
type log struct {
	s      *store
	key    int64
	header session.Header
	group  commit.Group

	mu     sync.Mutex
	seen   int64
	closed bool
}

var _ session.Log = (*log)(nil)

// Info returns what is known of the session.
func (l *log) Info() session.Info {
	info := session.Info{Header: l.header}
	_ = l.s.db.Do(context.Background(), func(ctx context.Context) error { // what is not known stays empty
		return l.s.db.Pool().QueryRow(ctx, `select modified, bytes, name, title from winnow.sessions where key = $1`, l.key).Scan(&info.Modified, &info.Bytes, &info.Name, &info.Title)
	})
	return info
}

// Notes is always empty: a database has no torn lines.
func (l *log) Notes() []string { return nil }

// Close ends the use of the session; the database stays open.
func (l *log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// Load reads what was added since the last time.
func (l *log) Load(ctx context.Context) ([]session.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group.Reset()
	if l.closed {
		return nil, session.ErrClosed
	}
	var read rows.Reader
	seen := l.seen
	err := l.s.within(ctx, "read", l.header.ID, 100_000, func(ctx context.Context) error {
		found, err := l.s.db.Pool().Query(ctx, `select seq, raw from winnow.entries where session = $1 and seq > $2 order by seq`, l.key, l.seen)
		if err != nil {
			return err
		}
		defer found.Close()
		read, seen = rows.Reader{}, l.seen
		for found.Next() {
			var raw pgtype.DriverBytes // copied by Add
			if err := found.Scan(&seen, &raw); err != nil {
				return err
			}
			read.Add(seen, raw)
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	l.seen = seen
	return read.Records, nil
}

// Append queues records to be added.
func (l *log) Append(recs ...[]byte) func(context.Context) error { return l.group.Add(recs) }

// add writes records in one transaction.
func (l *log) add(ctx context.Context, recs [][]byte) error {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return session.ErrClosed
	}
	return l.s.within(ctx, "append to", l.header.ID, len(recs), func(ctx context.Context) error {
		var err error
		if rows.Size(recs) <= maxStatement {
			err = insert(ctx, l.s.db.Pool(), l.key, recs)
		} else {
			err = l.s.db.Tx(ctx, func(tx pgx.Tx) error { return insert(ctx, tx, l.key, recs) })
		}
		if errors.Is(err, errDeleted) {
			return rows.Deleted(l.header.ID)
		}
		return err
	})
}

// maxStatement is how many bytes of records one statement adds.
const maxStatement = 8 << 20

var errDeleted = errors.New("the session was deleted")

// firstFew is among how many entries the session's title is looked for.
const firstFew = 12

// insert adds records to a session: one statement for what is not very large.
func insert(ctx context.Context, to interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, key int64, recs [][]byte,
) error {
	for len(recs) > 0 {
		n := 1
		for sum := len(recs[0]); n < len(recs) && sum+len(recs[n]) < maxStatement; n++ {
			sum += len(recs[n])
		}
		part := recs[:n]
		recs = recs[n:]
		name := rows.Name(part)
		if name != nil {
			*name = clean(*name)
		}
		title := ""
		for _, raw := range part[:min(firstFew, len(part))] {
			if title = clean(session.RecordTitle(raw)); title != "" {
				break
			}
		}
		var added int
		if err := to.QueryRow(ctx, `with s as (
				update winnow.sessions set entries = entries + $2, bytes = bytes + $3, modified = clock_timestamp(), name = coalesce($4, name),
					title = case when title = '' and entries < $6 then $5 else title end where key = $1 returning entries),
			e as (insert into winnow.entries (session, seq, raw)
				select $1, s.entries - $2 + r.n, r.raw from s, unnest($7::bytea[]) with ordinality as r (raw, n) returning 1)
			select count(*) from s, e`, key, len(part), rows.Size(part), name, title, firstFew, part).Scan(&added); err != nil {
			return err
		}
		if added == 0 {
			return errDeleted
		}
	}
	return nil
}

// clean is a text that the database takes: it refuses NUL.
func clean(s string) string {
	return string(bytes.ReplaceAll(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD")), []byte{0}, nil))
}
