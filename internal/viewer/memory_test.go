package viewer

import (
	"context"
	"errors"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// A store in memory keeps sessions as others do, for as long as it lives.
func TestMemory(t *testing.T) {
	ctx := context.Background()
	m := &Memory{}
	s, err := session.Create(ctx, m, session.Header{ID: "a", Time: fixed()}, nil)
	must(t, err)
	_, err = s.Append(ctx, chat.TextMessage(chat.User, "hello"))
	must(t, err)
	must(t, s.Close())
	if _, err := session.Create(ctx, m, session.Header{ID: "a"}, nil); !errors.Is(err, session.ErrExists) {
		t.Errorf("created twice: %v", err)
	}
	s, err = session.Open(ctx, m, "a", nil)
	must(t, err)
	if n := s.Len(); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
	must(t, s.Close())
	if list, err := m.List(ctx, 0, 0); err != nil || len(list) != 1 || list[0].Bytes == 0 {
		t.Errorf("list: %+v, %v", list, err)
	}
	must(t, m.Delete(ctx, "a"))
	if _, err := m.Open(ctx, "a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("opened after it was deleted: %v", err)
	}
	if err := m.Delete(ctx, "a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}
