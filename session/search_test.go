package session_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/sqlite"
)

// Every store finds the same entries, with an index or without.
func TestSearch(t *testing.T) {
	ctx := t.Context()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "s.db"), nil)
	must(t, err)
	defer db.Close()
	dir, err := jsonl.Open(t.TempDir(), nil)
	must(t, err)
	stores := map[string]session.Store{"sqlite": db, "jsonl": dir, "memory": session.NewMemory()}
	for _, st := range stores {
		for _, id := range []string{"one", "two"} {
			s, err := session.Create(ctx, st, session.Header{ID: id}, nil)
			must(t, err)
			_, err = s.Append(ctx, user("Fix the parser in cmd/main.go, session "+id),
				chat.CallMessage("", chat.Call("c1", "read", `{"path":"cmd/main.go"}`)), chat.ResultMessage("c1", "package main // parsing"), answer("The PARSER is fixed."))
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

// Records that are copied lose their secrets too, and nothing else.
func TestRedactRecord(t *testing.T) {
	var r session.Redactor
	const plain = `{"type":"message", "id":"a" ,"x":1.50,"message":{"role":"user","content":"no \u00e9 secret"}}`
	if got := string(r.Record([]byte(plain))); got != plain {
		t.Errorf("changed: %s", got)
	}
	const secret = `{"type":"message", "id":"a" ,"x":1.50,"message":{"role":"user","content":[{"type":"text","text":"key AKIAQWERTYUIOPASDFGH, \"quoted\""}]},"n":null}`
	const want = `{"type":"message", "id":"a" ,"x":1.50,"message":{"role":"user","content":[{"type":"text","text":"key [redacted: AWS key], \"quoted\""}]},"n":null}`
	if got := string(r.Record([]byte(secret))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	ctx := t.Context()
	from := create(t, nil)
	say(t, from, user("AKIAQWERTYUIOPASDFGH"))
	to := session.NewMemory()
	for _, copyOf := range []func(*session.Options) (*session.Session, error){
		func(o *session.Options) (*session.Session, error) { return from.CopyTo(ctx, to, o) },
		func(o *session.Options) (*session.Session, error) { return from.Fork(ctx, to, "", o) },
		func(o *session.Options) (*session.Session, error) {
			o.Redact, o.Live = nil, (&config.File{Redact: true}).Session
			return from.Fork(ctx, to, "", o)
		},
	} {
		s, err := copyOf(&session.Options{Redact: &r})
		must(t, err)
		if got := words(t, s); strings.Contains(got, "AKIA") || !strings.Contains(got, "redacted") {
			t.Errorf("the copy says %q", got)
		}
		must(t, s.Close())
	}
}

// The settings say how many sessions are kept; the oldest go when a new one is
// begun, and the new one tells.
func TestKeep(t *testing.T) {
	ctx := t.Context()
	st := session.NewMemory()
	o := &session.Options{Live: (&config.File{Keep: session.Retention{Sessions: 2}}).Session}
	for _, id := range []string{"a", "b", "c"} {
		s, err := session.Create(ctx, st, session.Header{ID: id}, o)
		must(t, err)
		if told := strings.Join(s.Notes(), " "); (id == "c") != strings.Contains(told, "session a was deleted") {
			t.Errorf("%s: %q", id, told)
		}
		must(t, s.Close())
	}
	// Taking sessions in deletes nothing.
	s, err := session.Import(ctx, st, session.Header{ID: "d"}, chat.Request{History: chat.NewHistory(user("x"))}, o)
	must(t, err)
	must(t, s.Close())
	list, err := st.List(ctx, 0, 0)
	must(t, err)
	var ids []string
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	slices.Sort(ids)
	if got := strings.Join(ids, " "); got != "b c d" {
		t.Errorf("kept: %s", got)
	}
	off := config.File{Keep: session.Retention{Sessions: -1}}
	if r := off.Retention(); r != (session.Retention{}) {
		t.Errorf("switched off: %+v", r)
	}
	var standard config.File
	if r := standard.Retention(); r != (session.Retention{}) {
		t.Errorf("by default: %+v", r)
	}
}
