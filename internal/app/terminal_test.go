//go:build unix

package app

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/winnow-llm/winnow/internal/app/demo"
)

// realCommand is the command as a process of its own.
func realCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("winnow") // testscript puts it there
	if err != nil {
		t.Fatalf("the command is not in the path of the tests, where TestMain puts it: %v", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Minute
	return cmd
}

// TestInterrupt ends commands by Ctrl-C while they wait for their input and
// while they wait for a model: exit code 130, one line, and no file that was
// not there before.
func TestInterrupt(t *testing.T) {
	asked := make(chan struct{}, 8)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer provider.Close()
	t.Setenv("OPENAI_API_KEY", "test")
	for _, c := range []struct {
		name, args string
		stdin      bool // stays open
	}{
		{"reading", "compact - --out view.json --plan plan.json", true},
		{"reading for JSON", "check - --json", true},
		{"reading a text", "tokens - --text", true},
		{"reading an error", "classify --json", true},
		{"reading a plan", "plan show -", true},
		{"reading a body", "validate -", true},
		{"summarising", "compact session.json --window 60000 --stages fold --summarizer openai/gpt-5 --out view.json", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := isolate(t)
			if err := os.WriteFile(filepath.Join(dir, "session.json"), demo.Session(), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := realCommand(t, dir, strings.Fields(c.args)...)
			cmd.Env = append(os.Environ(), "WINNOW_SUMMARIZER_URL="+provider.URL)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			ready := asked
			if c.stdin {
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close() //nolint:errcheck // only kept open
				ready = make(chan struct{}, 1)
				go func() { // more than a pipe holds: it is being read once this is through
					_, _ = in.Write(bytes.Repeat([]byte(" "), 1<<20))
					ready <- struct{}{}
				}()
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ready:
			case <-time.After(time.Minute):
				t.Fatalf("it did not get so far: %s", stderr.String())
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitStopped {
				t.Errorf("%v, want exit code %d: %s", err, exitStopped, stderr.String())
			}
			if !strings.Contains(stderr.String(), "winnow: interrupted; no file was left half written\n") {
				t.Errorf("standard error is %q", stderr.String())
			}
			if strings.Contains(c.args, "--json") != strings.Contains(stdout.String(), `"interrupted"`) {
				t.Errorf("standard output is %q", stdout.String())
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// onTerminal runs the command in a pseudo-terminal of 80 columns and returns
// what it shows there. With its output elsewhere only standard error is shown.
func onTerminal(t *testing.T, dir string, out io.Writer, env []string, args ...string) string {
	t.Helper()
	cmd := realCommand(t, dir, args...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm"), env...)
	cmd.Stdout = out
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()           //nolint:errcheck // the process has ended
	shown, _ := io.ReadAll(terminal) // ends with an error when the process does
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	return string(shown)
}

// TestProgressOnTerminal runs a measurement in a pseudo-terminal, where a bar
// may be seen and is gone at the end, and with --quiet, where it never is.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "session.json"), demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"replay", "session.json", "--policy", "winnow", "--window", "32000"}
	shown := onTerminal(t, dir, io.Discard, nil, args...)
	if !strings.Contains(shown, "1 session measured in") {
		t.Errorf("the terminal shows %q", shown)
	} else if strings.Contains(shown, "\x1b[K") && !strings.Contains(shown, "\r\x1b[Kwinnow: ") {
		t.Errorf("the bar is not cleared before the last line: %q", shown)
	}
	if shown := onTerminal(t, dir, io.Discard, nil, append(args, "--quiet")...); shown != "" {
		t.Errorf("--quiet shows %q", shown)
	}
}

// withoutProgress returns the lines that stay: a slow machine shows progress in
// front of them.
func withoutProgress(shown string) []string {
	lines := strings.Split(shown, "\r\n")
	for i, l := range lines {
		lines[i] = l[strings.LastIndex(l, "\r")+1:]
		lines[i] = strings.TrimPrefix(lines[i], "\x1b[K")
	}
	return lines
}

// TestColours looks for colours on a terminal, and for none where someone asked
// for none or a program reads.
func TestColours(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "session.json"), demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "compact", filepath.Join(dir, "session.json"), "--quiet", "--plan", filepath.Join(dir, "p.json")); code != exitDone {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		args, env string
		want      string // "" means no colour at all
	}{
		{"check session.json", "", "\x1b[33m███"},
		{"compact session.json --dry-run", "", "before [\x1b[34m█"},
		{"plan show p.json session.json", "", "\x1b[31m- "},
		{"check session.json --no-color", "", ""},
		{"check session.json", "NO_COLOR=1", ""},
		{"check session.json", "TERM=dumb", ""},
		{"check session.json --json", "", ""},
	} {
		shown := onTerminal(t, dir, nil, []string{c.env}, strings.Fields(c.args)...)
		shown = strings.Join(withoutProgress(shown), "\r\n")
		if c.want == "" && strings.Contains(shown, "\x1b") || !strings.Contains(shown, c.want) || shown == "" {
			t.Errorf("%s winnow %s shows %q, want %q", c.env, c.args, shown, c.want)
		}
		for line := range strings.SplitSeq(shown, "\r\n") {
			if n := ansi.StringWidth(line); n > 80 && !strings.Contains(line, "winnow ") && !strings.Contains(c.args, "--json") {
				t.Errorf("winnow %s: a line of %d columns: %q", c.args, n, line)
			}
		}
	}
}
