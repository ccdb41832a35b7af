package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// heard remembers with which headers summaries were asked for.
type heard struct {
	mu  sync.Mutex
	all []http.Header
}

func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, err := r.GetBody(); err == nil {
		if raw, _ := io.ReadAll(body); bytes.Contains(raw, []byte("</transcript>")) {
			h.mu.Lock()
			h.all = append(h.all, r.Header.Clone())
			h.mu.Unlock()
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (h *heard) headers() []http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}

// The caller's own model writes the summary, in the background, with the caller's
// credential and in its dialect; it reads the natural form; and its words stand
// beside what code tells.
func TestSameModelWritesSummaries(t *testing.T) {
	const words = "the lease expires because nobody renews it"
	scripted := providersim.Scripted(8)
	for _, d := range []wire.Dialect{wire.Anthropic, wire.OpenAI, wire.Responses, wire.Gemini} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", d, stream), func(t *testing.T) {
				_, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 40_000, Agent: func(a *providersim.Ask) []providersim.Block {
					if a.Find("</transcript>") == "" {
						return scripted(a)
					}
					return []providersim.Block{{Kind: providersim.Text, Text: "## Goal\n- mend the lease\n## Decisions\n- " + words + "\n## Dead ends\n- none"}}
				}})
				base := &heard{}
				tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 40_000}, Same: true, Base: base})
				t.Cleanup(tr.Close)
				c := &agentclient.Client{
					Dialect: d, Stream: stream, URL: url, Result: agentclient.Output, Plain: true,
					HTTP:   &http.Client{Transport: tr},
					Header: http.Header{"Authorization": {"Bearer caller-7"}, "X-Api-Key": {"caller-7"}, "X-Goog-Api-Key": {"caller-7"}},
				}
				for i := 0; i < 160 && tr.Stats().PreparedUsed == 0; i++ {
					c.Drive(t, 1, func(int, *agentclient.Answer) {
						eventually(t, "no summary is being written", func() bool { return tr.Preparing() == 0 })
					})
				}
				s := tr.Stats()
				if s.PreparedUsed == 0 || s.PrepareFailed > 0 || s.SummaryInput == 0 {
					t.Fatalf("%+v", s)
				}
				if !slices.ContainsFunc(got.All(), func(r simtest.Received) bool { return strings.Contains(string(r.Body), words) }) {
					t.Error("the model's words are not in what is sent")
				}
				for _, h := range base.headers() {
					if h.Get("Authorization") != "Bearer caller-7" || h.Get("X-Api-Key") != "caller-7" {
						t.Errorf("%v", h)
					}
				}
				for _, r := range got.All() {
					if b := string(r.Body); strings.Contains(b, "</transcript>") && (!strings.Contains(b, "told once") || strings.Contains(b, `"tools"`)) {
						t.Errorf("%.400s", b)
					}
				}
			})
		}
	}
}
