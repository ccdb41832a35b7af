package postgres_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
)

// TestDatabaseKilled kills the database under writers, several times. Every plan
// that was accepted is there afterwards, calls fail at once in between and say
// why, the log says it once, and marks that waited are written when it is back.
func TestDatabaseKilled(t *testing.T) {
	server := pgtest.Start(t, "fsync=off")
	address := server.Database(t)
	var log lockedText
	s, err := postgres.Open(t.Context(), address, &postgres.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var mu sync.Mutex
	accepted := map[chat.Hash]planstore.Key{}
	put := func(name string) error {
		h := storetest.History(name, 5)
		k := planstore.Key{Tenant: "x", First: h.Chain(1)}
		p := storetest.Plan(t, h, name)
		_, err := storetest.Put(t.Context(), s, k, p)
		if err == nil {
			mu.Lock()
			accepted[p.Prefix] = k
			mu.Unlock()
		}
		return err
	}
	const kills = 3
	for round := range kills {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					if err := put(fmt.Sprint(round, w, n)); err != nil {
						return
					}
				}
			})
		}
		for {
			mu.Lock()
			n := len(accepted)
			mu.Unlock()
			if n > 40*(round+1) {
				break
			}
			pause(t)
		}
		server.Kill()
		wg.Wait()
		close(stop)
		if _, err := s.Heads(t.Context(), planstore.Key{}); !errors.Is(err, planstore.ErrGone) || planstore.Reason(err) != "the database cannot be reached" {
			t.Fatalf("%v, %s", err, planstore.Reason(err))
		}
		h := storetest.History("marked", 5)
		if err := s.Mark(t.Context(), planstore.Key{Tenant: "m", First: h.Chain(1)}, planstore.Mark{Len: 5, Chain: h.Chain(5), Steps: []token.Step{{Messages: round}}}, chat.Hash{}); err != nil {
			t.Fatal(err)
		}
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
		for put(fmt.Sprint("back", round)) != nil {
			pause(t)
		}
	}
	for prefix, k := range accepted {
		if _, err := storetest.At(t.Context(), s, k, prefix); err != nil {
			t.Fatalf("of %d plans that were accepted one is gone: %v", len(accepted), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h := storetest.History("marked", 5)
	marks, err := open(t, address, planstore.Bounds{}).Marks(t.Context(), planstore.Key{Tenant: "m", First: h.Chain(1)})
	if err != nil || len(marks) != 1 || marks[0].Steps[0].Messages != kills-1 {
		t.Errorf("marks: %+v, %v", marks, err)
	}
	if gone, back := strings.Count(log.String(), "is unreachable"), strings.Count(log.String(), "is back"); gone != kills || back != kills {
		t.Errorf("the log says %d times that it is gone and %d times that it is back:\n%s", gone, back, log.String())
	}
	t.Logf("counts: plans written %d, restarts of PostgreSQL %d, lost 0", len(accepted), kills)
}

// pause lets others go on.
func pause(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(5 * time.Millisecond):
	}
}

// lockedText is a text that several write to.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestNewer has an older program refuse tables of a newer one in one line.
func TestNewer(t *testing.T) {
	server := pgtest.Shared(t)
	address := server.Database(t)
	if err := open(t, address, planstore.Bounds{}).Close(); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, address, "update winnow.versions set version = 99 where part = 'plans'")
	if _, err := postgres.Open(t.Context(), address, nil); err == nil || !strings.Contains(err.Error(), "use a newer winnow") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// TestMarksOfOthers has marks of one gateway reach another, with when they were
// made by the reader's clock, whatever the clock of the writer says.
func TestMarksOfOthers(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	one, two := open(t, address, planstore.Bounds{}), open(t, address, planstore.Bounds{})
	h := storetest.History("a", 9)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	before := time.Now()
	for n := 1; n <= 7; n += 2 {
		if err := one.Mark(t.Context(), k, planstore.Mark{Len: n, Chain: h.Chain(n), Steps: []token.Step{{Messages: n}}}, h.Chain(max(n-2, 0))); err != nil {
			t.Fatal(err)
		}
	}
	for {
		marks, err := two.Marks(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if len(marks) == 1 && marks[0].Len == 7 {
			if at := marks[0].At; at.Before(before.Add(-time.Minute)) || at.After(time.Now().Add(time.Minute)) {
				t.Errorf("made at %v", at)
			}
			return
		}
		pause(t)
	}
}

// TestSecret has gateways that start together share one secret.
func TestSecret(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	got := make([]string, 4)
	var wg sync.WaitGroup
	for i := range got {
		s := open(t, address, planstore.Bounds{})
		wg.Go(func() {
			b, err := s.Secret(t.Context())
			if err != nil || len(b) < 16 {
				t.Errorf("%q %v", b, err)
			}
			got[i] = string(b)
		})
	}
	wg.Wait()
	for _, x := range got {
		if x != got[0] {
			t.Errorf("secrets %q", got)
		}
	}
}
