// Package simtest starts providers for tests and remembers what they received.
package simtest

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
)

// Start starts a provider that ends with the test. Its OnRequest is taken: what
// it received is in the bodies.
func Start(t testing.TB, o providersim.Options) (s *providersim.Server, url string, got *Bodies) {
	t.Helper()
	got = &Bodies{}
	o.OnRequest = got.add
	s = providersim.New(o)
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		ts.Close()
	})
	return s, ts.URL, got
}

// Bodies are what a provider received, oldest first.
type Bodies struct {
	mu  sync.Mutex
	all []Received
}

// Received is one request that a provider received.
type Received struct {
	providersim.Record
	Body []byte
}

func (b *Bodies) add(r providersim.Record, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, Received{r, bytes.Clone(body)})
}

// All returns everything that was received so far.
func (b *Bodies) All() []Received {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// Take returns everything that was received since it was called last, and
// forgets it.
func (b *Bodies) Take() []Received {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}

// Last returns the body that came last; there must be one.
func (b *Bodies) Last() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[len(b.all)-1].Body
}

// CheckGrowth checks that each body's messages extend those of the body before,
// save where a plan was made.
func (b *Bodies) CheckGrowth(t testing.TB, plans int) {
	t.Helper()
	all, rewrites, before := b.All(), 0, ""
	for _, r := range all {
		now := Span(t, r.Body)
		if !strings.HasPrefix(now, before) {
			rewrites++
		}
		before = now
	}
	if rewrites > plans {
		t.Errorf("the prefix changed %d times for %d plans", rewrites, plans)
	}
	if len(all) > 20 && rewrites > len(all)/3 {
		t.Errorf("the prefix changed %d times in %d requests", rewrites, len(all))
	}
}

// Span returns the messages of a body, without the bracket at their end: a
// conversation that only grew has the earlier span as its prefix.
func Span(t testing.TB, body []byte) string {
	t.Helper()
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "input", "contents"} {
		if v := doc[name]; v != nil {
			return strings.TrimSuffix(string(v), "]")
		}
	}
	t.Fatalf("no messages in %.200s", body)
	return ""
}
