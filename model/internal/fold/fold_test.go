package fold

import "testing"

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"Claude-Opus-4.5":                         "claude-opus-4-5",
		"anthropic/claude-opus-4-5":               "claude-opus-4-5",
		"us.anthropic.claude-opus-4-5-v1:0":       "claude-opus-4-5-v1-0",
		"accounts/fireworks/models/llama-v3p1-8b": "llama-v3-1-8b",
		"gpt-oss:120b":                            "gpt-oss-120b",
		"__x..y--z__":                             "x-y-z",
		"模型-2":                                    "模型-2",
		"a/":                                      "",
		"us.":                                     "us",
		"\xff\xfe":                                "\ufffd\ufffd",
	} {
		if got := Name(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
