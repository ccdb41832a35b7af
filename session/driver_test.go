package session_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/sessiontest"
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
	said := func(text string) string { return `{"role":"user","content":"` + text + `","timestamp":1}` }
	set := winnow.Settings{Window: 200_000, MaxTokens: 8000}
	for _, c := range []struct {
		name     string
		messages []string
		due      bool
		tokens   int // at least
	}{
		{"A7.4: an error after 190k of 200k", []string{said("a"), good, said("b"), failed}, true, 190_000},
		{"A7.4: and a message after it", []string{said("a"), good, said("b"), failed, said("again")}, true, 190_000},
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
