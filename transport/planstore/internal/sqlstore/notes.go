package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// Note implements [planstore.Book]. The request is written a moment later.
func (s *Store) Note(_ context.Context, c planstore.Conversation, r *control.Request, links planstore.Links) error {
	if r != nil {
		own := *r // numbers are set here
		r = &own
	}
	l := &s.late
	l.mu.Lock()
	if len(l.notes) >= mostLate { // the database is gone
		l.notes = l.notes[1:]
		l.counts.Lost++
	}
	l.notes = append(l.notes, note{c, r, links})
	l.mu.Unlock()
	l.ask()
	return nil
}

// Noted returns the conversations whose requests wait under a key, oldest first.
func (s *Store) Noted(k planstore.Key) []planstore.Conversation {
	l := &s.late
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

// Moved returns conversations with some of them moved on, or added, in front.
func Moved(all, noted []planstore.Conversation, at time.Time) []planstore.Conversation {
	if len(noted) > 0 {
		all = slices.Clone(all)
	}
	for _, x := range noted {
		i := slices.IndexFunc(all, func(c planstore.Conversation) bool { return c.ID == x.ID })
		if i < 0 {
			x.Used = at
			all = slices.Insert(all, 0, x)
			continue
		}
		all[i].Len, all[i].Chain, all[i].Used = x.Len, x.Chain, at
	}
	return all
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
		if err = l.s.run(ctx, Work{What: "write requests", Tx: true}, func(ctx context.Context, tx Conn) error {
			return l.s.writeNotes(ctx, tx, piece)
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
// held in the same order by all processes, so that none waits for another which
// waits for it.
func (s *Store) writeNotes(ctx context.Context, tx Conn, notes []note) error {
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

func (s *Store) writeNote(ctx context.Context, tx Conn, n *note) error {
	c, err := s.hold(ctx, tx, n.leaf)
	if err != nil {
		return err
	}
	var all []Statement
	tenant, id := string(c.Key.Tenant), c.ID
	if n.request != nil {
		c.Len, c.Chain, c.Model, c.Dialect, c.Label, c.Folder = n.leaf.Len, n.leaf.Chain, n.leaf.Model, n.leaf.Dialect, n.leaf.Label, n.leaf.Folder
		c.Revision++
		r := *n.request // a second try counts anew
		c.Totals.Add(&r)
		r.N, r.Revision = c.Totals.Requests, c.Revision
		c.Last = &r
		keep, err := s.keep(&c)
		if err != nil {
			return err
		}
		request, err := requestRow(&c, &r)
		if err != nil {
			return err
		}
		all = append(all, keep, request)
		if r.N%64 == 0 {
			all = append(all, Statement{Query: `delete from winnow.requests where tenant = $1 and id = $2 and n <= $3`, Args: []any{tenant, id, r.N - control.MaxRequests}})
		}
	}
	if len(n.links.Links) > 0 {
		all = append(all, linksRow(&c, n.links))
	}
	return tx.Batch(ctx, all)
}

// requestRow keeps a request of a conversation.
func requestRow(c *planstore.Conversation, r *control.Request) (Statement, error) {
	body, err := json.Marshal(r)
	return Statement{Query: `insert into winnow.requests (tenant, id, n, revision, body) values ($1, $2, $3, $4, $5)
		on conflict (tenant, id, n) do update set revision = excluded.revision, body = excluded.body`, Args: []any{string(c.Key.Tenant), c.ID, r.N, r.Revision, body}}, err
}

// linksRow keeps links of a conversation.
func linksRow(c *planstore.Conversation, l planstore.Links) Statement {
	return Statement{Query: `insert into winnow.links (tenant, id, start, links) values ($1, $2, $3, $4)
		on conflict (tenant, id, start) do update set links = excluded.links`, Args: []any{string(c.Key.Tenant), c.ID, l.From, packLinks(l.Links)}}
}
