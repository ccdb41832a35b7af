package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/agents/agenthome"
	"github.com/winnow-llm/winnow/internal/app/insights"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

// agentSession is a generated session that its agent compacted once.
func agentSession(seed uint64) *transcript.Session {
	s := replaygen.Session(seed, replaygen.Options{Requests: 40})
	s.Model = "claude-opus-4-5"
	at := 40
	for s.History.At(at).Role != chat.Assistant {
		at++
	}
	s.Compactions = []transcript.Compaction{{At: at, Summary: "Some files were read.", Trigger: "auto", TokensBefore: 30_000}}
	return &s
}

// layAgents writes a session of Claude Code and one of pi into a home.
func layAgents(t *testing.T, home string, last time.Time) (claude, pi string) {
	t.Helper()
	h := agenthome.Home{Dir: home}
	claude, err := h.Write(transcript.ClaudeCode, "one", agentSession(1), last)
	if err != nil {
		t.Fatal(err)
	}
	if pi, err = h.Write(transcript.Pi, "two", agentSession(2), last.AddDate(0, 0, -60)); err != nil {
		t.Fatal(err)
	}
	return claude, pi
}

// The first thing that a visitor runs: one line of command, no argument.
func TestInsights(t *testing.T) {
	home := isolate(t)
	claude, _ := layAgents(t, home, time.Now().AddDate(0, 0, -2))
	if err := os.WriteFile(filepath.Join(filepath.Dir(claude), "damaged.jsonl"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, "", "insights")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		"1 session since ", "1 of them compacted, 1 file left out (--verbose says why)", "compacted 1 session once (1 automatically)",
		"You waited 15 s", "The sessions cost $", "With winnow: $", "text was read again once; with winnow 0 times.", "the worst moments", "after the compaction Claude Code read 1 file again", "winnow page ~/.claude", "the sessions that suffered most", "Claude Code", "~/.claude/projects", "Next: winnow check ~/.claude",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stderr, "left out: ") || !strings.Contains(stderr, "read 3 files") {
		t.Errorf("stderr: %s", stderr)
	}
	if _, _, stderr = command(t, "", "insights", "--verbose"); !strings.Contains(stderr, "left out: "+filepath.Dir(claude)+"/damaged.jsonl:1: ") || strings.Count(stderr, "damaged.jsonl") != 1 {
		t.Errorf("--verbose: %s", stderr)
	}
	page := filepath.Join(home, "page.html")
	code, stdout, stderr = command(t, "", "insights", "--all", "--json", "--html", page, "--quiet")
	var r insights.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != exitDone || stderr != "" {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	if r.Sessions != 2 || r.Compacted != 2 || r.Total.Compactions != 2 || r.Total.Spent <= 0 || len(r.Worst) != 2 || r.Since != "" {
		t.Errorf("%+v", r)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), `"insights":`) {
		t.Errorf("the page: %v", err)
	}
	// A file that is named, and one that is not there.
	if code, stdout, _ = command(t, "", "insights", claude, "--all", "--json"); code != exitDone || !strings.Contains(stdout, `"sessions": 1,`) || strings.Count(stdout, `"worst"`) != 1 {
		t.Errorf("one file: exit %d: %s", code, stdout)
	}
	// A path stays on its line.
	forged := filepath.Join(home, "a\nforged\x1b[2J.jsonl")
	if err := os.Rename(claude, forged); err != nil {
		t.Fatal(err)
	}
	if _, stdout, _ = command(t, "", "insights", forged, "--all"); !strings.Contains(stdout, `winnow page ~/a\u000aforged\u001b[2J.jsonl`) || strings.Contains(stdout, "\nforged") {
		t.Errorf("a line of the path's own:\n%s", stdout)
	}
	if code, _, stderr = command(t, "", "insights", filepath.Join(home, "nowhere")); code != exitFailed || !strings.Contains(stderr, "name a session file or a folder") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A machine without agents is told where winnow looked and what to do; one whose
// sessions are old is told so.
func TestInsightsWithNothingToSee(t *testing.T) {
	home := isolate(t)
	code, stdout, _ := command(t, "", "insights")
	if code != exitDone || !strings.Contains(stdout, "No sessions found") || !strings.Contains(stdout, "~/.claude/projects, which is not there") || !strings.Contains(stdout, "winnow insights FOLDER") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	layAgents(t, home, time.Now().AddDate(0, 0, -40))
	code, stdout, _ = command(t, "", "insights")
	if code != exitDone || !strings.Contains(stdout, "there are 2 older ones") || !strings.Contains(stdout, "--all") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{"30d": "2026-05-16", "2w": "2026-06-01", "2026-02-03": "2026-02-03"} {
		if got, err := parseSince(in, now); err != nil || got.Format(time.DateOnly) != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "30", "d", "-3d", "yesterday", "2026-13-01", "30m"} {
		if _, err := parseSince(in, now); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}
