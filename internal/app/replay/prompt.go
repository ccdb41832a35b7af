package replay

import (
	"math"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

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
