package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// signedIn sends what is meant for Gemini's API as Gemini CLI does with a Google
// account: to the code assist endpoint, inside another object.
type signedIn struct{ to http.RoundTripper }

func (s signedIn) RoundTrip(r *http.Request) (*http.Response, error) {
	model, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":")
	inner, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"model":%q,"project":"p-1","user_prompt_id":"u","request":%s}`, model, inner)
	out := r.Clone(r.Context())
	out.URL = &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: "/v1internal:" + method, RawQuery: r.URL.RawQuery}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.GetBody = nil
	return s.to.RoundTrip(out)
}

// A request that stands inside another object is made to fit where it stands, and a
// summary is asked for in the same form, for the same project.
func TestCodeAssist(t *testing.T) {
	const words = "the lease expires because nobody renews it"
	scripted := providersim.Scripted(8)
	_, address, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 40_000, Agent: func(a *providersim.Ask) []providersim.Block {
		if a.Find("</transcript>") == "" {
			return scripted(a)
		}
		return []providersim.Block{{Kind: providersim.Text, Text: "## Goal\n- mend the lease\n## Decisions\n- " + words + "\n## Dead ends\n- none"}}
	}})
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 40_000}, Same: true})
	t.Cleanup(tr.Close)
	c := &agentclient.Client{
		Dialect: wire.Gemini, Stream: true, URL: address, Result: agentclient.Output, Plain: true,
		HTTP: &http.Client{Transport: signedIn{tr}}, Header: http.Header{"Authorization": {"Bearer ya29.caller"}},
	}
	for i := 0; i < 160 && tr.Stats().PreparedUsed == 0; i++ {
		c.Drive(t, 1, func(int, *agentclient.Answer) {
			eventually(t, "no summary is being written", func() bool { return tr.Preparing() == 0 })
		})
	}
	if s := tr.Stats(); s.PreparedUsed == 0 || s.PrepareFailed > 0 || s.Plans == 0 || s.Recovered > 0 {
		t.Fatalf("%+v", s)
	}
	all := got.All()
	if !slices.ContainsFunc(all, func(r simtest.Received) bool { return strings.Contains(string(r.Body), words) }) {
		t.Error("the model's words are not in what is sent")
	}
	for _, r := range all {
		if b := string(r.Body); !strings.Contains(b, `"project":"p-1"`) || !strings.Contains(b, `"request":{`) {
			t.Fatalf("%.400s", b)
		}
	}
}
