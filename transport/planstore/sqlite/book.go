package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/leaf"
)

// The book: what is known of conversations. A row of conversations says which
// plan is in force, and whoever changes that does so in the transaction that
// writes the plan. Requests are written together a moment later, like marks.

const bookSchema = `
create table if not exists conversations (
	tenant text not null, first blob not null, id text not null,
	parent text not null, shared integer not null, dialect text not null, model text not null,
	created integer not null, used integer not null, len integer not null, chain blob not null,
	label text not null, folder text not null, plan text not null, wanted text not null, revision integer not null, totals blob not null, last blob,
	primary key (tenant, id)
);
create index if not exists conversations_first on conversations (tenant, first);
create index if not exists conversations_used on conversations (used);
create table if not exists requests (
	tenant text not null, id text not null, n integer not null, revision integer not null, body blob not null,
	primary key (tenant, id, n)
) without rowid;
create table if not exists links (
	tenant text not null, id text not null, start integer not null, links blob not null,
	primary key (tenant, id, start)
) without rowid;
create table if not exists settled (
	tenant text not null, id text not null, n integer not null, body blob not null,
	primary key (tenant, id, n)
) without rowid;
create table if not exists pins (
	seq integer primary key autoincrement,
	tenant text not null, first blob not null, id text not null, len integer not null, chain blob not null, part integer not null, pinned integer not null,
	unique (tenant, id, chain, part)
);
create index if not exists pins_first on pins (tenant, first);
`

var _ planstore.Book = (*Store)(nil)

const leafColumns = `tenant, first, id, parent, shared, dialect, model, created, used, len, chain, label, folder, plan, wanted, revision, totals, last`

type scanner interface{ Scan(...any) error }

func scanLeaf(r scanner) (planstore.Conversation, error) {
	var c planstore.Conversation
	var created, used int64
	var totals, last []byte
	err := r.Scan(&c.Key.Tenant, (*hash)(&c.Key.First), &c.ID, &c.Parent, &c.Shared, &c.Dialect, &c.Model, &created, &used,
		&c.Len, (*hash)(&c.Chain), &c.Label, &c.Folder, &c.Plan, &c.Wanted, &c.Revision, &totals, &last)
	if err != nil {
		return c, err
	}
	c.Created, c.Used = time.UnixMilli(created), time.UnixMilli(used)
	if err := json.Unmarshal(totals, &c.Totals); err != nil {
		return c, err
	}
	if last != nil {
		c.Last = new(control.Request)
		return c, json.Unmarshal(last, c.Last)
	}
	return c, nil
}

// readLeaf returns a conversation as it is in the file, or as it would be.
func readLeaf(ctx context.Context, q querier, c planstore.Conversation) (planstore.Conversation, error) {
	x, err := scanLeaf(q.QueryRowContext(ctx, `select `+leafColumns+` from conversations where tenant = ? and id = ?`, string(c.Key.Tenant), c.ID))
	if errors.Is(err, sql.ErrNoRows) {
		c.Revision, c.Totals, c.Last = 0, control.Totals{}, nil
		return c, nil
	}
	return x, err
}

type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func (s *Store) writeLeaf(ctx context.Context, x execer, c *planstore.Conversation) error {
	c.Used = s.bounds.Now()
	if c.Created.IsZero() {
		c.Created = c.Used
	}
	row, err := leafRow(c)
	if err != nil {
		return err
	}
	_, err = x.ExecContext(ctx, `insert or replace into conversations (`+leafColumns+`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, row...)
	return err
}

// leafRow is a conversation as its row.
func leafRow(c *planstore.Conversation) ([]any, error) {
	totals, err := json.Marshal(&c.Totals)
	if err != nil {
		return nil, err
	}
	var last []byte
	if c.Last != nil {
		if last, err = json.Marshal(c.Last); err != nil {
			return nil, err
		}
	}
	return []any{
		string(c.Key.Tenant), c.Key.First[:], c.ID, c.Parent, c.Shared, c.Dialect, c.Model, c.Created.UnixMilli(), c.Used.UnixMilli(),
		c.Len, c.Chain[:], c.Label, c.Folder, string(c.Plan), string(c.Wanted), c.Revision, totals, last,
	}, nil
}

const insertPin = `insert or replace into pins (tenant, first, id, len, chain, part, pinned) values (?, ?, ?, ?, ?, ?, ?)`

// Settle implements [planstore.Book].
func (s *Store) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (won *plan.Plan, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		now, err := readLeaf(ctx, tx, c)
		if err != nil {
			return err
		}
		won, err = leaf.Settle(&settling{ctx, s, tx, &now, info}, &now, h, base, p)
		return err
	})
	return won, failed("write a plan", err)
}

// settling is the transaction of one plan that comes into force.
type settling struct {
	ctx  context.Context
	s    *Store
	tx   *sql.Tx
	now  *planstore.Conversation
	info control.PlanInfo
}

// InForce implements [leaf.Tx].
func (x *settling) InForce() (*plan.Plan, error) { return planIn(x.ctx, x.tx, *x.now) }

// Put implements [leaf.Tx].
func (x *settling) Put(base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	return x.s.putIn(x.ctx, x.tx, x.now, base, p)
}

// Force implements [leaf.Tx].
func (x *settling) Force(p *plan.Plan) error { return x.s.force(x.ctx, x.tx, x.now, p, x.info) }

// Act implements [planstore.Book].
func (s *Store) Act(ctx context.Context, c planstore.Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *planstore.Pin) error {
	var other *control.ConflictError
	err := s.change(ctx, func(tx *sql.Tx) error {
		now, err := readLeaf(ctx, tx, c)
		if err != nil {
			return err
		}
		if now.Plan != base {
			other = &control.ConflictError{Base: base, InForce: now.Plan}
			return nil
		}
		if p != nil {
			var instead plan.ID
			err := tx.QueryRowContext(ctx, `select id from plans where tenant = ? and first = ? and prefix = ?`, string(c.Key.Tenant), c.Key.First[:], p.Prefix[:]).Scan(&instead)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if err := gaveWay(ctx, tx, &c, p); err != nil {
				return err
			}
			if err := s.replaceIn(ctx, tx, c.Key, p, instead); err != nil {
				return err
			}
			if err := s.force(ctx, tx, &now, p, info); err != nil {
				return err
			}
		}
		if pin == nil && p != nil {
			return nil
		}
		now.Revision++
		if pin == nil {
			now.Wanted = info.Undid
		}
		if err := s.writeLeaf(ctx, tx, &now); err != nil || pin == nil {
			return err
		}
		_, err = tx.ExecContext(ctx, insertPin,
			string(c.Key.Tenant), c.Key.First[:], pin.Conversation, pin.Len, pin.Chain[:], pin.Part, pin.On)
		return err
	})
	if err == nil && other != nil {
		return other
	}
	return failed("act on a conversation", err)
}

// change runs a transaction in which nobody else writes, and waits for the disk.
func (s *Store) change(ctx context.Context, work func(*sql.Tx) error) error {
	if err := s.flush(ctx); err != nil { // what was noted before comes before
		return err
	}
	tx, err := s.plans.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// planIn returns the plan in force of a conversation; nil where it is not kept.
func planIn(ctx context.Context, q querier, c planstore.Conversation) (*plan.Plan, error) {
	var body []byte
	err := q.QueryRowContext(ctx, `select body from plans where tenant = ? and first = ? and id = ? order by len desc limit 1`,
		string(c.Key.Tenant), c.Key.First[:], string(c.Plan)).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return plan.Decode(body)
}

// putIn keeps a plan in place of base, or where none is, and returns the one
// that is kept there then.
func (s *Store) putIn(ctx context.Context, tx *sql.Tx, c *planstore.Conversation, base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	k := c.Key
	var id string
	var body []byte
	err := tx.QueryRowContext(ctx, `select id, body from plans where tenant = ? and first = ? and prefix = ?`, string(k.Tenant), k.First[:], p.Prefix[:]).Scan(&id, &body)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return nil, err
	case err == nil && plan.ID(id) != base:
		return plan.Decode(body)
	}
	if err := gaveWay(ctx, tx, c, p); err != nil {
		return nil, err
	}
	return p, s.replaceIn(ctx, tx, k, p, plan.ID(id))
}

// replaceIn keeps a plan in place of whatever is kept for its prefix.
func (s *Store) replaceIn(ctx context.Context, tx *sql.Tx, k planstore.Key, p *plan.Plan, instead plan.ID) error {
	row, size, err := s.row(k, p, instead)
	if err != nil {
		return err
	}
	s.size.Add(int64(size))
	s.puts.Add(1)
	_, err = tx.ExecContext(ctx, "insert or replace "+columns, row...)
	return err
}

// force says that a plan is in force in a conversation.
func (s *Store) force(ctx context.Context, tx *sql.Tx, c *planstore.Conversation, p *plan.Plan, info control.PlanInfo) error {
	body, err := leaf.Forced(c, p, info, s.bounds.Now())
	if err != nil || body == nil {
		return err
	}
	if err := s.writeLeaf(ctx, tx, c); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `insert into settled (tenant, id, n, body) values (?, ?, (select coalesce(max(n), 0) + 1 from settled where tenant = ? and id = ?), ?)`,
		string(c.Key.Tenant), c.ID, string(c.Key.Tenant), c.ID, body)
	return err
}

// note is a request that waits to be written.
type note struct {
	leaf    planstore.Conversation
	request *control.Request // nil where it only begins
	links   planstore.Links
}

// Note implements [planstore.Book].
func (s *Store) Note(_ context.Context, c planstore.Conversation, r *control.Request, links planstore.Links) error {
	if r != nil {
		own := *r // numbers are set here
		r = &own
	}
	l := &s.later
	l.mu.Lock()
	l.notes = append(l.notes, note{c, r, links})
	s.wait()
	l.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaves.noted(c, s.bounds.Now())
	return nil
}

// writeNotes writes requests that wait.
func (s *Store) writeNotes(ctx context.Context, tx querier, notes []note) error {
	for i := range notes {
		n := &notes[i]
		c, err := readLeaf(ctx, tx, n.leaf)
		if err != nil {
			return err
		}
		if n.request != nil {
			c.Len, c.Chain, c.Model, c.Dialect, c.Label, c.Folder = n.leaf.Len, n.leaf.Chain, n.leaf.Model, n.leaf.Dialect, n.leaf.Label, n.leaf.Folder
			c.Revision++
			c.Totals.Add(n.request)
			n.request.N, n.request.Revision = c.Totals.Requests, c.Revision
			c.Last = n.request
		}
		if n.request != nil || c.Created.IsZero() {
			if err := s.writeLeaf(ctx, tx, &c); err != nil {
				return err
			}
		}
		if err := writeRequest(ctx, tx, &c, n); err != nil {
			return err
		}
	}
	return nil
}

// writeRequest writes what is noted beside a conversation.
func writeRequest(ctx context.Context, tx querier, c *planstore.Conversation, n *note) error {
	tenant, id := string(c.Key.Tenant), c.ID
	if n.request != nil {
		body, err := json.Marshal(n.request)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `insert or replace into requests (tenant, id, n, revision, body) values (?, ?, ?, ?, ?)`, tenant, id, n.request.N, n.request.Revision, body); err != nil {
			return err
		}
		if n.request.N%64 == 0 {
			if _, err := tx.ExecContext(ctx, `delete from requests where tenant = ? and id = ? and n <= ?`, tenant, id, n.request.N-control.MaxRequests); err != nil {
				return err
			}
		}
	}
	if len(n.links.Links) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `insert or replace into links (tenant, id, start, links) values (?, ?, ?, ?)`, tenant, id, n.links.From, leaf.PackLinks(n.links.Links))
	return err
}

// Links implements [planstore.Book].
func (s *Store) Links(ctx context.Context, c planstore.Conversation) ([]planstore.Link, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	var out []planstore.Link
	err := s.each(ctx, `select start, links from links where tenant = ? and id = ? order by start`, []any{string(c.Key.Tenant), c.ID}, func(r scanner) error {
		var from int
		var raw []byte
		if err := r.Scan(&from, &raw); err != nil {
			return err
		}
		out = leaf.UnpackLinks(out, from, raw)
		return nil
	})
	return out, failed("read a conversation", err)
}

// Requests implements [planstore.Book].
func (s *Store) Requests(ctx context.Context, t planstore.Tenant, id string, after int64) ([]control.Request, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	var out []control.Request
	err := s.each(ctx, `select body from requests where tenant = ? and id = ? and revision > ? order by n desc limit ?`,
		[]any{string(t), id, after, control.MaxRequests}, readInto(&out))
	slices.Reverse(out)
	return out, failed("read requests", err)
}

// Settled implements [planstore.Book].
func (s *Store) Settled(ctx context.Context, t planstore.Tenant, id string) ([]control.PlanInfo, error) {
	var out []control.PlanInfo
	err := s.each(ctx, `select body from settled where tenant = ? and id = ? order by n desc limit ?`,
		[]any{string(t), id, control.MaxRequests}, readInto(&out))
	slices.Reverse(out)
	return out, failed("read what was settled", err)
}

// Conversations implements [planstore.Book].
func (s *Store) Conversations(ctx context.Context, t planstore.Tenant, prefix string, most int) ([]planstore.Conversation, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	var out []planstore.Conversation
	err := s.each(ctx, `select `+leafColumns+` from conversations where tenant = ? and substr(id, 1, ?) = ? order by used desc, rowid desc limit ?`,
		[]any{string(t), len(prefix), prefix, most}, leafInto(&out))
	return out, failed("list conversations", err)
}

// each reads the rows of a query.
func (s *Store) each(ctx context.Context, query string, args []any, read func(scanner) error) error {
	ready, err := s.prepared.of(ctx, query)
	if err != nil {
		return err
	}
	rows, err := ready.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readInto reads JSON in one column.
func readInto[T any](to *[]T) func(scanner) error {
	return func(r scanner) error {
		var body []byte
		var x T
		if err := r.Scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &x); err != nil {
			return err
		}
		*to = append(*to, x)
		return nil
	}
}

func leafInto(to *[]planstore.Conversation) func(scanner) error {
	return func(r scanner) error {
		c, err := scanLeaf(r)
		*to = append(*to, c)
		return err
	}
}

// bookTables are emptied with a conversation; those that name no key hold its
// requests by id.
var bookTables = []string{"requests", "links", "settled", "former"}

// trimBook forgets conversations that are out of bounds.
func (s *Store) trimBook(ctx context.Context) error {
	old := s.bounds.Now().Add(-s.bounds.Age).UnixMilli()
	for _, d := range []struct {
		where string
		value any
	}{
		{"used < ?", old},
		{"rowid in (select rowid from conversations order by used desc, rowid desc limit -1 offset ?)", s.bounds.Plans},
	} {
		r, err := s.marks.ExecContext(ctx, "delete from conversations where "+d.where, d.value)
		if err != nil {
			return failed("forget old conversations", err)
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			continue
		}
		for _, table := range append(bookTables, "pins") {
			if _, err := s.marks.ExecContext(ctx, "delete from "+table+" where (tenant, id) not in (select tenant, id from conversations)"); err != nil {
				return failed("forget old conversations", err)
			}
		}
	}
	return nil
}
