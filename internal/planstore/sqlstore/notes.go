package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
)

// Note implements [planstore.Book]. The request is written a moment later.
func (s *Store) Note(_ context.Context, c planstore.Conversation, r *control.Request, links planstore.Links) error {
	if r != nil {
		r = new(*r) // numbers are set here
	}
	s.late.add(func(l *late) { l.notes = append(l.notes, &note{c, r, links}) })
	return nil
}

// Noted returns the conversations whose requests wait under a key, each as one of them
// left it, the newest last.
func (s *Store) Noted(k planstore.Key) (all []planstore.Conversation) {
	l := &s.late
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.notes {
		if n.leaf.Key == k {
			all = append(all, n.leaf)
		}
	}
	return all
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

// writeNotes writes requests, without waiting for the disk. Conversations are
// held in the same order by all processes, so that none waits for another which
// waits for it.
func (s *Store) writeNotes(ctx context.Context, tx Conn, notes []*note) error {
	type place struct {
		tenant planstore.Tenant
		id     string
	}
	leaves := make(map[place][]*note)
	for _, n := range notes {
		at := place{n.leaf.Key.Tenant, n.leaf.ID}
		leaves[at] = append(leaves[at], n)
	}
	for _, at := range slices.SortedFunc(maps.Keys(leaves), func(a, b place) int { return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.id, b.id)) }) {
		if err := s.writeLeaf(ctx, tx, leaves[at]); err != nil {
			return err
		}
	}
	return nil
}

// writeLeaf writes the requests of one conversation.
func (s *Store) writeLeaf(ctx context.Context, tx Conn, notes []*note) error {
	c, err := s.holdConversation(ctx, tx, notes[0].leaf)
	if err != nil {
		return err
	}
	var all []Statement
	was := c.Revision
	for _, n := range notes {
		if n.request != nil {
			r := c.TakeRequest(&n.leaf, *n.request)
			request, err := requestRow(&c, r)
			if err != nil {
				return err
			}
			all = append(all, request)
			if r.N%64 == 0 {
				all = append(all, Statement{Query: `delete from winnow.requests where tenant = $1 and id = $2 and n <= $3`, Args: []any{string(c.Key.Tenant), c.ID, r.N - control.MaxRequests}})
			}
		}
		if len(n.links.Links) > 0 {
			all = append(all, linksRow(&c, n.links))
		}
	}
	if c.Revision != was {
		keep, err := s.keepStatement(&c)
		if err != nil {
			return err
		}
		all = append(all, keep)
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
