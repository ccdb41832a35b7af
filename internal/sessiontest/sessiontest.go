// Package sessiontest has what tests of sessions share: settings with a small window,
// turns that fill it, and views that can be compared.
package sessiontest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// Settings make a window so small that a few messages fill it.
func Settings() winnow.Settings {
	return winnow.Settings{
		Window: 12000, OutputReserve: 1000, KeepRecent: 1500,
		Systems: winnow.Systems{Reserve: 500, PruneProtect: 1000, PruneMin: 200},
	}
}

// Turn returns the messages of one turn with a tool call, numbered n, of about
// that many bytes.
func Turn(n, size int) []chat.Message {
	id := fmt.Sprintf("call_%d", n)
	body := strings.Repeat(fmt.Sprintf("line %d of file%d.go: value %d\n", n, n, n*17), size/30+1)
	return []chat.Message{
		chat.TextMessage(chat.User, fmt.Sprintf("Request %d: look at file%d.go and fix it.", n, n)),
		chat.CallMessage(fmt.Sprintf("Reading file%d.go.", n), chat.Call(id, "read", fmt.Sprintf(`{"path":"file%d.go"}`, n))),
		chat.ResultMessage(id, body),
		chat.TextMessage(chat.Assistant, fmt.Sprintf("Fixed number %d.", n)),
	}
}

// View returns what the model sees, as text that can be compared.
func View(t testing.TB, s *session.Session) string {
	t.Helper()
	c, err := s.Context()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range c.View.Len() {
		m := c.View.At(i)
		fmt.Fprintf(&b, "%s %x\n", m.Role, m.Digest())
	}
	return b.String()
}
