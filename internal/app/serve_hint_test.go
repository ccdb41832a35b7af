package app

import (
	"testing"

	"github.com/winnow-llm/winnow/gateway"
)

func TestWhereTo(t *testing.T) {
	for want, upstreams := range map[string][]gateway.Upstream{
		"OPENAI_BASE_URL=http://h/v1 or ANTHROPIC_BASE_URL=http://h or GOOGLE_GEMINI_BASE_URL=http://h": {{Name: "openai"}, {Name: "anthropic"}, {Name: "gemini"}},
		"ANTHROPIC_BASE_URL=http://h":                       {{Name: "anthropic"}},
		"OPENAI_BASE_URL=http://h/v1 or http://h/together/": {{Name: "openai"}, {Name: "together"}},
	} {
		if got := whereTo("http://h", upstreams); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
