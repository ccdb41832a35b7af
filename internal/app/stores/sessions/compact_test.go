package sessions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

// fillUntilDue appends turns until the conversation needs compaction.
func fillUntilDue(t *testing.T, s *session.Session, from int) int {
	t.Helper()
	for n := from; n < from+200; n++ {
		_, err := s.Append(t.Context(), sessiontest.Turn(n, 2500)...)
		must(t, err)
		due, _, err := s.NeedsCompaction()
		must(t, err)
		if due {
			return n + 1
		}
	}
	t.Fatal("the conversation never fills its window")
	return 0
}

func testCompaction(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	s := newSession(t, store, "compact")
	next := fillUntilDue(t, s, 0)
	whole := sessiontest.View(t, s)
	c, err := s.Compact(ctx, "the values")
	must(t, err)
	if c.Entry.Compaction == nil || c.Entry.Compaction.Plan == nil || c.After.Count.Tokens >= c.Before.Count.Tokens {
		t.Fatalf("compacted: %+v", c.Entry)
	}
	short := sessiontest.View(t, s)
	if short == whole {
		t.Fatal("nothing was compacted")
	}
	again := openAgain(t, open, dir, "compact")
	if sessiontest.View(t, again) != short {
		t.Error("the view is another one after reopening")
	}
	_, err = again.Rewind(ctx, c.Entry.ID)
	must(t, err)
	if sessiontest.View(t, again) != whole {
		t.Error("rewinding does not give the whole conversation back")
	}
	_, err = again.Append(ctx, sessiontest.Turn(next, 100)...)
	must(t, err)
	must(t, again.Close())
	if got := sessiontest.View(t, openAgain(t, open, dir, "compact")); !strings.HasPrefix(got, whole) {
		t.Error("the rewind is gone after reopening")
	}
}

func testFork(t *testing.T, open opener) {
	ctx := t.Context()
	store, _ := newStore(t, open)
	s := newSession(t, store, "parent")
	ids, err := s.Append(ctx, append(sessiontest.Turn(1, 100), sessiontest.Turn(2, 100)...)...)
	must(t, err)
	must(t, s.Label(ctx, ids[1], "here"))
	f, err := s.Fork(ctx, store, ids[3], testOptions())
	must(t, err)
	defer f.Close()
	if f.ID() == s.ID() || f.Info().Parent != s.ID() || f.Labels()[ids[1]] != "here" {
		t.Errorf("fork %q of %q, labels %v", f.ID(), f.Info().Parent, f.Labels())
	}
	if c, _ := f.Context(); c.View.Len() != 4 {
		t.Errorf("the fork has %d messages, want 4", c.View.Len())
	}
	_, err = f.Append(ctx, userMessage("elsewhere"))
	must(t, err)
	if c, _ := s.Context(); c.View.Len() != 8 {
		t.Errorf("the parent has %d messages, want 8", c.View.Len())
	}
	if _, err := s.Fork(ctx, store, "nowhere", nil); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("forking at nothing: %v", err)
	}
}

func testRetention(t *testing.T, open opener) {
	ctx := t.Context()
	store, _ := newStore(t, open)
	for i := range 6 {
		s := newSession(t, store, fmt.Sprintf("r%d", i))
		_, err := s.Append(ctx, userMessage(strings.Repeat("x", 1000)))
		must(t, err)
		time.Sleep(15 * time.Millisecond)
	}
	now := time.Now()
	names := func(list []session.Info) string {
		var out []string
		for _, i := range list {
			out = append(out, i.ID)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		r    session.Retention
		now  time.Time
		want string
	}{
		{session.Retention{}, now.Add(1000 * time.Hour), ""},
		{session.Retention{Age: time.Hour}, now, ""},
		{session.Retention{Age: time.Hour}, now.Add(2 * time.Hour), "r5 r4 r3 r2 r1 r0"},
		{session.Retention{Sessions: 4}, now, "r1 r0"},
		{session.Retention{Bytes: 3000}, now, "r3 r2 r1 r0"},
		{session.Retention{Bytes: 10}, now, "r4 r3 r2 r1 r0"},
	} {
		if list, err := c.r.Expired(ctx, store, c.now); err != nil || names(list) != c.want {
			t.Errorf("%+v: %q, %v, want %q", c.r, names(list), err, c.want)
		}
	}
	if gone, err := (session.Retention{Sessions: 2}).Expire(ctx, store, now); err != nil || names(gone) != "r3 r2 r1 r0" {
		t.Errorf("expired %q, %v", names(gone), err)
	}
	if list, _ := store.List(ctx, 0, 0); names(list) != "r5 r4" {
		t.Errorf("left: %q", names(list))
	}
}
