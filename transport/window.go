package transport

import (
	"net/http"
	"strings"

	"github.com/winnow-llm/winnow/model"
)

// windowOf returns the window that the agent behind a request works in with the
// model of that name. The zero value says that nothing but the model decides, as
// for every client that is not listed here.
//
// Claude Code and Codex compact by themselves when their own window fills up,
// whatever the model could still take. Winnow has to act before they do, so
// their window is the one in force:
//
//   - Claude Code says who it is by "User-Agent: claude-cli/…". Of some models it
//     uses 200,000 tokens, or a million where the request carries the beta header
//     for them or its model's name ends in "[1m]".
//   - Codex says it by "User-Agent: codex…/…" or by its header "originator". It
//     uses 95 % of the input that it gives a model.
//
// The setting window wins over both.
func windowOf(h http.Header, r *model.Registry, name string) model.Window {
	agent := strings.ToLower(h.Get("User-Agent"))
	switch {
	case strings.HasPrefix(agent, "claude-cli/"):
		return model.ClaudeCode(r.Lookup(name), asksMillion(h) || model.AsksMillion(name))
	case strings.HasPrefix(agent, "codex"), strings.HasPrefix(strings.ToLower(h.Get("Originator")), "codex"):
		return model.Codex(r.Lookup(name))
	}
	return model.Window{}
}

// millionBeta is how Anthropic's beta header begins that asks for a window of a
// million tokens; a date follows.
const millionBeta = "context-1m-"

// asksMillion reports whether a request's beta headers ask for that window.
func asksMillion(h http.Header) bool {
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), millionBeta) {
				return true
			}
		}
	}
	return false
}
