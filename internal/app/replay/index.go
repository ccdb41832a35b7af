package replay

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// index is what every replay of one session needs to know about its messages.
// It is made once and read by all.
type index struct {
	session *Session
	counter *token.Counter

	raw    map[*chat.Message]int32
	tokens []int
	cum    []int   // tokens before message i
	fixed  int     // tokens that every request carries
	scale  float64 // of what the counter says

	// broken are the problems that the recorded session has by itself: they are
	// nobody's fault.
	broken map[fault]bool
}

// fault identifies a problem across views.
type fault struct {
	rule, call string
	msg        *chat.Message
}

func newIndex(s *Session, k *token.Counter) *index {
	h := s.History
	x := &index{
		session: s, counter: k, scale: 1,
		raw: make(map[*chat.Message]int32, h.Len()), tokens: make([]int, h.Len()), cum: make([]int, h.Len()+1),
		fixed: k.Conversation() + k.System(s.System) + k.Tools(s.Tools), broken: map[fault]bool{},
	}
	for i := range h.Len() {
		m := h.At(i)
		x.raw[m] = int32(i)
		x.tokens[i] = k.At(h, i)
		x.cum[i+1] = x.cum[i] + x.tokens[i]
	}
	checker := chat.NewChecker(Rules())
	for i := range h.Len() {
		m := h.At(i)
		if m.Role == chat.Assistant {
			x.noteBroken(checker.Pending(), h)
		}
		x.noteBroken(checker.Next(m), h)
	}
	return x
}

func (x *index) noteBroken(ps []chat.Problem, h chat.Sequence) {
	for _, p := range ps {
		x.broken[fault{p.Rule, p.Call, h.At(p.At)}] = true
	}
}
