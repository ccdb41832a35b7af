package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/session"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 2*time.Minute; time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("%s: not within two minutes", what)
}

// A change of settings takes effect at the next check.
func TestLiveSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "winnow.yaml")
	write(t, path, "window: 200000\nmax_tokens: 1000\n")
	live, err := config.Watch(config.Options{Files: []string{path}, Quiet: time.Millisecond})
	must(t, err)
	defer live.Close()
	s := create(t, &session.Options{Live: live.Session})
	turns(t, s, 0, 12, 2500)
	if due, _, err := s.NeedsCompaction(); err != nil || due {
		t.Fatalf("due in a large window: %v", err)
	}
	write(t, path, "window: 12000\nmax_tokens: 1000\nreserve: 500\n")
	until(t, "a smaller window", func() bool { due, _, _ := s.NeedsCompaction(); return due })
	write(t, path, "window: 12000\nmax_tokens: 1000\nreserve: 500\nauto_compact: false\n")
	until(t, "auto_compact", func() bool { f := live.Current(); return f.AutoCompact != nil })
	if c, err := s.End(t.Context()); c != nil || err != nil {
		t.Errorf("compacts though it is switched off: %v", err)
	}
}
