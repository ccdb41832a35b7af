package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/session"
)

// open makes a session in memory under these settings.
// Three rewrites in a row that did not last end in an error that says so: the
// session counts them from call to call, and from process to process.
func TestNotLasting(t *testing.T) {
	t.Run("in one process", func(t *testing.T) { notLasting(t, false) })
	t.Run("reopened before every call", func(t *testing.T) { notLasting(t, true) })
}

func notLasting(t *testing.T, reopened bool) {
	o := &session.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}}
	run := func(sentences int) error {
		store := session.NewMemory()
		s, err := session.Create(t.Context(), store, session.Header{}, o)
		must(t, err)
		defer func() { s.Close() }()
		bulk := say(t, s, user("the bulk "+strings.Repeat("of the matter is this one sentence ", sentences)), answer("noted"))
		must(t, s.Pin(t.Context(), bulk[0]))
		for i := range 60 {
			say(t, s, user(fmt.Sprint("go on ", i)), answer("yes, going on with it "+strings.Repeat("word ", 10)))
			if reopened {
				id := s.ID()
				must(t, s.Close())
				s, err = session.Open(t.Context(), store, id, o)
				must(t, err)
			}
			if _, err := s.Next(t.Context()); err != nil {
				return err
			}
		}
		return nil
	}
	for sentences := 964; sentences < 984; sentences++ {
		var stop *winnow.NotLastingError
		if errors.As(run(sentences), &stop) {
			if stop.Rewrites != 3 {
				t.Errorf("it stopped after %d rewrites", stop.Rewrites)
			}
			return
		}
	}
	t.Error("no bulk is such that rewrites do not last")
}

// The more calls found the provider's cache cold, the sooner a rewrite pays.
func TestColdCalls(t *testing.T) {
	commit := func(cold func(call int) bool) int {
		models, err := model.Default().WithOverrides([]byte(`{"models": {"gpt-4o": {"prices": {"input": 5, "cache_read": 0.2, "cache_write": 5, "output": 20}}}}`))
		must(t, err)
		set := winnow.Settings{Model: "gpt-4o", Window: 400_000, OutputReserve: 4000, Economy: winnow.EconomyPrices, CommitFloor: 10_000}
		s, err := session.Create(t.Context(), session.NewMemory(), session.Header{}, &session.Options{Settings: set, Registry: models})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		for i := range 20 {
			say(t, s, user(fmt.Sprint("question ", i)))
			c, err := s.Next(t.Context())
			must(t, err)
			usage := chat.Usage{CacheRead: c.Status.Count.Tokens, Output: 900}
			if cold(i) {
				usage.Input, usage.CacheRead = usage.CacheRead, 0
			}
			_, err = s.Answered(t.Context(), answer(strings.Repeat(fmt.Sprintf("fact %d of the matter; ", i), 130)), usage)
			must(t, err)
		}
		_, status, err := s.NeedsCompaction()
		must(t, err)
		return status.Commit.At
	}
	warm := commit(func(int) bool { return false })
	if cold := commit(func(call int) bool { return call%4 == 3 }); cold == 0 || cold >= warm {
		t.Errorf("rewrites at %d tokens with every fourth call cold, at %d with none", cold, warm)
	}
}
