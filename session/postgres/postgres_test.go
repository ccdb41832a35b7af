package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/postgres"
)

func ownServer(t *testing.T) *pgtest.Server { return pgtest.Start(t, "fsync=off") }

// pause lets a database come back that another process starts.
func pause(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(10 * time.Millisecond):
	}
}

// Tables of a later version are refused in one line, and stay as they are.
func TestNewer(t *testing.T) {
	s := pgtest.Shared(t)
	db := s.Database(t)
	store, err := postgres.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, db, "update winnow.versions set version = 99 where part = 'sessions'")
	_, err = postgres.Open(t.Context(), db, nil)
	if !errors.Is(err, session.ErrNewer) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "use a newer winnow") {
		t.Errorf("%v", err)
	}
}

// A killed database ends no session: acknowledged entries are there when it is
// back, and the same store goes on.
func TestDatabaseKilled(t *testing.T) {
	s := ownServer(t)
	db := s.Database(t)
	store, err := postgres.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	live, err := session.Create(t.Context(), store, session.Header{ID: "live"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	var acknowledged []string
	say := func(n int) error {
		ids, err := live.Append(t.Context(), sessiontest.Turn(n, 3000)...)
		if err == nil {
			acknowledged = append(acknowledged, ids...)
		}
		return err
	}
	for n := range 5 {
		if err := say(n); err != nil {
			t.Fatal(err)
		}
	}
	s.Kill()
	if err := say(5); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("without a database: %v", err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	back := false
	for n := 6; n < 6000 && !back; n++ {
		back = say(n) == nil
		pause(t)
	}
	if !back {
		t.Fatal("the store does not come back with its database")
	}
	again, err := session.Open(t.Context(), store, "live", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, id := range acknowledged {
		if _, err := again.Entry(id); err != nil {
			t.Errorf("entry %s was acknowledged and is gone", id)
		}
	}
	if p := again.Problems(); len(p) > 0 {
		t.Errorf("problems: %v", p)
	}
}
