package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/app/agents/agenthome"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/transcript"
)

// A folder, a pattern and several files give a line for each session; what
// cannot be read is named.
func TestCheckSeveral(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	small := `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`
	large := lay(t, string(demo.Session()), home, "logs/large.json")
	one := lay(t, small, home, "logs/one.json")
	two := lay(t, small, home, "logs/deep/two.json")
	lay(t, "{", home, "logs/broken.json")
	lay(t, "no session", home, "logs/notes.md")
	for name, c := range map[string]struct {
		args    []string
		want    []string
		skipped int
	}{
		"a folder":      {[]string{filepath.Join(home, "logs")}, []string{two, large, one}, 1},
		"a pattern":     {[]string{filepath.Join(home, "logs", "[lo]*.json")}, []string{large, one}, 0},
		"several files": {[]string{one, two}, []string{one, two}, 0},
	} {
		code, stdout, stderr := command(t, "", append([]string{"check", "--json"}, c.args...)...)
		var doc checkedMany
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitDone {
			t.Fatalf("%s: exit %d, %v: %s", name, code, err, stderr)
		}
		var got []string
		for i := range doc.Sessions {
			got = append(got, doc.Sessions[i].File)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") || doc.Skipped != c.skipped || strings.Count(stderr, "left out: ") != c.skipped {
			t.Errorf("%s: %q, %d skipped: %s", name, got, doc.Skipped, stderr)
		}
	}
	// The count is that of the close look, and it decides about the exit code.
	_, stdout, _ := command(t, "", "check", large, "--json")
	var alone checked
	if err := json.Unmarshal([]byte(stdout), &alone); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, "", "check", filepath.Join(home, "logs"), "--fail-over", "0.8", "--json")
	var doc checkedMany
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitOver || doc.Over != 1 || !strings.Contains(stderr, "1 of 3 sessions is over 80 %") {
		t.Errorf("exit %d, %v: %s", code, err, stderr)
	}
	if b := doc.Sessions[1]; b.Tokens != alone.Tokens.Total || b.Share != alone.Share || !b.Over || b.Available != alone.Limits.Available {
		t.Errorf("%+v beside %+v", b, alone)
	}
	if code, stdout, _ = command(t, "", "check", filepath.Join(home, "logs")); code != exitDone || strings.Count(stdout, "\n") != 4 || !strings.Contains(stdout, "does not fit as it is") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for _, c := range []struct {
		code int
		say  string
		args []string
	}{
		{exitOver, "the session is over 80 %", []string{large, "--fail-over", "0.8"}},
		{exitDone, "", []string{large, "--fail-over", "9"}},
		{exitDone, "", []string{one, two, "--fail-over", "0.8"}},
		{exitUsage, "must be a share", []string{one, "--fail-over", "-1"}},
		{exitUsage, "standard input must be the only input", []string{one, "-"}},
		{exitUsage, "it chooses a session within one file", []string{one, two, "--session", "1"}},
		{exitFailed, "missing.json: there is no such file", []string{one, filepath.Join(home, "missing.json")}},
		{exitFailed, "no file matches", []string{filepath.Join(home, "*.none")}},
		{exitFailed, "there is no session in this folder", []string{t.TempDir()}},
		{exitFailed, "nothing is left to check", []string{filepath.Join(home, "logs", "bro*")}},
	} {
		if code, _, stderr := command(t, "", append([]string{"check"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.say) {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
}

// latest is the newest session of all agents, also one in pieces. A session that
// its agent compacted is judged by what the agent sends.
func TestCheckLatest(t *testing.T) {
	home := isolate(t)
	setenv(t, "XDG_DATA_HOME", "")
	if code, _, stderr := command(t, "", "check", latest); code != exitFailed || !strings.Contains(stderr, "no agent on this machine has left a session") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	now := time.Now()
	claude, _ := layAgents(t, home, now.AddDate(0, 0, -2))
	code, stdout, stderr := command(t, "", "check", latest, "--json", "--window", "50000", "--output-reserve", "1000")
	var doc checked
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitDone || doc.File != claude || !strings.Contains(stderr, "the newest session, of Claude Code") {
		t.Fatalf("exit %d, %v, %s: %s", code, err, doc.File, stderr)
	}
	if doc.Own == nil || doc.Share >= doc.Ratio || doc.Share != show.Ratio(doc.Own.Sent, doc.Limits.Available) {
		t.Errorf("share %v of ratio %v", doc.Share, doc.Ratio)
	}
	h := agenthome.Home{Dir: home}
	if _, err := h.Write(transcript.OpenCode, "ses", agentSession(3), now); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = command(t, "", "check", latest, "--json")
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitDone || doc.Format != "opencode" || doc.Messages == 0 {
		t.Errorf("exit %d, %v, %s: %s", code, err, doc.Format, stderr)
	}
	// A file of that name is a file.
	t.Chdir(home)
	if err := os.WriteFile(latest, []byte(`[{"role":"user","content":"hello"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stdout, _ = command(t, "", "check", latest, "--json"); !strings.Contains(stdout, `"file": "latest"`) {
		t.Error(stdout)
	}
}
