package source

import "github.com/winnow-llm/winnow"

// Known is what the file says of the conversation for the engine: what the
// provider reported for its prompts. An agent's file has neither its system
// prompt nor its tools, which may be a tenth of the window; the reports have them.
func (s *Session) Known(w *winnow.Winnow) winnow.State {
	if s.Body != nil {
		return winnow.State{}
	}
	until := s.Request.History.Len()
	for _, c := range s.Compactions {
		until = min(until, c.At) // from there on the agent left something out that the file still has
	}
	t := w.Heard(&s.Request, s.Model, until)
	if !t.Known() {
		return winnow.State{}
	}
	return t.State()
}
