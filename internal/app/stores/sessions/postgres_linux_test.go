package sessions_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/postgres"
)

// TestRealFullDiskOfPostgres keeps the entries on a disk of two megabytes.
func TestRealFullDiskOfPostgres(t *testing.T) {
	s := pgtest.Start(t, "fsync=off")
	grow := s.SmallDisk(t, "2m")
	db := s.Database(t)
	store, err := postgres.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	// What repeats itself would be packed, and find room.
	s.Exec(t, db, "alter table winnow.entries alter column raw set storage external, set tablespace small")
	testFullStore(t, func(address string) (session.Store, error) { return postgres.Open(t.Context(), address, nil) }, db,
		func() error { return grow("64m") })
}
