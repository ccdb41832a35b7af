package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
)

// TestFullDisk keeps plans on a disk of three megabytes until it is full: accepted
// plans are there, others are not, the error tells the reason and the database does
// not count as gone; with room again, the store goes on.
func TestFullDisk(t *testing.T) {
	server := pgtest.Start(t, "fsync=off")
	grow := server.SmallDisk(t, "3m")
	address := server.Database(t)
	s := open(t, address, planstore.Bounds{})
	server.Exec(t, address, "alter table winnow.plans set tablespace small")
	server.Exec(t, address, "alter table winnow.checks set tablespace small")
	r := rand.New(rand.NewPCG(1, 2))
	put := func(n int) error {
		h := storetest.History(fmt.Sprint(n), 5)
		text := make([]byte, 6000)
		for i := range text {
			text[i] = byte('a' + r.IntN(26)) // what repeats itself is packed
		}
		_, err := storetest.Put(t.Context(), s, planstore.Key{Tenant: "x", First: h.Chain(1)}, storetest.Plan(t, h, string(text)))
		return err
	}
	n := 0
	var err error
	for ; err == nil && n < 5000; n++ {
		err = put(n)
	}
	if planstore.Reason(err) != "the database's disk is full" {
		t.Fatalf("after %d plans: %v (%s)", n, err, planstore.Reason(err))
	}
	accepted := n - 1
	left := func(want int) {
		t.Helper()
		if all, err := s.List(t.Context(), "x", 10_000); err != nil || len(all) != want {
			t.Errorf("%d plans of %d are there, %v", len(all), want, err)
		}
	}
	left(accepted)
	if s.(interface{ Database() *pg.DB }).Database().State().Gone {
		t.Error("a full disk counts as a database that is gone")
	}
	if err := grow("64m"); err != nil {
		t.Fatal(err)
	}
	if err := put(n); err != nil {
		t.Fatal(err)
	}
	left(accepted + 1)
	t.Logf("there was room for %d plans", accepted)
}
