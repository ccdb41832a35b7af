package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

// Messages that come in while the compaction at the end of a turn is made stand
// after it, in order, and tell the driver to go on, once. (A7.1)
func TestQueuedMessages(t *testing.T) {
	ctx := t.Context()
	sum := newSlow()
	s := create(t, &session.Options{Summarizer: sum, Settings: folding()})
	s.Begin()
	turns(t, s, 0, 12, 2500)
	type ended struct {
		c   *session.Compacted
		err error
	}
	done := make(chan ended, 1)
	go func() {
		c, err := s.End(ctx)
		done <- ended{c, err}
	}()
	<-sum.started
	say(t, s, user("queued one"))
	say(t, s, user("queued two"))
	close(sum.goOn)
	got := <-done
	must(t, got.err)
	if got.c == nil || got.c.Queued != 2 || got.c.Entry.Compaction.Reason != "threshold" {
		t.Fatalf("the end of the turn: %+v", got.c)
	}
	if w := words(t, s); !strings.HasSuffix(w, "|queued one|queued two") {
		t.Errorf("the queued messages are not at the end: %.200q", w[max(0, len(w)-200):])
	}
	// The run goes on with them and ends without another compaction.
	s.Begin()
	say(t, s, answer("to both"))
	if c, err := s.End(ctx); c != nil || err != nil {
		t.Errorf("a second compaction: %+v, %v", c, err)
	}
	// Without any, nothing tells the driver to go on.
	turns(t, s, 100, 12, 2500)
	c, err := s.End(ctx)
	must(t, err)
	if c == nil || c.Queued != 0 {
		t.Errorf("no message came in: %+v", c)
	}
}

// piMessages writes a session file of pi with these messages after one another.
func piMessages(t *testing.T, messages ...string) session.Log {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}` + "\n")
	parent := "null"
	for i, m := range messages {
		id := fmt.Sprintf("%08x", i+1)
		fmt.Fprintf(&b, `{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:0%d.000Z","message":%s}`+"\n", id, parent, i, m)
		parent = `"` + id + `"`
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, b.String())
	log, err := openFile(path)
	must(t, err)
	return log
}

// What an API error does to the check: the usage before it counts (A7.4), and
// where there is none sizes are estimated (A7.5, as pi does since 0.84.3).
func TestUsageAndErrors(t *testing.T) {
	const (
		failed = `{"role":"assistant","content":[],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0},"stopReason":"error","errorMessage":"529 overloaded","timestamp":5}`
		good   = `{"role":"assistant","content":[{"type":"text","text":"done"}],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":1000,"output":500,"cacheRead":188500,"cacheWrite":0,"totalTokens":190000},"stopReason":"stop","timestamp":2}`
	)
	below := strings.ReplaceAll(strings.ReplaceAll(good, "188500", "168500"), "190000", "170000")
	said := func(text string) string { return `{"role":"user","content":"` + text + `","timestamp":1}` }
	set := winnow.Settings{Preset: "pi", Window: 200_000, OutputReserve: 8000}
	for _, c := range []struct {
		name     string
		messages []string
		due      bool
		tokens   int // at least
	}{
		{"A7.4: an error after 190k of 200k", []string{said("a"), good, said("b"), failed}, true, 190_000},
		{"A7.4: and a message after it", []string{said("a"), good, said("b"), failed, said("again")}, true, 190_000},
		{"A1.6: the reserve alone decides, at 170k of 200k", []string{said("a"), below, said("b")}, false, 170_000},
		{"A7.5: an error and no usage, little said", []string{said("a"), failed}, false, 1},
		{"A7.5: an error and no usage, much said", []string{said(strings.Repeat("some words and more ", 50_000)), failed}, true, 160_000},
	} {
		s, err := session.New(t.Context(), piMessages(t, c.messages...), &session.Options{Settings: set})
		must(t, err)
		due, status, err := s.NeedsCompaction()
		must(t, err)
		if due != c.due || status.Count.Tokens < c.tokens {
			t.Errorf("%s: due %v with %d tokens", c.name, due, status.Count.Tokens)
		}
		must(t, s.Close())
	}
}

// Usage that another program reported for less than stands here says nothing:
// it had compacted in a way that the session does not tell.
func TestUsageOfLess(t *testing.T) {
	ctx := t.Context()
	msgs := chat.Messages{}
	for i := range 60 {
		msgs = append(msgs, sessiontest.Turn(i, 2500)...)
	}
	last := answer("the client had compacted before this")
	last.Usage = &chat.Usage{Input: 900, Output: 10}
	msgs = append(msgs, last)
	s, err := session.Import(ctx, store(t), session.Header{}, chat.Request{History: chat.NewHistory(msgs...)}, &session.Options{Settings: sessiontest.Settings()})
	must(t, err)
	defer s.Close()
	if due, status, err := s.NeedsCompaction(); err != nil || !due || status.Count.Tokens < 20_000 {
		t.Errorf("due %v with %d tokens: %v", due, status.Count.Tokens, err)
	}
}

// The last compaction is the last one that was not taken back.
func TestLastCompaction(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	if _, ok := s.LastCompaction(); ok {
		t.Error("there is one before the first")
	}
	var ids []string
	for i := range 2 {
		turns(t, s, 20*i, 12, 2500)
		c, err := s.Compact(ctx, "")
		must(t, err)
		ids = append(ids, c.Entry.ID)
	}
	for _, want := range []string{ids[1], ids[0], ""} {
		e, ok := s.LastCompaction()
		if e.ID != want || ok != (want != "") {
			t.Fatalf("the last compaction is %q, want %q", e.ID, want)
		}
		if ok {
			_, err := s.Rewind(ctx, e.ID)
			must(t, err)
		}
	}
	// Right after a compaction there is nothing to do, unless a focus asks for it.
	turns(t, s, 50, 12, 2500)
	_, err := s.Compact(ctx, "")
	must(t, err)
	if _, err := s.Compact(ctx, ""); !errors.Is(err, session.ErrNothing) {
		t.Errorf("compacted again: %v", err)
	}
}

// What another client's provider reported is about what that client sent, which
// may have been less: it does not change how an imported session is measured.
// Usage that comes later counts.
func TestUsageOfImported(t *testing.T) {
	ctx := t.Context()
	plain, reported := chat.Messages{}, chat.Messages{}
	for i := range 20 {
		plain = append(plain, sessiontest.Turn(i, 2500)...)
		reported = append(reported, sessiontest.Turn(i, 2500)...)
	}
	set := sessiontest.Settings()
	o := &session.Options{Settings: set, Provider: "anthropic", Model: "claude-sonnet-4-5"}
	take := func(msgs chat.Messages) *session.Session {
		s, err := session.Import(ctx, store(t), session.Header{}, chat.Request{History: chat.NewHistory(msgs...)}, o)
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	want := count(t, take(append(plain, answer("done"))))
	last := answer("done")
	last.Usage = &chat.Usage{Input: want * 7 / 10, Output: 10}
	s := take(append(reported, last))
	if got := count(t, s); got != want {
		t.Errorf("measured as %d, the same without usage as %d", got, want)
	}
	c, err := s.Context()
	must(t, err)
	if c.Provider != "anthropic" || c.Model != "claude-sonnet-4-5" {
		t.Errorf("%s/%s answered", c.Provider, c.Model)
	}
	// One number before and after, there and back.
	done, err := s.Compact(ctx, "")
	must(t, err)
	e, r := done.Entry.Compaction, &done.Report
	if sum := r.Kept.Before + r.Reduced.Before + r.Removed.Before; e.TokensBefore != want || sum != want {
		t.Errorf("before: %d said, %d in the report, %d measured", e.TokensBefore, sum, want)
	}
	if got := count(t, s); got != e.TokensAfter {
		t.Errorf("after: %d said, %d measured", e.TokensAfter, got)
	}
	back, err := s.Rewind(ctx, done.Entry.ID)
	must(t, err)
	if b := back.Compaction; b.TokensBefore != e.TokensAfter || b.TokensAfter != want || count(t, s) != want {
		t.Errorf("rewound from %d to %d, measured %d", b.TokensBefore, b.TokensAfter, count(t, s))
	}
	say(t, s, user("go on"))
	_, err = s.Next(ctx)
	must(t, err)
	_, err = s.Answered(ctx, answer("gone on"), chat.Usage{Input: 2 * want, Output: 10})
	must(t, err)
	s2, err := session.New(ctx, reopen(t, s), &session.Options{Settings: set})
	must(t, err)
	defer s2.Close()
	if got := count(t, s2); got < 2*want {
		t.Errorf("usage that came after the import is not heeded: %d", got)
	}
}

// Where usage has corrected the count, a report and a rewind are corrected too.
func TestReportInUnits(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	turns(t, s, 0, 12, 2500)
	say(t, s, user("go on"))
	raw := count(t, s)
	_, err := s.Answered(ctx, answer("x"), chat.Usage{Input: raw * 13 / 10, Output: 5})
	must(t, err)
	before := count(t, s)
	if before < raw*12/10 {
		t.Fatalf("usage is not heeded: %d of %d", before, raw)
	}
	c, err := s.Compact(ctx, "")
	must(t, err)
	r := &c.Report
	near := func(what string, got, want int) {
		t.Helper()
		if d := got - want; d < -5 || d > 5 {
			t.Errorf("%s: %d in the report, %d said", what, got, want)
		}
	}
	near("before", r.Kept.Before+r.Reduced.Before+r.Removed.Before, before)
	near("after", r.Kept.After+r.Reduced.After+r.Removed.After, c.Entry.Compaction.TokensAfter)
	near("the next count", count(t, s), c.Entry.Compaction.TokensAfter)
}

// After a rewind a session can be compacted again, and a rewind does not count as a
// compaction.
func TestCompactAfterRewind(t *testing.T) {
	ctx := t.Context()
	said := func(role, text string) string {
		if role == "user" {
			return `{"role":"user","content":"` + text + `","timestamp":1}`
		}
		return `{"role":"assistant","content":[{"type":"text","text":"` + text + `"}],"provider":"p","model":"m","stopReason":"stop","timestamp":1}`
	}
	var list []string
	for range 4 {
		list = append(list, said("user", "look"), said("assistant", strings.Repeat("some words and more ", 100)))
	}
	log := piMessages(t, list...)
	path := log.Info().Path
	must(t, log.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	// Pi has compacted, and the conversation went on.
	all := string(data) + `{"type":"compaction","id":"c","parentId":"00000008","timestamp":"2026-01-01T00:00:09.000Z","summary":"looked","firstKeptEntryId":"00000007","tokensBefore":900}` + "\n"
	parent := "c"
	for i := range 20 {
		id := fmt.Sprintf("a%07d", i)
		role := []string{"user", "assistant"}[i%2]
		all += fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:01:00.000Z","message":%s}`+"\n", id, parent, said(role, strings.Repeat("later words ", 60)))
		parent = id
	}
	write(t, path, all)
	log, err = openFile(path)
	must(t, err)
	s, err := session.New(ctx, log, &session.Options{Settings: winnow.Settings{Window: 200_000, OutputReserve: 8000, KeepRecent: 200}})
	must(t, err)
	defer s.Close()
	before := seen(t, s)
	for i := range 2 {
		done, err := s.Compact(ctx, "")
		if err != nil {
			t.Fatalf("compaction %d: %v", i, err)
		}
		if _, err := s.Compact(ctx, ""); !errors.Is(err, session.ErrNothing) {
			t.Errorf("compacted twice at once: %v", err)
		}
		_, err = s.Rewind(ctx, done.Entry.ID)
		must(t, err)
		if seen(t, s) != before {
			t.Fatal("the rewind gives another view")
		}
	}
	st, err := s.Stats()
	must(t, err)
	if st.Compactions != 3 || st.Rewinds != 2 {
		t.Errorf("%d compactions, %d rewinds", st.Compactions, st.Rewinds)
	}
}

func count(t testing.TB, s *session.Session) int {
	t.Helper()
	_, status, err := s.NeedsCompaction()
	must(t, err)
	return status.Count.Tokens
}
