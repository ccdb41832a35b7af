package model

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// Agents do not always work in the window that their model has. Claude Code
// takes 200,000 tokens of some models that have more, Codex its own number for
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

	Source WindowSource

	// Why says for people where the window is known from.
	Why string
}

// Numbers of agents, from their own files and programs.
const (
	// Claude Code uses so much of a model in claudeCodeSmall, and so much where a
	// million was asked for. It compacts by itself from 155,000 or 167,000 tokens
	// of the smaller window on, depending on its version.
	claudeCode        = 200_000
	claudeCodeMillion = 1_000_000

	// Codex gives no model more than this many tokens of input, uses 95 % of
	// them and compacts by itself at 90 %.
	codexInput = 272_000
)

// claudeCodeSmall are the models of which Claude Code uses 200,000 tokens unless a
// million was asked for, whatever they have: the same in its versions from
// 2.1.197 to 2.1.325. Of every other model it uses the window that the model has.
var claudeCodeSmall = []string{"claude-sonnet-4", "claude-opus-4-6"}

// AsksMillion reports whether a model's name asks for a window of a million
// tokens, as Claude Code writes it: by "[1m]" at its end.
func AsksMillion(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "[1m]")
}

// ClaudeCode returns the window that Claude Code uses with a model. The zero value
// stands for the model's own.
func ClaudeCode(m Model, million bool) Window {
	if million {
		return Window{Tokens: claudeCodeMillion, Source: WindowAgent, Why: "Claude Code's with [1m]"}
	}
	w := Window{Tokens: claudeCode, Source: WindowAgent}
	if m.Source == Fallback {
		w.Why = "Claude Code's smaller one, as the registry does not know the model"
		return w
	}
	name := fold.Name(m.Name)
	if m.Context > claudeCode && slices.ContainsFunc(claudeCodeSmall, func(small string) bool { return strings.Contains(name, small) }) {
		w.Why = "Claude Code's for this model without [1m]"
		return w
	}
	return Window{}
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
	return Window{Tokens: CodexUsable(input), Prompt: true, Source: WindowAgent, Why: "Codex's for this model"}
}

// CodexUsable is what Codex uses of a window: 95 %.
func CodexUsable(window int) int { return window / 100 * 95 }

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
