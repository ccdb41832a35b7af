package sqlite

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// TestLargeSessionIsReadAgain holds that a session whose records are not held is the
// same as one whose records are.
func TestLargeSessionIsReadAgain(t *testing.T) {
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	from, err := session.Create(ctx, session.NewMemory(), session.Header{ID: "large"}, nil)
	check(err)
	text := strings.Repeat("a line of a file\n", 4000)
	for i := range 300 {
		_, err := from.Append(ctx, chat.TextMessage(chat.User, text[i:]))
		check(err)
	}
	store, err := Open(filepath.Join(t.TempDir(), "sessions.db"), nil)
	check(err)
	defer store.Close() //nolint:errcheck // what was written is compared
	copied, err := from.CopyTo(ctx, store, nil)
	check(err)
	check(copied.Close())
	to, err := session.Open(ctx, store, "large", nil)
	check(err)
	defer to.Close() //nolint:errcheck // as above
	var want, got bytes.Buffer
	_, err = from.WriteTo(&want)
	check(err)
	_, err = to.WriteTo(&got)
	check(err)
	if !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Fatalf("%d bytes were read again, %d were written", got.Len(), want.Len())
	}
}
