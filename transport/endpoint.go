package transport

import (
	"net/http"
	"strings"

	"github.com/winnow-llm/winnow/wire"
)

// Endpoint is what a request asks of a provider.
type Endpoint struct {
	Dialect wire.Dialect

	// Counting says that only the tokens are asked for, Compacting that the
	// provider is to compact the conversation: its answer is not the next message.
	Counting, Compacting bool

	// Model and Stream are what the address says; some dialects have both in
	// the body.
	Model  string
	Stream bool
}

// codeAssist is what the calls of a Google account begin with that pays for Gemini
// by a plan. The model stands in their bodies, beside the request.
const codeAssist = "/v1internal:"

// EndpointOf tells what a request asks, by its method and the end of its path,
// so that a provider may live under any prefix. It is false for everything that
// holds no conversation.
func EndpointOf(r *http.Request) (Endpoint, bool) {
	if r.Method != http.MethodPost {
		return Endpoint{}, false
	}
	path := strings.TrimRight(r.URL.Path, "/")
	for _, e := range []struct {
		suffix string
		Endpoint
	}{
		{"/chat/completions", Endpoint{Dialect: wire.OpenAI}},
		{"/responses", Endpoint{Dialect: wire.Responses}},
		{"/responses/input_tokens", Endpoint{Dialect: wire.Responses, Counting: true}},
		{"/responses/compact", Endpoint{Dialect: wire.Responses, Compacting: true}},
		{"/messages", Endpoint{Dialect: wire.Anthropic}},
		{"/messages/count_tokens", Endpoint{Dialect: wire.Anthropic, Counting: true}},
	} {
		before, ok := strings.CutSuffix(path, e.suffix)
		if !ok {
			continue
		}
		if e.suffix == "/messages" && strings.Contains(before, "/threads/") {
			return Endpoint{}, false // one message of OpenAI's assistants, no conversation
		}
		return e.Endpoint, true
	}
	e := Endpoint{Dialect: wire.Gemini}
	_, method, assist := strings.Cut(path, codeAssist)
	if !assist {
		at := strings.LastIndex(path, "/models/")
		if at < 0 {
			return Endpoint{}, false
		}
		e.Model, method, _ = strings.Cut(path[at+len("/models/"):], ":")
	}
	switch method {
	case "generateContent":
	case "streamGenerateContent":
		e.Stream = true
	case "countTokens":
		e.Counting = true
	default:
		return Endpoint{}, false
	}
	return e, true
}
