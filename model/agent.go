package model

import "strings"

// Agents do not always work in the window that their model has. Claude Code
// takes 200,000 tokens unless it is told otherwise, Codex its own number for
// each model, and both compact by themselves when their window fills up, however
// much room the model has left. Whoever measures what such an agent sends, or
// wants to act before it does, has to use the agent's window. This file holds
// the agents' numbers; [Window] says which window was chosen and why.

// WindowSource says where a window is known from.
type WindowSource string

// The sources of a window, best first.
const (
	WindowSet    WindowSource = "settings" // a person set it
	WindowStated WindowSource = "stated"   // the agent's session file states it
	WindowProven WindowSource = "proven"   // what the session file records allows no other
	WindowAgent  WindowSource = "agent"    // the agent always uses this one
	WindowModel  WindowSource = "model"    // it is the model's own
)

// Window is the window that an agent works in. The zero value stands for the
// window that the model has.
type Window struct {
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

// Numbers of agents, from their own files and programs.
const (
	// Claude Code knows two windows. It compacts by itself from 155,000 or
	// 167,000 tokens of the smaller one on, depending on its version.
	claudeCode        = 200_000
	claudeCodeMillion = 1_000_000
	claudeCodeFree    = 33_000 // when it compacts by itself

	// Codex gives no model more than this many tokens of input, uses 95 % of
	// them and compacts by itself at 90 %.
	codexInput = 272_000
)

// AsksMillion reports whether a model's name asks for a window of a million
// tokens, as Claude Code writes it: by "[1m]" at its end.
func AsksMillion(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "[1m]")
}

// ClaudeCode returns the window that Claude Code uses with a model: 200,000
// tokens, or a million where it asked for them. A model that is known to have
// less keeps its own.
func ClaudeCode(m Model, million bool) Window {
	w := Window{Tokens: claudeCode, Source: WindowAgent, Why: "Claude Code's, as the name of its model does not end in [1m]"}
	if million {
		w.Tokens, w.Why = claudeCodeMillion, "Claude Code's with [1m]"
	}
	if m.smaller(w.Tokens) && !million {
		return Window{}
	}
	w.Own = w.Tokens - claudeCodeFree
	return w
}

// ClaudeCodeHolding returns the smallest window of Claude Code that holds so
// many tokens.
func ClaudeCodeHolding(tokens int) int {
	if tokens > claudeCode {
		return claudeCodeMillion
	}
	return claudeCode
}

// Codex returns the window that Codex uses with a model that has no entry in
// its configuration: 95 % of the input that it gives the model.
func Codex(m Model) Window {
	input := codexInput
	if !m.Source.Guess() {
		for _, n := range [...]int{m.Context, m.Input} {
			if n > 0 {
				input = min(input, n)
			}
		}
	}
	return Window{Tokens: CodexUsable(input), Prompt: true, Own: input / 10 * 9, Source: WindowAgent, Why: "Codex's for this model"}
}

// CodexUsable is what Codex uses of a window: 95 %.
func CodexUsable(window int) int { return window / 100 * 95 }

// smaller reports whether the model is known to have less than a window.
func (m Model) smaller(window int) bool {
	return m.Context > 0 && m.Context < window && !m.Source.Guess()
}

// In returns the model with the window of an agent in place of its own, and how
// many tokens of an answer have their room beyond that window.
func (m Model) In(w Window) (Model, int) {
	if w.Tokens <= 0 {
		return m, 0
	}
	beyond := 0
	if w.Prompt {
		beyond = w.Tokens / 19 // the other 5 %, see CodexUsable
		if !m.Source.Guess() {
			beyond = max(0, m.Context-w.Tokens)
		}
	}
	m.Context, m.Input = w.Tokens, 0
	return m, beyond
}
