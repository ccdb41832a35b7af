package session_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

// What usage has taught about the counts is not forgotten by a restart, also
// when the conversation was compacted since: another process measures what the
// compaction said, and after a rewind the same as before it.
func TestCountAfterRestart(t *testing.T) {
	ctx := t.Context()
	for _, tenths := range []int{7, 13} {
		s := create(t, nil)
		turns(t, s, 0, 12, 2500)
		say(t, s, user("go on"))
		last := answer("x")
		last.Model = "m"
		_, err := s.Answered(ctx, last, chat.Usage{Input: count(t, s) * tenths / 10, Output: 5})
		must(t, err)
		restart := func() {
			t.Helper()
			var err error
			s, err = session.New(ctx, reopen(t, s), &session.Options{Settings: sessiontest.Settings()})
			must(t, err)
			t.Cleanup(func() { s.Close() })
		}
		restart()
		before := count(t, s)
		c, err := s.Compact(ctx, "")
		must(t, err)
		live := count(t, s)
		restart()
		if got := count(t, s); got != live {
			t.Errorf("usage of %d tenths: %d tokens after the compaction, %d after a restart", tenths, live, got)
		}
		_, err = s.Rewind(ctx, c.Entry.ID)
		must(t, err)
		restart()
		if got := count(t, s); got != before {
			t.Errorf("usage of %d tenths: %d tokens before the compaction, %d after its rewind", tenths, before, got)
		}
	}
}

// A name is the session's and not a branch's: it is the same wherever the leaf
// is, and in lists, also when much was said since.
func TestNameStays(t *testing.T) {
	ctx := t.Context()
	store := store(t)
	s, err := session.Create(ctx, store, session.Header{ID: "s"}, nil)
	must(t, err)
	defer s.Close()
	ids := say(t, s, user("first"), answer("one"), user("second"))
	must(t, s.SetName(ctx, "Größe und \"mehr\""))
	for range 40 {
		say(t, s, user(strings.Repeat("much is said ", 1000)))
	}
	_, err = s.Navigate(ctx, ids[1], session.NavigateOptions{})
	must(t, err)
	st, err := s.Stats()
	must(t, err)
	list, err := store.List(ctx, 0, 0)
	must(t, err)
	for _, got := range []string{s.Name(), st.Name, list[0].Name} {
		if got != "Größe und \"mehr\"" {
			t.Errorf("the name is %q in %q, %q and the list's %q", got, s.Name(), st.Name, list[0].Name)
		}
	}
	if list[0].Title != "first" {
		t.Errorf("the list's title is %q", list[0].Title)
	}
}
