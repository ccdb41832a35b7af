package winnow

import "github.com/winnow-llm/winnow/model"

// Learned is what a provider was seen to do, in its errors or by what it
// refused. It belongs to a call and not to the engine, because tiers, regions and
// tenants differ.
type Learned struct {
	// The limits; 0 is nothing.
	Context int // input and output together, in tokens
	Input   int // in tokens
	Bytes   int // of the body

	// BoundThinking says that thinking was refused because the messages before it
	// had changed. Without it the model's name decides.
	BoundThinking bool
}

// Guessed reports whether the window is only a guess: nobody set it, and the
// model is not known.
func (w *Winnow) Guessed() bool {
	w = w.orStandard()
	return w.window.Source == model.WindowModel && w.model.Source.Guess()
}

// With returns the model with its learned limits. They lower a known limit, and
// replace a guessed one: the provider's word is better than none.
func (w *Winnow) With(known Learned) model.Model {
	w = w.orStandard()
	m, guess := w.model, w.Guessed()
	if guess && known.Context > 0 {
		m.Context, m.Input = 0, 0
	} else if guess && known.Input > 0 {
		m.Context, m.Input = max(m.Context, known.Input), 0
	}
	lower := func(limit *int, n int) {
		if n > 0 && (*limit == 0 || n < *limit) {
			*limit = n
		}
	}
	lower(&m.Context, known.Context)
	lower(&m.Input, known.Input)
	return m
}
