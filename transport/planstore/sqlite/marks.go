package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// Marks come with every answer, and a transaction for each would be most of what
// a small request costs. So they are written together, a moment later; until
// then they stand in a journal beside the file, which a process that was killed
// leaves behind for the next one to read. The journal need not survive the
// machine, holds no content, and is used by all processes that share the file.

const (
	// writeAfter is how long marks wait to be written together.
	writeAfter = 100 * time.Millisecond

	// journalSize is where another journal is begun; the last one is kept. What
	// it holds is in the file long before.
	journalSize = 256 << 10
)

// lateMarks are marks that are not yet in the file.
type lateMarks struct {
	mu      sync.Mutex
	marks   []lateMark
	notes   []note
	timer   *time.Timer
	path    string
	journal *os.File
	size    int64
}

// lateMark is one of them, as the journal has it.
type lateMark struct {
	Key    planstore.Key
	Mark   planstore.Mark
	Before chat.Hash
	Used   int64
}

// open opens the journal and returns what earlier processes left.
func (l *lateMarks) open(path string) ([]lateMark, error) {
	l.path = path + "-marks"
	var left []lateMark
	for _, name := range []string{l.path + ".old", l.path} {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			var m lateMark
			if json.Unmarshal(line, &m) == nil { // the last one may be cut off
				left = append(left, m)
			}
		}
	}
	return left, l.begin()
}

// begin opens the journal that is written from now on.
func (l *lateMarks) begin() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	l.journal, l.size = f, info.Size()
	return nil
}

// note writes a mark into the journal.
func (l *lateMarks) note(m lateMark) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if l.size > journalSize {
		if err := l.journal.Close(); err != nil { // some systems rename no open file
			return err
		}
		kept := os.Rename(l.path, l.path+".old")
		if err := l.begin(); err != nil {
			return err
		}
		if kept != nil { // another process has it open: tried again when as much has come again
			l.size = 0
		}
	}
	n, err := l.journal.Write(append(line, '\n')) // in one piece: others write too
	l.size += int64(n)
	return err
}

// Mark implements [planstore.Store].
func (s *Store) Mark(_ context.Context, k planstore.Key, m planstore.Mark, before chat.Hash) error {
	l := &s.later
	l.mu.Lock()
	defer l.mu.Unlock()
	x := lateMark{k, m, before, s.bounds.Now().UnixMilli()}
	l.marks = append(l.marks, x)
	s.wait()
	return failed("note usage", l.note(x))
}

// wait has what waits written a moment after the first of it came. The caller
// holds the lock.
func (s *Store) wait() {
	if l := &s.later; len(l.marks)+len(l.notes) == 1 {
		l.timer = time.AfterFunc(writeAfter, func() { _ = s.flush(context.Background()) }) // marks stay in the journal
	}
}

// waits reports whether marks under a key are not in the file yet.
func (l *lateMarks) waits(k planstore.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.marks, func(x lateMark) bool { return x.Key == k })
}

// flush writes the marks and requests that wait.
func (s *Store) flush(ctx context.Context) error {
	l := &s.later
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.marks)+len(l.notes) == 0 {
		return nil
	}
	marks, notes := l.marks, l.notes
	l.marks, l.notes = nil, nil
	l.timer.Stop()
	return s.writeMarks(ctx, marks, notes)
}

func (s *Store) writeMarks(ctx context.Context, marks []lateMark, notes []note) error {
	whole, err := s.marks.BeginTx(ctx, nil)
	if err != nil {
		return failed("write usage", err)
	}
	defer func() { _ = whole.Rollback() }() // nothing to take back after the commit
	tx := s.prepared.in(whole)
	for _, x := range marks {
		steps, err := json.Marshal(x.Mark.Steps)
		if err != nil {
			return failed("write usage", err)
		}
		tenant, first := string(x.Key.Tenant), x.Key.First[:]
		if x.Before != x.Mark.Chain {
			if _, err := tx.ExecContext(ctx, `delete from marks where tenant = ? and first = ? and chain = ?`, tenant, first, x.Before[:]); err != nil {
				return failed("write usage", err)
			}
		}
		if _, err := tx.ExecContext(ctx, `insert into marks (tenant, first, chain, len, steps, used, not_lasted) values (?, ?, ?, ?, ?, ?, ?)
			on conflict do update set len = excluded.len, steps = excluded.steps, used = excluded.used, not_lasted = excluded.not_lasted where excluded.used >= marks.used`,
			tenant, first, x.Mark.Chain[:], x.Mark.Len, steps, x.Used, x.Mark.NotLasted); err != nil {
			return failed("write usage", err)
		}
	}
	if err := s.writeNotes(ctx, tx, notes); err != nil {
		return failed("write requests", err)
	}
	return failed("write usage", whole.Commit())
}

// countRewrites adds a column that files of earlier versions lack. These name the
// columns that they read and write, so they can still use the file.
func (s *Store) countRewrites() error {
	const known = `select exists (select 1 from pragma_table_info('marks') where name = 'not_lasted')`
	tx, err := s.plans.Begin() // other processes wait
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	var there bool
	if err := tx.QueryRow(known).Scan(&there); err != nil || there {
		return err
	}
	if _, err := tx.Exec(`alter table marks add column not_lasted integer not null default 0`); err != nil {
		return err
	}
	return tx.Commit()
}

// recoverMarks reads what processes that were killed left behind.
func (s *Store) recoverMarks(ctx context.Context, path string) error {
	left, err := s.later.open(path)
	if err != nil {
		return fmt.Errorf("the journal of usage: %w", err)
	}
	if len(left) == 0 {
		return nil
	}
	return s.writeMarks(ctx, left, nil)
}

// Marks implements [planstore.Store].
func (s *Store) Marks(ctx context.Context, k planstore.Key) ([]planstore.Mark, error) {
	if s.later.waits(k) {
		if err := s.flush(ctx); err != nil {
			return nil, err
		}
	}
	var out []planstore.Mark
	err := s.each(ctx, `select chain, len, steps, not_lasted from marks where tenant = ? and first = ? order by len desc, used desc limit ?`,
		[]any{string(k.Tenant), k.First[:], planstore.MaxMarks}, func(r scanner) error {
			m := planstore.Mark{Steps: []token.Step{}}
			var steps []byte
			if err := r.Scan((*hash)(&m.Chain), &m.Len, &steps, &m.NotLasted); err != nil {
				return err
			}
			out = append(out, m)
			return json.Unmarshal(steps, &out[len(out)-1].Steps)
		})
	return out, failed("read usage", err)
}

// close ends the use of the journal.
func (l *lateMarks) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}
