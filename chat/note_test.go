package chat_test

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func TestNotes(t *testing.T) {
	one, two := chat.TextMessage(chat.User, "one"), chat.TextMessage(chat.User, "two")
	h := chat.NewHistory(one)
	if h.Note(0).Load() != 0 {
		t.Error("a new message has a note")
	}
	h.Note(0).Store(7)
	a, b := h.Append(two), h.Append(one, two)
	c := a.Append(one).Append(two)
	for _, x := range []chat.History{h, a, b, c, c.Head(1)} {
		if n := x.Note(0).Load(); n != 7 {
			t.Errorf("the note is %d in a history of %d messages", n, x.Len())
		}
	}
	// What was appended in two ways has notes of its own.
	a.Note(1).Store(1)
	b.Note(1).Store(2)
	if a.Note(1).Load() != 1 || b.Note(1).Load() != 2 {
		t.Error("different messages share a note")
	}
	if h.Digest(0) != chat.NewHistory(one).Digest(0) {
		t.Error("a note changes the hash")
	}
}
