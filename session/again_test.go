package session_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/session"
)

// openPieces opens a session's file; in pieces, where piece is not 0, whatever its size.
func openPieces(t *testing.T, path string, piece int) *session.Session {
	t.Helper()
	if piece > 0 {
		defer session.SetHeld(0, piece)()
	}
	log, err := openFile(path)
	must(t, err)
	s, err := session.New(context.Background(), log, &session.Options{})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// A session whose records are read in pieces and not held is the same one: what the
// model sees, its entries, its copies, and what is added to it.
func TestLargeSessionIsTheSame(t *testing.T) {
	ctx := context.Background()
	s := create(t, nil)
	ids := turns(t, s, 0, 8, 600)
	_, err := s.Compact(ctx, "")
	must(t, err)
	must(t, s.Label(ctx, ids[3], "here"))
	turns(t, s, 8, 2, 600)
	path := s.Info().Path
	held := openPieces(t, path, 0)
	file := func(s *session.Session) string {
		var b bytes.Buffer
		_, err := s.WriteTo(&b)
		must(t, err)
		return b.String()
	}
	for _, piece := range []int{100, 5000} {
		large := openPieces(t, path, piece)
		copied, err := large.CopyTo(ctx, store(t), &session.Options{})
		must(t, err)
		forked, err := large.Fork(ctx, store(t), ids[len(ids)-1], &session.Options{})
		must(t, err)
		forkedHeld, err := held.Fork(ctx, store(t), ids[len(ids)-1], &session.Options{})
		must(t, err)
		for name, pair := range map[string][2]*session.Session{"itself": {held, large}, "copied": {held, copied}, "forked": {forkedHeld, forked}} {
			if diff := cmp.Diff(seen(t, pair[0]), seen(t, pair[1])); diff != "" {
				t.Errorf("%s, pieces of %d bytes, seen otherwise: %s", name, piece, diff)
			}
			if diff := cmp.Diff(len(pair[0].Path()), len(pair[1].Path())); diff != "" {
				t.Errorf("%s, pieces of %d bytes: %s", name, piece, diff)
			}
		}
		if diff := cmp.Diff(file(held), file(large)); diff != "" {
			t.Errorf("pieces of %d bytes, written otherwise: %s", piece, diff)
		}
		if diff := cmp.Diff(held.Tree(0, 100), large.Tree(0, 100)); diff != "" {
			t.Errorf("pieces of %d bytes, listed otherwise: %s", piece, diff)
		}
	}
	large := openPieces(t, path, 1000)
	say(t, large, user("And now?"), answer("Now this."))
	if got, want := seen(t, large), seen(t, openPieces(t, path, 0)); got != want {
		t.Errorf("after more was said: %s", cmp.Diff(want, got))
	}
}

// Where another program has written over the file, a copy fails and says so.
func TestLargeSessionThatIsOverwritten(t *testing.T) {
	s := create(t, nil)
	turns(t, s, 0, 4, 600)
	path := s.Info().Path
	large := openPieces(t, path, 1000)
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append([]byte("{}\n"), data...), 0o600))
	if _, err := large.CopyTo(context.Background(), store(t), &session.Options{}); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("a file that was written over is copied: %v", err)
	}
}

// Half a line that another process wrote is read once the rest of it is there.
func TestSyncWaitsForTheRestOfALine(t *testing.T) {
	s := create(t, nil)
	ids := say(t, s, user("one"))
	f, err := os.OpenFile(s.Info().Path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	line := fmt.Sprintf(`{"type":"message","id":"0a0b0c0d","parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"two"}]}}`+"\n", ids[0])
	for i, half := range []string{line[:60], line[60:]} {
		_, err := f.WriteString(half)
		must(t, err)
		if n, err := s.Sync(t.Context()); n != i || err != nil {
			t.Errorf("part %d: %d entries are new, %v", i+1, n, err)
		}
	}
}
