package wire

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// Dialect is the API that a body is written for.
type Dialect string

// The dialects. Their names are those of the command's formats.
const (
	OpenAI    Dialect = "openai"    // chat completions, and every server compatible with them
	Responses Dialect = "responses" // OpenAI responses
	Anthropic Dialect = "anthropic" // messages
	Gemini    Dialect = "gemini"    // generateContent
)

// Dialects returns all dialects, in a fixed order.
func Dialects() []Dialect { return []Dialect{OpenAI, Responses, Anthropic, Gemini} }

// ParseDialect returns the dialect of that name.
func ParseDialect(name string) (Dialect, error) {
	if d := Dialect(name); d.isKnown() {
		return d, nil
	}
	return "", fmt.Errorf("wire: no dialect is called %q; there are openai, responses, anthropic and gemini", name)
}

// listMember returns the name of the member that holds the messages.
func (d Dialect) listMember() string {
	switch d {
	case Responses:
		return "input"
	case Gemini:
		return "contents"
	}
	return "messages"
}

// outputMembers are the names of the members that limit the output. Gemini has such a
// member one level below.
var outputMembers = map[Dialect][]string{
	OpenAI: {"max_tokens", "max_completion_tokens"}, Responses: {"max_output_tokens"}, Anthropic: {"max_tokens"},
}

func (d Dialect) isKnown() bool { return slices.Contains(Dialects(), d) }

// messageRules returns what the dialect asks of a sequence of messages. A request
// may ask for more: see [Body.Request].
func (d Dialect) messageRules() chat.Rules {
	r := chat.Rules{Name: string(d)}
	switch d {
	case OpenAI:
		r.SystemAnywhere = true
	case Responses:
		r.SystemAnywhere = true
		r.LateResults = true
	case Anthropic:
		r.UserFirst = true
		r.NonEmpty, r.NonEmptyText = true, true
		r.ResultsJoined = true
		r.BoundThinking = true
		r.MaxImages = anthropicImages
	case Gemini:
		r.UserFirst = true
		r.CallAfterInput = true
		r.NonEmpty, r.NonEmptyText = true, true
		r.ResultsJoined = true
		r.MaxImages = geminiImages
	}
	return r
}

// Images that one request may carry. Anthropic counts document pages with them.
const (
	anthropicImages = 100
	geminiImages    = 3000
)
