package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/leaf"
)

// leafPiece is how many conversations of the book are read at once: each comes
// with its requests.
const leafPiece = 20

// leafPiece reads what the book holds of conversations after a place, and moves
// it.
func (s *Store) leafPiece(ctx context.Context, which string, at *place) ([]planstore.Item, error) {
	all, err := leavesOf(ctx, s.db.Pool(), which, at.Tenant, string(at.Last), leafPiece)
	if err != nil {
		return nil, err
	}
	var items []planstore.Item
	next := *at
	for i := range all {
		l, err := planstore.ReadLeaf(ctx, s, all[i])
		if err != nil {
			return nil, err
		}
		items = append(items, planstore.Item{Key: l.Key, Used: l.Used, Leaf: l})
		next.Tenant, next.Last = string(l.Key.Tenant), []byte(l.ID)
	}
	*at = next
	return items, nil
}

// importLeaf keeps what another book holds of a conversation, unless this one
// has it, and returns how many were new.
func importLeaf(ctx context.Context, tx pgx.Tx, l *planstore.Leaf) (int, error) {
	totals, err := json.Marshal(&l.Totals)
	if err != nil {
		return 0, err
	}
	var last []byte
	if l.Last != nil {
		if last, err = json.Marshal(l.Last); err != nil {
			return 0, err
		}
	}
	tenant := string(l.Key.Tenant)
	r, err := tx.Exec(ctx, `insert into winnow.conversations (`+leafColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) on conflict do nothing`,
		tenant, l.Key.First[:], l.ID, l.Parent, l.Shared, l.Dialect, l.Model, l.Created, l.Used,
		l.Len, l.Chain[:], l.Label, l.Folder, string(l.Plan), string(l.Wanted), l.Revision, totals, last)
	if err != nil || r.RowsAffected() == 0 {
		return 0, err
	}
	var b pgx.Batch
	for i := range l.Requests {
		body, err := json.Marshal(&l.Requests[i])
		if err != nil {
			return 0, err
		}
		b.Queue(`insert into winnow.requests (tenant, id, n, revision, body) values ($1, $2, $3, $4, $5)`, tenant, l.ID, l.Requests[i].N, l.Requests[i].Revision, body)
	}
	for i := range l.Settled {
		body, err := json.Marshal(&l.Settled[i])
		if err != nil {
			return 0, err
		}
		b.Queue(`insert into winnow.settled (tenant, id, n, body) values ($1, $2, $3, $4)`, tenant, l.ID, i+1, body)
	}
	for _, p := range l.Pins {
		b.Queue(`insert into winnow.pins (tenant, first, id, len, chain, part, pinned) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
			tenant, l.Key.First[:], p.Conversation, p.Len, p.Chain[:], p.Part, p.On)
	}
	for _, p := range l.Former {
		body, err := p.MarshalJSON()
		if err != nil {
			return 0, err
		}
		b.Queue(`insert into winnow.former (tenant, id, plan, body) values ($1, $2, $3, $4) on conflict do nothing`, tenant, l.ID, string(p.ID()), body)
	}
	if len(l.Links) > 0 {
		b.Queue(`insert into winnow.links (tenant, id, start, links) values ($1, $2, 0, $3)`, tenant, l.ID, leaf.PackLinks(l.Links))
	}
	return 1, tx.SendBatch(ctx, &b).Close()
}
