package transport_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

const trackURL = "http://provider.test/v1/chat/completions"

// The transport counts from request to request how many rewrites did not last.
// It never stops for that, since a request that may be refused is better than none;
// a caller that asks for a sure fit is told.
func TestNotLasting(t *testing.T) {
	set := winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}
	w, err := winnow.New(&winnow.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	run := func(sentences int) error {
		tr := newTransport(t, transport.Options{Settings: set, Base: &upstream{}})
		body := fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"system","content":"the bulk %s"}`, strings.Repeat("of the matter is this one sentence ", sentences))
		for i := range 60 {
			body += fmt.Sprintf(`,{"role":"user","content":"go on %d"}`, i)
			b, err := wire.Parse(wire.OpenAI, []byte(body+"]}"))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				if _, err := w.Fit(t.Context(), b.Request(), tr.Newest().State()); err != nil {
					return err
				}
			}
			post(t, tr, trackURL, []byte(body+"]}"))
			body += fmt.Sprintf(`,{"role":"assistant","content":"yes, going on with it %s"}`, strings.Repeat("word ", 10))
		}
		return nil
	}
	for sentences := 950; sentences < 1000; sentences++ {
		var stop *winnow.NotLastingError
		if errors.As(run(sentences), &stop) {
			if stop.Rewrites != 3 {
				t.Errorf("it stopped after %d rewrites", stop.Rewrites)
			}
			return
		}
	}
	t.Error("no bulk is such that rewrites do not last")
}

// A process that knows a conversation from the store alone counts on from what
// stands there: requests that come to a new one every time are counted as those
// that all come to one.
func TestNotLastingAfterRestarts(t *testing.T) {
	set := winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}
	w, err := winnow.New(&winnow.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	run := func(sentences int, restarted bool) (counts []int) {
		o := transport.Options{Settings: set, Store: planstore.NewMemory(planstore.Bounds{}), Base: reports(w)}
		tr := newTransport(t, o)
		body := fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"system","content":"the bulk %s"}`, strings.Repeat("of the matter is this one sentence ", sentences))
		for i := range 40 {
			if restarted {
				tr = newTransport(t, o)
			}
			body += fmt.Sprintf(`,{"role":"user","content":"go on %d"}`, i)
			post(t, tr, trackURL, []byte(body+"]}"))
			body += fmt.Sprintf(`,{"role":"assistant","content":"yes, going on with it %s"}`, strings.Repeat("word ", 10))
			counts = append(counts, tr.Newest().State().NotLasted)
		}
		return counts
	}
	for sentences := 1030; sentences < 1050; sentences += 2 {
		counts := run(sentences, false)
		if slices.Max(counts) < 2 {
			continue
		}
		if again := run(sentences, true); !slices.Equal(counts, again) {
			t.Errorf("one process counts\n%v, new ones\n%v", counts, again)
		}
		return
	}
	t.Error("no bulk is such that rewrites do not last")
}

// reports answers with a usage that is what the engine counts for the body.
func reports(w *winnow.Winnow) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		b, err := wire.Parse(wire.OpenAI, raw)
		if err != nil {
			return nil, err
		}
		req := b.Request()
		text := fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":2}}`, w.Meter().Counter().Request(&req))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	})
}

// The more calls found the provider's cache cold, the sooner a rewrite pays.
func TestColdCalls(t *testing.T) {
	first := func(cold func(call int) bool) int {
		calls := 0
		up := roundTrip(func(r *http.Request) (*http.Response, error) {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			prompt := len(raw) / 4
			read := prompt
			if cold(calls) {
				read = 0
			}
			calls++
			text := fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":%d}}}`, prompt, read)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		})
		tr := newTransport(t, transport.Options{
			Settings: winnow.Settings{Model: "gpt-4o", Window: 400_000, OutputReserve: 4000, Economy: winnow.EconomyPrices, CommitFloor: 10_000},
			Registry: overridden(t, `{"prices": {"input": 5, "cache_read": 0.2, "cache_write": 5, "output": 20}}`),
			Base:     up, Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
		})
		body := `{"model":"gpt-4o","messages":[{"role":"user","content":"begin"}`
		for i := range 120 {
			resp, _ := post(t, tr, trackURL, []byte(body+"]}"))
			if resp.Header.Get(transport.HeaderPlan) != "" {
				return i
			}
			body += fmt.Sprintf(`,{"role":"assistant","content":%q},{"role":"user","content":"question %d"}`, strings.Repeat(fmt.Sprintf("fact %d of the matter; ", i), 130), i)
		}
		t.Fatal("there was no rewrite")
		return 0
	}
	warm := first(func(int) bool { return false })
	if cold := first(func(call int) bool { return call%3 == 2 }); cold >= warm {
		t.Errorf("the first rewrite came with request %d with every third call cold, with request %d with none", cold, warm)
	}
}
