package model

import "github.com/winnow-llm/winnow/token"

// defaultContext is the window of a model about which nothing is known.
const defaultContext = 128_000

const (
	reserveCap     = 64_000 // most output reserved when the caller names none
	reservePercent = 35     // of the window, when that is less
	minimumPercent = 5      // of the window that is always left to the input
)

// Source says how a lookup found its answer.
type Source string

// The sources, from knowledge to guess.
const (
	Override        Source = "override"
	Exact           Source = "exact"
	vendorPrefix    Source = "vendor prefix"
	dateSuffix      Source = "date suffix"
	longestPrefix   Source = "longest prefix"
	earlierVersion  Source = "earlier version"
	ProviderDefault Source = "provider default"
	Fallback        Source = "default"
)

// Guess reports whether the facts are those of another model, or of none.
func (s Source) Guess() bool {
	switch s {
	case longestPrefix, earlierVersion, ProviderDefault, Fallback, "":
		return true
	}
	return false
}

// Model is what is known about one model of one provider. The zero value is a
// model about which nothing is known; its methods work.
type Model struct {
	// Provider and Name say whose facts these are, as the registry spells
	// them. After a guess that is not the model that was asked for.
	Provider string `json:"provider"`
	Name     string `json:"model"`

	// Context is the window: input and output together. Input is a limit on
	// the input alone, Output one on the answer. Zero is unknown; for Input it
	// means that only the window limits it.
	Context int `json:"context"`
	Input   int `json:"input"`
	Output  int `json:"output"`

	Family token.Family `json:"family"`
	Prices Prices       `json:"prices"`
	Cache  Cache        `json:"cache"`
	Source Source       `json:"source"`
}

// Window returns the window to plan with. A model whose window is unknown is
// taken to have four times the output that the caller wants, or
// 128,000 when the caller names none.
func (m Model) Window(output int) int {
	const most = 1 << 40 // far from overflow, far above any window
	switch {
	case m.Context > 0:
		return m.Context
	case output > 0:
		return 4 * min(output, most)
	}
	return defaultContext
}

// Reserve returns the tokens to keep free for the answer: output, or the
// smaller of 64,000 and 35 % of the window when output is zero or less.
//
// It is never more than the model's output limit, and it always leaves a
// twentieth of the window to the input. An output that fills the whole
// window cannot be meant, since no request could be sent: it is treated as
// not given.
func (m Model) Reserve(output int) int {
	window := m.Window(output)
	reserve := output
	if m.Output > 0 {
		reserve = min(reserve, m.Output)
	}
	if reserve <= 0 || reserve >= window {
		reserve = min(reserveCap, percentOf(window, reservePercent))
		if m.Output > 0 {
			reserve = min(reserve, m.Output)
		}
	}
	return min(reserve, window-max(1, percentOf(window, minimumPercent)))
}

// Available returns the tokens of input that fit beside the reserved output:
// the smaller of the input limit and what the window leaves. It is at least 1.
func (m Model) Available(output int) int {
	room := m.Window(output) - m.Reserve(output)
	if m.Input > 0 {
		room = min(room, m.Input)
	}
	return max(room, 1)
}

func percentOf(n, percent int) int { return n/100*percent + n%100*percent/100 }

// tidyLimits makes the limits agree with each other.
func (m *Model) tidyLimits() {
	m.Context, m.Input, m.Output = max(m.Context, 0), max(m.Input, 0), max(m.Output, 0)
	if m.Context > 0 {
		m.Output = min(m.Output, m.Context)
		if m.Input >= m.Context {
			m.Input = 0
		}
	}
}
