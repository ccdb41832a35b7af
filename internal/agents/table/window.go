package table

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/model"
)

// AsksMillion reports whether a model's name asks for a window of a million tokens,
// as the agent writes it.
func (a *Agent) AsksMillion(name string) bool {
	return a.Windows.Million != "" && strings.HasSuffix(strings.ToLower(name), a.Windows.Million)
}

// million is what such a name asks for.
const million = 1_000_000

// WindowOf returns the window that the agent uses with a model, which asksMillion
// says was asked for with a million tokens. It has no tokens where it is the model's
// own.
func (a *Agent) WindowOf(m model.Model, asksMillion bool) model.Window {
	w := model.Window{Source: model.WindowAgent}
	has := &a.Windows
	switch name := strings.ReplaceAll(strings.ToLower(m.Name), ".", "-"); {
	case has.Input > 0:
		input := has.Input
		for _, n := range [...]int{m.Context, m.Input} {
			if n > 0 && !m.Source.Guess() {
				input = min(input, n)
			}
		}
		w.Tokens, w.Prompt, w.Why = input/100*has.Percent, true, a.Title+"'s for this model"
	case has.Tokens == 0:
		return a.wholeWindow(m)
	case asksMillion:
		w.Tokens, w.Why = million, a.Title+"'s with "+has.Million
	case m.Source == model.Fallback:
		w.Tokens, w.Why = has.Tokens, a.Title+"'s smaller one, as the registry does not know the model"
	case m.Context > has.Tokens && slices.ContainsFunc(has.Small, func(s string) bool { return strings.Contains(name, s) }):
		w.Tokens, w.Why = has.Tokens, a.Title+"'s for this model without "+has.Million
	default:
		return a.wholeWindow(m)
	}
	w.Own = a.Own.Point(w.Tokens)
	return w
}

// wholeWindow returns the model's own window, with the point at which the agent compacts
// it. Of a model that only its name tells about the agent may know another window.
func (a *Agent) wholeWindow(m model.Model) model.Window {
	if m.Source.Guess() {
		return model.Window{}
	}
	return model.Window{Own: a.Own.Point(m.Context)}
}

// Holding returns the agent's smallest window that holds that number of tokens.
func (a *Agent) Holding(tokens int) int {
	if tokens > a.Windows.Tokens {
		return million
	}
	return a.Windows.Tokens
}
