package classify

import "testing"

// Phrases that the documented systems look for, alone and with a status of 400:
// S4.10. RESOURCE_EXHAUSTED alone is Google's word for a rate limit, and no
// overflow.
func TestSeedPhrases(t *testing.T) {
	for _, c := range []struct{ provider, text string }{
		{"openai", "This model's maximum context length is 8192 tokens"},
		{"openai", "This model's maximum context length is 8192"},
		{"openai", "Please reduce the length of the messages."},
		{"azure", "content_length_exceeded"},
		{"google", "The request exceeds the maximum number of tokens"},
		{"google", "content is too long"},
		{"bedrock", "ValidationException: too many input tokens"},
		{"bedrock", "Input is too long"},
		{"bedrock", "The request exceeds the model's maximum"},
		{"mistral", "context length exceeded"},
		{"mistral", "maximum number of tokens"},
		{"anthropic", "prompt is too long"},
		{"anthropic", "too many tokens"},
	} {
		for _, status := range []int{0, 400} {
			for _, body := range []string{c.text, `{"error":{"message":"` + c.text + `"}}`} {
				v := Classify(status, nil, []byte(body))
				if v.Kind != Overflow || v.Provider != c.provider {
					t.Errorf("%d %s: %s of %q, want an overflow of %s", status, body, v.Kind, v.Provider, c.provider)
				}
			}
		}
	}
	if v := Classify(429, nil, []byte(`{"error":{"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted"}}`)); v.Kind == Overflow {
		t.Error("a rate limit is taken for an overflow")
	}
}
