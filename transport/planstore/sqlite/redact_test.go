package sqlite_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// stored returns all bytes of a store's files.
func stored(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}

// TestRedactedStore has conversations with secrets in the user's words and in
// results. None of them reaches the store, neither in plans nor in
// conversations that are kept. What is sent is what is stored, so that another
// process continues with the same bytes, and recall works.
func TestRedactedStore(t *testing.T) {
	t.Parallel()
	const secret = "ghp_" + "0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H"
	for i, d := range wire.Dialects() {
		for _, redact := range []bool{true, false} {
			if race.Enabled && redact != (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s/redact=%v", d, redact), func(t *testing.T) {
				s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000})
				dir := t.TempDir()
				open := func() (*transport.Transport, planstore.Owner) {
					store, err := sqlite.Open(filepath.Join(dir, "plans.db"), planstore.Bounds{})
					if err != nil {
						t.Fatal(err)
					}
					o := transport.Options{Settings: winnow.Settings{Window: 24_000}, Store: store, KeepOriginals: true, Tenant: testerOf}
					if redact {
						o.Redact = &session.Redactor{}
					}
					return newTransport(t, o), store
				}
				c := &agentclient.Client{Dialect: d, URL: url, Result: func(n int) string {
					return "ERROR: the token " + secret + " was rejected, exit status 1\n" + agentclient.Output(n)[:4000]
				}}
				plans := 0
				for range 3 {
					tr, store := open()
					c.HTTP = &http.Client{Transport: tr}
					c.Say("Never forget that the token is " + secret + " and go on.")
					if a, err := c.Step(t.Context()); err != nil || a.Status != http.StatusOK {
						t.Fatal(a, err)
					}
					c.Drive(t, 16, nil)
					stats := tr.Stats()
					plans += int(stats.Plans)
					if stats.Failed+stats.Invalid+stats.StoreFails+stats.Unreadable > 0 {
						t.Errorf("%+v", stats)
					}
					store.Close()
				}
				if plans < 3 {
					t.Fatalf("%d plans", plans)
				}
				got.CheckGrowth(t, plans)
				if n := s.Report().Refused; n > 0 {
					t.Errorf("%d refused: %v", n, s.Report().RefusedBy)
				}
				if has := strings.Contains(stored(t, dir), secret); has == redact {
					t.Errorf("the store holds the secret: %v", has)
				}
				tr, store := open()
				defer store.Close()
				all, err := store.List(t.Context(), tester, 1000)
				if err != nil || len(all) == 0 {
					t.Fatal(len(all), err)
				}
				for _, e := range all {
					p, err := tr.Control(tester).Plan(t.Context(), e.ID)
					if err != nil {
						t.Fatal(err)
					}
					if report, err := tr.Control(tester).Report(t.Context(), e.ID); err != nil {
						t.Errorf("%+v %v", report, err)
					}
					hiding := slices.DeleteFunc(slices.Clone(p.Edits), func(e plan.Edit) bool { return e.Kind == plan.State || e.From == e.To })
					for _, edit := range hiding[:min(2, len(hiding))] {
						page, err := tr.Recaller(tester).Recall(t.Context(), edit.Handle, recall.Range{})
						if err != nil || page.Total == 0 {
							t.Fatalf("plan %s of %d, handle %s: %v", e.ID, len(all), edit.Handle, err)
						}
						if text := fmt.Sprintf("%+v", page.Lines); redact && strings.Contains(text, secret) {
							t.Errorf("recall shows what is not to be kept: %.300s", text)
						}
					}
				}
			})
		}
	}
}
