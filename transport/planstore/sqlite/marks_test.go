package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

func openSQLite(t *testing.T, path string) planstore.Owner {
	t.Helper()
	s, err := sqlite.Open(path, planstore.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestMarksOutliveTheProcess opens a store again whose process ended without a
// word. The marks that it had accepted are there, a half-written one is not, and
// newer marks in the file stay.
func TestMarksOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plans.db")
	h := storetest.History("a", 9)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	mark := func(s planstore.Owner, n, estimate int) {
		t.Helper()
		m := planstore.Mark{Len: n, Chain: h.Chain(n), Steps: []token.Step{{Messages: n, Estimate: estimate}}}
		if err := s.Mark(t.Context(), k, m, h.Chain(max(n-2, 0))); err != nil {
			t.Fatal(err)
		}
	}
	killed := openSQLite(t, path) // never closed before the others open it
	for n := 1; n <= 7; n += 2 {
		mark(killed, n, n)
	}
	journal, err := os.OpenFile(path+"-marks", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.WriteString(`{"Key":{"Tenant":"x"`); err != nil {
		t.Fatal(err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // reading the journal twice changes nothing
		marks, err := openSQLite(t, path).Marks(t.Context(), k)
		if err != nil || len(marks) != 1 || marks[0].Len != 7 || marks[0].Chain != h.Chain(7) || marks[0].Steps[0].Estimate != 7 {
			t.Fatalf("%+v, %v", marks, err)
		}
	}
}

// TestJournalIsBounded notes more than one journal holds.
func TestJournalIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plans.db")
	s := openSQLite(t, path)
	h := storetest.History("a", 9)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	const marks = 4000
	for i := range marks {
		m := planstore.Mark{Len: 3, Chain: h.Chain(3), Steps: []token.Step{{Messages: i}}}
		if err := s.Mark(t.Context(), k, m, h.Chain(1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path + "-marks", path + "-marks.old"} {
		info, err := os.Stat(name)
		if err != nil || info.Size() > 300<<10 || !ownersAlone(info) {
			t.Errorf("%s: %+v %v", name, info, err)
		}
	}
	got, err := openSQLite(t, path).Marks(t.Context(), k)
	if err != nil || len(got) != 1 || got[0].Steps[0].Messages != marks-1 {
		t.Errorf("%+v %v", got, err)
	}
}
