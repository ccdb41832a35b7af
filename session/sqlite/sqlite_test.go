package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStore(t testing.TB) *store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "s.db"), nil)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s.(*store)
}

// write is the connection that a store writes with.
func write(s session.Store) *sql.DB { return s.(*store).write.DB }

func newSession(t testing.TB, store session.Store, id string, texts ...string) *session.Session {
	t.Helper()
	s, err := session.Create(context.Background(), store, session.Header{ID: id}, nil)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	for _, text := range texts {
		_, err := s.Append(context.Background(), chat.TextMessage(chat.User, text))
		must(t, err)
	}
	return s
}

// Files that are something else are refused and stay as they are.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	must(t, err)
	_, err = db.Exec("CREATE TABLE mine (x)")
	must(t, err)
	must(t, db.Close())
	text := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(text, []byte("my notes, more than a hundred bytes of them: "+strings.Repeat("x", 100)), 0o600))
	newer := filepath.Join(dir, "newer.db")
	s, err := Open(newer, nil)
	must(t, err)
	_, err = write(s).Exec("PRAGMA user_version = 99")
	must(t, err)
	must(t, s.Close())
	for _, path := range []string{other, text, newer} {
		before, err := os.ReadFile(path)
		must(t, err)
		_, err = Open(path, nil)
		if !errors.Is(err, session.ErrNotSession) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		if path == other {
			continue // SQLite itself may note its journal mode in a database
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
	if _, err := Open(filepath.Join(text, "x.db"), nil); err == nil {
		t.Error("a file is accepted for a folder")
	}
}

// Sessions of tables without titles have them once the tables are brought up to date,
// and are found by their words.
func TestTitlesOfOlderTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(path, nil)
	must(t, err)
	newSession(t, s, "a", "Fix the build.")
	newSession(t, s, "b")
	_, err = write(s).Exec(`DROP INDEX sessions_to_index; ALTER TABLE sessions DROP COLUMN indexed; ALTER TABLE sessions DROP COLUMN title;
		CREATE TABLE indexed (up_to INTEGER NOT NULL); INSERT INTO indexed VALUES (1); INSERT INTO words (rowid, text) VALUES (1, 'Fix the build.'); PRAGMA user_version = 1`)
	must(t, err)
	must(t, s.Close())
	s, err = Open(path, nil)
	must(t, err)
	defer s.Close()
	list, err := s.List(t.Context(), 0, 0)
	must(t, err)
	if len(list) != 2 || list[0].Title != "" || list[1].Title != "Fix the build." {
		t.Errorf("%+v", list)
	}
	hits, err := session.Search(t.Context(), s, "build", 0)
	must(t, err)
	if len(hits) != 1 || hits[0].Session != "a" {
		t.Errorf("%+v", hits)
	}
}

// A full database refuses the append, and the session stays as it was.
func TestFull(t *testing.T) {
	store := newStore(t)
	s := newSession(t, store, "s", "one")
	var pages int
	must(t, store.write.QueryRow("PRAGMA page_count").Scan(&pages))
	_, err := store.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+2))
	must(t, err)
	_, err = s.Append(t.Context(), chat.TextMessage(chat.User, strings.Repeat("x", 100_000)))
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error %v", err)
	}
	if c, _ := s.Context(); c.View.Len() != 1 || s.Len() != 1 {
		t.Errorf("the session has %d messages", c.View.Len())
	}
	_, err = store.write.Exec("PRAGMA max_page_count = 1000000")
	must(t, err)
	_, err = s.Append(t.Context(), chat.TextMessage(chat.User, "two"))
	must(t, err)
	if p := s.Problems(); len(p) > 0 || s.Len() != 2 {
		t.Errorf("problems %v, %d entries", p, s.Len())
	}
}

func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	store, err := Open(path, &Options{LockTimeout: 50 * time.Millisecond})
	must(t, err)
	defer store.Close()
	s := newSession(t, store, "s", "one")
	other, err := Open(path, nil)
	must(t, err)
	defer other.Close()
	tx, err := write(other).Begin()
	must(t, err)
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "two")); !errors.Is(err, session.ErrBusy) {
		t.Errorf("error %v", err)
	}
	if c, err := s.Context(); err != nil || c.View.Len() != 1 {
		t.Errorf("the session has %d messages, %v", c.View.Len(), err)
	}
	must(t, tx.Rollback())
	_, err = s.Append(t.Context(), chat.TextMessage(chat.User, "three"))
	must(t, err)
}

// A session goes from a file to the database and back without losing a byte.
func TestCopy(t *testing.T) {
	ctx := t.Context()
	files, err := jsonl.Open(t.TempDir(), nil)
	must(t, err)
	o := &session.Options{Settings: sessiontest.Settings()}
	s, err := session.Create(ctx, files, session.Header{ID: "s", Dir: "/p"}, o)
	must(t, err)
	defer s.Close()
	for i := range 12 {
		_, err := s.Append(ctx, sessiontest.Turn(i, 2500)...)
		must(t, err)
	}
	_, err = s.Compact(ctx, "")
	must(t, err)
	store := newStore(t)
	inside, err := s.CopyTo(ctx, store, o)
	must(t, err)
	defer inside.Close()
	back, err := jsonl.Open(t.TempDir(), nil)
	must(t, err)
	out, err := inside.CopyTo(ctx, back, o)
	must(t, err)
	defer out.Close()
	a, err := os.ReadFile(s.Info().Path)
	must(t, err)
	b, err := os.ReadFile(out.Info().Path)
	must(t, err)
	if string(a) != string(b) {
		t.Error("the file is another one after its way through the database")
	}
	var w strings.Builder
	if n, err := inside.WriteTo(&w); err != nil || w.String() != string(a) || n != int64(len(a)) {
		t.Errorf("written out: %d bytes of %d, %v", n, len(a), err)
	}
	if _, err := s.CopyTo(ctx, store, o); !errors.Is(err, session.ErrExists) {
		t.Errorf("copying twice: %v", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	store := newStore(b)
	s := newSession(b, store, "s")
	for b.Loop() {
		if _, err := s.Append(b.Context(), chat.TextMessage(chat.User, "a message of usual length, which says something about the build")); err != nil {
			b.Fatal(err)
		}
	}
}
