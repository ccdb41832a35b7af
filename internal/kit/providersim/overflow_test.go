package providersim

import (
	"fmt"
	"strings"
	"testing"
)

func TestOverflowTexts(t *testing.T) {
	for _, tc := range []struct {
		name, path, body, text string
		headers                []string
	}{
		{
			"chat", "/v1/chat/completions", cm(`{"role":"user","content":` + js(tokens(3000, "x")) + `}`),
			"This model's maximum context length is 2000 tokens. However, your messages resulted in 3007 tokens. Please reduce the length of the messages.", nil,
		},
		{
			"chat with output", "/v1/chat/completions", cm(`{"role":"user","content":`+js(tokens(1500, "x"))+`}`, `"max_tokens":700`),
			"However, you requested 2207 tokens (1507 in the messages, 700 in the completion). Please reduce the length of the messages or completion.", nil,
		},
		{
			"chat, other words", "/v1/chat/completions", cm(`{"role":"user","content":` + js(tokens(3000, "x")) + `}`),
			"Input tokens exceed the configured limit of 2000 tokens. Your messages resulted in 3007 tokens.",
			[]string{"Sim-Overflow", "limit"},
		},
		{
			"responses", "/v1/responses", rm(`{"role":"user","content":` + js(tokens(3000, "x")) + `}`),
			"Your input exceeds the context window of this model. Please adjust your input and try again.", nil,
		},
		{
			"anthropic", "/v1/messages", am(user(`{"type":"text","text":` + js(tokens(3000, "x")) + `}`)),
			"prompt is too long: 3007 tokens > 2000 maximum", nil,
		},
		{
			"anthropic with output", "/v1/messages", am(aUser),
			"input length and `max_tokens` exceed context limit: 15 + 2000 > 2000, decrease input length or `max_tokens` and try again", nil,
		},
		{
			"gemini", gPath, gm(`{"role":"user","parts":[{"text":` + js(tokens(3000, "x")) + `}]}`),
			"The input token count (3007) exceeds the maximum number of tokens allowed (2000).", nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, url := sim(t, Options{Window: 2000})
			status, body := post(t, url+tc.path, tc.body, tc.headers...)
			if got := errorText(t, body); status != 400 || !strings.Contains(got, tc.text) {
				t.Errorf("%d %q\nwants %q", status, got, tc.text)
			}
			if r := s.Report(); r.Refused != 1 || r.Input != 0 || r.Dollars != 0 {
				t.Errorf("report %+v", r)
			}
			// The same request fits another window.
			if status, body = post(t, url+tc.path, tc.body, "Sim-Window", "9000"); status != 200 {
				t.Errorf("in a larger window: %d %s", status, body)
			}
		})
	}
}

// TestOverflowShapes goes through every shape in every dialect, streaming and
// not: what status, where the news stands, and that no content came before it
// unless it is the late shape.
func TestOverflowShapes(t *testing.T) {
	type want struct {
		status int
		text   string // somewhere in the body
	}
	numbers := map[string]string{
		Chat: "context_length_exceeded", Responses: "context_length_exceeded", Anthropic: "prompt is too long:", Gemini: "The input token count (",
	}
	finish := map[string]string{
		Chat: `"finish_reason":"length"`, Responses: `"status":"failed"`, Anthropic: `"stop_reason":"model_context_window_exceeded"`, Gemini: `"finishReason":"MAX_TOKENS"`,
	}
	for _, dialect := range allDialects {
		for _, stream := range []bool{false, true} {
			inStream := 400
			if stream {
				inStream = 200
			}
			def := 400
			if dialect == Responses {
				def = inStream
			}
			large := "too large"
			switch dialect {
			case Anthropic:
				large = "request_too_large"
			case Gemini:
				large = "Request payload size exceeds the limit"
			}
			for shape, w := range map[Overflow]want{
				OverflowDefault:  {def, numbers[dialect]},
				OverflowError:    {400, numbers[dialect]},
				OverflowLimit:    {400, ""},
				OverflowTooLarge: {413, large},
				OverflowEmpty:    {400, ""},
				OverflowFinish:   {200, finish[dialect]},
				OverflowStream:   {inStream, numbers[dialect]},
				OverflowLate:     {inStream, numbers[dialect]},
				OverflowSilent:   {200, ""},
			} {
				t.Run(fmt.Sprintf("%s/stream=%v/%s", dialect, stream, shape), func(t *testing.T) {
					_, url := sim(t, Options{Window: 6000, Overflow: map[string]Overflow{dialect: shape}})
					c := newClient(dialect)
					c.stream = stream
					c.say(tokens(8000, "x"))
					status, body := post(t, url+c.path(), c.body(), "Sim-Answer", "text,plain")
					if status != w.status || !strings.Contains(body, w.text) {
						t.Fatalf("%d, want %d with %q\n%.400s", status, w.status, w.text, body)
					}
					if shape == OverflowEmpty && body != "" {
						t.Errorf("body %q", body)
					}
					content := strings.Contains(body, "_delta") || strings.Contains(body, `"delta":{"content"`) ||
						strings.Contains(body, "output_text.delta") || strings.Contains(body, `{"text":"`) && !strings.Contains(body, `{"text":""}`)
					if stream && status == 200 && shape == OverflowStream && content {
						t.Errorf("content before the error:\n%.600s", body)
					}
					if stream && shape == OverflowLate && !content {
						t.Errorf("no content before the error:\n%.600s", body)
					}
					if stream && status == 200 && shape != OverflowSilent {
						sseEvents(t, body)
					}
				})
			}
		}
	}
}

// The failed event is the third, as in the field: a gateway may hold two.
func TestResponsesOverflowIsTheThirdEvent(t *testing.T) {
	_, url := sim(t, Options{Window: 100})
	c := newClient(Responses)
	c.stream = true
	c.say(tokens(500, "x"))
	_, body := post(t, url+c.path(), c.body())
	events := sseEvents(t, body)
	if len(events) != 3 || events[2].name != "response.failed" {
		t.Fatalf("%d events: %s", len(events), body)
	}
	v := parse(t, string(events[2].data)).get("response")
	if v.get("status").str() != "failed" || v.path("error", "code").str() != "context_length_exceeded" {
		t.Errorf("%s", v.raw)
	}
}

func TestBytesLimit(t *testing.T) {
	for path, want := range map[string]struct {
		status int
		text   string
		body   string
	}{
		"/v1/messages":         {413, "Request exceeds the maximum size", am(aUser)},
		"/v1/chat/completions": {413, "Request body too large.", cm(cUser)},
		gPath:                  {400, "Request payload size exceeds the limit: 10 bytes.", gm(gUser)},
	} {
		s, url := sim(t, Options{MaxBody: 10})
		status, body := post(t, url+path, want.body)
		if status != want.status || errorText(t, body) != want.text || s.Report().RefusedBy[ruleBytes] != 1 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestMaxOutputCutsAnswers(t *testing.T) {
	_, url := sim(t, Options{})
	for _, tc := range []struct{ path, body, want string }{
		{"/v1/messages", strings.Replace(am(aUser), `"max_tokens":2000`, `"max_tokens":40`, 1), `"stop_reason":"max_tokens"`},
		{"/v1/chat/completions", cm(cUser, `"max_completion_tokens":40`), `"finish_reason":"length"`},
		{"/v1/responses", rm(rUser, `"max_output_tokens":40`), `"incomplete_details":{"reason":"max_output_tokens"}`},
		{gPath, gm(gUser, `"generationConfig":{"maxOutputTokens":40}`), `"finishReason":"MAX_TOKENS"`},
	} {
		_, body := post(t, url+tc.path, tc.body, "Sim-Answer", "text,bytes=4000")
		if !strings.Contains(body, tc.want) || len(body) > 2000 {
			t.Errorf("%s: wants %s: %.500s", tc.path, tc.want, body)
		}
	}
}
