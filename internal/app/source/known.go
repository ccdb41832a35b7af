package source

import "github.com/winnow-llm/winnow"

// Known returns what the file says of the conversation for the engine: what the
// provider reported for its prompts. An agent's file has neither its system
// prompt nor its tools, which may be a tenth of the window; the reports have them.
func (s *Session) Known(w *winnow.Winnow) winnow.State {
	if s.Body != nil {
		return winnow.State{}
	}
	t := w.Heard(&s.Request, s.Model, s.Reported())
	if !t.Known() {
		return winnow.State{}
	}
	t.LearnAnswers(s.Request.History)
	return t.State()
}

// Reported returns how many messages the provider's reports are about: up to the agent's
// first compaction, from which on it left something out that the file still has.
func (s *Session) Reported() int {
	n := s.Request.History.Len()
	for _, c := range s.Compactions {
		n = min(n, c.At)
	}
	return n
}
