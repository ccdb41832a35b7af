package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// examine runs winnow doctor and returns its findings.
func examine(t *testing.T, wantCode int, args ...string) []finding {
	t.Helper()
	code, stdout, stderr := command(t, "", append([]string{"doctor", "--json"}, args...)...)
	var c checkup
	if err := json.Unmarshal([]byte(stdout), &c); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if code != wantCode || (c.Wrong > 0) != (code == exitFailed) {
		t.Errorf("exit %d, want %d; %d wrong: %s", code, wantCode, c.Wrong, stdout)
	}
	return c.Findings
}

// has looks for a finding whose text holds all the words.
func has(t *testing.T, all []finding, area, state string, words ...string) {
	t.Helper()
	for _, f := range all {
		ok := f.Area == area && f.State == state && (state != wrong || f.Advice != "")
		for _, w := range words {
			ok = ok && strings.Contains(f.Text+" "+f.Advice, w)
		}
		if ok {
			return
		}
	}
	t.Errorf("no finding %s %s with %q in %+v", area, state, words, all)
}

func lay(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// patient is a home in which nothing is set.
func patient(t *testing.T) string {
	t.Helper()
	home := isolate(t)
	for _, v := range []string{"XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		setenv(t, v, "")
	}
	setenv(t, "XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	setenv(t, "PATH", filepath.Join(home, "bin"))
	return home
}

// Scripts find each check under the keys of the contract.
func TestDoctorChecks(t *testing.T) {
	isolate(t)
	_, stdout, stderr := command(t, "", "doctor", "--json", "--gateway", "http://127.0.0.1:1")
	var doc struct {
		Wrong  int
		Checks []map[string]any
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	failed := 0
	for _, c := range doc.Checks {
		if c["ok"] == false {
			failed++
		}
		if c["name"] == "" || c["detail"] == "" || c["ok"] == false && c["fix"] == "" {
			t.Errorf("%v lacks a key", c)
		}
	}
	if failed != doc.Wrong || failed == 0 {
		t.Errorf("%d of %d checks failed, %d wrong", failed, len(doc.Checks), doc.Wrong)
	}
}

// On an empty machine nothing is wrong, and nothing is made.
func TestDoctorOnAnEmptyMachine(t *testing.T) {
	home := patient(t)
	all := examine(t, exitDone)
	has(t, all, "settings", found, "no settings file")
	has(t, all, "stores", found, "sessions: ~/.local/share/winnow/sessions.db will be created")
	has(t, all, "stores", found, "plans of the gateway: ~/.cache/winnow/plans.db")
	has(t, all, "agents", noted, "none of Claude Code, Codex, pi, opencode and Gemini CLI")
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// Settings that are wrong, misspelt or of an unknown model.
func TestDoctorSettings(t *testing.T) {
	home := patient(t)
	file := lay(t, "model: gtp-4o\nstore: "+home+"/mine.db\n", home, ".config/winnow/winnow.yaml")
	setenv(t, "WINNOW_TRESHOLD", "0.5")
	all := examine(t, exitFailed)
	has(t, all, "settings", found, "read from ~/.config/winnow/winnow.yaml")
	has(t, all, "settings", found, "set: ", "model (", "store (")
	has(t, all, "settings", wrong, "WINNOW_TRESHOLD", "did you mean threshold?")
	has(t, all, "settings", wrong, "does not know the model gtp-4o", "did you mean gpt-4o?")
	has(t, all, "stores", found, "~/mine.db will be created")
	lay(t, "treshold: 3\n", file)
	has(t, examine(t, exitFailed), "settings", wrong, "treshold", "winnow config validate")
}

// Stores that are there are opened; one that cannot be is named.
func TestDoctorStores(t *testing.T) {
	home := patient(t)
	if code, _, stderr := command(t, "", "session", "import", lay(t, `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`, home, "s.json")); code != exitDone {
		t.Fatal(stderr)
	}
	lay(t, "this is not a database, though it is long enough to be taken for one by a careless reader", home, ".cache/winnow/plans.db")
	all := examine(t, exitFailed)
	has(t, all, "stores", found, "sessions: ~/.local/share/winnow/sessions.db can be read and written")
	has(t, all, "stores", wrong, "plans of the gateway", "plans.db", "move this one away")
	setenv(t, "WINNOW_STORE", filepath.Join(lay(t, "a file", home, "in-the-way"), "sessions.db"))
	has(t, examine(t, exitFailed), "stores", wrong, "cannot be", "in-the-way")
}

// Agents: how each is pointed, whether somebody answers there, and no secret.
func TestDoctorAgents(t *testing.T) {
	home := patient(t)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer gateway.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	secret := "sk-very-secret"
	lay(t, "#!/bin/sh\n", home, "bin/claude")
	lay(t, "#!/bin/sh\n", home, "bin/gemini")
	lay(t, `{"env":{"ANTHROPIC_BASE_URL":"`+gateway.URL+`","ANTHROPIC_AUTH_TOKEN":"`+secret+`"}}`, home, ".claude/settings.json")
	lay(t, "model = \"gpt-5\"\n[model_providers.x]\nbase_url = \""+gone.URL+"/v1\"\nkey = \""+secret+"\"\n", home, ".codex/config.toml")
	lay(t, "{}", home, ".codex/sessions/2026/01/01/rollout-x.jsonl")
	lay(t, `{"providers":{"mine":{"baseUrl":"https://user:`+secret+`@example.com/v1?key=`+secret+`"}}}`, home, ".pi/agent/models.json")
	lay(t, "{}", home, ".pi/agent/sessions/p/x.jsonl")
	all := examine(t, exitFailed)
	has(t, all, "agents", found, "Claude Code: ~/bin/claude", "~/.claude/settings.json points it at the gateway at "+gateway.URL)
	has(t, all, "agents", wrong, "Codex: ~/.codex/config.toml points it at "+gone.URL+"/v1, where no gateway answers", "winnow serve --listen")
	has(t, all, "agents", noted, "pi: ", "points it at https://example.com/v1, which is not on this machine and was not tried")
	has(t, all, "agents", noted, "Gemini CLI: ~/bin/gemini; it talks to its provider directly", "winnow wrap gemini")
	code, stdout, stderr := command(t, "", "doctor")
	if code != exitFailed || !strings.Contains(stdout, "WRONG  Codex") || !strings.Contains(stderr, "1 thing is wrong here") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	_, asJSON, _ := command(t, "", "doctor", "--json")
	if strings.Contains(stdout+stderr+asJSON, secret) {
		t.Error("a secret is printed")
	}
	setenv(t, "GOOGLE_GEMINI_BASE_URL", "nonsense")
	has(t, examine(t, exitFailed), "agents", wrong, "GOOGLE_GEMINI_BASE_URL is not an address")
}

// The gateway that was named must answer.
func TestDoctorGateway(t *testing.T) {
	patient(t)
	gateway := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	has(t, examine(t, exitDone, "--gateway", gateway.URL), "gateway", found, gateway.URL)
	gateway.Close()
	has(t, examine(t, exitFailed, "--gateway", gateway.URL), "gateway", wrong, gateway.URL, "winnow serve")
}
