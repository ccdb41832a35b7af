package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// padding is text of about that number of tokens that nobody asks for.
func padding(tokens int) string {
	var b strings.Builder
	for i := range tokens / 8 {
		fmt.Fprintf(&b, "the wind blew from field %d\n", i)
	}
	return b.String()
}

// farAndNear is a session in which one file is read early and one late, with a
// message between them that nobody typed; both are edited after message 11.
func farAndNear() Session {
	reminder := chat.TextMessage(chat.User, "Reminder: the list is empty.")
	reminder.Synthetic = true
	return Session{File: "far", Session: transcript.Session{
		System: []chat.Part{{Kind: chat.Text, Text: "You mend things."}},
		History: chat.NewHistory(
			chat.TextMessage(chat.User, "Please mend the start. You must never touch the tests."),
			chat.CallMessage("", chat.Call("1", "read", `{"path":"/repo/a.go"}`)),
			chat.ResultMessage("1", oldStart+"\n"),
			chat.TextMessage(chat.Assistant, "The start is mended: it opened what nobody closed, and "+padding(200)+"that is all."),
			chat.TextMessage(chat.User, "Now mend the stop."),
			reminder,
			chat.CallMessage("", chat.Call("2", "bash", `{"command":"make noise"}`)),
			chat.ResultMessage("2", padding(19_000)),
			chat.CallMessage("", chat.Call("3", "read", `{"path":"/repo/b.go"}`)),
			chat.ResultMessage("3", oldStop+"\n"),
			chat.TextMessage(chat.User, "Go on. "+padding(8000)),
			chat.CallMessage("", edit("4", "/repo/a.go", oldStart, "func start() {}")),
			chat.ResultMessage("4", "done"),
			chat.CallMessage("", edit("5", "/repo/b.go", oldStop, "func stop() {}")),
			chat.ResultMessage("5", "done"),
		),
	}}
}

// The field hands out requests as they are sent, with their fixed part, and judges
// whatever view comes back.
func TestField(t *testing.T) {
	k := token.New(counting, nil)
	place := Place{Window: 40_000, Fixed: 5000, At: 0.95}
	var requests []chat.Request
	newest := func(n int) FieldPolicy {
		return FieldPolicy{Name: fmt.Sprint(n), View: func(_ context.Context, req chat.Request) ([]*chat.Message, error) {
			requests = append(requests, req)
			var out []*chat.Message
			for i := max(0, req.History.Len()-n); i < req.History.Len(); i++ {
				out = append(out, req.History.At(i))
			}
			return out, nil
		}}
	}
	d := &Data{Sessions: []Session{farAndNear()}}
	b, err := Field(t.Context(), d, &FieldOptions{Places: []Place{place}, Edits: true, Crew: Crew{Workers: 1}, Policies: func(Place) ([]FieldPolicy, error) {
		return []FieldPolicy{newest(100), newest(3)}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := &b.Places[0]
	if p.Cuts != 1 || p.Edits != 2 || p.ByAge[0] != 1 || p.ByAge[1] != 1 {
		t.Fatalf("%d cuts, %d edits, by age %v", p.Cuts, p.Edits, p.ByAge)
	}
	whole, short := &p.Rows[0], &p.Rows[1]
	if whole.V != 1 || whole.Share != 1 || *whole.Closing != 1 || *whole.C != 1 || *whole.Typed != 1 {
		t.Errorf("everything: V %v, share %v, closing %v, C %v, typed %v", whole.V, whole.Share, *whole.Closing, *whole.C, *whole.Typed)
	}
	if short.V != .5 || *short.ByAge[0] != 1 || *short.ByAge[1] != 0 || *short.Part != 0 || *short.C != 0 || short.Rivals[0].V != .5 {
		t.Errorf("the newest messages: %+v", short)
	}
	for _, req := range requests {
		if n := k.Conversation() + k.System(req.System) + k.Tools(req.Tools); n < 4900 || n > 5100 || req.System[0].Text != "You mend things." {
			t.Errorf("a fixed part of %d tokens", n)
		}
		for i, m := range req.History.All() {
			if m.Synthetic {
				t.Errorf("message %d is marked", i)
			}
		}
	}
}

// Of a closing message its first words count in part, and quoted words count.
func TestWordsKept(t *testing.T) {
	s := farAndNear()
	x := newNextIndex(&s)
	w := x.wordsBefore(&NextCut{At: 11})
	said := s.History.At(3).Text()
	for _, c := range []struct {
		view        string
		whole, part int
	}{
		{said, 1, 1},
		{"> " + strings.ReplaceAll(said, "\n", "\n> "), 1, 1},
		{said[:400], 0, 1},
		{said[100:], 0, 0},
	} {
		if k := w.measureKept(textView(c.view)); k.Whole != (Tally{c.whole, 1}) || k.Part != (Tally{c.part, 1}) {
			t.Errorf("%.20q…: whole %v, in part %v", c.view, k.Whole, k.Part)
		}
	}
}

// What is read again after a compaction is looked for in a view that may be as
// large as the client's.
func TestRegret(t *testing.T) {
	s := farAndNear()
	s.History = s.History.Append(
		chat.CallMessage("", chat.Call("6", "read", `{"path":"/repo/a.go"}`)), chat.ResultMessage("6", oldStart+"\n"),
		chat.CallMessage("", chat.Call("7", "read", `{"path":"/repo/new.go"}`)), chat.ResultMessage("7", "package fresh\n"),
	)
	s.Compactions = []transcript.Compaction{{At: 11, Summary: "Things were mended."}}
	for _, c := range []struct {
		from, hit int
	}{{0, 2}, {8, 0}} {
		b, err := Field(t.Context(), &Data{Sessions: []Session{s}}, &FieldOptions{Policies: func(p Place) ([]FieldPolicy, error) {
			return []FieldPolicy{{Name: "x", View: func(_ context.Context, req chat.Request) ([]*chat.Message, error) {
				if p.Target > 0 && p.Target != leastView+p.Fixed {
					t.Errorf("asked for %d tokens", p.Target)
				}
				var out []*chat.Message
				for i := c.from; i < req.History.Len(); i++ {
					out = append(out, req.History.At(i))
				}
				return out, nil
			}}}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r := b.Recorded; r.Places != 1 || r.Reads != 2 || r.Again != 1 || r.Lines.Hit != c.hit || r.Lines.Of < 2 {
			t.Errorf("from message %d: %+v", c.from, r)
		}
	}
}

// An agent without files needs what results showed: values that stand before the
// cut, and neither in the system prompt nor in a message since.
func TestNextArgs(t *testing.T) {
	s := &Session{Session: transcript.Session{
		System: []chat.Part{{Kind: chat.Text, Text: "Cabins are economy and business."}},
		History: chat.NewHistory(
			chat.TextMessage(chat.User, "Change my flight, I am ann_7."),
			chat.CallMessage("", chat.Call("1", "look_up", `{"user":"ann_7"}`)),
			chat.ResultMessage("1", `{"order":"ZX81QQ","cabin":"economy"}`),
			chat.CallMessage("", chat.Call("2", "change", `{"order":"ZX81QQ","cabin":"economy","flight":"HAT099"}`)),
			chat.ResultMessage("2", "done"),
			chat.CallMessage("", chat.Call("3", "mail", `{"order":"ZX81QQ","user":"ann_7"}`)),
		),
	}}
	if got := nextArgs(s, 3); fmt.Sprint(got) != "[ZX81QQ ann_7]" {
		t.Errorf("%q", got)
	}
	if withoutFiles(s) {
		t.Error("three calls are too few to measure")
	}
}
