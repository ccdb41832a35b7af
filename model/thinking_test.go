package model

import "testing"

func TestBindsThinking(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-fable-5-1": true, "claude-fable-5.1": true, "claude-fable-5-1-20260801": true, "claude-fable-6": true,
		"anthropic/claude-fable-5.1": true, "us.anthropic.claude-fable-5-1-v1:0": true, "claude-fable-5-1[1m]": true,
		"claude-fable-5": false, "claude-opus-5-5": true, "claude-opus-5": false, "claude-sonnet-4-5-20250929": false,
		"claude-opus-4-8[1m]": false, "claude-3-7-sonnet-latest": false, "claude-3-5-haiku-20241022": false,
		"opus": false, "claude": false, "gpt-5.5": false, "gemini-6-pro": false, "kimi-k2": false, "": false,
	} {
		if got := BindsThinking(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
