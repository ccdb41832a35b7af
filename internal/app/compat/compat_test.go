// Package compat holds files that earlier builds of winnow wrote, and the tests
// that today's reads them and goes on with the same bytes.
//
// testdata/first was written before plans named what they replace instead of
// carrying it: a chain of plans over one history, and a session of 24 compactions
// as a file and as a database.
package compat

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

const first = "testdata/first"

// unpacked is a packed file of an earlier build.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(first, name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unpackTo writes a packed file where a program can open it.
func unpackTo(t *testing.T, name, path string) {
	t.Helper()
	if err := os.WriteFile(path, unpacked(t, name), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(first, name))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func digest(t *testing.T, v chat.Sequence) string {
	t.Helper()
	body, err := wire.Render(wire.OpenAI, "gpt-4o", chat.Request{}, v)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

// Plans of an earlier build have the id and the view that they had, can be
// gone on with, and give back what they hide.
func TestPlans(t *testing.T) {
	body, err := wire.Parse(wire.OpenAI, unpacked(t, "history.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := body.Request().History
	var rows []struct {
		Messages   int
		Plan       plan.ID
		View, File string
	}
	read(t, "plans.json", &rows)
	for _, r := range rows {
		var p plan.Plan
		if err := json.Unmarshal(unpacked(t, fmt.Sprintf("plan-%03d.json", r.Messages)), &p); err != nil {
			t.Fatal(err)
		}
		h := all.Head(r.Messages)
		v, err := plan.Apply(h, &p)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID() != r.Plan || digest(t, v) != r.View {
			t.Errorf("%d messages: plan %s shows %.12s, was %s and %.12s", r.Messages, p.ID(), digest(t, v), r.Plan, r.View)
		}
		for _, e := range p.Edits {
			if e.Handle == "" {
				continue
			}
			if o, err := plan.Recall(h, &p, e.Handle); err != nil || len(o.Messages) == 0 {
				t.Errorf("%d messages: handle %s: %v", r.Messages, e.Handle, err)
			}
		}
		w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}})
		if err != nil {
			t.Fatal(err)
		}
		later := min(all.Len(), r.Messages+18)
		next, err := w.Fit(context.Background(), chat.Request{History: all.Head(later)}, winnow.State{Plan: &p})
		if err != nil || next.Plan == nil || later == r.Messages+18 && next.Plan.ID() == p.ID() {
			t.Errorf("%d messages: going on gives %v, %v", r.Messages, next.Plan, err)
		}
		undone, err := plan.Undo(&p, p.ID(), h, chat.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if v, err = plan.Apply(h, undone); err != nil || digest(t, v) == r.View {
			t.Errorf("%d messages: taking it back changes nothing: %v", r.Messages, err)
		}
	}
}

// Sessions of an earlier build open with the conversation that they had, and
// go on from there.
func TestSessions(t *testing.T) {
	var want map[string]string
	read(t, "sessions.json", &want)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	unpackTo(t, "session.jsonl", filepath.Join(dir, "sessions", "2026-11-01T00-00-00-000Z_compat-jsonl.jsonl"))
	unpackTo(t, "sessions.db", filepath.Join(dir, "sessions.db"))
	files, err := jsonl.Open(filepath.Join(dir, "sessions"), nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(filepath.Join(dir, "sessions.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, store := range map[string]session.Store{"jsonl": files, "sqlite": db} {
		o := &session.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}}
		s, err := session.Open(t.Context(), store, "compat-"+name, o)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(t, chat.Messages(c.Messages)); got != want[name] || c.Compacted != nil {
			t.Errorf("%s: the view is %.12s, was %.12s", name, got, want[name])
		}
		long := chat.TextMessage(chat.Assistant, "Done. "+string(bytes.Repeat([]byte("And this is why. "), 600)))
		if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "Go on."), long, chat.TextMessage(chat.User, "Go on.")); err != nil {
			t.Fatal(err)
		}
		if c, err = s.Next(t.Context()); err != nil || c.Compacted == nil || !c.Status.Fits {
			t.Errorf("%s: going on: %+v, %v", name, c.Compacted, err)
		}
		// The new plan names what the earlier build's plans carry.
		old := s.Compactions()[4]
		back, err := s.Rewind(t.Context(), old.ID)
		if err != nil || slices.Contains(back.Compaction.Plan.Makers(), old.Compaction.Plan.ID()) {
			t.Errorf("%s: taking back an old compaction: %v, %v", name, back.Compaction, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
