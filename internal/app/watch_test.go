//go:build unix

package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/app/agents/agenthome"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

// growing is a session of Claude Code of which only the first lines are in its
// file; add writes some more of them, as the agent does.
type growing struct {
	t     *testing.T
	home  string
	path  string
	lines []string
	done  int
}

func newGrowing(t *testing.T, lines int) *growing {
	t.Helper()
	g := &growing{t: t, home: t.TempDir()}
	s := replaygen.Session(1, replaygen.Options{Requests: 12})
	s.Model = "claude-sonnet-4-5"
	path, err := agenthome.Home{Dir: g.home}.Write(transcript.ClaudeCode, "live", &s, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g.path, g.lines = path, strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	g.add(lines)
	return g
}

func (g *growing) add(n int) {
	g.t.Helper()
	f, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	defer f.Close()
	for _, l := range g.lines[g.done : g.done+n] {
		if _, err := f.WriteString(l); err != nil {
			g.t.Fatal(err)
		}
	}
	g.done += n
}

func (g *growing) command(args ...string) *exec.Cmd {
	cmd := exec.Command("winnow", append([]string{"watch"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+g.home, "XDG_CONFIG_HOME="+g.home, "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "PI_CODING_AGENT_DIR=", "XDG_DATA_HOME=")
	return cmd
}

// watching is winnow watch --json as a process, and the documents that it prints.
type watching struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func (g *growing) watch(args ...string) *watching {
	g.t.Helper()
	w := &watching{t: g.t, cmd: g.command(append(args, "--json")...)}
	pipe, err := w.cmd.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	w.out, w.cmd.Stderr = bufio.NewScanner(pipe), &w.stderr
	if err := w.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

// until reads documents up to the first that is as it should be.
func (w *watching) until(what string, ok func(*watched) bool) *watched {
	w.t.Helper()
	for w.out.Scan() {
		var d watched
		if err := json.Unmarshal(w.out.Bytes(), &d); err != nil {
			w.t.Fatalf("%v: %s", err, w.out.Text())
		}
		if ok(&d) {
			return &d
		}
	}
	w.t.Fatalf("it ended before %s: %v %s", what, w.out.Err(), w.stderr.String())
	return nil
}

// The meter follows the file as the agent adds to it, and Ctrl-C is an ordinary end.
func TestWatchFollowsAGrowingSession(t *testing.T) {
	t.Parallel()
	g := newGrowing(t, 5)
	w := g.watch(g.path)
	first := w.until("the first measurement", func(*watched) bool { return true })
	if first.Messages == 0 || first.Tokens == 0 || first.Available != 184_000 || first.File != g.path {
		t.Errorf("%+v", first)
	}
	g.add(1)
	g.add(len(g.lines) - g.done)
	_, stdout, _ := command(t, "", "check", g.path, "--json")
	var whole checked
	if err := json.Unmarshal([]byte(stdout), &whole); err != nil {
		t.Fatal(err)
	}
	last := w.until("the whole session", func(d *watched) bool { return d.Messages == whole.Messages })
	if last.Tokens != whole.Tokens.Total || last.CompactAt != whole.CompactAt || last.Tokens <= first.Tokens {
		t.Errorf("watch says %+v, check %d from %d on", last, whole.Tokens.Total, whole.CompactAt)
	}
	if last.RequestsLeft == nil || last.Growth <= 0 {
		t.Errorf("nothing is said of what is left: %+v", last)
	}
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for w.out.Scan() {
		t.Errorf("printed after the last change: %s", w.out.Text())
	}
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v, %s", err, w.stderr.String())
	}
}

// A session that starts later is followed as soon as it is the newest.
func TestWatchTakesTheNewestSession(t *testing.T) {
	t.Parallel()
	g := newGrowing(t, 5)
	w := g.watch("claude")
	w.until("the first session", func(d *watched) bool { return d.File == g.path })
	other := filepath.Join(g.home, ".claude/projects/-other/new.jsonl")
	if err := os.MkdirAll(filepath.Dir(other), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte(strings.Join(g.lines[:3], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(other, later, later); err != nil {
		t.Fatal(err)
	}
	g.add(1) // a reported change: otherwise it is noticed when it next looks
	w.until("the other session", func(d *watched) bool { return d.File == other })
}

// In a terminal the meter is drawn in its place.
func TestWatchDrawsInPlace(t *testing.T) {
	t.Parallel()
	g := newGrowing(t, 5)
	term := startTerminal(t, 100, 20, g.command("claude"))
	term.WaitFor("Ctrl-C ends")
	before := tokensOn(term.Screen())
	g.add(len(g.lines) - g.done)
	term.Until("another count", func(s string) bool { return tokensOn(s) != "" && tokensOn(s) != before })
	if s := term.Screen(); strings.Count(s, "of 184,000 tokens") != 1 || strings.Count(s, "Ctrl-C ends") != 1 || !strings.Contains(s, "compaction from 158,651") {
		t.Errorf("the screen:\n%s", s)
	}
	term.Signal(syscall.SIGINT)
	if code := term.Wait(); code != exitDone {
		t.Errorf("exit %d", code)
	}
}

func tokensOn(screen string) string {
	at := strings.Index(screen, " of 184,000 tokens")
	if at < 0 {
		return ""
	}
	return screen[max(0, at-8):at]
}

// The status line of Claude Code: one line, whatever it is given.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	g := newGrowing(t, 5)
	g.add(len(g.lines) - g.done)
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := g.command(append(args, "--statusline")...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q: %v: %s", stdin, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	in := fmt.Sprintf(`{"session_id":"live","transcript_path":%q,"model":{"id":"claude-sonnet-4-5","display_name":"Sonnet 4.5"},"cwd":"/x","unknown":[1]}`, g.path)
	if got := run(in); !strings.HasPrefix(got, "Sonnet 4.5 [") || !strings.Contains(got, "of 184k, ") || !strings.Contains(got, ", 6 %") {
		t.Errorf("%q", got)
	}
	if got := run(strings.ReplaceAll(in, "live.jsonl", "none.jsonl")); got != "Sonnet 4.5 no messages yet" {
		t.Errorf("a session without a file: %q", got)
	}
	if got := run("nothing that is JSON"); !strings.HasPrefix(got, "claude-sonnet-4-5 [") {
		t.Errorf("without a session: %q", got)
	}
	if got := run("", "codex"); got != "no messages yet" {
		t.Errorf("of another agent: %q", got)
	}
	if got := run(in, "--window", "20000", "--output-reserve", "1000"); !strings.HasSuffix(got, " to compaction") {
		t.Errorf("nearly full: %q", got)
	}
	if got := run(in, "--window", "3000", "--output-reserve", "500"); !strings.HasSuffix(got, "does not fit") {
		t.Errorf("over: %q", got)
	}
}

func TestWatchRefuses(t *testing.T) {
	t.Parallel()
	g := newGrowing(t, 5)
	for _, c := range []struct{ of, say string }{
		{"codex", "there is no session yet in ~/.codex/sessions"},
		{"nobody", "does not know where this agent keeps its sessions"},
		{"./none.jsonl", "there is no such file"},
	} {
		out, err := g.command(c.of, "--once").CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.say) {
			t.Errorf("%s: %v: %s", c.of, err, out)
		}
	}
}
