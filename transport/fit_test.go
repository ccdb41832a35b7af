package transport_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestFit has agents make their own calls with bodies that the transport fitted. None
// is refused, and a request with the same messages goes out under the same plan.
func TestFit(t *testing.T) {
	for _, d := range wire.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}})
			send := func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if body, _, err = tr.Fit(r.Context(), body); err != nil {
					return nil, err
				}
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				return http.DefaultTransport.RoundTrip(r)
			}
			c := &agentclient.Client{Dialect: d, URL: url, Result: agentclient.Output, HTTP: &http.Client{Transport: roundTrip(send)}}
			c.Drive(t, 25, nil) // it fails where a request is refused
			c.Say("Go on.")     // the last answer may have called nothing
			_, done, err := tr.Fit(t.Context(), c.Body())
			if err != nil {
				t.Fatal(err)
			}
			resp, text := post(t, tr, url+c.Path(), c.Body())
			plan := resp.Header.Get(transport.HeaderPlan)
			if resp.StatusCode != http.StatusOK || plan == "" || plan != done.Get(transport.HeaderPlan) {
				t.Errorf("fitted under plan %q, sent under %q: %d %s", done.Get(transport.HeaderPlan), plan, resp.StatusCode, text)
			}
		})
	}
}

// TestFitWithCall tells more about a call than its body does: which model it asks, and
// that it is none of a conversation.
func TestFitWithCall(t *testing.T) {
	tr := newTransport(t, transport.Options{})
	body := []byte(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`)
	fit := func(path string) (available int, err error) {
		call, err := http.NewRequest(http.MethodPost, "https://provider.invalid"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, done, err := tr.Fit(transport.WithCall(t.Context(), call), body)
		available, _ = strconv.Atoi(done.Get(transport.HeaderAvailable))
		return available, err
	}
	small, err := fit("/v1beta/models/unheard-of:generateContent")
	large, err2 := fit("/v1beta/models/gemini-3.1-pro-preview:generateContent")
	if err := errors.Join(err, err2); err != nil || small == 0 || large < 2*small {
		t.Errorf("%d and %d tokens of room: %v", small, large, err)
	}
	if _, err := fit("/v1beta/models"); err == nil || !strings.Contains(err.Error(), "none of a conversation") {
		t.Error(err)
	}
	if _, _, err := tr.Fit(t.Context(), []byte(`{"prompt":"hi"}`)); err == nil || !strings.Contains(err.Error(), "whose request") {
		t.Error(err)
	}
}
