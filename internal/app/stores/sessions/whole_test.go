package sessions_test

import (
	"context"
	"errors"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

// testWhole imports a conversation while others look: they see all of it or
// nothing, at every moment, so that a crash at any of them leaves no half.
func testWhole(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	other, err := open(dir)
	must(t, err)
	defer other.Close()
	var msgs []chat.Message
	for i := range 800 {
		msgs = append(msgs, sessiontest.Turn(i, 300)...)
	}
	req := chat.Request{History: chat.NewHistory(msgs...)}

	done := make(chan error, 1)
	go func() {
		s, err := session.Import(ctx, store, session.Header{ID: "s"}, req, nil)
		if err == nil {
			err = s.Close()
		}
		done <- err
	}()
	for ended := false; !ended; {
		select {
		case err := <-done:
			must(t, err)
			ended = true
		default:
		}
		s, err := session.Open(ctx, other, "s", nil)
		if errors.Is(err, session.ErrNotFound) && !ended {
			continue
		}
		must(t, err)
		c, err := s.Context()
		must(t, err)
		must(t, s.Close())
		if n := c.Request.History.Len(); n != len(msgs) {
			t.Fatalf("%d of %d messages are there", n, len(msgs))
		}
	}
	if _, err := session.Import(ctx, store, session.Header{ID: "s"}, req, nil); !errors.Is(err, session.ErrExists) {
		t.Errorf("imported twice: %v", err)
	}

	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := session.Import(gone, store, session.Header{ID: "never"}, req, nil); err == nil {
		return // a store need not look at the context
	}
	if _, err := session.Open(ctx, store, "never", nil); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("what was called off is there: %v", err)
	}
}
