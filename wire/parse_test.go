package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

var hostile = []string{
	"", " ", "null", "1", `"x"`, "{", "[", "{}", "[]", "[null]", "[[]]", `{"messages":{}}`, `{"messages":null}`, `{"contents":"x"}`, `{"input":5}`,
	`{"messages":[1]}`, `{"messages":[{"role":7}]}`, `{"messages":[{"role":"user","content":{"type":5}}]}`, `{"messages":[{"role":"user","content":[[]]}]}`,
	`{"messages":[{"role":"assistant","tool_calls":{"id":1}}]}`, `{"messages":[{"role":"assistant","tool_calls":[{"id":{}}]}]}`,
	`{"messages":[],"messages":[{"role":"user","content":"twice","content":"again"}]}`, `{"messages":[]} {}`, "{\"messages\":[]}\x00",
	"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe \\ud800 \\u0000\"}]}", `{"messages":[{"role":"user","content":"x"}],"max_tokens":1e400}`,
	`{"messages":[{"role":"user","content":"x"}],"max_tokens":"many"}`, `{"messages":[{"role":"user","content":"x"}],"max_tokens":-99999999999999999999}`,
	`{"messages":[` + strings.Repeat("[", 20000), `{"messages":[{"role":"user","content":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}]}`,
	"\ufeff{\"messages\":[]}", `{"tools":[5],"messages":[]}`, `{"system":7,"messages":[]}`, `{"contents":[{"parts":7}]}`, `{"contents":[{"role":"user","parts":[{"functionCall":7},{"functionResponse":[]},{}]}]}`,
	`{"input":[{"type":"reasoning","summary":7},{"type":"function_call","call_id":7}]}`,
}

func TestHostile(t *testing.T) {
	for _, d := range append(Dialects(), "klingon") {
		for _, s := range hostile {
			b, err := Parse(d, []byte(s))
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.Hint == "" || e.Problem == "" || strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 600) {
				t.Errorf("%s %.60q: not a helpful error: %q", d, s, err)
			}
			if err == nil {
				roundTrip(t, b)
			}
			Validate(d, []byte(s))
			Detect([]byte(s))
			ParseAnswer(d, []byte(s))
			Classify(400, nil, []byte(s))
		}
	}
	_, err := Parse(Anthropic, []byte(`{"messages":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"text","text":5}]}]}`))
	if want := "/messages/1/content/0/text"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not name %s", err, want)
	}
}

// roundTrip masks every part with itself or something else and reads it back.
func roundTrip(t *testing.T, b *Body) {
	t.Helper()
	h := b.Request().History
	v, err := plan.Apply(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Encode(v)
	if renamed := b.Dialect() == Anthropic && repeatsCalls(h); err != nil || !renamed && !bytes.Equal(out, b.Raw()) {
		t.Fatalf("no plan changes the body: %v", err)
	}
	var edits []plan.Edit
	for i := range h.Len() {
		for k := range h.At(i).Parts {
			p := &h.At(i).Parts[k]
			e := plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: k, Text: "[masked]", Stage: "test"}
			switch {
			case p.Kind == chat.Thinking || p.Kind == chat.Opaque || p.Signature != "":
				if p.Kind == chat.ToolCall {
					continue
				}
				e.Text = ""
			case p.Kind == chat.ToolCall:
				e.Text = "{}"
			}
			edits = append(edits, e)
		}
	}
	p, err := plan.Compose(nil, h, b.Request().Rules, nil, edits...)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Raw())
	}
	if v, err = plan.Apply(h, p); err != nil {
		t.Fatal(err)
	}
	if out, err = b.Encode(v); err != nil {
		t.Fatalf("%v\n%s", err, b.Raw())
	}
	if _, err := Parse(b.Dialect(), out); err != nil {
		t.Fatalf("%v\n%s\n%s", err, b.Raw(), out)
	}
}

func FuzzParse(f *testing.F) {
	for _, d := range Dialects() {
		for seed := range uint64(5) {
			g := newGen(d, seed)
			g.broken = seed%2 == 1
			f.Add(string(d), []byte(g.body(g.conversation(6))))
		}
		for _, s := range hostile {
			if len(s) < 1000 {
				f.Add(string(d), []byte(s))
			}
		}
	}
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		d, err := ParseDialect(name)
		if err != nil {
			return
		}
		Detect(raw)
		b, err := Parse(d, raw)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		roundTrip(t, b)
		again, err := b.Next(raw)
		if err != nil {
			t.Fatal(err)
		}
		if n := b.Request().History.Len(); again.Request().History.Len() != n || again.Request().History.Chain(n) != b.Request().History.Chain(n) {
			t.Fatal("the same body reads differently the second time")
		}
	})
}

func TestFields(t *testing.T) {
	b, err := Parse(OpenAI, []byte(`{"model":"m","stream":true,"max_tokens":5,"max_completion_tokens":9,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"s1"},{"role":"developer","content":"s2"},{"role":"user","content":"u"},{"role":"system","content":"late"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := b.Request()
	if b.Model() != "m" || !b.Stream() || r.Output != 9 || len(r.Tools) != 1 || r.Tools[0].Name != "f" || len(r.System) != 2 || r.History.Len() != 2 {
		t.Errorf("%+v", r)
	}
	if m := string(b.Message(1)); m != `{"role":"system","content":"late"}` || r.History.At(1).Wire != len(m) {
		t.Errorf("message 1 is %s, of %d bytes", m, r.History.At(1).Wire)
	}
	for body, want := range map[string]string{
		`{"input":[],"previous_response_id":"r"}`:                   "previous_response_id",
		`{"input":[],"previous_response_id":null}`:                  "",
		`{"input":[],"context_management":[{"type":"compaction"}]}`: "context_management",
	} {
		b, err := Parse(Responses, []byte(body))
		if err != nil || b.Managed() != want {
			t.Errorf("%s: %q %v", body, b.Managed(), err)
		}
	}
	if _, err := ParseDialect("cobol"); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}

func TestRender(t *testing.T) {
	req := chat.Request{
		System: []chat.Part{{Kind: chat.Text, Text: "Be good."}},
		Tools:  []chat.ToolDef{{Name: "read", Description: "reads", Schema: `{"type":"object"}`}},
		Output: 100,
		History: chat.NewHistory(
			chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, Text: "go"}, {Kind: chat.Image, Media: "image/png", Data: pixel}}},
			chat.CallMessage("reading", chat.Call("c1", "read", `{"path":"a"}`), chat.Call("c2", "read", `{"path":"b"}`)),
			chat.ResultMessage("c1", "A"), chat.ResultMessage("c2", "B"),
			chat.TextMessage(chat.Assistant, "done"), chat.TextMessage(chat.User, "more"),
		),
	}
	for i := range 2 {
		req.History.At(2 + i).Parts[0].Name = "read"
	}
	for _, d := range Dialects() {
		raw, err := Render(d, "m", req, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ps := Validate(d, raw); len(ps) > 0 {
			t.Errorf("%s: %v\n%s", d, ps, raw)
		}
		b, err := Parse(d, raw)
		if err != nil {
			t.Fatalf("%s: %v\n%s", d, err, raw)
		}
		r := b.Request()
		if len(r.System) != 1 || len(r.Tools) != 1 || r.Tools[0].Schema != `{"type":"object"}` || r.Output != 100 || b.Model() != map[bool]string{true: "", false: "m"}[d == Gemini] {
			t.Errorf("%s: %+v", d, r)
		}
		var texts []string
		images := 0
		for _, m := range r.History.All() {
			for _, p := range m.Parts {
				texts = append(texts, p.Text+p.Args)
				if p.Kind == chat.Image && p.Data == pixel && p.Media == "image/png" {
					images++
				}
			}
		}
		if got := strings.Join(texts, "|"); got != `go||reading|{"path":"a"}|{"path":"b"}|A|B|done|more` || images != 1 {
			t.Errorf("%s: %s, %d images", d, got, images)
		}
	}
	if _, err := Render("klingon", "", req, nil); err == nil {
		t.Error("an unknown dialect is written")
	}
}

// TestPlainErrors says what is wrong with a body without a word of it.
func TestPlainErrors(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"role":"secret","content":"x"}]}`:                                 "wire: openai /messages/0/role: unknown role; correct the message or leave it out",
		`{"messages":[{"role":"user","content":"x","secret":{"secret":nul}}]}`:           "wire: openai /messages/0/…/…: invalid character",
		`{"messages":[{"role":"user","content":[{"type":"text","text":{"secret":1}}]}]}`: "wire: openai /messages/0/content/0/text: an object where a string is expected",
		`{"messages":"secret"}`: "wire: openai /messages: a string where an array of messages is expected",
		`{"max_tokens":"secret","messages":[{"role":"user","content":"x"}]}`: "wire: openai /max_tokens: a string where a whole number is expected",
		`{"secret":1}`: `wire: openai: the body has no "messages"`,
		`{"secret":`:   "wire: openai: the JSON ends in the middle",
	} {
		_, err := Parse(OpenAI, []byte(body))
		var bad *Error
		if !errors.As(err, &bad) || !strings.HasPrefix(bad.Plain(), want) || strings.Contains(bad.Plain(), "secret") {
			t.Errorf("%s: %v, plain %q, want %q", body, err, bad.Plain(), want)
		}
	}
}
