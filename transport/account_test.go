package transport_test

import (
	"math"
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

// TestAccount: what an account says the requests would have cost uncut is what they
// do cost uncut, cache included.
func TestAccount(t *testing.T) {
	run := func(s winnow.Settings) transport.Account {
		t.Helper()
		_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 400_000})
		tr := newTransport(t, transport.Options{Settings: s, Label: "this run"})
		began := time.Now()
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
		c.Drive(t, 60, func(int, *agentclient.Answer) {})
		a, err := tr.Account(t.Context(), began)
		if err != nil || a.Totals.Dollars == nil || a.Totals.Priced != a.Totals.Requests {
			t.Fatalf("%v %+v", err, a)
		}
		later, err := tr.Account(t.Context(), time.Now())
		if err != nil || later.Totals.Requests+len(later.Cuts)+later.Again > 0 {
			t.Errorf("%v %+v, but nothing was sent since", err, later)
		}
		return a
	}
	alone := run(winnow.Settings{Disabled: true})
	if len(alone.Cuts) > 0 || alone.Uncut != *alone.Totals.Dollars || *alone.Totals.CacheShare < 0.5 {
		t.Fatalf("%+v", alone)
	}
	for _, s := range []winnow.Settings{{Window: 24_000}, {Window: 40_000, Threshold: 0.8, Target: 0.75}} {
		a := run(s)
		t.Logf("%d cuts, $%.4f, uncut $%.4f, truly $%.4f; %d beyond the window, %d read again", len(a.Cuts), *a.Totals.Dollars, a.Uncut, *alone.Totals.Dollars, a.Beyond, a.Again)
		if len(a.Cuts) == 0 || a.Beyond == 0 || len(a.Windows) != 1 || a.Windows[0] != s.Window {
			t.Errorf("%+v", a)
		}
		if off := a.Uncut / *alone.Totals.Dollars; math.Abs(off-1) > 0.12 { // how often files are read again differs
			t.Errorf("uncut it says $%.4f, and it is $%.4f", a.Uncut, *alone.Totals.Dollars)
		}
	}
}
