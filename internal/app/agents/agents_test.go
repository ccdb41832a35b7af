package agents_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/agents/agenthome"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

func none(string) string { return "" }

func files(t *testing.T, a agents.Agent) []agents.File {
	t.Helper()
	out, err := a.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func find(t *testing.T, home string, f transcript.Format) agents.Agent {
	t.Helper()
	all := agents.Known(home, none)
	return all[slices.IndexFunc(all, func(a agents.Agent) bool { return a.Format == f })]
}

// What agents keep beside their sessions is not taken for one.
func TestWalkTakesSessionsOnly(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{
		".claude/projects/p/one.jsonl", ".claude/projects/p/one/subagents/agent-2.jsonl", ".claude/projects/p/sessions-index.json",
		".claude/projects/p/one/tool-results/x.txt", ".claude/history.jsonl", ".claude/projects/p/.hidden.jsonl",
		".gemini/tmp/h/chats/session-1.json", ".gemini/tmp/h/logs.json", ".codex/sessions/2026/01/02/rollout-1.jsonl.gz", ".codex/config.toml",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, a := range agents.Known(home, none) {
		for _, f := range files(t, a) {
			rel, _ := filepath.Rel(home, f.Path)
			got = append(got, filepath.ToSlash(rel))
		}
	}
	want := []string{".claude/projects/p/one/subagents/agent-2.jsonl", ".claude/projects/p/one.jsonl", ".codex/sessions/2026/01/02/rollout-1.jsonl.gz", ".gemini/tmp/h/chats/session-1.json"}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The environment moves folders as the agents themselves let it.
// A project's folder may stand elsewhere; links in a circle come to an end, and what two
// links lead to counts once.
func TestWalkFollowsLinksToFolders(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	projects := filepath.Join(home, ".claude", "projects")
	if err := os.MkdirAll(projects, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "one.jsonl"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		filepath.Join(projects, "a"): elsewhere, filepath.Join(projects, "b"): elsewhere, filepath.Join(elsewhere, "back"): projects,
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	got := files(t, find(t, home, transcript.ClaudeCode))
	if len(got) != 1 || got[0].Path != filepath.Join(projects, "a", "one.jsonl") {
		t.Errorf("%+v, want the session once, by the first link", got)
	}
}

func TestPlacesFromTheEnvironment(t *testing.T) {
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_DATA_HOME": "/d", "PI_CODING_AGENT_DIR": "/p"}
	var dirs []string
	for _, a := range agents.Known("/home/me", func(k string) string { return env[k] }) {
		dirs = append(dirs, filepath.ToSlash(a.Dirs[0]))
	}
	want := []string{"/c/projects", "/x/sessions", "/p/sessions", "/d/opencode/opencode.db", "/home/me/.gemini/tmp"}
	if d := cmp.Diff(want, dirs); d != "" {
		t.Error(d)
	}
}

// The newest session is found, whichever agent wrote it.
func TestNewest(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	s := replaygen.Session(1, replaygen.Options{Requests: 4})
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	want := ""
	for i, f := range []transcript.Format{transcript.ClaudeCode, transcript.Pi, transcript.OpenCode} {
		path, err := home.Write(f, "s", &s, day.AddDate(0, 0, []int{1, 5, 3}[i]))
		if err != nil {
			t.Fatal(err)
		}
		if f == transcript.Pi {
			want = path
		}
	}
	got, of, found, err := agents.Newest(t.Context(), agents.Known(home.Dir, none))
	if err != nil || !found || got.Path != want || of != "pi" {
		t.Errorf("%s of %s, %v, %v", got.Path, of, found, err)
	}
	if _, _, found, _ := agents.Newest(t.Context(), agents.Known(t.TempDir(), none)); found {
		t.Error("an empty home has a session")
	}
}

// A damaged message of OpenCode's is reported, with its name.
func TestOpenCodeDamaged(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	s := replaygen.Session(1, replaygen.Options{Requests: 4})
	if _, err := home.Write(transcript.OpenCode, "ses", &s, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(home.Dir, ".local/share/opencode/opencode.db"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), `UPDATE message SET data = '{"id":' WHERE id = 'msg-ses-m00001'`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	all := files(t, find(t, home.Dir, transcript.OpenCode))
	if len(all) != 1 {
		t.Fatalf("%v", all)
	}
	if _, err := all[0].Read(1 << 20); err == nil || !strings.Contains(err.Error(), "msg-ses-m00001") {
		t.Errorf("%v", err)
	}
	if _, err := all[0].Read(100); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a limit: %v", err)
	}
}

// OpenCode's database has all of its sessions, with their compactions.
func TestOpenCodeDatabase(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	last := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := replaygen.Session(2, replaygen.Options{Requests: 12})
	s.Model = "gpt-5"
	s.Compactions = []transcript.Compaction{{At: 9, Summary: "so far", Trigger: "auto"}}
	for i, id := range []string{"one", "two"} {
		if _, err := home.Write(transcript.OpenCode, id, &s, last.AddDate(0, 0, i)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(home.Dir, ".local/share/opencode/opencode.db")
	all := files(t, find(t, home.Dir, transcript.OpenCode))
	if len(all) != 2 || all[0].Path != path+"#one" || !all[0].Changed.Equal(last) || all[1].OnDisk() != path || !all[1].InPieces() {
		t.Fatalf("%v", all)
	}
	for i := range all {
		got, err := all[i].Sessions(1 << 30)
		if err != nil || len(got) != 1 {
			t.Fatalf("%d sessions: %v", len(got), err)
		}
		if c := got[0].Compactions; len(c) != 1 || c[0].Summary != "so far" || got[0].History.Len() < 12 {
			t.Errorf("%d messages, %+v", got[0].History.Len(), c)
		}
	}
}

// A file of that name that is not a database counts as one unreadable file.
func TestOpenCodeDatabaseDamaged(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".local/share/opencode/opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := files(t, find(t, home, transcript.OpenCode))
	if len(all) != 1 || all[0].Path != path {
		t.Fatalf("%v", all)
	}
	if _, err := all[0].Sessions(1 << 20); err == nil {
		t.Error("it was read")
	}
}
