package classify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// wrappings are how clients hand an error on, of which the status may be told
// only in words.
func (c errorCase) wrappings() map[string]string {
	marshal := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	code := c.Code
	if code == "" {
		code = "invalid_request_error"
	}
	body := marshal(map[string]any{"error": map[string]any{"message": c.Message, "type": "invalid_request_error", "code": code}})
	return map[string]string{
		"python":   fmt.Sprintf("openai.BadRequestError: Error code: %d - {'error': {'message': %s, 'code': '%s'}}", c.HTTP, marshal(c.Message), code),
		"bytes":    "litellm.APIError: OpenAIException - b'" + strings.ReplaceAll(body, `\`, `\\`) + "'",
		"go":       fmt.Sprintf(`call failed: POST "https://api.example.com:8443/v1/chat/completions": %d Bad Request %s`, c.HTTP, body),
		"quoted":   fmt.Sprintf("unexpected status %d: %s", c.HTTP, marshal(body)),
		"stream":   "event: error\ndata: " + body + "\n\ndata: [DONE]\n\n",
		"node":     fmt.Sprintf("APICallError [AI_APICallError]: %s\n    at file:///app/dist/index.mjs:832:14 {\n  statusCode: %d,\n  responseBody: '%s',\n  isRetryable: false\n}", c.Message, c.HTTP, body),
		"java":     "java.lang.RuntimeException: HttpException: " + body + "\n\tat com.example.Client.execute(Client.java:4155)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)",
		"gateway":  marshal(map[string]any{"error": map[string]any{"message": "Provider returned error", "code": c.HTTP, "metadata": map[string]any{"raw": body}}, "user_id": "user_2abc123"}),
		"detail":   marshal(map[string]any{"detail": fmt.Sprintf("Error code: %d - %s", c.HTTP, body)}),
		"attempts": fmt.Sprintf("Failed after 3 attempts (status %d). Last error: %s", c.HTTP, c.Message),
	}
}

// The kinds that words tell without a status are told through every wrapping,
// with the same numbers.
func TestClassifyWrapped(t *testing.T) {
	told := map[Kind]bool{Overflow: true, RateLimit: true, Quota: true, OutputLimit: true, Malformed: true}
	for _, c := range seenErrors {
		if c.HTTP == 0 || !told[c.Kind] || c.Message == "" || c.Message[0] == '{' {
			continue
		}
		for name, text := range c.wrappings() {
			if v := Classify(0, nil, []byte(text)); v.Kind != c.Kind || v.Limit != c.Limit || v.Actual != c.Actual {
				t.Errorf("%s: %s %d/%d, want %s %d/%d\n%s", name, v.Kind, v.Actual, v.Limit, c.Kind, c.Actual, c.Limit, text)
			}
		}
	}
}
