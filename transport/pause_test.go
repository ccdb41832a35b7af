package transport_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestPause sends the same conversation twice: once without pauses, once with
// an hour before each request, in which the provider's cache is lost. Then a
// rewrite costs nothing extra and is made sooner, with nothing set as where prices
// decide, and the request says why.
func TestPause(t *testing.T) {
	first := func(economy string, pause time.Duration) (plan int, why string) {
		const window = 90_000
		_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
		now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
		tr := newTransport(t, transport.Options{
			Settings: winnow.Settings{Window: window, Economy: economy, CommitFloor: 16_000},
			Registry: overridden(t, `{"cache": {"lifetime_seconds": 300}}`),
			Tenant:   func(*http.Request) planstore.Tenant { return "x" },
			Now: func() time.Time {
				now = now.Add(pause)
				return now
			},
		})
		c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
		c.Drive(t, 60, func(i int, a *agentclient.Answer) {
			if plan == 0 && a.Header.Get(transport.HeaderPlan) != "" {
				plan = i
			}
		})
		all, err := tr.Control("x").Conversations(t.Context(), control.List{})
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		d, err := tr.Control("x").Conversation(t.Context(), all[0].ID)
		if err != nil || len(d.Plans) == 0 {
			t.Fatal(err)
		}
		return plan, d.Plans[0].Why
	}
	for _, economy := range []string{winnow.EconomyOff, winnow.EconomyPrices} {
		warm, _ := first(economy, 0)
		cold, why := first(economy, time.Hour)
		if warm == 0 || cold == 0 || cold >= warm {
			t.Errorf("economy %s: the first plan came with request %d without pauses and with request %d with them", economy, warm, cold)
		}
		if economy == winnow.EconomyOff && !strings.Contains(why, "the provider's cache no longer has the prompt") {
			t.Errorf("the plan says %q", why)
		}
	}
}

// dated is a store that says when marks were made, as one in a database does.
type dated struct {
	planstore.Store
	now func() time.Time

	mu sync.Mutex
	at map[chat.Hash]time.Time
}

func (d *dated) Mark(ctx context.Context, k planstore.Key, m planstore.Mark, before chat.Hash) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at[m.Chain] = d.now()
	return d.Store.Mark(ctx, k, m, before)
}

func (d *dated) Marks(ctx context.Context, k planstore.Key) ([]planstore.Mark, error) {
	all, err := d.Store.Marks(ctx, k)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range all {
		all[i].At = d.at[all[i].Chain]
	}
	return all, err
}

// TestPauseElsewhere has two transports with one store serve a conversation whose
// requests are four minutes apart, one of them only every tenth. That one must
// not take the time since its own last request for a pause: the first plan comes
// when it comes with one transport alone.
func TestPauseElsewhere(t *testing.T) {
	first := func(every int) (plan int) {
		const window = 90_000
		_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
		now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		store := &dated{Store: planstore.NewMemory(planstore.Bounds{}), now: clock, at: map[chat.Hash]time.Time{}}
		var all []http.RoundTripper
		for range 2 {
			all = append(all, newTransport(t, transport.Options{
				Settings: winnow.Settings{Window: window, Economy: winnow.EconomyPrices, CommitFloor: 16_000},
				Registry: overridden(t, `{"cache": {"lifetime_seconds": 300}}`),
				Store:    store, Now: clock, Tenant: func(*http.Request) planstore.Tenant { return "x" },
			}))
		}
		n := 0
		c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, Result: agentclient.Output, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			n++
			now = now.Add(4 * time.Minute)
			if n%every == 0 {
				return all[1].RoundTrip(r)
			}
			return all[0].RoundTrip(r)
		})}}
		c.Drive(t, 60, func(i int, a *agentclient.Answer) {
			if plan == 0 && a.Header.Get(transport.HeaderPlan) != "" {
				plan = i
			}
		})
		return plan
	}
	alone := first(1 << 30)
	for _, every := range []int{5, 7, 10} {
		if got := first(every); alone == 0 || got != alone {
			t.Errorf("the first plan came with request %d where one transport serves all, and with request %d where another serves every %dth", alone, got, every)
		}
	}
}
