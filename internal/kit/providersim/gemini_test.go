package providersim

import (
	"net/http"
	"strings"
	"testing"
)

func get(t testing.TB, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func gm(contents string, more ...string) string {
	return `{` + strings.Join(append(more, ""), ",") + `"contents":[` + contents + `]}`
}

const (
	gUser  = `{"role":"user","parts":[{"text":"look at docs/README.md"}]}`
	gModel = `{"role":"model","parts":[{"text":"done"}]}`
	gSkip  = `"thoughtSignature":"skip_thought_signature_validator"`
	gCalls = `{"role":"model","parts":[{"functionCall":{"name":"read","args":{}},` + gSkip + `},{"functionCall":{"name":"list","args":{}}}]}`
	gRes   = `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"r":1}}},{"functionResponse":{"name":"list","response":{"r":2}}}]}`
	gRes1  = `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"r":1}}}]}`
	gPath  = "/v1beta/models/gemini-3.1-pro-preview:generateContent"
)

func TestGeminiRules(t *testing.T) {
	bare := strings.Replace(gCalls, ","+gSkip, "", 1)
	checkRules(t, gPath, Options{}, []ruleCase{
		{name: "plain", body: gm(gUser)},
		{name: "one content without role", body: gm(`{"parts":[{"text":"hi"}]}`)},
		{name: "calls", body: gm(gUser + "," + gCalls + "," + gRes)},
		{name: "snake case", body: gm(gUser + `,{"role":"model","parts":[{"function_call":{"name":"read","args":{}},"thought_signature":"skip_thought_signature_validator"}]},{"role":"function","parts":[{"function_response":{"name":"read","response":{}}}]}`)},
		{name: "two models in a row", body: gm(gUser + "," + gModel + "," + gModel + "," + gUser)},
		{name: "call first", body: gm(gCalls + "," + gRes), rule: "call_order", text: callAfterUser},
		{name: "call after the model", body: gm(gUser + "," + gModel + "," + gCalls + "," + gRes), rule: "call_order", text: callAfterUser},
		{name: "response without a call", body: gm(gUser + "," + gRes1), rule: ruleResult, text: responseAfter},
		{name: "response first", body: gm(gRes1), rule: ruleResult, text: responseAfter},
		{name: "one response for two calls", body: gm(gUser + "," + gCalls + "," + gRes1), rule: ruleCall, text: responsesForAll},
		{name: "user instead of responses", body: gm(gUser + "," + gCalls + "," + gUser), rule: ruleCall, text: responsesForAll},
		{name: "call at the end", body: gm(gUser + "," + gCalls), rule: ruleCall, text: responsesForAll},
		{
			name: "unsigned call in this turn", body: gm(gUser + "," + bare + "," + gRes), rule: ruleSigned,
			text: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:read` , position 2.",
		},
		{name: "unsigned call in an earlier turn", body: gm(gUser + "," + bare + "," + gRes + "," + gModel + "," + gUser)},
		{name: "corrupt signature", body: gm(gUser + "," + strings.Replace(gCalls, "skip_thought_signature_validator", "AAAA", 1) + "," + gRes), rule: ruleSigned, text: "Corrupted thought signature."},
		{name: "role", body: gm(`{"role":"assistant","parts":[{"text":"x"}]}`), rule: ruleRole, text: "Please use a valid role: user, model."},
		{name: "no contents", body: `{"contents":[]}`, rule: ruleEmpty, text: "contents is not specified"},
		{name: "no parts", body: gm(gUser + `,{"role":"model","parts":[]},` + gUser), rule: ruleEmpty, text: "contents[1].parts: contents.parts must not be empty"},
		{name: "empty part", body: gm(`{"role":"user","parts":[{}]}`), rule: ruleEmpty, text: "required oneof field 'data'"},
		{name: "half a body", body: `{"contents":[`, rule: ruleJSON, text: "Invalid JSON payload received."},
	})
	checkRules(t, "/v1beta/models/gemini-2.5-pro:generateContent", Options{}, []ruleCase{
		{name: "older models ask for no signature", body: gm(gUser + "," + bare + "," + gRes)},
	})
	checkRules(t, "/v1beta/models/gemini-2.5-pro:countTokens", Options{}, []ruleCase{
		{name: "count", body: gm(gUser)},
		{name: "count of a whole request", body: `{"generateContentRequest":{"model":"models/gemini-2.5-pro","contents":[` + gUser + `]}}`},
		{name: "count checks order", body: gm(gUser + "," + gRes1), rule: ruleResult, text: responseAfter},
	})
}

func TestGeminiErrorShape(t *testing.T) {
	_, url := sim(t, Options{})
	_, body := post(t, url+gPath, gm(gUser+","+gRes1))
	want := `{"error":{"code":400,"message":"` + responseAfter + `","status":"INVALID_ARGUMENT"}}`
	if body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
	if status := get(t, url+"/v1beta/models/x:generateContent"); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", status)
	}
	if status, _ := post(t, url+"/v1beta/models/x:embedContent", `{}`); status != http.StatusNotFound {
		t.Errorf("unknown method: %d", status)
	}
}
