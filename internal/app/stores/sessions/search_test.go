package sessions_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// testSearch checks a store that finds words itself, a [session.Searcher].
func testSearch(t *testing.T, open opener) {
	ctx := t.Context()
	kept, _ := newStore(t, open)
	store, ok := kept.(interface {
		session.Store
		session.Searcher
	})
	if !ok {
		t.Fatal("this store does not search")
	}
	add := func(id string, texts ...string) *session.Session {
		s := newSession(t, store, id)
		for _, text := range texts {
			_, err := s.Append(ctx, userMessage(text))
			must(t, err)
		}
		return s
	}
	add("one", "The quick brown fox jumps over the lazy dog.", "Nothing here.", "Größe und Weite")
	two := add("two", "A fox in /src/main.go said: connection refused", strings.Repeat("filler ", 5000)+" fox at the end")
	_, err := two.Append(ctx, chat.CallMessage("", chat.Call("c", "bash", `{"command":"grep -rn TODO internal"}`)), chat.ResultMessage("c", "internal/a.go:7: // TODO remove"))
	must(t, err)
	for _, c := range []struct {
		query string
		want  int
	}{
		{"fox", 3},
		{"FOX", 3},
		{"fox connection", 1},
		{"connec*", 1},
		{"nowhere", 0},
		{"grosse", 0},
		{"große", 1},
		{"größe", 1},
		{"GROSSE* größe", 0},
		{"main.go", 1},
		{`"quoted" fox`, 0},
		{"lazy NOT dog", 0},
		{"grep TODO", 1},
		{"remove", 1},
		{"weite", 1},
		{"a.go:7:", 1},
	} {
		hits, err := store.Search(ctx, c.query, 10)
		if err != nil || len(hits) != c.want {
			t.Errorf("%q: %d hits, %v, want %d", c.query, len(hits), err, c.want)
		}
	}
	for _, empty := range []string{"", " ", "*", `""`, "--"} {
		if _, err := store.Search(ctx, empty, 10); err == nil {
			t.Errorf("%q is taken for a query", empty)
		}
	}
	hits, err := store.Search(ctx, "refused", 10)
	must(t, err)
	if h := hits[0]; h.Session != "two" || !strings.Contains(h.Snippet, "connection refused") || h.Time == 0 {
		t.Errorf("hit %+v", h)
	} else if e, err := two.Entry(h.Entry); err != nil || e.Message == nil {
		t.Errorf("the hit's entry: %v", err)
	}
	if hits, _ := store.Search(ctx, "fox", 2); len(hits) != 2 {
		t.Errorf("limit 2 gives %d", len(hits))
	}
	must(t, store.Delete(ctx, "two"))
	if hits, err := store.Search(ctx, "fox", 10); err != nil || len(hits) != 1 {
		t.Errorf("after deleting: %d hits, %v", len(hits), err)
	}
	add("three", "another fox")
	if hits, err := store.Search(ctx, "fox", 10); err != nil || len(hits) != 2 {
		t.Errorf("after one more: %d hits, %v", len(hits), err)
	}
}
