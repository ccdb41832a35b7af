package pgtest_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

// TestKilledServerComesBack: committed rows survive kill -9.
func TestKilledServerComesBack(t *testing.T) {
	s := pgtest.Start(t)
	db := s.Database(t)
	s.Exec(t, db, "create table x (n int)")
	s.Exec(t, db, "insert into x values (1)")
	s.Kill()
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, db, "insert into x select 1 / n from x")
	s.Stop()
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, db, "select 1 / (count(*) - 1) from x")
}
