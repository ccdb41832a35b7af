package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

var shownHandle = regexp.MustCompile(`original: (w[a-z0-9]{8})`)

// compactDemo compacts the demo's session and returns a handle of the view.
func compactDemo(t *testing.T, out string, flags ...string) string {
	t.Helper()
	if err := os.WriteFile("session.json", demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", append([]string{"compact", "session.json", "--out", out}, flags...)...); code != exitDone {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(out)
	found := shownHandle.FindSubmatch(data)
	if err != nil || found == nil {
		t.Fatalf("%s has no handle: %v", out, err)
	}
	return string(found[1])
}

// searchedHandle returns the handle of what is hidden and has the words.
func searchedHandle(t *testing.T, words string) string {
	t.Helper()
	code, stdout, stderr := command(t, "", "recall", "--history", "--all", words)
	m := searchHit.FindStringSubmatch(stdout)
	if code != exitDone || m == nil {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	return m[1]
}

// TestHandlesAreFoundFromEveryPath: whichever way a handle came into a view, the
// command and the MCP server find its original, without being told where to look.
func TestHandlesAreFoundFromEveryPath(t *testing.T) {
	provider, endSim := serving(t, "sim", "--listen", "127.0.0.1:0", "--window", "16000")
	defer endSim()
	serve := func(t *testing.T, window string, args ...string) (url string) {
		t.Helper()
		addr, end := serving(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--upstream", "openai=http://" + provider, "--window", window, "--quiet"}, args...)...)
		t.Cleanup(end)
		t.Setenv("WINNOW_GATEWAY", "http://"+addr)
		converse(t, addr, http.Header{"Authorization": {"Bearer one"}}, "one")
		return "http://" + addr
	}
	const ofDemo, ofAgent = "add rate limiting", "line of output"
	for _, row := range []struct {
		path, words string
		hide        func(t *testing.T) string
	}{
		{"compact", ofDemo, func(t *testing.T) string { return compactDemo(t, "view.json") }},
		{"compact, overwritten by another", ofDemo, func(t *testing.T) string {
			handle := compactDemo(t, "view.json")
			compactDemo(t, "view.json", "--target", "30k")
			return handle
		}},
		{"compact, its file gone", ofDemo, func(t *testing.T) string {
			handle := compactDemo(t, "view.json")
			if err := os.Remove("session.json"); err != nil {
				t.Fatal(err)
			}
			return handle
		}},
		{"compact --to", ofDemo, func(t *testing.T) string {
			return compactDemo(t, "view.jsonl", "--target", "40k", "--to", "claude-code")
		}},
		{"compact, under a gateway with plans of its own", ofDemo, func(t *testing.T) string {
			handle := compactDemo(t, "view.json")
			serve(t, "16000", "--store", "memory")
			t.Setenv("WINNOW_PLANS", "mine.db") // as wrap --store sets it
			return handle
		}},
		{"wrap", ofAgent, func(t *testing.T) string {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("ANTHROPIC_BASE_URL", "http://"+provider)
			if code, _, stderr := command(t, "", "--quiet", "wrap", "--keep-originals", "--window", "16000", self, "--", testAgent); code != exitDone {
				t.Fatal(stderr)
			}
			return searchedHandle(t, ofAgent)
		}},
		{"serve", ofAgent, func(t *testing.T) string {
			serve(t, "16000")
			return searchedHandle(t, ofAgent)
		}},
		{"page", ofAgent, func(t *testing.T) string {
			url := serve(t, "200000")
			s, done, err := (&recallFlags{gateway: url}).openSteering(t.Context(), testApp())
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			all, err := s.Conversations(t.Context(), control.List{})
			if err != nil || len(all) != 1 {
				t.Fatal(len(all), err)
			}
			if _, err := s.Compact(t.Context(), all[0].ID, control.Compact{Base: control.Base{Plan: all[0].Plan}}); err != nil {
				t.Fatal(err)
			}
			return searchedHandle(t, ofAgent)
		}},
		{"sessions", ofDemo, func(t *testing.T) string {
			if err := os.WriteFile("session.json", demo.Session(), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := command(t, "", "session", "import", "session.json", "--json")
			var made struct{ Sessions []struct{ Session string } }
			if err := json.Unmarshal([]byte(stdout), &made); code != exitDone || err != nil {
				t.Fatal(err, stderr)
			}
			if code, _, stderr := command(t, "", "session", "compact", made.Sessions[0].Session); code != exitDone {
				t.Fatal(stderr)
			}
			return searchedHandle(t, ofDemo)
		}},
		{"library", ofAgent, func(t *testing.T) string {
			path, err := plansPath()
			if err != nil {
				t.Fatal(err)
			}
			store, err := sqlite.Open(path, planstore.Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			lib, err := transport.New(&transport.Options{Settings: winnow.Settings{Window: 16_000}, Store: store, KeepOriginals: true})
			if err != nil {
				t.Fatal(err)
			}
			defer lib.Close()
			c := &agentclient.Client{
				Dialect: wire.OpenAI, URL: "http://" + provider, HTTP: &http.Client{Transport: lib},
				Result: func(int) string { return strings.Repeat(ofAgent+"\n", 300) },
			}
			for range 14 {
				c.Say("Go on with the next file.")
				for calls := 1; calls > 0; {
					a, err := c.Step(t.Context())
					if err != nil || a.Status != http.StatusOK {
						t.Fatalf("%v %+v", err, a)
					}
					calls = a.Calls
				}
			}
			return searchedHandle(t, ofAgent)
		}},
	} {
		t.Run(row.path, func(t *testing.T) {
			t.Chdir(isolate(t))
			handle := row.hide(t)
			code, stdout, stderr := command(t, "", "recall", handle, "--find", row.words)
			if code != exitDone || !strings.Contains(stdout, row.words) {
				t.Errorf("recall %s: exit %d: %s%s", handle, code, stdout, stderr)
			}
			p := startMCP(t)
			if text, failed := p.tool("recall", map[string]any{"handle": handle, "find": row.words}); failed || !strings.Contains(text, row.words) {
				t.Errorf("MCP %s: %s", handle, text)
			}
			if err := p.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSearchKnowsTheSession: what runs in an agent, or is told the session's file,
// searches that session and not the last compacted one.
func TestSearchKnowsTheSession(t *testing.T) {
	t.Chdir(isolate(t))
	const id = "0198a1b2-0000-7000-8000-0123456789ab"
	handle := compactDemo(t, id+".jsonl", "--to", "claude-code")
	if err := os.WriteFile("other.json", []byte(strings.ReplaceAll(string(demo.Session()), "append-only", "overwritten")), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "compact", "other.json"); code != exitDone {
		t.Fatal(stderr)
	}
	search := func(flags ...string) bool {
		t.Helper()
		code, stdout, stderr := command(t, "", append([]string{"recall", "--history", "append-only", "--json"}, flags...)...)
		if code != exitDone {
			t.Errorf("exit %d: %s", code, stderr)
		}
		return strings.Contains(stdout, handle)
	}
	if search() {
		t.Error("the one that was compacted last is another")
	}
	if !search("--session", "session.json") || !search("--session", id+".jsonl") {
		t.Error("it does not know a session by its file")
	}
	t.Setenv("CLAUDE_CODE_SESSION_ID", id)
	if !search() {
		t.Error("it does not know the session that runs it")
	}

	// What is removed from the store is gone, with its originals.
	_, stdout, _ := command(t, "", "store", "ls", "--json")
	var listed struct{ Plans []struct{ ID string } }
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil || len(listed.Plans) == 0 {
		t.Fatal(err, stdout)
	}
	for _, p := range listed.Plans {
		if code, out, stderr := command(t, "", "store", "rm", p.ID); code != exitDone || !strings.Contains(out, "1 stored conversation") {
			t.Errorf("exit %d: %s%s", code, out, stderr)
		}
	}
	if code, _, stderr := command(t, "", "recall", handle); code != exitFailed || !strings.Contains(stderr, "there is no original with this handle") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestKeptFilesArePruned: what winnow compact keeps goes by age as the gateway's plans do,
// plan and original.
func TestKeptFilesArePruned(t *testing.T) {
	t.Chdir(isolate(t))
	handle := compactDemo(t, "view.json")
	for _, age := range []string{"1h", "1ns"} {
		if code, _, stderr := command(t, "", "store", "prune", "--store-age", age); code != exitDone {
			t.Fatal(stderr)
		}
		code, _, stderr := command(t, "", "recall", handle)
		if gone := age == "1ns"; gone != (code == exitFailed) {
			t.Errorf("older than %s: exit %d: %s", age, code, stderr)
		}
	}
}

// TestNothingIsRemembered where the settings say so: neither a plan nor an original.
func TestNothingIsRemembered(t *testing.T) {
	for _, name := range []string{"WINNOW_MEMORY=false", "WINNOW_REDACT=true"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(isolate(t))
			key, value, _ := strings.Cut(name, "=")
			t.Setenv(key, value)
			handle := compactDemo(t, "view.json")
			if path, err := plansPath(); err != nil {
				t.Error(err)
			} else if _, err := os.Stat(filepath.Dir(path)); err == nil {
				t.Error("it is remembered although nothing should be")
			}
			if code, stdout, stderr := command(t, "", "recall", "session.json", handle); code != exitDone || !strings.Contains(stdout, "add rate limiting") {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}
