package gateway_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// TestRecallAfterRestart asks a gateway that was started again for what a plan
// hides. It knows that only where the operator allowed it to keep content, and
// tells nobody but the tenant whose it is.
func TestRecallAfterRestart(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		for _, d := range wire.Dialects() {
			if !keep && d != wire.OpenAI {
				continue // the bodies make no difference then
			}
			t.Run(map[bool]string{true: "kept", false: "not stored"}[keep]+"/"+string(d), func(t *testing.T) {
				t.Parallel()
				_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
				path := filepath.Join(t.TempDir(), "plans.db")
				serve := func() (url string, end func()) {
					store, err := sqlite.Open(path, transport.Bounds{})
					if err != nil {
						t.Fatal(err)
					}
					g, url := start(t, gateway.Options{
						Upstreams: everywhere(upstream),
						Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store, KeepOriginals: keep},
					})
					return url, func() {
						g.Close()
						if err := store.Close(); err != nil {
							t.Error(err)
						}
					}
				}
				url, end := serve()
				const header, alice, bob = "Authorization", "Bearer alice", "Bearer bob"
				const secret = "the password of the vault is xyzzy-93"
				c := &agentclient.Client{Dialect: d, URL: url, Header: http.Header{header: {alice}}, Result: func(n int) string { return agentclient.Output(n) + secret + "\n" + agentclient.Output(n+1) }}
				c.Drive(t, 25, nil)
				before := make(map[string]string)
				var reports []string
				for _, id := range listPlans(t, url, header, alice) {
					_, text := get(t, url+"/winnow/plans/"+id, header, alice)
					var plan struct {
						Edits []struct{ Kind, Handle string }
					}
					if err := json.Unmarshal([]byte(text), &plan); err != nil {
						t.Fatal(err)
					}
					reports = append(reports, "/winnow/plans/"+id+"/report")
					for _, e := range plan.Edits {
						if e.Kind == "state" {
							continue // it stands for no messages
						}
						at := "/winnow/recall/" + e.Handle
						status, text := get(t, url+at, header, alice)
						if status != http.StatusOK {
							t.Fatalf("%s: %d %s", at, status, text)
						}
						before[at] = text
					}
				}
				if !strings.Contains(strings.Join(values(before), ""), "xyzzy-93") {
					t.Fatal("nothing that matters was hidden")
				}
				end()
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if wal, err := os.ReadFile(path + "-wal"); err == nil {
					raw = append(raw, wal...)
				}
				if strings.Contains(string(raw), "alice") {
					t.Error("the store holds a credential")
				}

				url, end = serve()
				defer end()
				for at, want := range before {
					status, text := get(t, url+at, header, alice)
					switch {
					case keep && (status != http.StatusOK || text != want):
						t.Errorf("%s: %d %.200s", at, status, text)
					case !keep && (status != http.StatusGone || !strings.Contains(text, "--keep-originals") || !strings.Contains(text, "next request")):
						t.Errorf("%s: %d %.200s", at, status, text)
					}
					if status, text := get(t, url+at, header, bob); status != http.StatusNotFound || strings.Contains(text, "xyzzy") || strings.Contains(text, "originals") {
						t.Errorf("%s for another tenant: %d %.200s", at, status, text)
					}
				}
				for _, at := range reports {
					status, text := get(t, url+at, header, alice)
					if keep && (status != http.StatusOK || !strings.Contains(text, `"kept"`)) || !keep && status != http.StatusGone {
						t.Errorf("%s: %d %.200s", at, status, text)
					}
					if status, _ := get(t, url+at, header, bob); status != http.StatusNotFound {
						t.Errorf("%s for another tenant: %d", at, status)
					}
				}
				// With its next request the conversation is there again.
				c.URL = url
				c.Say("Go on.")
				if a, err := c.Step(t.Context()); err != nil || a.Status != http.StatusOK {
					t.Fatal(a, err)
				}
				for at, want := range before {
					if status, text := get(t, url+at, header, alice); status != http.StatusOK || text != want {
						t.Errorf("%s after the next request: %d %.200s", at, status, text)
					}
					break
				}
			})
		}
	}
}

func values(m map[string]string) []string {
	var all []string
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
