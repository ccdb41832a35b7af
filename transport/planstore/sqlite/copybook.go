package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/leaf"
)

// leafPiece is how many conversations of the book are read at once: each comes
// with its requests.
const leafPiece = 20

// leafPiece reads what the book holds of conversations after a place, and moves
// it.
func (s *Store) leafPiece(ctx context.Context, _ string, at *place) ([]planstore.Item, error) {
	next := at.Row
	var all []planstore.Conversation
	err := s.each(ctx, `select `+leafColumns+`, rowid from conversations where rowid > ? order by rowid limit ?`, []any{at.Row, leafPiece}, func(r scanner) error {
		c, err := scanLeaf(rowed{r, &next})
		all = append(all, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	var items []planstore.Item
	for i := range all {
		l, err := planstore.ReadLeaf(ctx, s, all[i])
		if err != nil {
			return nil, err
		}
		items = append(items, planstore.Item{Key: l.Key, Used: l.Used, Leaf: l})
	}
	at.Row = next
	return items, nil
}

// rowed is a row with its number at the end.
type rowed struct {
	scanner
	row *int64
}

// Scan reads the columns and the number.
func (r rowed) Scan(to ...any) error { return r.scanner.Scan(append(to, r.row)...) }

// importLeaf keeps what another book holds of a conversation, unless this one
// has it.
func importLeaf(ctx context.Context, tx *sql.Tx, l *planstore.Leaf) (sql.Result, error) {
	row, err := leafRow(&l.Conversation)
	if err != nil {
		return nil, err
	}
	r, err := tx.ExecContext(ctx, `insert or ignore into conversations (`+leafColumns+`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, row...)
	if err != nil {
		return nil, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return r, err
	}
	tenant := string(l.Key.Tenant)
	for i := range l.Requests {
		body, err := json.Marshal(&l.Requests[i])
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, `insert or replace into requests (tenant, id, n, revision, body) values (?, ?, ?, ?, ?)`, tenant, l.ID, l.Requests[i].N, l.Requests[i].Revision, body); err != nil {
			return nil, err
		}
	}
	for i := range l.Settled {
		body, err := json.Marshal(&l.Settled[i])
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, `insert or replace into settled (tenant, id, n, body) values (?, ?, ?, ?)`, tenant, l.ID, i+1, body); err != nil {
			return nil, err
		}
	}
	for _, p := range l.Pins {
		if _, err := tx.ExecContext(ctx, insertPin, tenant, l.Key.First[:], p.Conversation, p.Len, p.Chain[:], p.Part, p.On); err != nil {
			return nil, err
		}
	}
	for _, p := range l.Former {
		body, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, `insert or ignore into former (tenant, id, plan, body) values (?, ?, ?, ?)`, tenant, l.ID, string(p.ID()), body); err != nil {
			return nil, err
		}
	}
	if len(l.Links) == 0 {
		return r, nil
	}
	_, err = tx.ExecContext(ctx, `insert or replace into links (tenant, id, start, links) values (?, ?, 0, ?)`, tenant, l.ID, leaf.PackLinks(l.Links))
	return r, err
}
