package summary

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/token"
)

func texts(n int, notation string) chat.History {
	msgs := randhist.Parse(notation)
	for i := range msgs {
		for k := range msgs[i].Parts {
			if p := &msgs[i].Parts[k]; p.Text != "" {
				p.Text += strings.Repeat(" word", n)
			}
		}
		msgs[i].ID = "m" + string(rune('a'+i))
	}
	return chat.NewHistory(msgs...)
}

func TestPrepare(t *testing.T) {
	tests := []struct {
		name     string
		history  chat.History
		o        PrepareOptions
		kept     int
		split    bool
		turn     int
		noReason bool
		reason   string
	}{
		{name: "A1.9 everything fits", history: texts(1, "u a u a u a u a u a"), o: PrepareOptions{KeepRecent: 2500}, reason: "what has to stay", turn: -1},
		{name: "A1.10 one assistant message", history: texts(1, "a"), o: PrepareOptions{KeepRecent: 1000}, reason: "nothing to compact", turn: -1},
		{name: "A1.11 within keep-recent", history: texts(1, "u a u a"), o: PrepareOptions{KeepRecent: 50000}, reason: "nothing to compact", turn: -1},
		{name: "A1.12 the cut falls inside a turn", history: texts(100, "u a u a a a"), o: PrepareOptions{KeepRecent: 150, Snap: -1}, kept: 4, split: true, turn: 2},
		{name: "snaps to a cheap turn start", history: texts(100, "u a u a a a"), o: PrepareOptions{KeepRecent: 150}, kept: 2, turn: -1},
		{name: "A1.18 repeated, everything since fits", history: texts(1, "u a u a u a u a"), o: PrepareOptions{KeepRecent: 20000, Start: 2, Previous: "First summary", Compacted: 6}, kept: 2, turn: -1, reason: "nothing to compact"},
		{name: "A1.19 repeated, texts are long", history: texts(100, "u a u a u a u a"), o: PrepareOptions{KeepRecent: 100, Start: 2, Previous: "First summary", Compacted: 6, Snap: -1}, kept: 7, split: true, turn: 6},
		{name: "A1.20 a small session", history: texts(1, "u a"), reason: "nothing to compact", turn: -1},
		{name: "A1.21 nothing since the last one", history: texts(100, "u a u a"), o: PrepareOptions{Compacted: 4}, reason: "already compacted", turn: -1},
		{name: "no messages", history: chat.NewHistory(), reason: "no messages", turn: -1},
		{name: "results stay with their call", history: texts(100, "u tc(A,B) t(A) t(B) a"), o: PrepareOptions{KeepRecent: 250, Snap: -1}, kept: 1, split: true, turn: 0},
		{name: "results in user messages too", history: texts(100, "u tc(A) r(A)+ a u a"), o: PrepareOptions{KeepRecent: 400, Snap: -1}, kept: 1, split: true, turn: 0},
		{name: "an earlier summary covers all", history: texts(1, "u a"), o: PrepareOptions{Start: 2}, kept: 2, reason: "covers every message", turn: -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Counter = token.New(token.O200K, nil)
			p, reason := Prepare(tt.history, tt.o)
			if !strings.Contains(reason, tt.reason) || (reason == "") != (tt.reason == "") {
				t.Errorf("reason %q", reason)
			}
			if p.KeptFrom != tt.kept || p.Split != tt.split || p.Turn != tt.turn {
				t.Errorf("kept from %d, split %v, turn %d", p.KeptFrom, p.Split, p.Turn)
			}
			if p.Previous != tt.o.Previous {
				t.Errorf("previous %q", p.Previous)
			}
		})
	}
}

func TestPrepareMessages(t *testing.T) {
	h := texts(100, "u a u a u a u a")
	p, reason := Prepare(h, PrepareOptions{KeepRecent: 100, Start: 2, Previous: "First summary", Snap: -1, Counter: token.New(token.O200K, nil), Focus: "tests"})
	if reason != "" {
		t.Fatal(reason)
	}
	if n := len(p.History()); n != 4 {
		t.Errorf("%d messages of history", n)
	}
	if n := len(p.TurnPrefix()); n != 1 {
		t.Errorf("%d messages of the turn", n)
	}
	if p.KeptID != h.At(7).ID || p.TokensBefore <= p.TokensKept || p.TokensKept == 0 {
		t.Errorf("kept %q, %d tokens before, %d kept", p.KeptID, p.TokensBefore, p.TokensKept)
	}
	if p.From != 2 || p.KeptFrom != 7 || p.Turn != 6 || p.Previous != "First summary" {
		t.Errorf("prepared %+v", p)
	}
}

// Whatever the history, a prepared cut keeps exchanges whole and keeps enough.
func TestPrepareProperty(t *testing.T) {
	counter := token.New(token.O200K, nil)
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 7))
		h := randhist.New(r, randhist.Options{MaxText: 4000})
		keep := 1 + r.IntN(2000)
		p, reason := Prepare(h, PrepareOptions{KeepRecent: keep, Counter: counter})
		if reason != "" {
			continue
		}
		o := chat.NewOutline(h)
		if p.KeptFrom <= 0 || p.KeptFrom >= h.Len() || !o.CanCut(p.KeptFrom) {
			t.Fatalf("seed %d: cut at %d of %d", seed, p.KeptFrom, h.Len())
		}
		if role := h.At(p.KeptFrom).Role; role != chat.User && role != chat.Assistant {
			t.Fatalf("seed %d: what stays starts with a %s message", seed, role)
		}
		if p.TokensKept < keep {
			t.Fatalf("seed %d: %d tokens stay, %d were asked for", seed, p.TokensKept, keep)
		}
		if p.Split != (p.Turn >= 0) || p.Split && (p.Turn >= p.KeptFrom || !h.At(p.Turn).StartsTurn()) {
			t.Fatalf("seed %d: split %v at %d", seed, p.Split, p.Turn)
		}
	}
}
