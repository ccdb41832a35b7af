package replay

import (
	"math"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
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

// wholePrompt returns the size of the whole session as one prompt.
func (x *index) wholePrompt() int { return x.fixed + x.cum[len(x.cum)-1] }

func (x *index) noteBroken(ps []chat.Problem, h chat.Sequence) {
	for _, p := range ps {
		x.broken[fault{p.Rule, p.Call, h.At(p.At)}] = true
	}
}

// Prompt is how a session's provider counts its prompts: what is fixed, and scale
// times the conversation, as a family's counter has it. It is what winnow check says
// of the session.
type Prompt struct {
	Fixed  int
	Scale  float64
	Family token.Family

	// Next is the whole session with what is fixed: the next prompt, had nothing been
	// compacted.
	Next int
}

// PromptOf returns how the provider of a session counts, by the usage that it reported,
// where the model of that name answered.
func PromptOf(s *transcript.Session, name string) (Prompt, error) {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: name}})
	if err != nil {
		return Prompt{}, err
	}
	in := source.Session{Model: name, Format: s.Format, Request: s.Request(), Compactions: s.Compactions}
	status, err := w.Check(in.Request, in.Known(w))
	return Prompt{status.Limits.Fixed, status.Scale, w.Meter().Counter().Family(), status.Tokens.Total}, err
}

// newHeardIndex returns the index of a session whose sizes are those of its provider.
// Beginnings of the session are exact; other sums may be off by their rounding.
func newHeardIndex(s *Session, p Prompt) *index {
	x := newIndex(s, token.New(p.Family, &token.Options{CacheSize: -1})) // a session is counted once
	x.fixed, x.scale = p.Fixed, p.Scale
	counted := 0
	for i := range x.tokens {
		counted += x.tokens[i]
		x.cum[i+1] = x.scaleTokens(counted)
		x.tokens[i] = x.cum[i+1] - x.cum[i]
	}
	return x
}

// scaleTokens turns the counter's estimate into what the provider counts.
func (x *index) scaleTokens(tokens int) int { return int(math.Round(x.scale * float64(tokens))) }

// partTokens returns the size of a result by itself.
func (x *index) partTokens(p *chat.Part) int {
	return x.scaleTokens(x.counter.Message(&chat.Message{Role: chat.Tool, Parts: []chat.Part{*p}}))
}
