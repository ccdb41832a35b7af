package model

// Agents do not always work in the window that their model has. Claude Code
// takes 200,000 tokens of some models that have more, Codex its own number for
// each model, and both compact by themselves when their window fills up, however
// much room the model has left. A program that measures what such an agent sends,
// or wants to act before it does, has to use the agent's window. [Window] says
// which window was chosen and why.

// WindowSource says where a window is known from.
type WindowSource string

// The sources of a window, best first.
const (
	WindowSet    WindowSource = "settings" // a person set it
	WindowStated WindowSource = "stated"   // the agent's session file states it
	WindowProven WindowSource = "proven"   // what the session file records allows no other
	WindowAgent  WindowSource = "agent"    // the agent always uses this one
	WindowServer WindowSource = "server"   // the server that runs the model says so
	WindowModel  WindowSource = "model"    // it is the model's own
)

// Window is the window that an agent works in.
type Window struct {
	// Tokens is its size; 0 stands for the window that the model has.
	Tokens int

	// Prompt says that the window is for the prompt alone: where the model has
	// more, the answer has its room beyond it.
	Prompt bool

	// Own is the size of a prompt at which the agent compacts by itself; 0 where that
	// is unknown or switched off.
	Own int

	Source WindowSource

	// Why says for people where the window is known from.
	Why string
}

// In returns the model with the window of an agent in place of its own, and how
// many tokens of an answer have their room beyond that window.
func (m Model) In(w Window) (Model, int) {
	if w.Tokens <= 0 {
		return m, 0
	}
	beyond := 0
	if w.Prompt {
		beyond = w.Tokens / 19 // of 95 % that Codex uses of a window, the other 5 %
		if !m.Source.Guess() {
			beyond = max(0, m.Context-w.Tokens)
		}
	}
	m.Context, m.Input = w.Tokens, 0
	return m, beyond
}
