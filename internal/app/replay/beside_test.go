package replay

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

// Words in bare lists, of all words.
func TestBareWords(t *testing.T) {
	history := map[string]bool{"": true, "alpha beta gamma delta epsilon zeta eta theta iota": true}
	for _, c := range []struct {
		name, text string
		hit, of    int
	}{
		{"a sentence", "The agent changed the limit to 40 because the old one was too small.", 0, 14},
		{"a heap", "revive stuttering intentional distinguishes instantiates factories lightweight infrequently", 8, 8},
		{"seven words", "revive stuttering intentional distinguishes instantiates factories lightweight", 0, 7},
		{"a heap behind a sentence", "It is: revive stuttering intentional distinguishes instantiates factories lightweight rare odd", 9, 11},
		{"items with commas", "a.go, b.go, c.go, d.go, e.go, f.go, the end, h.go", 9, 9},
		{"items on lines", "a.go\nb.go\nc.go\nd.go\ne.go\nf.go\ng.go\nh.go", 8, 8},
		{"numbers on lines", "4821\n4822\n4901\n12\n77\n1000\n2000\n3000", 8, 8},
		{"a line of the history", "alpha beta gamma delta epsilon zeta eta theta iota", 0, 9},
		{"and behind a mark", "- alpha beta gamma delta epsilon zeta eta theta iota", 0, 9},
		{"and behind a number", "12→alpha beta gamma delta epsilon zeta eta theta iota", 0, 9},
	} {
		if got := bareWords(c.text, history); got != (Tally{c.hit, c.of}) {
			t.Errorf("%s: %+v, want %d of %d", c.name, got, c.hit, c.of)
		}
	}
}

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
	a := x.findAsked(&c)
	b := x.measureBeside(&c, a, textView("a.go\n"+oldStart), x.readView(textView("a.go\n"+oldStart)))
	if b.Found.Of != 2 || b.Found.Hit < 1 || b.Recent != (Tally{}) {
		t.Errorf("%+v", b)
	}
}

// What is recent, and the user's words.
func TestBeside(t *testing.T) {
	msgs := []chat.Message{
		chat.TextMessage(chat.User, "Never touch the vendor folder."),
	}
	for _, id := range []string{"1", "2", "3"} {
		msgs = append(msgs, chat.CallMessage("", chat.Call(id, "read", `{"path":"a.go"}`)), chat.ResultMessage(id, "text"))
	}
	at := len(msgs)
	msgs = append(msgs, chat.TextMessage(chat.Assistant, "done"))
	s := &Session{Session: transcript.Session{History: chat.NewHistory(msgs...)}}
	x := newNextIndex(s)
	c := NextCut{At: at}
	a := x.findAsked(&c)
	made := func(text string, from int) []*chat.Message {
		out := textView(text)
		for i := from; i < at; i++ {
			out = append(out, s.History.At(i))
		}
		return out
	}
	filler := strings.Repeat("the filler is here ", 40)
	for _, v := range []struct {
		name         string
		view         []*chat.Message
		user, recent Tally
	}{
		{"all of it", made(filler+"\nNever touch the vendor folder.", 1), Tally{1, 1}, Tally{1, 1}},
		{"nothing", made(filler, at), Tally{0, 1}, Tally{0, 1}},
		{"too small for three exchanges", made("x", at), Tally{0, 1}, Tally{}},
	} {
		b := x.measureBeside(&c, a, v.view, x.readView(v.view))
		if b.User != v.user || b.Recent != v.recent {
			t.Errorf("%s: user %v, recent %v", v.name, b.User, b.Recent)
		}
	}
}
