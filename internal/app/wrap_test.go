package app

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// fakeAgent is a program of some name that tells how it was started: its
// arguments, its variables, and the text of the files that they name.
func fakeAgent(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	script := `#!/bin/sh
for a in "$@"; do echo "arg $a"; [ -f "$a" ] && sed 's/^/file /' "$a"; done
env | sed 's/^/env /'
for f in "$CLINE_PROVIDER_SETTINGS_PATH" "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH" "$QWEN_CODE_SYSTEM_DEFAULTS_PATH"; do [ -f "$f" ] && sed 's/^/file /' "$f" && ls -l "$f" | sed 's/^/mode /'; done
exit 0
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrapPoints: every agent is told where the gateway is in the way that it
// understands, its own compaction is kept out of the way, and its settings are
// left alone.
func TestWrapPoints(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		files map[string]string // below the home folder
		env   map[string]string
		want  []string // GW stands for the gateway
		not   []string
		said  []string
	}{
		"claude": {
			want: []string{"env ANTHROPIC_BASE_URL=GW", "env DISABLE_AUTO_COMPACT=1", "env ENABLE_TOOL_SEARCH=true"},
			said: []string{
				"Claude Code is pointed at the gateway (ANTHROPIC_BASE_URL); its own compaction is switched off",
				"window: 1,000,000 tokens, what claude-opus-5-5 has (its default model); it compacts from ",
			},
		},
		"codex": {
			args:  []string{"exec", "fix it"},
			files: map[string]string{".codex/config.toml": "model_provider = \"x\"\nmodel = \"gpt-5.5\"\n[model_providers.x]\nmodel = \"y\"\n"},
			want:  []string{"arg -c\narg openai_base_url=\"GW/v1\"\narg exec\narg fix it", "env RUST_LOG=error,codex_api::endpoint::responses_websocket=off", `arg shell_environment_policy.exclude=["RUST_LOG"]`},
			said:  []string{"window: 258,400 tokens, Codex's for this model: gpt-5.5 (by its settings); it compacts from ", "set the base_url of that provider to GW/v1"},
		},
		"gemini": {
			files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"oauth-personal"}}}`},
			want:  []string{"env GOOGLE_GEMINI_BASE_URL=GW", "env CODE_ASSIST_ENDPOINT=GW"},
			not:   []string{"env GEMINI_CLI_SYSTEM_DEFAULTS_PATH="}, // it would skip it: the home folder is in one that all may write to
			said:  []string{"signed in with a Google account: its requests go through the gateway to the upstream code-assist", "its own compaction stays at half of its window; to raise"},
		},
		"qwen": {want: []string{"env OPENAI_BASE_URL=GW/v1", `"contextPercentageThreshold":1`}},
		"opencode": {
			files: map[string]string{".local/share/opencode/auth.json": `{"openrouter":{"type":"api","key":"k"},"openai":{"type":"oauth"}}`},
			said:  []string{"its login openai bypasses the gateway"},
			env:   map[string]string{"OPENCODE_CONFIG_CONTENT": `{"permission":"allow","provider":{"anthropic":{"options":{"apiKey":"k"}}}}`},
			want:  []string{`"anthropic":{"options":{"apiKey":"k","baseURL":"GW/v1"}}`, `"permission":"allow"`, `"google":{"options":{"baseURL":"GW/v1beta"}}`, `"openrouter":{"options":{"baseURL":"GW/openrouter/v1"}}`, "env OPENCODE_DISABLE_AUTOCOMPACT=1", "env OPENCODE_DISABLE_PRUNE=1"},
		},
		"copilot": {
			env:  map[string]string{"COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_API_KEY": "k", "COPILOT_MODEL": "claude-opus-4-5"},
			want: []string{"env COPILOT_PROVIDER_BASE_URL=GW\n", "env COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000000", "env COPILOT_PROVIDER_TRANSPORT=http"},
			said: []string{"window: 200,000 tokens, what claude-opus-4-5 has"},
		},
		"dsh": {
			env:  map[string]string{"DEEPSEEK_BASE_URL": "https://api.example.com/v1"},
			want: []string{"env DEEPSEEK_BASE_URL=GW/deepseek/v1"},
		},
		"kilo": {want: []string{`env KILO_CONFIG_CONTENT={"provider":{"anthropic":{"options":{"baseURL":"GW/v1"}}`, "env KILO_DISABLE_AUTOCOMPACT=1"}},
		"pi": {
			args:  []string{"-p", "work"},
			env:   map[string]string{"GROQ_API_KEY": "k"},
			files: map[string]string{".pi/agent/auth.json": `{"github-copilot":{"type":"oauth"},"openai-codex":{"type":"oauth"},"deepseek":{"type":"api_key"}}`},
			want:  []string{"arg -e\n", `{"anthropic":"GW","deepseek":"GW/deepseek/v1","google":"GW/v1beta","groq":"GW/groq/v1","openai":"GW/v1","openai-codex":"GW/backend-api"}`, "arg -p\narg work"},
			said:  []string{"its login github-copilot bypasses the gateway"},
		},
		"cn": {
			args:  []string{"--auto"},
			files: map[string]string{".continue/config.yaml": "name: t\nmodels:\n  - {name: m, provider: openai, model: gpt-4.1, apiKey: secret}\n  - {name: n, provider: ollama, model: x}\n"},
			want:  []string{"arg --config\n", "apiBase: GW/v1/", "contextLength: 100000000", "apiKey: secret", "arg --auto"},
			said:  []string{"its model n bypasses the gateway: the provider is ollama"},
		},
		"cline": {
			args:  []string{"do it"},
			files: map[string]string{".cline/data/settings/providers.json": `{"providers":{"openai-native":{"settings":{"apiKey":"secret"}},"cline":{"settings":{}}}}`},
			want:  []string{"arg --compaction\narg off\narg do it", `"baseUrl":"GW/v1"`, `"apiKey":"secret"`, "env CLINE_SESSION_BACKEND_MODE=local", "mode -rw-------"},
		},
		"aider": {
			args: []string{"-m", "some-module"},
			want: []string{"env OPENAI_API_BASE=GW/v1", "env ANTHROPIC_API_BASE=GW"}, not: []string{"DISABLE_AUTO_COMPACT"},
			said: []string{"window: that of each request's model, from the registry"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := isolate(t)
			for path, text := range test.files {
				path = filepath.Join(home, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for k, v := range test.env {
				t.Setenv(k, v)
			}
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			code, stdout, stderr := command(t, "", append([]string{"wrap", "--store", "memory", fakeAgent(t, name), "--"}, test.args...)...)
			if code != exitDone {
				t.Fatalf("%d %s", code, stderr)
			}
			gw := regexp.MustCompile(`OPENAI_BASE_URL=(http://127\.0\.0\.1:[0-9]+)/v1`).FindStringSubmatch(stdout)
			if gw == nil {
				t.Fatal(stdout)
			}
			stdout, stderr = strings.ReplaceAll(stdout, gw[1], "GW"), strings.ReplaceAll(stderr, gw[1], "GW")
			for _, w := range test.want {
				if !strings.Contains(stdout, w) {
					t.Errorf("no %s in\n%s", w, stdout)
				}
			}
			for _, w := range test.not {
				if strings.Contains(stdout, w) {
					t.Errorf("%s in\n%s", w, stdout)
				}
			}
			for _, w := range test.said {
				if !strings.Contains(stderr, w) {
					t.Errorf("it does not say %q but %s", w, stderr)
				}
			}
			for path, text := range test.files {
				if got, err := os.ReadFile(filepath.Join(home, path)); err != nil || string(got) != text {
					t.Errorf("%s was changed: %v %s", path, err, got)
				}
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("files are left behind: %v %v", err, left)
			}
		})
	}
}

// TestWindowLine: the first lines name the window, its reason, and when it is
// compacted.
func TestWindowLine(t *testing.T) {
	o := transport.Options{Registry: model.Default()}
	set := o
	set.Settings.Window = 40_000
	for _, test := range []struct {
		o           *transport.Options
		agent, args string
		want        string
	}{
		{&o, "claude", "--model sonnet", "window: 1,000,000 tokens, what claude-sonnet-5-5 has (by --model)"},
		{&o, "claude", "--model=claude-sonnet-4-6", "window: 200,000 tokens, Claude Code's for this model without [1m]: claude-sonnet-4-6 (by --model)"},
		{&o, "pi", "--model claude-opus-4-5", "it compacts from 174,436 tokens on: 0.95 of the 183,616 tokens at which the agent compacts or stops by itself"},
		{&o, "claude", "--model claude-opus-4-6[1m]", "window: 1,000,000 tokens, Claude Code's with [1m]: claude-opus-4-6[1m] (by --model)"},
		{&o, "pi", "--model nobody-knows-this", "assumed, as the registry does not know nobody-knows-this (by --model)"},
		{&o, "pi", "", eachWindow},
		{&set, "claude", "", "window: 40,000 tokens, as --window or the settings say; it compacts from 32,401 tokens on: 0.90 of the room; this window is too small for the agent, whose own prompt and tools take about 42,000 tokens"},
		{&set, "", "", "window: 40,000 tokens, as --window or the settings say; it compacts from 32,403 tokens on: 0.90 of the room"},
	} {
		known, _ := table.Find(test.agent)
		p := &pointing{app: &app{getenv: func(string) string { return "" }}, known: known, args: strings.Fields(test.args)}
		got, err := p.describeWindow(test.o)
		if err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %v %s, want %s", test.agent, test.args, err, got, test.want)
		}
	}
}

// TestAccountLines: dollars stand beside those of the same requests uncut, and where
// winnow cost more it says so.
func TestAccountLines(t *testing.T) {
	a := transport.Account{Windows: []int{200_000}, Uncut: 1.5}
	a.Totals.Requests, a.Totals.Priced, a.Totals.CacheShare, a.Totals.Dollars = 10, 9, new(0.934), new(2.25)
	got := strings.Join(accountLines(&a, &transport.Stats{}), "\n")
	want := "window: 200,000; nothing was cut\nfrom the provider's cache: 93 % of the prompts; $2.25 at list prices; without 1 request for which nothing was reported or kept"
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	a.Cuts, a.Again, a.Beyond = []control.PlanInfo{{Before: 170_000, After: 82_000, Why: "0.90 of the room"}}, 1, 3
	got = strings.Join(accountLines(&a, &transport.Stats{SummaryCalls: 2, SummaryInput: 9_000, SummaryOutput: 700}), "\n")
	for _, want := range []string{
		"window: 200,000; 1 cut; files were read again once after that\ncut 1: from 170,000 to 82,000 tokens: 0.90 of the room\n",
		"; $2.25 at list prices, uncut $1.50: winnow cost $0.75 more; uncut, 3 requests would not have fitted the window;",
		"\nnot in these dollars: 2 calls for summaries, with 9,000 tokens of input and 700 of output",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestWrapByName: an agent is found by the name that it has everywhere, though its
// program has another.
func TestWrapByName(t *testing.T) {
	home := isolate(t)
	t.Setenv("PATH", filepath.Dir(fakeAgent(t, "cn"))+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := os.MkdirAll(filepath.Join(home, ".continue"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".continue", "config.yaml"), []byte("models:\n  - {name: m, provider: openai, model: gpt-4.1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, "", "wrap", "--store", "memory", "continue", "--", "-p", "work")
	if code != exitDone || !strings.Contains(stdout, "arg -p\narg work") || !strings.Contains(stderr, "Continue is pointed at the gateway") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
}

// TestWrapInLoginShells: an agent whose shell sets another PATH, as login shells do, has
// winnow all the same.
func TestWrapInLoginShells(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	isolate(t)
	path := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(path, []byte("#!/usr/bin/env bash\nPATH=/usr/bin:/bin\ntype -t winnow\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := command(t, "", "wrap", "--store", "memory", path); code != exitDone || stdout != "function\n" {
		t.Errorf("%d %q %s", code, stdout, stderr)
	}
}

// TestWrapOwnAddress: where an agent's settings send its requests elsewhere, that
// is where the gateway sends them.
func TestWrapOwnAddress(t *testing.T) {
	home := isolate(t)
	p := &pointing{app: &app{getenv: os.Getenv, environ: os.Environ}, url: "GW", home: home, dirs: []string{t.TempDir()}, upstreams: map[string]string{}}
	path := filepath.Join(home, "c.yaml")
	config := "models:\n  - {name: a, provider: openai, apiBase: 'https://one.example/v1/'}\n  - {name: b, provider: openai, apiBase: 'https://two.example/v1/'}\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p.args = []string{"--config", path, "-p", "x"}
	if err := pointContinue(p); err != nil {
		t.Fatal(err)
	}
	if p.upstreams["openai"] != "https://one.example/v1" || len(p.notes) != 1 || !strings.Contains(p.notes[0], "its model b bypasses the gateway") {
		t.Errorf("%v %v", p.upstreams, p.notes)
	}
	if len(p.args) != 4 || p.args[0] != "--config" || p.args[1] == path || p.args[2] != "-p" {
		t.Errorf("%q", p.args)
	}
}

// TestWrapRefuses: what cannot be wrapped is refused, with lines for its settings.
func TestWrapRefuses(t *testing.T) {
	isolate(t)
	for name, want := range map[string]string{
		"cursor": "what follows\n\n  winnow serve --listen 0.0.0.0:8484 --keys FILE --tls-cert FILE --tls-key FILE\n  Cursor settings, Models, Override OpenAI Base URL: https://YOUR-HOST:8484/v1\n",
		"crush":  "\n\n  crush.json: {\"providers\": {\"anthropic\": {\"base_url\": \"http://127.0.0.1:8484\"}",
		"cn":     "apiBase: http://127.0.0.1:8484/v1/",
		"cline":  "cline auth -p openai-native -k KEY -m MODEL -b http://127.0.0.1:8484/v1",
	} {
		code, stdout, stderr := command(t, "", "wrap", "--store", "memory", fakeAgent(t, name))
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, "cannot be wrapped") || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s %s", name, code, stdout, stderr)
		}
	}
	code, stdout, _ := command(t, "", "wrap", "--list")
	for _, k := range table.All() {
		if code != exitDone || !strings.Contains(stdout, k.Name+"  ("+k.Title+")") {
			t.Errorf("--list does not know %s: %d %s", k.Name, code, stdout)
		}
	}
	code, stdout, _ = command(t, "", "wrap", "--list", "--json")
	if code != exitDone || !strings.Contains(stdout, `"name": "claude"`) {
		t.Errorf("%d %s", code, stdout)
	}
}

// TestServeReserve: the output reserve can be set, for all models and
// for one.
func TestServeReserve(t *testing.T) {
	isolate(t)
	provider, endSim := serving(t, "sim", "--listen", "127.0.0.1:0", "--window", "40000")
	defer endSim()
	for flags, want := range map[string]string{
		"": "32000", "--output-reserve=6000": "34000", "--output-reserve=gpt-4.1=4000": "36000", "--output-reserve=gpt-5=4000": "32000",
	} {
		args := []string{"serve", "--listen", "127.0.0.1:0", "--upstream", "openai=http://" + provider, "--window", "40000", "--store", "memory"}
		if flags != "" {
			args = append(args, flags)
		}
		addr, end := serving(t, args...)
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: "http://" + addr, MaxTokens: -1}
		c.Say("hello")
		a, err := c.Send(t.Context())
		if err != nil || a.Status != http.StatusOK || a.Header.Get("Winnow-Available") != want {
			t.Errorf("%s: %v, %s available, want %s", flags, err, a.Header.Get("Winnow-Available"), want)
		}
		end()
	}
	if code, _, stderr := command(t, "", "serve", "--output-reserve", "much"); code != exitUsage || !strings.Contains(stderr, "write TOKENS, or MODEL=TOKENS") {
		t.Errorf("%d %s", code, stderr)
	}
}
