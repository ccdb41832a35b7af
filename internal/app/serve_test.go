package app

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/wire"
)

// serving starts the command in a process of its own and returns the first line
// that it prints, and a function that asks it to end.
func serving(t *testing.T, args ...string) (addr string, end func()) {
	t.Helper()
	cmd := exec.Command("winnow", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return strings.TrimSpace(line), func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, errs.String())
		}
	}
}

// TestServe runs agents against the gateway and the simulator as commands.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	provider, endSim := serving(t, "sim", "--listen", "127.0.0.1:0", "--window", "16000")
	up := "http://" + provider
	addr, endServe := serving(t, "serve", "--listen", "127.0.0.1:0", "--upstream", "openai="+up, "--upstream", "anthropic="+up, "--upstream", "gemini="+up,
		"--window", "16000", "--store", filepath.Join(dir, "plans.db"))
	for _, d := range wire.Dialects() {
		plans := 0
		c := &agentclient.Client{Dialect: d, URL: "http://" + addr, Stream: true, Result: func(n int) string {
			return strings.Repeat(fmt.Sprintf("line of output number %d\n", n), 120)
		}}
		for range 12 {
			c.Say("Go on with the next file.")
			for calls := 1; calls > 0; {
				a, err := c.Step(t.Context())
				if err != nil || a.Status != http.StatusOK || a.Header.Get("Winnow-Tokens") == "" {
					t.Fatalf("%s: %v %+v", d, err, a)
				}
				if a.Header.Get("Winnow-Plan") != "" {
					plans++
				}
				calls = a.Calls
			}
		}
		if plans == 0 {
			t.Errorf("%s: no plan was applied", d)
		}
	}
	resp, err := http.Get(up + "/sim/requests")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(text), `"refused":0`) {
		t.Errorf("%v %.300s", err, text)
	}
	code, stdout, stderr := command(t, "", "wrap", "--gateway", "http://"+addr, "env")
	if code != exitDone || !strings.Contains(stdout, "ANTHROPIC_BASE_URL=http://"+addr+"\n") || !strings.Contains(stdout, "OPENAI_BASE_URL=http://"+addr+"/v1\n") {
		t.Errorf("wrap: %d %s %s", code, stdout, stderr)
	}
	endServe()
	endSim()
}

// TestWrap starts a gateway of its own for one program.
func TestWrap(t *testing.T) {
	isolate(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("NO_PROXY", "example.com")
	code, stdout, stderr := command(t, "", "wrap", "--store", "memory", "env")
	for _, want := range []string{
		"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:", "OPENAI_API_BASE=http://127.0.0.1:", "ANTHROPIC_API_BASE=http://127.0.0.1:",
		"NO_PROXY=example.com,127.0.0.1,localhost",
	} {
		if code != exitDone || !strings.Contains(stdout, want) {
			t.Errorf("%d: no %s in %s %s", code, want, stdout, stderr)
		}
	}
	if !strings.Contains(stderr, "env sent no conversation through the gateway") || strings.Count(stderr, "\n") != 2 {
		t.Errorf("it ends with %q", stderr)
	}
	claude := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(claude, []byte("#!/bin/sh\necho search=$ENABLE_TOOL_SEARCH\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stdout, stderr := command(t, "", "wrap", "--store", "memory", claude); stdout != "search=true\n" {
		t.Errorf("%s %s", stdout, stderr)
	}
	t.Setenv("ENABLE_TOOL_SEARCH", "false")
	if _, stdout, stderr := command(t, "", "wrap", "--store", "memory", claude); stdout != "search=false\n" {
		t.Errorf("%s %s", stdout, stderr)
	}
	if code, stdout, stderr := command(t, "", "wrap", "--gateway", "http://127.0.0.1:1", "env"); code != exitFailed || stdout != "" || !strings.Contains(stderr, "no gateway answers at http://127.0.0.1:1") {
		t.Errorf("a dead gateway: %d %s %s", code, stdout, stderr)
	}
	if code, _, _ := command(t, "", "wrap", "--gateway", "127.0.0.1", "env"); code != exitUsage {
		t.Errorf("a gateway without a scheme: %d", code)
	}
	if code, _, stderr := command(t, "", "wrap", "--store", "memory", "no-such-agent"); code != exitFailed || !strings.Contains(stderr, "there is no program no-such-agent") {
		t.Errorf("%d %s", code, stderr)
	}
	for script, want := range map[string]int{"exit 0": 0, "exit 1": 1, "exit 42": 42, "kill -9 $$": 137, "kill -TERM $$": 143} {
		code, stdout, stderr := command(t, "words for the agent", "--quiet", "wrap", "--store", "memory", "sh", "--", "-c", "cat; "+script)
		if code != want || stderr != "" || stdout != "words for the agent" {
			t.Errorf("%s: code %d, %q, %q", script, code, stdout, stderr)
		}
	}
}

// TestWrapSignals passes signals on to the agent, which answers them as it likes.
func TestWrapSignals(t *testing.T) {
	isolate(t)
	for s, want := range map[syscall.Signal]int{syscall.SIGTERM: 7, syscall.SIGHUP: 8, syscall.SIGINT: 9} {
		cmd := exec.Command("winnow", "wrap", "--store", "memory", "sh", "--", "-c",
			`trap 'exit 7' TERM; trap 'exit 8' HUP; trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "ready\n" {
			t.Fatal(line, err)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code says it
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: code %d, want %d", s, code, want)
		}
	}
}

// TestServeSummarizer has a model write summaries ahead of time, for a gateway
// that runs as a command.
func TestServeSummarizer(t *testing.T) {
	for _, writer := range []string{"compatible/small", "same"} {
		t.Run(writer, func(t *testing.T) { testServeSummarizer(t, writer) })
	}
}

func testServeSummarizer(t *testing.T, writer string) {
	isolate(t)
	write := func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		for i, s := range summary.Sections() {
			fmt.Fprintf(&b, "## %s\n- fact %d of the model: the %s was settled\n", s, i, strings.Repeat("x", i+3))
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, b.String())
	}
	model := httptest.NewServer(http.HandlerFunc(write))
	defer model.Close()
	var mu sync.Mutex
	var last string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), "</transcript>") { // only with same
			write(w, r)
			return
		}
		mu.Lock()
		last = string(b)
		mu.Unlock()
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer up.Close()
	t.Setenv("WINNOW_SUMMARIZER_URL", model.URL)
	addr, end := serving(t, "serve", "--quiet", "--listen", "127.0.0.1:0", "--upstream", "openai="+up.URL, "--window", "40000", "--store", "memory", "--summarizer", writer)
	defer end()
	send := func(turns int) {
		t.Helper()
		var b strings.Builder
		b.WriteString(`{"model":"gpt-4.1","max_tokens":1024,"messages":[`)
		for i := range turns {
			fmt.Fprintf(&b, `{"role":"user","content":"Question %d: why does it fail?"},{"role":"assistant","content":%q},`, i, strings.Repeat(fmt.Sprintf("Because rule %d of the grammar is ambiguous there and nobody saw it. ", i), 71))
		}
		fmt.Fprintf(&b, `{"role":"user","content":"Question %d: why does it fail?"}]}`, turns)
		resp, err := http.Post("http://"+addr+"/v1/chat/completions", "application/json", strings.NewReader(b.String()))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
	}
	has := func(line string) bool {
		t.Helper()
		resp, err := http.Get("http://" + addr + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return err == nil && strings.Contains(string(text), "\n"+line+"\n")
	}
	send(31)
	for n := 0; !has("winnow_summaries_prepared_total 1"); n++ {
		if n > 12_000 {
			t.Fatal("no summary was prepared")
		}
		time.Sleep(10 * time.Millisecond)
	}
	send(37)
	mu.Lock()
	defer mu.Unlock()
	if !has("winnow_summaries_used_total 1") || !strings.Contains(last, "of the model: the") {
		t.Errorf("it was not used: %.300s", last)
	}
}

// testAgent is an argument that makes the test's own program an agent.
const testAgent = "test-agent"

func init() {
	if len(os.Args) < 2 || os.Args[1] != testAgent {
		return
	}
	turns, steps, lines, output := 12, 1_000, 120, 0
	if len(os.Args) > 2 {
		turns, steps, lines, output = 1, 4, 4_000, 64_000 // each more than the window
	}
	c := &agentclient.Client{Dialect: wire.Anthropic, URL: os.Getenv("ANTHROPIC_BASE_URL"), MaxTokens: output, Result: func(n int) string {
		return strings.Repeat(fmt.Sprintf("line of output number %d\n", n), lines)
	}}
	for range turns {
		c.Say("Go on with the next file.")
		for calls := 1; calls > 0 && steps > 0; steps-- {
			a, err := c.Step(context.Background())
			if err != nil || a.Status != http.StatusOK {
				fmt.Println(err, a)
				os.Exit(1)
			}
			calls = a.Calls
		}
	}
	os.Exit(0)
}

// TestWrapSaves: wrap says at the end how much it saved, unless it is quiet.
func TestWrapSaves(t *testing.T) {
	isolate(t)
	provider, end := serving(t, "sim", "--listen", "127.0.0.1:0", "--window", "16000")
	defer end()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://"+provider)
	code, stdout, stderr := command(t, "", "wrap", "--store", "memory", "--window", "16000", self, "--", testAgent)
	if code != exitDone || !strings.Contains(stderr, "requests through the gateway, ") || !strings.Contains(stderr, " tokens were not sent") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	for _, want := range []string{
		`winnow: window: 16,000; \d+ cuts; files were read again (once|\d+ times) after that\n`,
		`winnow: cut \d+: from 1[1-6],\d{3} to \d,\d{3} tokens: (?:0.90 of the room|it did not fit: too many tokens)\n`, // the newest twelve
		`winnow: from the provider's cache: 0 % of the prompts; \$\d+\.\d\d at list prices, uncut \$\d+\.\d\d; uncut, \d+ requests would not have fitted the window\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(stderr) {
			t.Errorf("no %s in %s", want, stderr)
		}
	}
	if strings.Contains(stderr, "shortened") {
		t.Errorf("all newest results fit, and it says %s", stderr)
	}
	code, _, stderr = command(t, "", "wrap", "--store", "memory", "--window", "16000", self, "--", testAgent, "large")
	if code != exitDone || !strings.Contains(stderr, " the newest tool results did not fit and were shortened") || !strings.Contains(stderr, "less output asked for") {
		t.Errorf("%d %s", code, stderr)
	}
	code, stdout, stderr = command(t, "", "--quiet", "wrap", "--store", "memory", "--window", "16000", self, "--", testAgent)
	if code != exitDone || stdout+stderr != "" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
}

// TestServeHelp shows how to point agents at it.
func TestServeHelp(t *testing.T) {
	isolate(t)
	_, stdout, _ := command(t, "", "serve", "--help")
	for _, want := range []string{"Claude Code", "Codex", "Gemini CLI", "opencode", "pi ", "aider", "OpenAI SDKs", "Anthropic SDKs", "--summarizer", "--keep-originals", "OTEL_EXPORTER_OTLP_ENDPOINT", "ANTHROPIC_CUSTOM_HEADERS", "ENABLE_TOOL_SEARCH", "--store-age", "--store-size", "--read-timeout", "/readyz"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("nothing about %s", want)
		}
	}
}

// TestServeUsage refuses what cannot be.
func TestServeUsage(t *testing.T) {
	dir := isolate(t)
	keys, good := filepath.Join(dir, "keys"), filepath.Join(dir, "good")
	for path, text := range map[string]string{keys: "# tenants\nalice short\n", good: "alice a-key-that-is-long-enough\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"write NAME=URL", exitUsage, []string{"--upstream", "openai"}},
		{"is not an address", exitUsage, []string{"--upstream", "openai=ftp://x"}},
		{"must be a positive number", exitUsage, []string{"--window", "-1"}},
		{"must be a positive number", exitUsage, []string{"--store-size", "-1"}},
		{"must be a positive time", exitUsage, []string{"--store-age", "0s"}},
		{"--max-concurrent 0: must be a positive number", exitUsage, []string{"--max-concurrent", "0"}},
		{"--read-timeout -1s: must be a positive time", exitUsage, []string{"--read-timeout", "-1s"}},
		{"holds credentials or a query; write openai=https://host/v1 and", exitUsage, []string{"--upstream", "openai=https://me:secret@host/v1?key=secret"}},
		{"is not a name for an upstream", exitUsage, []string{"--upstream", "metrics=https://host"}},
		{"belong together", exitUsage, []string{"--tls-cert", "x"}},
		{"fewer than 16 characters", exitUsage, []string{"--keys", keys}},
		{"choose another address", exitFailed, []string{"--listen", "256.0.0.1:1"}},
		{"--keys FILE, or add --allow-keyless", exitUsage, []string{"--listen", "0.0.0.0:0"}},
		{"--keys FILE, or add --allow-keyless", exitUsage, []string{"--listen", ":0"}},
		{"--keys FILE, or add --allow-keyless", exitUsage, []string{"--listen", "[::]:0"}},
		{"belong together", exitUsage, []string{"--listen", "0.0.0.0:0", "--allow-keyless", "--tls-cert", "x"}},
		{"belong together", exitUsage, []string{"--listen", "0.0.0.0:0", "--keys", good, "--tls-cert", "x"}},
		{"belong together", exitUsage, []string{"--listen", "[::1]:0", "--tls-cert", "x"}},
		{"belong together", exitUsage, []string{"--listen", "localhost:0", "--tls-cert", "x"}},
		{"is not the name of a header", exitUsage, []string{"--credential-header", "X-Mine: x"}},
		{"is not the name of a parameter", exitUsage, []string{"--credential-param", "mine=x"}},
		{"is not the name of a host", exitUsage, []string{"--host", "https://winnow.example.com"}},
		{"OPENAI_API_KEY", exitUsage, []string{"--summarizer", "openai/gpt-5"}},
	} {
		args := append([]string{"serve", "--quiet", "--listen", "127.0.0.1:0", "--store", "memory"}, c.args...)
		code, _, stderr := command(t, "", args...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: %d %s", c.args, code, stderr)
		}
	}
}

func TestWhereTo(t *testing.T) {
	for want, upstreams := range map[string][]gateway.Upstream{
		"OPENAI_BASE_URL=http://h/v1 or ANTHROPIC_BASE_URL=http://h or GOOGLE_GEMINI_BASE_URL=http://h": {{Name: "openai"}, {Name: "anthropic"}, {Name: "gemini"}},
		"ANTHROPIC_BASE_URL=http://h":                       {{Name: "anthropic"}},
		"OPENAI_BASE_URL=http://h/v1 or http://h/together/": {{Name: "openai"}, {Name: "together"}},
	} {
		if got := whereTo("http://h", upstreams); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The settings tools and auto_compact reach the gateway as they do the commands.
func TestSettingsInGateway(t *testing.T) {
	home := isolate(t)
	a := testApp()
	a.config = lay(t, "auto_compact: false\ntools:\n  read_file: other\n", home, "tools.yaml")
	f := serveFlags{flags: &pflag.FlagSet{}, store: "memory", age: 1, memory: 64, upstreams: []string{"openai=http://127.0.0.1:1"}}
	o, store, err := f.gatewayOptions(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if k := o.Transport.Kinds; k.Of("read_file") != work.ToolOther || k.Of("write_file") != work.ToolWrite {
		t.Errorf("read_file is %s, write_file %s", k.Of("read_file"), k.Of("write_file"))
	}
	if !o.Transport.Settings.Disabled {
		t.Error("auto_compact: false, and the gateway compacts")
	}
	a.config = lay(t, "window: 9000\n", home, "plain.yaml")
	if o, store, err = f.gatewayOptions(t.Context(), a); err != nil || o.Transport.Kinds != nil || o.Transport.Settings.Disabled {
		t.Errorf("nothing is set: %v, %v, %v", o.Transport.Kinds, o.Transport.Settings.Disabled, err)
	}
	store.Close()
}
