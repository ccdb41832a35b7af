package plans_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/token"
)

// broken is a store that fails after some pieces.
type broken struct {
	planstore.Owner
	left int
}

// ages keeps what a test clock made long ago.
const ages = 100 * 365 * 24 * time.Hour

var errBroken = errors.New("broken off")

func (b *broken) Import(ctx context.Context, items []planstore.Item, from, place string) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errBroken
	}
	return b.Owner.Import(ctx, items, from, place)
}

// TestCopy copies a file into the database and the database into a file. A copy
// that was broken off goes on where it was, times of use come along, what is
// there stays, and tenants are found again under the same secret.
func TestCopy(t *testing.T) {
	file := func(name string) planstore.Owner {
		t.Helper()
		return openFile(t, filepath.Join(t.TempDir(), name), planstore.Bounds{Age: ages})
	}
	const conversations = 900
	clock := storetest.NewClock()
	from := openFile(t, filepath.Join(t.TempDir(), "from.db"), planstore.Bounds{Age: ages, Now: clock.Now})
	secret, err := from.Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range conversations {
		clock.Add(time.Second)
		h := storetest.History(fmt.Sprint(i), 5)
		k := planstore.Key{Tenant: planstore.Tenant(fmt.Sprint("tenant", i%3)), First: h.Chain(1)}
		if _, err := storetest.Put(t.Context(), from, k, storetest.Plan(t, h, fmt.Sprint("plan ", i))); err != nil {
			t.Fatal(err)
		}
		if err := from.Mark(t.Context(), k, planstore.Mark{Len: 5, Chain: h.Chain(5), Steps: []token.Step{{Messages: i}}, NotLasted: i}, chat.Hash{}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			if err := from.PutOriginal(t.Context(), k, planstore.Original{Len: 5, Prefix: h.Chain(5), Dialect: "openai", Model: "m", Body: []byte(fmt.Sprint("text\x00 ", i))}, chat.Hash{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, two := fillBook(t, from, "tenant1")
	address := pgtest.Shared(t).Database(t)
	to := openDatabase(t, address, planstore.Bounds{Age: ages})
	first, err := planstore.Copy(t.Context(), from, &broken{to, 6}, "a file")
	if !errors.Is(err, errBroken) || first.Read != 1101 || first.Resumed {
		t.Fatalf("%+v, %v", first, err)
	}
	rest, err := planstore.Copy(t.Context(), from, to, "a file")
	const all = 3*conversations + conversations/10 + 3 // and a plan and two conversations of the book
	if err != nil || !rest.Resumed || rest.Added != all-first.Added || rest.Read != rest.Added {
		t.Fatalf("%+v, %v", rest, err)
	}
	if again, err := planstore.Copy(t.Context(), from, to, "a file"); err != nil || again.Read != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	back := file("back.db")
	if _, err := planstore.Copy(t.Context(), to, &broken{back, 5}, "the database"); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if _, err := planstore.Copy(t.Context(), to, back, "the database"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []planstore.Owner{to, back} {
		sums, err := s.Sums(t.Context())
		if err != nil || sums.Plans != conversations+1 || sums.Marks != conversations || sums.Conversations != conversations/10 || sums.Tenants != 3 || !sums.Newest.Equal(clock.Now()) {
			t.Errorf("%s: %+v, %v", s.Kind(), sums, err)
		}
		if have, err := s.Secret(t.Context()); err != nil || string(have) != string(secret) {
			t.Errorf("secret %q, %v; want %q", have, err, secret)
		}
		checkSame(t, from, s, "tenant1", one)
		checkSame(t, from, s, "tenant1", two)
		h := storetest.History("50", 5)
		k := planstore.Key{Tenant: "tenant2", First: h.Chain(1)}
		p, err := storetest.At(t.Context(), s, k, h.Chain(5))
		if err != nil || p.Edits[0].Text != "plan 50" {
			t.Errorf("%v, %v", p, err)
		}
		marks, err := s.Marks(t.Context(), k)
		if err != nil || len(marks) != planstore.MaxMarks {
			t.Errorf("%d marks, %v", len(marks), err)
		}
	}
	other := file("other.db")
	h := storetest.History("x", 5)
	if _, err := storetest.Put(t.Context(), other, planstore.Key{First: h.Chain(1)}, storetest.Plan(t, h, "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := planstore.Copy(t.Context(), from, other, "a file"); !errors.Is(err, planstore.ErrSecret) {
		t.Errorf("into a store with another secret: %v", err)
	}
	pruned, err := to.Prune(t.Context(), planstore.Bounds{Age: ages, Plans: 100, Originals: 1})
	if sums, _ := to.Sums(t.Context()); err != nil || sums.Plans != 100 || sums.Marks != 100 || sums.Conversations != 0 || pruned.Plans != conversations+1-100 {
		t.Errorf("pruned %+v, %v; left %+v", pruned, err, sums)
	}
	pruned, err = back.Prune(t.Context(), planstore.Bounds{Age: ages, Plans: 100, Originals: 1})
	if sums, _ := back.Sums(t.Context()); err != nil || sums.Plans != 100 || pruned.Plans != conversations+1-100 {
		t.Errorf("pruned %+v, %v; left %+v", pruned, err, sums)
	}
}
