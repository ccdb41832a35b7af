package classify

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

type errorCase struct {
	Provider string
	HTTP     int
	Code     string
	Kind     Kind
	Message  string
	Limit    int
	Actual   int
}

// bodies returns the forms in which an error can reach the classifier.
func (c errorCase) bodies() map[string][]byte {
	mustJSON := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return b
	}
	inner := map[string]any{"message": c.Message}
	if c.Code != "" {
		inner["code"] = c.Code
	}
	return map[string][]byte{
		"text":    []byte(c.Message),
		"json":    mustJSON(map[string]any{"error": inner}),
		"typed":   mustJSON(map[string]any{"type": "error", "error": map[string]any{"type": c.Code, "message": c.Message}}),
		"command": mustJSON(map[string]any{"status": c.HTTP, "error": inner}),
		"nested":  mustJSON(map[string]any{"error": map[string]any{"message": "Provider returned error", "code": 400, "metadata": map[string]any{"raw": string(mustJSON(map[string]any{"error": inner}))}}}),
		"quoted":  []byte("BadRequestError: Error code: b'" + string(mustJSON(map[string]any{"error": inner})) + "'"),
	}
}

func TestClassifyCorpus(t *testing.T) {
	raw, err := os.ReadFile(corpus.Dir(t, "overflow", "errors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []errorCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, c := range cases {
		for form, body := range c.bodies() {
			v := Classify(c.HTTP, nil, body)
			if v.Kind != c.Kind || v.Limit != c.Limit || v.Actual != c.Actual {
				t.Errorf("%s as %s: %s %d/%d, want %s %d/%d\n%s", c.Provider, form, v.Kind, v.Actual, v.Limit, c.Kind, c.Actual, c.Limit, c.Message)
			}
			if form == "text" && v.Provider == c.Provider {
				named++
			}
		}
	}
	t.Logf("%d errors, %d providers named", len(cases), named)
	if named*10 < len(cases)*7 {
		t.Errorf("only %d of %d providers are named", named, len(cases))
	}
}

func TestClassifyHeaders(t *testing.T) {
	h := http.Header{"Retry-After": {"7"}, "X-Groq-Region": {"eu"}, "X-Should-Retry": {"false"}}
	v := Classify(429, h, []byte(`{"error":{"message":"slow down"}}`))
	if v.Kind != RateLimit || v.RetryAfter != 7*time.Second || v.Provider != "groq" || v.Retryable {
		t.Errorf("%+v", v)
	}
	v = Classify(413, nil, []byte(`{"error":{"message":"Request payload size exceeds the limit: 20971520 bytes."}}`))
	if v.Kind != Overflow || v.Bytes != 20971520 || v.Limit != 0 {
		t.Errorf("a limit in bytes: %+v", v)
	}
	v = Classify(413, nil, []byte(`{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`))
	if v.Kind != Overflow || v.Bytes != -1 || v.Provider != "anthropic" {
		t.Errorf("a limit in bytes that is not told: %+v", v)
	}
	v = Classify(400, nil, []byte("input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000"))
	if v.Output != 20000 {
		t.Errorf("the wanted output is %d", v.Output)
	}
	v = Classify(0, nil, []byte(`{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`))
	if v.Kind != Overflow || v.Retryable {
		t.Errorf("a failed event: %+v", v)
	}
	v = Classify(400, nil, []byte(`{"error":{"code":400,"type":"exceed_context_size_error","message":"request exceeds the available context size","n_prompt_tokens":9000,"n_ctx":8192}}`))
	if v.Kind != Overflow || v.Limit != 8192 || v.Actual != 9000 {
		t.Errorf("counts as fields: %+v", v)
	}
}

func FuzzClassify(f *testing.F) {
	for _, c := range verdicts {
		for _, body := range c.bodies() {
			f.Add(c.HTTP, body)
		}
	}
	f.Add(400, []byte(strings.Repeat(`{"error":"`, 50)))
	f.Add(400, []byte("{\"error\":{\"message\":\"\xff\xfe 99999999999999999999 tokens > 1e308 maximum\"}}"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		v := Classify(status, nil, body)
		if v.Kind == "" || v.Limit < 0 || v.Actual < 0 || v.Output < 0 {
			t.Fatalf("%+v", v)
		}
		if v.Kind != Overflow && (v.Limit != 0 || v.Actual != 0) {
			t.Fatalf("counts without an overflow: %+v", v)
		}
		if again := Classify(status, nil, body); again != v {
			t.Fatalf("two verdicts: %+v and %+v", v, again)
		}
	})
}

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
		if over := containsPhrase(s, holders...) && containsPhrase(s, strong...); over != (i == 2) {
			t.Errorf("%q has a holder and a word for too much: %v", s, over)
		}
	}
	roles := map[int]numberRole{8192: roleLimit, 9001: roleActual, 8001: roleInput, 1000: roleOutput}
	ms := findMentions(f.plain)
	if len(ms) != len(roles) {
		t.Errorf("%d numbers are mentioned", len(ms))
	}
	for _, m := range ms {
		if m.role() != roles[m.n] {
			t.Errorf("%d has role %d, want %d", m.n, m.role(), roles[m.n])
		}
	}
	want := Verdict{Kind: Overflow, Provider: "openrouter", Limit: 8192, Actual: 9001, Output: 1000, Status: 400, Message: f.innermostWords()}
	if v := Classify(400, nil, body); v != want {
		t.Errorf("got  %+v\nwant %+v", v, want)
	}
}

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
