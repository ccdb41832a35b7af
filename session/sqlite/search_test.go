package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// Every store finds the same entries, with an index or without.
func TestStoresSearchAlike(t *testing.T) {
	ctx := t.Context()
	db, err := Open(filepath.Join(t.TempDir(), "s.db"), nil)
	must(t, err)
	defer db.Close()
	dir, err := jsonl.Open(t.TempDir(), nil)
	must(t, err)
	stores := map[string]session.Store{"sqlite": db, "jsonl": dir, "memory": session.NewMemory()}
	for _, st := range stores {
		for _, id := range []string{"one", "two"} {
			s, err := session.Create(ctx, st, session.Header{ID: id}, nil)
			must(t, err)
			_, err = s.Append(ctx, chat.TextMessage(chat.User, "Fix the parser in cmd/main.go, session "+id),
				chat.CallMessage("", chat.Call("c1", "read", `{"path":"cmd/main.go"}`)), chat.ResultMessage("c1", "package main // parsing"), chat.TextMessage(chat.Assistant, "The PARSER is fixed."))
			must(t, err)
			must(t, s.SetName(ctx, "name of "+id))
			must(t, s.Close())
		}
	}
	for query, want := range map[string]int{
		"parser": 4, "PARSER fix*": 4, "parser fix": 2, "pars*": 6, "main.go": 4, "cmd/main.go": 4, "package": 2, "two": 2, "nowhere": 0, "main go parser": 2,
	} {
		for name, st := range stores {
			hits, err := session.Search(ctx, st, query, 100)
			must(t, err)
			if len(hits) != want {
				t.Errorf("%s: %q stands in %d places, want %d: %+v", name, query, len(hits), want, hits)
			}
			for _, h := range hits {
				if h.Session == "" || h.Entry == "" || h.Snippet == "" || h.Time == 0 {
					t.Errorf("%s: %+v", name, h)
				}
			}
		}
	}
	for name, st := range stores {
		if hits, err := session.Search(ctx, st, "parser", 3); err != nil || len(hits) != 3 {
			t.Errorf("%s: %d hits with a limit of 3, %v", name, len(hits), err)
		}
		if _, err := session.Search(ctx, st, "… !", 3); err == nil {
			t.Errorf("%s: a query without words is accepted", name)
		}
		list, err := st.List(ctx, 0, 0)
		must(t, err)
		for i := range list {
			if !strings.HasPrefix(list[i].Title, "Fix the parser in cmd/main.go") || list[i].Name != "name of "+list[i].ID {
				t.Errorf("%s: listed as %q, %q", name, list[i].Name, list[i].Title)
			}
		}
	}
}
