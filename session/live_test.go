package session_test

import (
	"os"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/session"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// A change of settings takes effect at the next check.
func TestLiveSession(t *testing.T) {
	live := session.Live{Settings: winnow.Settings{Window: 200_000, OutputReserve: 1000}}
	s := create(t, &session.Options{Live: func(string, string) session.Live { return live }})
	turns(t, s, 0, 12, 2500)
	if due, _, err := s.NeedsCompaction(); err != nil || due {
		t.Fatalf("due in a large window: %v", err)
	}
	live.Settings = winnow.Settings{Window: 12_000, OutputReserve: 1000, Systems: winnow.Systems{Reserve: 500}}
	if due, _, err := s.NeedsCompaction(); err != nil || !due {
		t.Fatalf("not due in a small window: %v", err)
	}
	off := false
	live.Auto = &off
	if c, err := s.End(t.Context()); c != nil || err != nil {
		t.Errorf("compacts though it is switched off: %v", err)
	}
}
