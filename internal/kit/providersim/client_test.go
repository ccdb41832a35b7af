package providersim

import (
	"fmt"
	"strings"
	"testing"
)

// client is a small agent that keeps a conversation in one dialect and sends all
// of it every time, as real ones do. It is written against the wire, not with
// this package's decoders.
type client struct {
	dialect string
	model   string
	more    string // further members of the request, with a comma after each
	history []string
	stream  bool

	// run, if set, is what a tool answers, for the arguments of the call.
	run func(args value) string
}

func newClient(dialect string) *client {
	c := &client{dialect: dialect}
	schema := `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},"mode":{"type":"string","enum":["r","w"]}},"required":["path","mode"]}`
	switch dialect {
	case Chat:
		c.model = "gpt-4.1"
		c.more = `"tools":[{"type":"function","function":{"name":"read","parameters":` + schema + `}}],`
	case Responses:
		c.model = "gpt-5.4"
		c.more = `"reasoning":{"effort":"high"},"store":false,"tools":[{"type":"function","name":"read","parameters":` + schema + `}],`
	case Anthropic:
		c.model = "claude-fable-5-1"
		c.more = `"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"read","input_schema":` + schema + `}],`
	case Gemini:
		c.model = "gemini-3.1-pro-preview"
		c.more = `"tools":[{"functionDeclarations":[{"name":"read","parameters":` + schema + `}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}},`
	}
	return c
}

func (c *client) path() string {
	switch c.dialect {
	case Chat:
		return "/v1/chat/completions"
	case Responses:
		return "/v1/responses"
	case Anthropic:
		return "/v1/messages"
	}
	if c.stream {
		return "/v1beta/models/" + c.model + ":streamGenerateContent?alt=sse"
	}
	return "/v1beta/models/" + c.model + ":generateContent"
}

func (c *client) body() string {
	more := c.more
	if c.dialect != Gemini {
		more += fmt.Sprintf(`"model":%q,"stream":%v,`, c.model, c.stream)
		if c.stream && c.dialect == Chat {
			more += `"stream_options":{"include_usage":true},`
		}
	}
	name := map[string]string{Chat: "messages", Responses: "input", Anthropic: "messages", Gemini: "contents"}[c.dialect]
	return "{" + more + `"` + name + `":[` + strings.Join(c.history, ",") + "]}"
}

// say appends a user's message.
func (c *client) say(text string) {
	switch c.dialect {
	case Gemini:
		c.history = append(c.history, `{"role":"user","parts":[{"text":`+js(text)+`}]}`)
	case Responses:
		c.history = append(c.history, `{"type":"message","role":"user","content":[{"type":"input_text","text":`+js(text)+`}]}`)
	default:
		c.history = append(c.history, `{"role":"user","content":`+js(text)+`}`)
	}
}

// take appends an answer to the history and results for its calls. It returns
// how many calls there were, and input and output tokens.
func (c *client) take(t testing.TB, answer value, result string) (calls, in, out int) {
	t.Helper()
	switch c.dialect {
	case Chat:
		m := answer.get("choices").elems[0].get("message")
		c.history = append(c.history, string(m.raw))
		for _, tc := range m.get("tool_calls").elems {
			calls++
			a := parse(t, tc.path("function", "arguments").str())
			if c.run != nil {
				result = c.run(a)
			} else if !a.get("path").isString() || !a.get("mode").isString() {
				t.Errorf("arguments do not follow the schema: %s", a.raw)
			}
			c.history = append(c.history, `{"role":"tool","tool_call_id":`+js(tc.get("id").str())+`,"content":`+js(result)+`}`)
		}
		return calls, answer.path("usage", "prompt_tokens").num(-1), answer.path("usage", "completion_tokens").num(-1)
	case Responses:
		var results []string
		for _, it := range answer.get("output").elems {
			c.history = append(c.history, string(it.raw))
			if it.get("type").str() == "function_call" {
				calls++
				if c.run != nil {
					result = c.run(parse(t, it.get("arguments").str()))
				}
				results = append(results, `{"type":"function_call_output","call_id":`+js(it.get("call_id").str())+`,"output":`+js(result)+`}`)
			}
		}
		c.history = append(c.history, results...)
		return calls, answer.path("usage", "input_tokens").num(-1), answer.path("usage", "output_tokens").num(-1)
	case Anthropic:
		var results []string
		for _, b := range answer.get("content").elems {
			if b.get("type").str() == "tool_use" {
				calls++
				if c.run != nil {
					result = c.run(b.get("input"))
				}
				results = append(results, `{"type":"tool_result","tool_use_id":`+js(b.get("id").str())+`,"content":`+js(result)+`}`)
			}
		}
		c.history = append(c.history, `{"role":"assistant","content":`+string(answer.get("content").raw)+`}`)
		if calls > 0 {
			c.history = append(c.history, user(strings.Join(results, ",")))
		}
		u := answer.get("usage")
		in = u.get("input_tokens").num(-1) + u.get("cache_read_input_tokens").num(0) + u.get("cache_creation_input_tokens").num(0)
		return calls, in, u.get("output_tokens").num(-1)
	}
	var parts, results []string
	for _, p := range answer.get("candidates").elems[0].path("content", "parts").elems {
		if p.get("thought").isTrue() || p.get("text").ok() && p.get("text").str() == "" {
			continue
		}
		parts = append(parts, string(p.raw))
		if f := p.get("functionCall"); f.ok() {
			calls++
			if c.run != nil {
				result = c.run(f.get("args"))
			}
			results = append(results, `{"functionResponse":{"name":`+js(f.get("name").str())+`,"response":{"output":`+js(result)+`}}}`)
		}
	}
	c.history = append(c.history, `{"role":"model","parts":[`+strings.Join(parts, ",")+`]}`)
	if calls > 0 {
		c.history = append(c.history, `{"role":"user","parts":[`+strings.Join(results, ",")+`]}`)
	}
	u := answer.get("usageMetadata")
	return calls, u.get("promptTokenCount").num(-1), u.get("candidatesTokenCount").num(-1)
}

var allDialects = []string{Chat, Responses, Anthropic, Gemini}

// TestConversations runs agents through many turns: everything that the server
// answers must be accepted when it comes back, and usage must add up.
func TestConversations(t *testing.T) {
	for _, dialect := range allDialects {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", dialect, stream), func(t *testing.T) {
				s, url := sim(t, Options{Seed: 7})
				c := newClient(dialect)
				c.stream = stream
				var withCalls, parallel, thoughts int
				for turn := range 7 {
					c.say(fmt.Sprintf("turn %d: please look at internal/store/retry.go", turn))
					for step := 0; ; step++ {
						if step > 8 {
							t.Fatal("the agent does not come to an end")
						}
						status, text := post(t, url+c.path(), c.body())
						if status != 200 {
							t.Fatalf("turn %d step %d: %d %s", turn, step, status, text)
						}
						answer := parse(t, text0(t, dialect, stream, text))
						if strings.Contains(string(answer.raw), `"thinking"`) || strings.Contains(string(answer.raw), `"reasoning","summary"`) ||
							strings.Contains(string(answer.raw), `"thought"`) {
							thoughts++
						}
						before := len(c.history)
						calls, in, out := c.take(t, answer, "ok")
						if n := countTokens(t, url, c, before); n != in {
							t.Fatalf("reported %d input tokens, the counting endpoint says %d", in, n)
						}
						// The answer's own messages cost the reported output.
						own := len(c.history)
						switch {
						case dialect == Anthropic || dialect == Gemini:
							own = before + 1
						case dialect == Chat:
							own = before + 1
						case calls > 0:
							own -= calls
						}
						if n := countTokens(t, url, c, own); n >= 0 && n-in != out {
							t.Fatalf("reported %d output tokens, they cost %d when they come back", out, n-in)
						}
						if calls == 0 {
							break
						}
						withCalls++
						if calls > 1 {
							parallel++
						}
					}
				}
				r := s.Report()
				if r.Refused != 0 || r.Accepted == 0 || withCalls == 0 || parallel == 0 {
					t.Errorf("%d with calls, %d with several; report %+v", withCalls, parallel, r.RefusedBy)
				}
				if dialect != Chat && thoughts == 0 {
					t.Error("no thinking seen")
				}
			})
		}
	}
}

// countTokens counts the first n messages by the server's own prompt builder,
// which the counting endpoints use; unpaired ends cannot be posted.
func countTokens(t testing.TB, _ string, c *client, n int) int {
	t.Helper()
	d := *c
	d.history = c.history[:n]
	s := New(Options{Seed: 7})
	defer s.Close()
	v := parse(t, d.body())
	k := &call{s: s, v: v, model: c.model, settings: s.opts.settingsFor(c.model)}
	switch c.dialect {
	case Chat:
		k.d = chatDialect{}
		chatDialect{}.buildPrompt(k)
	case Responses:
		k.d = responsesDialect{}
		responsesDialect{}.buildPrompt(k)
	case Anthropic:
		k.d = anthropicDialect{}
		if r := (anthropicDialect{}).buildPrompt(k, readBlocks(v.get("messages"))); r != nil {
			t.Fatalf("build: %s", r.message)
		}
	case Gemini:
		k.d = geminiDialect{}
		geminiDialect{}.buildPrompt(k)
	}
	return k.prompt.tokens
}
