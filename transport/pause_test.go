package transport_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestPause sends the same conversation twice: once without pauses, once with
// an hour before each request, in which the provider's cache is lost. Then a
// rewrite costs nothing extra and, where prices decide, is made sooner.
func TestPause(t *testing.T) {
	first := func(pause time.Duration) (plan int) {
		const window = 90_000
		_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
		now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
		tr := newTransport(t, transport.Options{
			Settings: winnow.Settings{Window: window, CacheLifetime: 300, Economy: winnow.EconomyPrices, CommitFloor: 16_000},
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
		return plan
	}
	warm, cold := first(0), first(time.Hour)
	if warm == 0 || cold == 0 || cold >= warm {
		t.Errorf("the first plan came with request %d without pauses and with request %d with them", warm, cold)
	}
}
