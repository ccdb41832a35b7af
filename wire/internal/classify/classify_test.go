package classify

import (
	"encoding/json"
	"net/http"
	"os"
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
