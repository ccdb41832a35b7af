package transport_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

func newTransport(t testing.TB, o transport.Options) *transport.Transport {
	t.Helper()
	tr, err := transport.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// overridden returns the registry with facts that hold for every model.
func overridden(t testing.TB, facts string) *model.Registry {
	t.Helper()
	r, err := model.Default().WithOverrides([]byte(`{"models": {"*": ` + facts + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestConversations drives agents far past the window, in every dialect. Every
// request is answered at the first try, none is refused, and between two plans each
// request sent extends the one before, byte for byte.
func TestConversations(t *testing.T) {
	for _, d := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", d, stream), func(t *testing.T) {
				const window = 24_000
				s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
				tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: window}})
				c := &agentclient.Client{Dialect: d, Stream: stream, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
				applied := 0
				requests := 60
				if !longrun.Asked() {
					requests = 36
				}
				c.Drive(t, requests, func(i int, a *agentclient.Answer) {
					if a.Header.Get(transport.HeaderTokens) == "" {
						t.Errorf("request %d: no %s", i, transport.HeaderTokens)
					}
					if a.Header.Get(transport.HeaderPlan) != "" {
						applied++
					}
				})
				r := s.Report()
				stats := tr.Stats()
				if r.Refused > 0 || applied == 0 || stats.Failed+stats.Invalid+stats.Unreadable+stats.StoreFails > 0 {
					t.Errorf("%d under a plan, refused %v; %+v", applied, r.RefusedBy, stats)
				}
				if !bigger(c.Body(), window) {
					t.Error("the conversation is too short to show anything")
				}
				got.CheckGrowth(t, int(stats.Plans))
			})
		}
	}
}

func bigger(body []byte, window int) bool { return len(body)/4 > window }
