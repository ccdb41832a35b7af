package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/session"
)

// work appends turn i of an agent that reads and edits files.
func work(t testing.TB, s *session.Session, i int) {
	t.Helper()
	call := chat.Message{Role: chat.Assistant, Parts: []chat.Part{
		{Kind: chat.Text, Text: fmt.Sprintf("Step %d: I look at the next file.", i)},
		{Kind: chat.ToolCall, ID: fmt.Sprint("call", i), Name: "read_file", Args: fmt.Sprintf(`{"path":"pkg/file_%d.go"}`, i)},
	}}
	var text strings.Builder
	for k := range 40 {
		fmt.Fprintf(&text, "%d\tfunc step%d_%d(x int) error { return check(x, %d) }\n", k+1, i, k, i*k)
	}
	result := chat.Message{Role: chat.Tool, Parts: []chat.Part{{Kind: chat.ToolResult, ID: fmt.Sprint("call", i), Name: "read_file", Text: text.String()}}}
	say(t, s, user(fmt.Sprintf("Now do part %d of the work.", i)), call, result, answer(fmt.Sprintf("Part %d is done: step%d_3 checks its argument.", i, i)))
}

// share returns how many bytes a session has, and how many of them are in its
// compactions.
func share(s *session.Session) (total, compactions, n int) {
	for _, e := range s.Path() {
		total += len(e.Raw)
		if e.Type == session.TypeCompaction || e.Custom == "winnow.plan" {
			compactions += len(e.Raw)
			n++
		}
	}
	return total, compactions, n
}

// A session with many compactions is mostly the conversation, because each
// compaction holds only its own plan. Any of them can still be taken back, also
// by a program that reads the session from its file.
func TestManyCompactions(t *testing.T) {
	longrun.Only(t, "84 compactions take a while")
	const many = 84
	o := &session.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}}
	st := store(t)
	s, err := session.Create(t.Context(), st, session.Header{Dir: "/project"}, o)
	must(t, err)
	for i := 0; len(s.Compactions()) < many; i++ {
		if i > 20*many {
			t.Fatalf("%d compactions after %d turns", len(s.Compactions()), i)
		}
		work(t, s, i)
		_, err := s.Next(t.Context())
		must(t, err)
	}
	total, compactions, n := share(s)
	t.Logf("%d compactions: %d of %d bytes", n, compactions, total)
	if compactions > total*2/3 {
		t.Errorf("%d compactions take %d of %d bytes", n, compactions, total)
	}
	all := s.Compactions()
	first, last := len(all[2].Raw), len(all[many-1].Raw)
	for _, e := range all[many-10:] {
		last = min(last, len(e.Raw))
	}
	if last > 10*first {
		t.Errorf("compaction 3 has %d bytes, none of the last ten less than %d", first, last)
	}

	view := seen(t, s)
	must(t, s.Close())
	s, err = session.Open(t.Context(), st, s.ID(), o)
	must(t, err)
	defer s.Close()
	if seen(t, s) != view {
		t.Error("the session reads otherwise than it was written")
	}
	// The edits of an early compaction are in none of the later plans but as
	// names: where they can be taken back, they were found.
	for _, e := range []session.Entry{all[many-3], all[many/2], all[1]} {
		back, err := s.Rewind(t.Context(), e.ID)
		must(t, err)
		if p := back.Compaction.Plan; p == nil || slices.Contains(p.Makers(), e.Compaction.Plan.ID()) {
			t.Errorf("plan %s is taken back, and in force is %v", e.Compaction.Plan.ID(), p)
		}
		if now := seen(t, s); now == view {
			t.Errorf("taking back %s shows nothing more", e.ID)
		} else {
			view = now
		}
	}
	if _, _, now := share(s); now != n+3 {
		t.Errorf("%d compactions, want three more than %d", now, n)
	}
}
