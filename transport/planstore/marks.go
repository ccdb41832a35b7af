package planstore

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// batches gather marks: while some are written, others come together and are
// written at once. One alone waits for nobody.
type batches struct {
	mu      sync.Mutex
	next    *batch // the one that is gathered; nil for none
	writing bool
}

type batch struct {
	marks   []lateMark
	written chan struct{} // closed when err is known
	err     error
}

// lateMark is a mark that is not yet in the file.
type lateMark struct {
	key    Key
	mark   Mark
	before chat.Hash
}

// Mark implements [Store].
func (s *SQLite) Mark(_ context.Context, k Key, m Mark, before chat.Hash) error {
	l := &s.later
	l.mu.Lock()
	if l.next == nil {
		l.next = &batch{written: make(chan struct{})}
	}
	b := l.next
	b.marks = append(b.marks, lateMark{k, m, before})
	if !l.writing {
		l.writing = true
		go s.writeMarks()
	}
	l.mu.Unlock()
	<-b.written
	return b.err
}

// writeMarks writes batches until there are none.
func (s *SQLite) writeMarks() {
	l := &s.later
	for {
		l.mu.Lock()
		b := l.next
		l.next = nil
		if b == nil {
			l.writing = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		b.err = s.writeBatch(context.Background(), b.marks)
		close(b.written)
	}
}

func (s *SQLite) writeBatch(ctx context.Context, marks []lateMark) error {
	tx, err := s.marks.BeginTx(ctx, nil)
	if err != nil {
		return failed("write usage", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	for _, x := range marks {
		steps, err := json.Marshal(x.mark.Steps)
		if err != nil {
			return failed("write usage", err)
		}
		tenant, first := string(x.key.Tenant), x.key.First[:]
		if x.before != x.mark.Chain {
			if _, err := tx.ExecContext(ctx, `delete from marks where tenant = ? and first = ? and chain = ?`, tenant, first, x.before[:]); err != nil {
				return failed("write usage", err)
			}
		}
		if _, err := tx.ExecContext(ctx, `insert or replace into marks (tenant, first, chain, len, steps, used) values (?, ?, ?, ?, ?, ?)`,
			tenant, first, x.mark.Chain[:], x.mark.Len, steps, s.bounds.Now().UnixMilli()); err != nil {
			return failed("write usage", err)
		}
	}
	return failed("write usage", tx.Commit())
}

// Marks implements [Store].
func (s *SQLite) Marks(ctx context.Context, k Key) ([]Mark, error) {
	rows, err := s.marks.QueryContext(ctx, `select chain, len, steps from marks where tenant = ? and first = ? order by len desc, used desc limit ?`,
		string(k.Tenant), k.First[:], marksPerKey)
	if err != nil {
		return nil, failed("read usage", err)
	}
	defer rows.Close()
	var out []Mark
	for rows.Next() {
		var m Mark
		var steps []byte
		if err := rows.Scan((*hash)(&m.Chain), &m.Len, &steps); err != nil {
			return nil, failed("read usage", err)
		}
		m.Steps = []token.Step{}
		if err := json.Unmarshal(steps, &m.Steps); err != nil {
			return nil, failed("read usage", err)
		}
		out = append(out, m)
	}
	return out, failed("read usage", rows.Err())
}
