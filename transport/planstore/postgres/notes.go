package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/leaf"
)

// note is a request that waits to be written.
type note struct {
	leaf    planstore.Conversation
	request *control.Request // nil where it only begins
	links   planstore.Links
}

// Note implements [planstore.Book]. The request is written a moment later.
func (s *Store) Note(_ context.Context, c planstore.Conversation, r *control.Request, links planstore.Links) error {
	if r != nil {
		own := *r // numbers are set here
		r = &own
	}
	l := &s.later
	l.mu.Lock()
	if len(l.notes) >= mostLate { // the database is gone
		l.notes = l.notes[1:]
		l.lost++
	}
	l.notes = append(l.notes, note{c, r, links})
	l.mu.Unlock()
	l.ask()
	return nil
}

// noted returns what waits under a key, oldest first.
func (l *late) noted(k planstore.Key) []planstore.Conversation {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []planstore.Conversation
	for _, list := range [...][]note{l.writing, l.notes} {
		for i := range list {
			if list[i].leaf.Key == k {
				out = append(out, list[i].leaf)
			}
		}
	}
	return out
}

// notesAtOnce is how many requests one transaction writes. Thousands may wait after
// an outage, and all of them at once would take longer than the database may.
const notesAtOnce = 128

// flushNotes writes the requests that wait. Where that fails, the rest waits on.
func (l *late) flushNotes(ctx context.Context) error {
	l.one.Lock() // in their order
	defer l.one.Unlock()
	l.mu.Lock()
	notes := l.notes
	l.writing, l.notes = notes, nil
	l.mu.Unlock()
	var err error
	for len(notes) > 0 && err == nil {
		piece := notes[:min(len(notes), notesAtOnce)]
		if err = l.s.do(ctx, "write requests", func(ctx context.Context) error {
			return l.s.db.Tx(ctx, func(tx pgx.Tx) error { return l.s.writeNotes(ctx, tx, piece) })
		}); err == nil {
			notes = notes[len(piece):]
		}
		l.mu.Lock()
		l.writing = notes
		l.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = nil
	if err != nil {
		l.notes = append(slices.Clip(notes), l.notes...)
	}
	return err
}

// writeNotes writes requests, without waiting for the disk. Conversations are
// held in the same order by all gateways, so that none waits for another which
// waits for it.
func (s *Store) writeNotes(ctx context.Context, tx pgx.Tx, notes []note) error {
	if _, err := tx.Exec(ctx, `set local synchronous_commit = off`); err != nil {
		return err
	}
	notes = slices.Clone(notes)
	slices.SortStableFunc(notes, func(a, b note) int {
		return cmp.Or(cmp.Compare(a.leaf.Key.Tenant, b.leaf.Key.Tenant), cmp.Compare(a.leaf.ID, b.leaf.ID))
	})
	for i := range notes {
		if err := s.writeNote(ctx, tx, &notes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) writeNote(ctx context.Context, tx pgx.Tx, n *note) error {
	c, err := s.hold(ctx, tx, n.leaf)
	if err != nil {
		return err
	}
	tenant, id := string(c.Key.Tenant), c.ID
	if n.request != nil {
		c.Len, c.Chain, c.Model, c.Dialect, c.Label, c.Folder = n.leaf.Len, n.leaf.Chain, n.leaf.Model, n.leaf.Dialect, n.leaf.Label, n.leaf.Folder
		c.Revision++
		r := *n.request // a second try counts anew
		c.Totals.Add(&r)
		r.N, r.Revision = c.Totals.Requests, c.Revision
		c.Last = &r
		if err := s.keep(ctx, tx, &c); err != nil {
			return err
		}
		body, err := json.Marshal(&r)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `insert into winnow.requests (tenant, id, n, revision, body) values ($1, $2, $3, $4, $5)
			on conflict (tenant, id, n) do update set revision = excluded.revision, body = excluded.body`, tenant, id, r.N, r.Revision, body); err != nil {
			return err
		}
		if r.N%64 == 0 {
			if _, err := tx.Exec(ctx, `delete from winnow.requests where tenant = $1 and id = $2 and n <= $3`, tenant, id, r.N-control.MaxRequests); err != nil {
				return err
			}
		}
	}
	if len(n.links.Links) == 0 {
		return nil
	}
	_, err = tx.Exec(ctx, `insert into winnow.links (tenant, id, start, links) values ($1, $2, $3, $4)
		on conflict (tenant, id, start) do update set links = excluded.links`, tenant, id, n.links.From, leaf.PackLinks(n.links.Links))
	return err
}

// Links implements [planstore.Book].
func (s *Store) Links(ctx context.Context, c planstore.Conversation) ([]planstore.Link, error) {
	var out []planstore.Link
	err := s.noteless(ctx, "read a conversation", func(ctx context.Context) error {
		out = nil
		rows, err := s.db.Pool().Query(ctx, `select start, links from winnow.links where tenant = $1 and id = $2 order by start`, string(c.Key.Tenant), c.ID)
		if err != nil {
			return err
		}
		var from int
		var raw []byte
		_, err = pgx.ForEachRow(rows, []any{&from, &raw}, func() error {
			out = leaf.UnpackLinks(out, from, raw)
			return nil
		})
		return err
	})
	return out, err
}

// noteless is do once nothing is left to be noted.
func (s *Store) noteless(ctx context.Context, what string, f func(context.Context) error) error {
	if err := s.later.flushNotes(ctx); err != nil {
		return err
	}
	return s.do(ctx, what, f)
}

// Requests implements [planstore.Book].
func (s *Store) Requests(ctx context.Context, t planstore.Tenant, id string, after int64) ([]control.Request, error) {
	return bodies[control.Request](ctx, s, "read requests", `select body from winnow.requests where tenant = $1 and id = $2 and revision > $3 order by n desc limit $4`,
		string(t), id, after, control.MaxRequests)
}

// Settled implements [planstore.Book].
func (s *Store) Settled(ctx context.Context, t planstore.Tenant, id string) ([]control.PlanInfo, error) {
	return bodies[control.PlanInfo](ctx, s, "read what was settled", `select body from winnow.settled where tenant = $1 and id = $2 order by n desc limit $3`,
		string(t), id, control.MaxRequests)
}

// bodies reads JSON in one column, newest first, and returns it oldest first.
func bodies[T any](ctx context.Context, s *Store, what, query string, args ...any) ([]T, error) {
	var out []T
	err := s.noteless(ctx, what, func(ctx context.Context) error {
		out = nil
		rows, err := s.db.Pool().Query(ctx, query, args...)
		if err != nil {
			return err
		}
		var body []byte
		_, err = pgx.ForEachRow(rows, []any{&body}, func() error {
			var x T
			err := json.Unmarshal(body, &x)
			out = append(out, x)
			return err
		})
		return err
	})
	slices.Reverse(out)
	return out, err
}

// Conversations implements [planstore.Book].
func (s *Store) Conversations(ctx context.Context, t planstore.Tenant, prefix string, most int) ([]planstore.Conversation, error) {
	var out []planstore.Conversation
	err := s.noteless(ctx, "list conversations", func(ctx context.Context) error {
		var err error
		out, err = leavesOf(ctx, s.db.Pool(), `where tenant = $1 and starts_with(id, $2) order by used desc, id limit $3`, string(t), prefix, most)
		return err
	})
	return out, err
}
