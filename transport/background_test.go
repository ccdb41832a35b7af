package transport_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// writer is a summariser that asks a model at an address.
func writer(t testing.TB, url string) summary.Summarizer {
	t.Helper()
	c, err := llm.New("compatible/small", &llm.Options{BaseURL: url, Retries: -1, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return summary.NewLLM(&summary.LLMOptions{Model: c.Model(), Name: "small"})
}

// summaryAnswer is what a model that summarises well answers.
func summaryAnswer() string {
	var b strings.Builder
	for i, s := range summary.Sections() {
		fmt.Fprintf(&b, "## %s\n- fact %d of the model: the %s was settled\n", s, i, strings.Repeat("x", i+3))
	}
	text, _ := json.Marshal(b.String())
	return fmt.Sprintf(`{"model":"small","choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":90}}`, text)
}

const modelsWords = "of the model: the"

// serveSummaries is a model that summarises, in the way that a test says.
func serveSummaries(t testing.TB, h http.HandlerFunc) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the caller is noticed
		h(w, r)
	}))
	t.Cleanup(ts.Close)
	return ts.URL, asked
}

// talk is a conversation of words, which only a summary makes shorter: about
// 1,000 tokens a turn.
func talk(name string, turns int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4.1","max_tokens":1024,"messages":[`)
	for i := range turns {
		fmt.Fprintf(&b, `{"role":"user","content":"Question %d of %s: why does it fail?"},{"role":"assistant","content":%q},`,
			i, name, strings.Repeat(fmt.Sprintf("Because rule %d of the grammar is ambiguous there and nobody saw it. ", i), 71))
	}
	fmt.Fprintf(&b, `{"role":"user","content":"Question %d of %s: why does it fail?"}]}`, turns, name)
	return []byte(b.String())
}

// answering is a provider that takes everything; it remembers the last body.
func answering(t testing.TB) (url string, last func() string) {
	t.Helper()
	var mu sync.Mutex
	var body string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		body = string(raw)
		mu.Unlock()
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(ts.Close)
	return ts.URL + "/v1/chat/completions", func() string {
		mu.Lock()
		defer mu.Unlock()
		return body
	}
}

// eventually waits for a condition, as long as a slow machine may take.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: that never came", what)
		}
	}
}

// Turns at which a talk is below 0.65 of what is available in talkWindow, the
// error of an estimate included; between that and the trigger; above the trigger.
const (
	talkWindow      = 40_000
	few, many, most = 18, 25, 34
)

func preparing(t testing.TB, url string, store planstore.Store) *transport.Transport {
	t.Helper()
	tr := newTransport(t, transport.Options{
		Settings: winnow.Settings{Window: talkWindow, KeepRecent: 4000, Threshold: 0.8}, Summarizer: writer(t, url), Store: store,
	})
	t.Cleanup(tr.Close)
	return tr
}

// ok sends a talk and returns the share of the available input that it had.
func ok(t testing.TB, tr http.RoundTripper, url string, body []byte) float64 {
	t.Helper()
	resp, text := post(t, tr, url, body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	var used, available float64
	fmt.Sscan(resp.Header.Get(transport.HeaderTokens), &used)
	fmt.Sscan(resp.Header.Get(transport.HeaderAvailable), &available)
	return used / available
}

// TestPrepared prepares a fold in the background and uses it at the trigger: it
// is a plan like any other then, sealed and kept.
func TestPrepared(t *testing.T) {
	summaries, asked := serveSummaries(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, summaryAnswer()) })
	url, last := answering(t)
	store := planstore.NewMemory(planstore.Bounds{})
	tr := preparing(t, summaries, store)
	if share := ok(t, tr, url, talk("a", few)); share >= 0.65 || asked.Load() > 0 {
		t.Fatalf("at %.2f the model was asked %d times", share, asked.Load())
	}
	if share := ok(t, tr, url, talk("a", many)); share > 0.80 || tr.Stats().Plans > 0 {
		t.Fatalf("a plan was made at %.2f", share)
	}
	eventually(t, "a summary is ready", func() bool { return tr.Stats().Prepared == 1 })
	ok(t, tr, url, talk("a", many+1))
	if s := tr.Stats(); s.Plans != 0 || asked.Load() != 1 {
		t.Fatalf("asked %d times; %+v", asked.Load(), s)
	}
	share := ok(t, tr, url, talk("a", most))
	s := tr.Stats()
	if s.Plans != 1 || s.PreparedUsed != 1 || s.PrepareFailed+s.PrepareDropped+s.Failed+s.Invalid > 0 || share > 0.62 {
		t.Fatalf("at %.2f: %+v", share, s)
	}
	if s.SummaryCalls != 1 || s.SummaryInput != 9000 || s.SummaryOutput != 90 {
		t.Errorf("what it cost: %+v", s)
	}
	before := simtest.Span(t, []byte(last()))
	if !strings.Contains(before, modelsWords) {
		t.Errorf("the model's words are not in what was sent: %.600s", before)
	}
	// The next one finds it in the store, in another process too.
	again := newTransport(t, transport.Options{Settings: winnow.Settings{Window: talkWindow, KeepRecent: 4000, Threshold: 0.8}, Store: store})
	for _, rt := range []http.RoundTripper{tr, again} {
		ok(t, rt, url, append([]byte(strings.TrimSuffix(string(talk("a", most)), "]}")), `,{"role":"assistant","content":"Nothing."},{"role":"user","content":"Go on."}]}`...))
		if now := simtest.Span(t, []byte(last())); !strings.HasPrefix(now, before) {
			t.Error("what is sent does not extend what was sent")
		}
	}
	all, err := store.List(t.Context(), tr.Tenant(&http.Request{URL: mustURL(t, url)}), 9)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	p, err := tr.Control(all[0].Key.Tenant).Plan(t.Context(), all[0].ID)
	if err != nil || !strings.Contains(p.String(), "fold") {
		t.Errorf("%v %v", p, err)
	}
	for _, e := range p.Edits {
		if e.Made != p.ID() || e.Stage == "fold" && !strings.Contains(e.Prose, modelsWords) {
			t.Errorf("edit %s of %s by %s: %.100s", e.Stage, e.Made, p.ID(), e.Prose)
		}
	}
}

// TestPreparedBeforeEveryTrigger prepares in a window of a million, where a
// number of tokens or the model's prices say when to compact, far below the
// share of the window that would.
func TestPreparedBeforeEveryTrigger(t *testing.T) {
	for name, set := range map[string]winnow.Settings{
		"threshold_tokens": {Window: 1_000_000, KeepRecent: 4000, ThresholdTokens: 32_000},
		"prices":           {Window: 1_000_000, KeepRecent: 4000, Economy: winnow.EconomyPrices, CommitFloor: 30_000},
	} {
		summaries, _ := serveSummaries(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, summaryAnswer()) })
		url, _ := answering(t)
		// Above 30,000 tokens the price doubles.
		prices := `{"prices": {"input": 2, "cache_read": 1, "cache_write": 2, "output": 10, "tiers": [{"over": 30000, "input": 4, "cache_read": 2, "cache_write": 4, "output": 20}]}}`
		tr := newTransport(t, transport.Options{Settings: set, Summarizer: writer(t, summaries), Registry: overridden(t, prices)})
		turns := 8
		for ; tr.Stats().Plans == 0; turns++ {
			if turns > 120 {
				t.Fatalf("%s: no plan in %d turns", name, turns)
			}
			ok(t, tr, url, talk("a", turns))
			eventually(t, "no summary is being written", func() bool { return tr.Preparing() == 0 })
		}
		if s := tr.Stats(); s.Prepared == 0 || s.PreparedUsed == 0 {
			t.Errorf("%s: the plan at %d turns was made without a summary: %+v", name, turns, s)
		}
		tr.Close()
	}
}

// TestNobodyWaits has a summariser that answers only after all requests were
// answered: had one of them waited for it, none would ever end.
func TestNobodyWaits(t *testing.T) {
	release := make(chan struct{})
	summaries, asked := serveSummaries(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, summaryAnswer())
	})
	url, last := answering(t)
	tr := preparing(t, summaries, nil)
	ok(t, tr, url, talk("a", many))
	eventually(t, "the model is asked", func() bool { return asked.Load() == 1 })
	for turns := many; turns <= most+10; turns++ {
		ok(t, tr, url, talk("a", turns))
	}
	close(release)
	s := tr.Stats()
	if s.Plans == 0 || s.PreparedUsed > 0 || s.PrepareDropped == 0 || s.Failed+s.Invalid+s.CannotFit > 0 {
		t.Errorf("%+v", s)
	}
	if strings.Contains(last(), modelsWords) {
		t.Error("the model's words came from nowhere")
	}
}

// TestBadSummaries asks models that fail or write nonsense: it is counted once,
// the model is not asked again, and the built-in summary takes its place.
func TestBadSummaries(t *testing.T) {
	answer := func(content, stop string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			text, _ := json.Marshal(content)
			fmt.Fprintf(w, `{"model":"small","choices":[{"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":{"prompt_tokens":9000,"completion_tokens":90}}`, text, stop)
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"error":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"empty":   answer("", "stop"),
		"cut off": answer("## Goal\n- half of a", "length"),
		"refusal": answer("I'm sorry, but I can't help with that.", "stop"),
		"a call": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"rm","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
		},
		"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			summaries, asked := serveSummaries(t, h)
			url, last := answering(t)
			tr := preparing(t, summaries, nil)
			ok(t, tr, url, talk("a", many))
			eventually(t, "it fails", func() bool { return tr.Stats().PrepareFailed == 1 })
			before := asked.Load()
			for turns := many; turns <= most; turns++ {
				ok(t, tr, url, talk("a", turns))
				if tr.Stats().Plans > 0 {
					break
				}
			}
			s := tr.Stats()
			if asked.Load() != before || s.PrepareFailed != 1 || s.Prepared+s.PreparedUsed > 0 || s.Plans != 1 || s.Failed+s.Invalid > 0 {
				t.Errorf("asked %d times, then %d; %+v", before, asked.Load(), s)
			}
			if !strings.Contains(last(), "Question 0 of a") || strings.Contains(last(), modelsWords) {
				t.Errorf("%.500s", last())
			}
		})
	}
}

// TestPreparedIsNobodyElses reaches the trigger with conversations for which
// nothing was prepared: an edited one, one of another tenant.
func TestPreparedIsNobodyElses(t *testing.T) {
	summaries, _ := serveSummaries(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, summaryAnswer()) })
	url, last := answering(t)
	tr := preparing(t, summaries, nil)
	ok(t, tr, url, talk("a", many))
	eventually(t, "a summary is ready", func() bool { return tr.Stats().Prepared == 1 })
	edited := strings.Replace(string(talk("a", most)), "Because rule 3 of", "Because clause 3 of", 1)
	ok(t, tr, url, []byte(edited))
	if s := tr.Stats(); s.Plans != 1 || s.PreparedUsed > 0 || strings.Contains(last(), modelsWords) {
		t.Errorf("an edited conversation: %+v", s)
	}
	other := roundTrip(func(r *http.Request) (*http.Response, error) {
		r.Header.Set("Authorization", "Bearer somebody else")
		return tr.RoundTrip(r)
	})
	ok(t, other, url, talk("a", most))
	if s := tr.Stats(); s.Plans != 2 || s.PreparedUsed > 0 || strings.Contains(last(), modelsWords) {
		t.Errorf("another tenant: %+v", s)
	}
	ok(t, tr, url, talk("a", most))
	if s := tr.Stats(); s.Plans != 3 || s.PreparedUsed != 1 || !strings.Contains(last(), modelsWords) {
		t.Errorf("the conversation itself: %+v", s)
	}
}

// TestPreparationIsBounded starts many conversations at once with a model that
// takes its time: few are prepared at the same time, and Close ends them.
func TestPreparationIsBounded(t *testing.T) {
	var under, top atomic.Int32
	summaries, asked := serveSummaries(t, func(_ http.ResponseWriter, r *http.Request) {
		n := under.Add(1)
		defer under.Add(-1)
		for old := top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
		}
		<-r.Context().Done()
	})
	url, _ := answering(t)
	tr := preparing(t, summaries, nil)
	for i := range 12 {
		ok(t, tr, url, talk(fmt.Sprint("conversation ", i), many))
	}
	eventually(t, "the model is asked", func() bool { return asked.Load() == 4 })
	tr.Close()
	eventually(t, "the calls end", func() bool { return under.Load() == 0 })
	if top.Load() > 4 || asked.Load() != 4 || tr.Stats().PrepareDropped != 4 {
		t.Errorf("%d calls at once, %d in all; %+v", top.Load(), asked.Load(), tr.Stats())
	}
	// It still works, and prepares nothing.
	ok(t, tr, url, talk("after", many))
	ok(t, tr, url, talk("after", most))
	if s := tr.Stats(); s.Plans != 1 || asked.Load() != 4 {
		t.Errorf("%+v", s)
	}
}

// TestPreparedConversations drives agents past the window with a model that
// summarises at once. What it writes is used, and no provider refuses anything,
// signed thinking and open tool loops included.
func TestPreparedConversations(t *testing.T) {
	summaries, _ := serveSummaries(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, summaryAnswer()) })
	var used, failures atomic.Int64
	t.Run("dialects", func(t *testing.T) {
		for _, d := range wire.Dialects() {
			for _, plain := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/plain=%v", d, plain), func(t *testing.T) {
					t.Parallel()
					s, url, got := simtest.Start(t, providersim.Options{Seed: 7, Window: 24_000})
					tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000, KeepRecent: 3000}, Summarizer: writer(t, summaries)})
					defer tr.Close()
					c := &agentclient.Client{Dialect: d, Plain: plain, Stream: true, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
					c.Drive(t, 40, func(int, *agentclient.Answer) {
						// Give the summary its time, as a model's thinking would.
						eventually(t, "the summary is written", func() bool { return tr.Preparing() == 0 })
					})
					stats := tr.Stats()
					used.Add(stats.PreparedUsed)
					failures.Add(stats.PrepareFailed)
					if s.Report().Refused > 0 || stats.Failed+stats.Invalid+stats.StoreFails > 0 {
						t.Errorf("refused %v; %+v", s.Report().RefusedBy, stats)
					}
					got.CheckGrowth(t, int(stats.Plans))
				})
			}
		}
	})
	if used.Load() == 0 {
		t.Errorf("nothing that was prepared was used; %d failures", failures.Load())
	}
}

// TestSummaryCap: when summaries have cost what they may in a day, none is asked
// for until the next, and conversations go on with the built-in ones.
func TestSummaryCap(t *testing.T) {
	summaries, asked := serveSummaries(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, summaryAnswer()) })
	url, _ := answering(t)
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	tr := newTransport(t, transport.Options{
		Settings: winnow.Settings{Window: talkWindow, KeepRecent: 4000, Threshold: 0.8}, Summarizer: writer(t, summaries),
		SummaryCap: 0.01, SummaryPrices: model.Prices{Input: 1, Output: 10}, Now: func() time.Time { return now },
	})
	t.Cleanup(tr.Close)
	for i, name := range []string{"a", "b"} { // 0.0099 dollars each: the second is over the limit, and finished
		ok(t, tr, url, talk(name, many))
		eventually(t, "a summary is ready", func() bool { return tr.Stats().Prepared == int64(i+1) })
	}
	ok(t, tr, url, talk("c", many))
	if s := tr.Stats(); s.SummaryCapped != 1 || asked.Load() != 2 {
		t.Errorf("asked %d times: %+v", asked.Load(), s)
	}
	if share := ok(t, tr, url, talk("c", most)); share > 0.8 || tr.Stats().Plans != 1 {
		t.Errorf("at %.2f: %+v", share, tr.Stats())
	}
	now = now.Add(24 * time.Hour)
	ok(t, tr, url, talk("d", many))
	eventually(t, "the next day has its own", func() bool { return tr.Stats().Prepared == 3 })
}
