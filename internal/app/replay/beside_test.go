package replay

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

// What a view shows as current, and whether the next read agrees.
func TestStale(t *testing.T) {
	read := func(id, text string) []chat.Message {
		return []chat.Message{chat.CallMessage("", chat.Call(id, "read", `{"path":"/repo/a.go"}`)), chat.ResultMessage(id, text)}
	}
	msgs := append(read("1", "1→one\n2→two\n3→three\n"), chat.CallMessage("", edit("2", "/repo/a.go", "two and more of it", "TWO")), chat.ResultMessage("2", "done"))
	at := len(msgs)
	msgs = append(msgs, read("3", "1→one\n2→TWO\n3→three\n")...)
	s := &Session{Session: transcript.Session{History: chat.NewHistory(msgs...)}}
	x := newNextIndex(s)
	c := &NextCut{At: at}
	h := s.History
	now := func(block string) []*chat.Message { return textView("## Files as they stand\n\n" + block) }
	for _, c2 := range []struct {
		name string
		view []*chat.Message
		want Tally
	}{
		{"a read whose edit is hidden", []*chat.Message{h.At(0), h.At(1)}, Tally{1, 3}},
		{"a read and its edit", []*chat.Message{h.At(0), h.At(1), h.At(2), h.At(3)}, Tally{}},
		{"numbers", now("### a.go\n1→one\n2→TWO\n"), Tally{0, 2}},
		{"a range", now("### a.go, lines 2-3\n```\nTWO\nThree\n```\n"), Tally{1, 2}},
		{"a text that claims nothing", textView("a.go\n1→one\n2→two\n"), Tally{}},
	} {
		if got := x.countStale(c, c2.view); got != c2.want {
			t.Errorf("%s: %+v, want %+v", c2.name, got, c2.want)
		}
	}
}

// One search finds what is hidden by the words that the agent wrote.
func TestSearched(t *testing.T) {
	s, at := small()
	x := newNextIndex(s)
	c := NextCut{At: at}
	x.findDemand(&c)
	view := textView("a.go\n" + oldStart)
	if found := x.countFound(&c, view, x.readView(view)); found.Of != 2 || found.Hit < 1 {
		t.Errorf("%+v", found)
	}
}

// textView returns a view of one text.
func textView(text string) []*chat.Message {
	m := chat.TextMessage(chat.User, text)
	return []*chat.Message{&m}
}
