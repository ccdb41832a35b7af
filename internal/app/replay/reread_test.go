package replay

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// dropping forgets all but the newest exchange when the history has one of these
// lengths.
func dropping(lengths ...int) Policy {
	return Keeping("dropping", false, func(w *Working) {
		if slices.Contains(lengths, w.next) {
			note := chat.TextMessage(chat.User, "go on")
			w.Drop(len(w.Msgs)-2, &note)
		}
	}, nil)
}

// What is read again, by hand: a text is lost in a rewrite, read again, stays
// until the next rewrite, and is then read once more.
func TestRereads(t *testing.T) {
	text := func(name string) string { return "func " + name + "() {\n\tcall(" + name + ")\n}" }
	file := text("start") + "\n\n" + text("stop") + "\n\n" + text("pause") + "\n\n" + text("resume") + "\n"
	list := func(id string) []chat.Message {
		return []chat.Message{chat.CallMessage("", chat.Call(id, "ls", `{"path":"."}`)), chat.ResultMessage(id, "a.go")}
	}
	change := func(id, name string) []chat.Message {
		return []chat.Message{chat.CallMessage("", edit(id, "a.go", text(name), "x")), chat.ResultMessage(id, "done")}
	}
	msgs := slices.Concat(
		[]chat.Message{chat.TextMessage(chat.User, "Fix it.")},
		[]chat.Message{chat.CallMessage("", chat.Call("1", "read", `{"path":"a.go"}`)), chat.ResultMessage("1", file)},
		list("2"), list("3"), // 7 messages
		change("4", "start"), // request at 7: lost
		change("5", "stop"),  // at 9: rides along
		list("6"),            // at 11
		change("7", "pause"), // at 13: still there
		list("8"), list("9"),
		change("10", "resume"), // at 19: lost again
	)
	for i := range msgs {
		msgs[i].Time = int64(i+1) * 10_000
	}
	s := &Session{Session: transcript.Session{History: chat.NewHistory(msgs...)}, File: "by hand"}
	k := token.New(counting, nil)
	o := (&Options{}).orDefault()
	x := newNextIndex(s)
	d := driver{index: newIndex(s, k), window: 64000, price: o.Model, next: x, step: medianStep(s.History)}
	got, err := d.run(t.Context(), dropping(7, 19))
	if err != nil {
		t.Fatal(err)
	}
	if got.Edits != (Tally{2, 4}) || got.Rereads != 2 || got.Rewrites != 2 {
		t.Fatalf("%+v of the edits ready, %d re-reads, %d rewrites", got.Edits, got.Rereads, got.Rewrites)
	}
	// The dollars of re-reading are those of two more requests, and of the part
	// in every prompt between the first of them and the rewrite.
	part := func(i int) int { return k.Message(&chat.Message{Role: chat.Tool, Parts: s.History.At(i).Parts}) }
	note := chat.TextMessage(chat.User, "go on")
	size := func(from, to int) int {
		n := d.fixed + k.Message(&note)
		for i := from; i < to; i++ {
			n += k.At(s.History, i)
		}
		return n
	}
	p := o.Model
	cost := func(read, write, output int) float64 {
		if read < p.Cache.MinPrefix && output > 0 {
			read, write = 0, read+write
		}
		return p.Prices.Cost(chat.Usage{CacheRead: read, CacheWrite: write, Output: output})
	}
	riding := 0
	for i := 8; i < 19; i++ {
		if s.History.At(i).Role == chat.Assistant {
			riding++
		}
	}
	want := cost(size(5, 7), part(2), rereadOutput) + float64(riding)*cost(part(2), 0, 0) +
		cost(size(17, 19), part(2), rereadOutput)
	if math.Abs(got.Again-want) > 1e-12 {
		t.Errorf("re-reads cost $%.8f, want $%.8f", got.Again, want)
	}
	if want := 2 * 20 * time.Second; got.Lost() != want {
		t.Errorf("%v lost, want %v", got.Lost(), want)
	}
	if got.After != size(5, 7)+size(17, 19)-2*d.fixed {
		t.Errorf("views after rewrites have %d tokens", got.After)
	}
	// The rewrites left nothing of the edits that followed.
	// A tail of the same size had nothing either, and an agent that wrote no words
	// has nothing to search with.
	if r := got.rewritten; r.own.all() != (Tally{0, 5}) || r.rivals[0].all() != (Tally{0, 5}) || r.found != (Tally{0, 5}) {
		t.Errorf("right after the rewrites: %+v", r)
	}
	// Who sends everything reads nothing again.
	all, err := d.run(t.Context(), None())
	if err != nil || all.Rereads != 0 || all.Edits != (Tally{4, 4}) || all.Again != 0 {
		t.Errorf("none: %+v, %v", all, err)
	}
}
