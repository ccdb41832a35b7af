package replaygen

import (
	"math"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

func TestSameSeedSameSession(t *testing.T) {
	a, b, c := Session(1, Options{}), Session(1, Options{}), Session(2, Options{})
	n := a.History.Len()
	if a.History.Chain(n) != b.History.Chain(b.History.Len()) {
		t.Error("the same seed gave two sessions")
	}
	if a.History.Chain(n) == c.History.Chain(c.History.Len()) {
		t.Error("two seeds gave one session")
	}
}

// A session has the shape it was asked for, and is one that providers accept.
func TestShape(t *testing.T) {
	k := token.New(token.O200K, nil)
	for _, o := range []Options{{}, {Requests: 400, Growth: 2500, Output: 600, System: 25000}} {
		s := Session(3, o)
		if ps := chat.AllDialects().Check(s.History); len(ps) > 0 {
			t.Errorf("%+v: %v", o, ps[0])
		}
		requests, tokens := 0, 0
		for i, m := range s.History.All() {
			if m.Role == chat.Assistant {
				requests++
			}
			tokens += k.At(s.History, i)
		}
		o = o.orDefault()
		if requests != o.Requests {
			t.Errorf("%d requests, want %d", requests, o.Requests)
		}
		if growth := float64(tokens) / float64(requests); math.Abs(growth/float64(o.Growth)-1) > 0.15 {
			t.Errorf("%.0f tokens a request, want about %d", growth, o.Growth)
		}
		if n := k.System(s.System); math.Abs(float64(n)/float64(o.System)-1) > 0.1 {
			t.Errorf("the system prompt has %d tokens, want about %d", n, o.System)
		}
	}
}
