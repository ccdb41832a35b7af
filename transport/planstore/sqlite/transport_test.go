package sqlite_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// tester is whose requests those of the tests are.
const tester planstore.Tenant = "tester"

func testerOf(*http.Request) planstore.Tenant { return tester }

func newTransport(t testing.TB, o transport.Options) *transport.Transport {
	t.Helper()
	tr, err := transport.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func post(t testing.TB, tr http.RoundTripper, url string, body []byte) (*http.Response, []byte) {
	t.Helper()
	resp, err := (&http.Client{Transport: tr}).Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, text
}

// readingBody returns a conversation of a user who gives a task and an agent who
// reads n files.
func readingBody(task string, n int) []byte {
	var b strings.Builder
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("line %d of src/pkg%d/file.go has words\\n", i, i%7), 60)
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{"path":"f%d.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`, i, i, i, text)
	}
	return fmt.Appendf(nil, `{"model":"claude-sonnet-4-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":%q}%s]}`, task, b.String())
}

// TestLearntLimitOutlivesTheProcess has a model whose window is far smaller than the
// registry says. What its first refusal teaches, told or guessed, holds for the next
// process, for a week or a day.
func TestLearntLimitOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for shape, lasts := range map[providersim.Overflow]time.Duration{providersim.OverflowError: 7 * 24 * time.Hour, providersim.OverflowEmpty: 24 * time.Hour} {
		t.Run(string(shape), func(t *testing.T) {
			_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000, Overflow: map[string]providersim.Overflow{string(wire.Anthropic): shape}})
			path := filepath.Join(t.TempDir(), "plans.db")
			now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			run := func(task string) int64 {
				t.Helper()
				s, err := sqlite.Open(path, planstore.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				tr := newTransport(t, transport.Options{Store: s, Now: func() time.Time { return now }})
				defer tr.Close()
				resp, text := post(t, tr, url+"/v1/messages", readingBody(task, 40))
				if resp.StatusCode != http.StatusOK || resp.Header.Get(transport.HeaderPlan) == "" {
					t.Fatalf("%d %.300s", resp.StatusCode, text)
				}
				return tr.Stats().Overflows
			}
			if n := run("fix it"); n == 0 {
				t.Fatal("the window was known before it was learned")
			}
			if n := run("find it"); n != 0 {
				t.Errorf("%d overflows after a restart", n)
			}
			now = now.Add(lasts + time.Hour)
			if run("test it") == 0 {
				t.Error("it is still believed when it should be forgotten")
			}
		})
	}
}
