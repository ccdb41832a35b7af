package agents

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// resumed are the agents that continue a session file: the format of the file,
// and the arguments that continue it without a person.
var resumed = map[string]struct {
	format string
	args   func(command []string, prompt string) []string
}{
	"claude": {"claude-code", func(c []string, prompt string) []string {
		return append(c, "-p", prompt, "--model", "claude-opus-4-5", "--dangerously-skip-permissions")
	}},
	"codex": {"codex", func(c []string, prompt string) []string {
		return []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "resume", c[len(c)-1], prompt}
	}},
	"pi": {"pi", func(c []string, prompt string) []string {
		return append(c, "--provider", "anthropic", "--model", "claude-opus-4-5", "-p", prompt)
	}},
}

// A session that does not fit any more is compacted and written for the agent,
// which goes on with it as with one of its own: its first request holds the
// summary, the last messages and the new prompt, and the provider takes it.
func TestAgentContinuesACompactedSession(t *testing.T) {
	agents, _ := chosen(t)
	const prompt = "And now, what is left to do?"
	for _, a := range agents {
		how, ok := resumed[a.name]
		if !ok {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			sim := start(t, "sim", "--listen", "127.0.0.1:0", "--window", "200000")
			seen := newListener(t, sim.url)
			dir := t.TempDir()
			home, folder := filepath.Join(dir, a.name, "home"), filepath.Join(dir, a.name, "work")
			for _, d := range []string{home, folder} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			run := func(args ...string) []byte {
				cmd := exec.Command(winnow, args...)
				cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+home, "PWD="+folder)
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("winnow %s: %v", args[0], err)
				}
				return out
			}
			run("demo", "--out", "session.json")
			var doc struct {
				Compacted bool
				Out       string
				Continue  struct{ Command, Folder, Move string }
			}
			if err := json.Unmarshal(run("compact", "session.json", "--to", how.format, "--json"), &doc); err != nil {
				t.Fatal(err)
			}
			if !doc.Compacted || doc.Continue.Move != "" {
				t.Fatalf("%+v", doc)
			}
			command := strings.Fields(strings.ReplaceAll(doc.Continue.Command, "~", home))[1:]
			a.args = func(gateway, _ string) []string {
				args := how.args(command, prompt)
				if a.name == "codex" {
					args = append([]string{"-c", "openai_base_url=\"" + gateway + "/v1\""}, args...)
				}
				return args
			}
			output, err := a.work(t, dir, seen.URL)
			if err != nil {
				t.Fatalf("%s: %v\n%s", a.name, err, tail(output))
			}
			body := seen.first(prompt)
			for _, want := range []string{"Earlier conversation, messages", "rate limiting for each API key", "How things stand now"} {
				if !strings.Contains(body, want) {
					t.Errorf("the first request (%d bytes) lacks %q\n%s", len(body), want, tail(output))
				}
			}
			if calls := strings.Count(body, "call_"); calls == 0 {
				t.Error("no call of the kept messages is in the first request")
			}
			var told asked
			getJSON(t, sim.url+"/sim/requests", &told)
			if told.Refused > 0 || told.Accepted == 0 {
				t.Errorf("the provider refused %d of %d requests: %v", told.Refused, told.Refused+told.Accepted, told.RefusedBy)
			}
		})
	}
}

// listener stands in front of a server and keeps the bodies that went to it.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newListener(t *testing.T, to string) *listener {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, FlushInterval: -1}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		l.mu.Lock()
		l.bodies = append(l.bodies, string(data))
		l.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(data))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

// first is the first body that holds a text in more than a few words: agents ask
// for a title as well.
func (l *listener) first(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.bodies {
		if strings.Contains(b, text) && len(b) > 20_000 {
			return b
		}
	}
	return ""
}
