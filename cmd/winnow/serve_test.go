package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/internal/agentclient"
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
	dir := isolate(t)
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
	code, stdout, stderr := command(t, "", "wrap", "--store", "memory", "env")
	if code != exitDone || !strings.Contains(stdout, "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if code, _, stderr := command(t, "", "wrap", "--store", "memory", "no-such-agent"); code != exitFailed || !strings.Contains(stderr, "there is no program no-such-agent") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr := command(t, "", "wrap", "--store", "memory", "false"); code != exitFailed || !strings.Contains(stderr, "false ended with exit status 1") {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestServeUsage refuses what cannot be.
func TestServeUsage(t *testing.T) {
	dir := isolate(t)
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, []byte("# tenants\nalice short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"write NAME=URL", exitUsage, []string{"--upstream", "openai"}},
		{"is no address", exitUsage, []string{"--upstream", "openai=ftp://x"}},
		{"must be a positive number", exitUsage, []string{"--window", "-1"}},
		{"belong together", exitUsage, []string{"--tls-cert", "x"}},
		{"fewer than 16 characters", exitUsage, []string{"--keys", keys}},
		{"choose another address", exitFailed, []string{"--listen", "256.0.0.1:1"}},
		{"cannot be opened", exitFailed, []string{"--store", filepath.Join(keys, "x.db")}},
	} {
		args := append([]string{"serve", "--quiet", "--listen", "127.0.0.1:0"}, c.args...)
		if c.args[0] != "--store" {
			args = append(args, "--store", "memory")
		}
		code, _, stderr := command(t, "", args...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: %d %s", c.args, code, stderr)
		}
	}
}
