package postgres

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

// statements are those for one session: see [rows.Statements].
type statements struct{ *store }

func (s statements) About(key int64, info *session.Info) {
	_ = s.db.Do(context.Background(), func(ctx context.Context) error { // what is not known stays empty
		return s.db.Pool().QueryRow(ctx, `select modified, bytes, name, title from winnow.sessions where key = $1`, key).Scan(&info.Modified, &info.Bytes, &info.Name, &info.Title)
	})
}

func (s statements) Read(ctx context.Context, key int64, id string, after int64, each func(seq int64, raw []byte)) error {
	return s.runWithin(ctx, "read", id, 100_000, func(ctx context.Context) error {
		found, err := s.db.Pool().Query(ctx, `select seq, raw from winnow.entries where session = $1 and seq > $2 order by seq`, key, after)
		if err != nil {
			return err
		}
		var seq int64
		var raw pgtype.DriverBytes
		_, err = pgx.ForEachRow(found, []any{&seq, &raw}, func() error { each(seq, raw); return nil })
		return err
	})
}

func (s statements) Add(ctx context.Context, key int64, id string, recs [][]byte) error {
	return s.runWithin(ctx, "append to", id, len(recs), func(ctx context.Context) error {
		var err error
		if rows.Size(recs) <= maxStatement {
			err = insertRecords(ctx, s.db.Pool(), key, recs)
		} else {
			err = s.db.Tx(ctx, func(tx pgx.Tx) error { return insertRecords(ctx, tx, key, recs) })
		}
		if errors.Is(err, errDeleted) {
			return rows.Deleted(id)
		}
		return err
	})
}

// maxStatement is how many bytes of records one statement adds.
const maxStatement = 8 << 20

var errDeleted = errors.New("the session was deleted")

// firstFew is among how many entries the session's title is looked for.
const firstFew = 12

// insertRecords adds records to a session: one statement for what is not very large.
func insertRecords(ctx context.Context, to interface {
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
			*name = cleanText(*name)
		}
		title := ""
		for _, raw := range part[:min(firstFew, len(part))] {
			if title = cleanText(session.RecordTitle(raw)); title != "" {
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

// cleanText returns a text that the database takes: it refuses NUL.
func cleanText(s string) string {
	return string(bytes.ReplaceAll(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD")), []byte{0}, nil))
}
