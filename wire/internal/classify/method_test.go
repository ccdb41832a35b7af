package classify

import (
	"slices"
	"testing"
)

// The example in the package's comment is read as the comment says.
func TestMethod(t *testing.T) {
	body := []byte(`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"code\":\"invalid_request_error\",\"message\":\"The prompt exceeds the context window of 8,192 tokens. You requested 9,001 tokens (8,001 in the messages, 1,000 in the completion).\"}"}}}`)
	f := readFacts(400, body)
	sentences := []string{
		"invalid request error",
		"provider returned error",
		"the prompt exceeds the context window of 8,192 tokens",
		"you requested 9,001 tokens (8,001 in the messages, 1,000 in the completion)",
	}
	if !slices.Equal(f.sentences, sentences) {
		t.Errorf("the sentences are %q", f.sentences)
	}
	for i, s := range f.sentences {
		if over := contains(s, holders...) && contains(s, strong...); over != (i == 2) {
			t.Errorf("%q has a holder and a word for too much: %v", s, over)
		}
	}
	roles := map[int]numberRole{8192: roleLimit, 9001: roleActual, 8001: roleInput, 1000: roleOutput}
	ms := mentions(f.plain)
	if len(ms) != len(roles) {
		t.Errorf("%d numbers are mentioned", len(ms))
	}
	for _, m := range ms {
		if m.role() != roles[m.n] {
			t.Errorf("%d has role %d, want %d", m.n, m.role(), roles[m.n])
		}
	}
	want := Verdict{Kind: Overflow, Provider: "openrouter", Limit: 8192, Actual: 9001, Output: 1000, Status: 400, Message: f.message()}
	if v := Classify(400, nil, body); v != want {
		t.Errorf("got  %+v\nwant %+v", v, want)
	}
}
