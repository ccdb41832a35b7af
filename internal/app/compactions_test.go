package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

// A handle is found by itself: after another compaction has overwritten the plan,
// and in a view that went on as an agent's session. What the settings say is not to be
// remembered is not.
func TestHandlesAreFoundByThemselves(t *testing.T) {
	t.Chdir(isolate(t))
	if err := os.WriteFile("session.json", demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	handle := regexp.MustCompile(`original: (w[a-z0-9]{8})`)
	compact := func(out string, flags ...string) string {
		t.Helper()
		if code, _, stderr := command(t, "", append([]string{"compact", "session.json", "--out", out}, flags...)...); code != exitDone {
			t.Fatal(stderr)
		}
		data, err := os.ReadFile(out)
		found := handle.FindSubmatch(data)
		if err != nil || found == nil {
			t.Fatalf("%s has no handle: %v", out, err)
		}
		return string(found[1])
	}
	first, second, third := compact("1.json"), compact("2.json", "--target", "30k"), compact("3.jsonl", "--target", "40k", "--to", "claude-code")
	for _, h := range []string{first, second, third} {
		code, stdout, stderr := command(t, "", "recall", h)
		if code != exitDone || !strings.Contains(stdout, "add rate limiting") {
			t.Errorf("%s: exit %d: %s", h, code, stderr)
		}
	}
	if code, stdout, stderr := command(t, "", "recall", "session.json", first); code != exitDone || !strings.HasPrefix(stdout, "[0 user]\nPlease add rate limiting") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, stdout, _ := command(t, "", "recall", "--history", "append-only", "--json"); code != exitDone || !strings.Contains(stdout, third) {
		t.Errorf("a search: exit %d: %s", code, stdout)
	}
	if err := os.Rename("session.json", "elsewhere.json"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "recall", first); code != exitFailed || !strings.Contains(stderr, "is not stored: it was compacted out of ") {
		t.Errorf("its file is gone: exit %d: %s", code, stderr)
	}

	t.Chdir(isolate(t))
	t.Setenv("WINNOW_MEMORY", "false")
	if err := os.WriteFile("session.json", demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	compact("1.json")
	if cache, err := os.UserCacheDir(); err != nil {
		t.Error(err)
	} else if _, err := os.Stat(filepath.Join(cache, "winnow", "compacted")); err == nil {
		t.Error("it is remembered although nothing should be")
	}
}
