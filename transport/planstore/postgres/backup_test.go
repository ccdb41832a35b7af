package postgres_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
)

// TestBackup dumps a database with PostgreSQL's own tools while it is in use, and
// restores it elsewhere: plans, secret and versions are there.
func TestBackup(t *testing.T) {
	server := pgtest.Shared(t)
	address, restored := server.Database(t), server.Database(t)
	s := open(t, address, planstore.Bounds{})
	secret, err := s.Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		h := storetest.History(fmt.Sprint(i), 5)
		if _, err := storetest.Put(t.Context(), s, planstore.Key{Tenant: "x", First: h.Chain(1)}, storetest.Plan(t, h, fmt.Sprint("plan ", i))); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "backup")
	for _, args := range [][]string{
		{"pg_dump", "--schema=winnow", "--format=custom", "--file=" + file, "--dbname=" + address},
		{"pg_restore", "--exit-on-error", "--dbname=" + restored, file},
	} {
		if out, err := exec.Command(filepath.Join(server.Bin(), args[0]), args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	again := open(t, restored, planstore.Bounds{})
	if have, err := again.Secret(t.Context()); err != nil || string(have) != string(secret) {
		t.Errorf("secret %q, %v", have, err)
	}
	h := storetest.History("7", 5)
	if p, err := storetest.At(t.Context(), again, planstore.Key{Tenant: "x", First: h.Chain(1)}, h.Chain(5)); err != nil || p.Edits[0].Text != "plan 7" {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := storetest.Put(t.Context(), again, planstore.Key{Tenant: "x", First: h.Chain(1)}, storetest.Plan(t, storetest.History("new", 7), "new")); err != nil {
		t.Error(err)
	}
}
