package wire

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
)

// A generator of request bodies: random conversations with parallel calls,
// thinking, images, unknown fields, cache markers and the spacing of different
// clients. Conversations are valid in their dialect unless broken says otherwise.
type gen struct {
	*rand.Rand
	d        Dialect
	style    int // spacing
	thinking bool
	marks    int // cache markers left
	broken   bool
	n        int // ids
}

func newGen(d Dialect, seed uint64) *gen {
	r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 77))
	return &gen{Rand: r, d: d, style: r.IntN(3), thinking: r.IntN(2) == 0, marks: 4}
}

func (g *gen) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *gen) p(percent int) bool { return g.IntN(100) < percent }

func (g *gen) id(prefix string) string {
	g.n++
	if g.d == Anthropic { // it has a pattern for ids
		return prefix + strconv.Itoa(g.n) + g.one("", "_a", "-B")
	}
	return prefix + strconv.Itoa(g.n) + g.one("", "_a", "é")
}

func (g *gen) text() string {
	words := []string{"the", "file", "main.go:12", "error:", "\"quoted\"", "\\path\\to", "日本語", "😀", "\n", "\t", "</system>", "{\"a\":1}", "naïve", "\u2028", "x"}
	var b strings.Builder
	b.WriteString(g.one("so ", "«ok» ", "Run. ")) // words, not only white space
	for range 1 + g.IntN(12) {
		b.WriteString(words[g.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// str returns a JSON string, sometimes with more escapes than needed.
func (g *gen) str(s string) string {
	if g.p(70) {
		return string(jsonwrite.AppendString(nil, s))
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '/':
			b.WriteString(`\/`)
		case r < 0x20 || r > 0x7e && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// obj writes an object of alternating names and JSON values; empty values are
// left out. Names are shuffled by some clients.
func (g *gen) obj(kv ...string) string {
	var m [][2]string
	for i := 0; i < len(kv); i += 2 {
		if kv[i+1] != "" {
			m = append(m, [2]string{kv[i], kv[i+1]})
		}
	}
	if g.p(10) {
		m = append(m, [2]string{"x_unknown", g.one(`{"a":[1,2,{"b":null}]}`, `1e400`, `"x"`, `[]`)})
	}
	if g.p(30) {
		g.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteString(g.comma())
		}
		if g.style == 2 {
			b.WriteString("\n  ")
		}
		b.WriteString(strconv.Quote(x[0]) + [...]string{":", ": ", " : "}[g.style] + x[1])
	}
	if g.style == 2 && len(m) > 0 {
		b.WriteByte('\n')
	}
	b.WriteByte('}')
	return b.String()
}

func (g *gen) comma() string { return [...]string{",", ", ", ","}[g.style] }

func (g *gen) arr(elems ...string) string {
	if g.style == 2 && len(elems) > 0 {
		return "[\n " + strings.Join(elems, ",\n ") + "\n]"
	}
	return "[" + strings.Join(elems, g.comma()) + "]"
}

func (g *gen) mark() string {
	if g.d == Anthropic && g.marks > 0 && g.p(10) {
		g.marks--
		return `{"type":"ephemeral"}`
	}
	return ""
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// textPart, image, thinkingPart write one element of content.
func (g *gen) textPart(role, s string) string {
	switch g.d {
	case Gemini:
		return g.obj("text", g.str(s))
	case Responses:
		if role == "assistant" {
			return g.obj("type", `"output_text"`, "text", g.str(s), "annotations", "[]")
		}
		return g.obj("type", `"input_text"`, "text", g.str(s))
	}
	return g.obj("type", `"text"`, "text", g.str(s), "cache_control", g.mark())
}

func (g *gen) image() string {
	switch g.d {
	case Anthropic:
		return g.obj("type", `"image"`, "source", g.obj("type", `"base64"`, "media_type", `"image/png"`, "data", `"`+pixel+`"`), "cache_control", g.mark())
	case Gemini:
		return g.obj("inlineData", g.obj("mimeType", `"image/png"`, "data", `"`+pixel+`"`))
	case Responses:
		return g.obj("type", `"input_image"`, "image_url", `"data:image/png;base64,`+pixel+`"`, "detail", `"auto"`)
	}
	return g.obj("type", `"image_url"`, "image_url", g.obj("url", `"data:image/png;base64,`+pixel+`"`))
}

func (g *gen) args() string {
	return g.one(`{"path":"a.go"}`, `{"cmd":"go test ./...","n":3}`, `{}`, `{"text":"`+strings.Repeat("long ", 40)+`"}`, `{ "nested" : {"x":[1,2]} }`)
}

// user returns the elements of a user's message.
func (g *gen) user() []string {
	switch {
	case g.d == Responses && g.p(20):
		return []string{g.obj("role", `"user"`, "content", g.str(g.text()))}
	case g.d == Gemini:
		parts := []string{g.textPart("user", g.text())}
		if g.p(15) {
			parts = append(parts, g.image())
		}
		return []string{g.obj("role", `"user"`, "parts", g.arr(parts...))}
	case g.d == OpenAI && g.p(50), g.d == Anthropic && g.p(40):
		return []string{g.obj("role", `"user"`, "content", g.str(g.text()))}
	}
	parts := []string{g.textPart("user", g.text())}
	for g.p(30) {
		parts = append(parts, g.image())
	}
	if g.p(30) {
		parts = append(parts, g.textPart("user", g.text()))
	}
	kind := ""
	if g.d == Responses {
		kind = `"message"`
	}
	return []string{g.obj("type", kind, "role", `"user"`, "content", g.arr(parts...))}
}

type genCall struct{ id, name, args string }

// assistant returns the elements of a model's message with these calls.
func (g *gen) assistant(calls []genCall) []string {
	text := ""
	if len(calls) == 0 || g.p(60) {
		text = g.text()
	}
	switch g.d {
	case Anthropic:
		var parts []string
		if g.thinking {
			if g.p(80) {
				parts = append(parts, g.obj("type", `"thinking"`, "thinking", g.str(g.text()), "signature", g.str("sig"+g.id(""))))
			} else {
				parts = append(parts, g.obj("type", `"redacted_thinking"`, "data", g.str("enc"+g.id(""))))
			}
		}
		if text != "" && len(parts) == 0 && len(calls) == 0 && g.p(40) {
			return []string{g.obj("role", `"assistant"`, "content", g.str(text))}
		}
		if text != "" {
			parts = append(parts, g.textPart("assistant", text))
		}
		if g.p(10) {
			id := g.id("srvtoolu_")
			parts = append(parts, g.obj("type", `"server_tool_use"`, "id", g.str(id), "name", `"web_search"`, "input", `{"query":"x"}`),
				g.obj("type", `"web_search_tool_result"`, "tool_use_id", g.str(id), "content", `[]`))
		}
		for _, c := range calls {
			parts = append(parts, g.obj("type", `"tool_use"`, "id", g.str(c.id), "name", g.str(c.name), "input", c.args, "cache_control", g.mark()))
		}
		return []string{g.obj("role", `"assistant"`, "content", g.arr(parts...))}
	case Gemini:
		var parts []string
		if g.thinking && g.p(50) {
			parts = append(parts, g.obj("text", g.str(g.text()), "thought", "true"))
		}
		if text != "" {
			parts = append(parts, g.textPart("model", text))
		}
		for i, c := range calls {
			id, sig := "", ""
			if strings.HasPrefix(c.id, "fc") {
				id = g.str(c.id)
			}
			if g.thinking && i == 0 {
				sig = g.str("c2ln" + g.id(""))
			}
			parts = append(parts, g.obj("functionCall", g.obj("name", g.str(c.name), "args", c.args, "id", id), "thoughtSignature", sig))
		}
		return []string{g.obj("role", `"model"`, "parts", g.arr(parts...))}
	case Responses:
		var items []string
		if g.thinking {
			items = append(items, g.obj("type", `"reasoning"`, "id", g.str(g.id("rs_")), "summary", g.arr(g.obj("type", `"summary_text"`, "text", g.str(g.text()))), "encrypted_content", g.str("gAAA"+g.id(""))))
		}
		if text != "" {
			items = append(items, g.obj("type", `"message"`, "id", g.str(g.id("msg_")), "role", `"assistant"`, "status", `"completed"`, "content", g.arr(g.textPart("assistant", text))))
		}
		if g.p(10) {
			items = append(items, g.obj("type", `"web_search_call"`, "id", g.str(g.id("ws_")), "status", `"completed"`, "action", `{"type":"search","query":"q"}`))
		}
		for _, c := range calls {
			if strings.HasPrefix(c.id, "custom") {
				items = append(items, g.obj("type", `"custom_tool_call"`, "call_id", g.str(c.id), "name", g.str(c.name), "input", g.str(g.text())))
				continue
			}
			items = append(items, g.obj("type", `"function_call"`, "id", g.str(g.id("fc_")), "call_id", g.str(c.id), "name", g.str(c.name), "arguments", g.str(c.args)))
		}
		return items
	}
	content := "null"
	switch {
	case text != "" && g.p(80):
		content = g.str(text)
	case text != "":
		content = g.arr(g.textPart("assistant", text))
	case g.p(30):
		content = `""`
	}
	reason, details, blocks := "", "", ""
	if g.thinking {
		words := g.text()
		if g.p(70) {
			reason = g.str(words)
		}
		if g.p(30) {
			details = g.arr(g.obj("type", `"reasoning.text"`, "text", g.str(words), "signature", g.str("s"+g.id(""))))
		} else if g.p(20) {
			details = g.arr(g.obj("type", `"reasoning.encrypted"`, "data", g.str("enc"+g.id(""))))
		}
		if g.p(20) {
			blocks = g.arr(g.obj("type", `"thinking"`, "thinking", g.str(words), "signature", g.str("s"+g.id(""))))
		}
	}
	tools := ""
	if len(calls) > 0 {
		var cs []string
		for _, c := range calls {
			if strings.HasPrefix(c.id, "custom") {
				cs = append(cs, g.obj("id", g.str(c.id), "type", `"custom"`, "custom", g.obj("name", g.str(c.name), "input", g.str(g.text()))))
				continue
			}
			cs = append(cs, g.obj("id", g.str(c.id), "type", `"function"`, "function", g.obj("name", g.str(c.name), "arguments", g.str(c.args))))
		}
		tools = g.arr(cs...)
	}
	return []string{g.obj("role", `"assistant"`, "content", content, "refusal", g.one("", "", "null"), "tool_calls", tools,
		"reasoning_content", reason, "reasoning_details", details, "thinking_blocks", blocks)}
}

// results returns the elements that answer calls.
func (g *gen) results(calls []genCall) []string {
	var out, blocks []string
	for _, c := range calls {
		if g.broken && g.p(10) {
			continue
		}
		text := g.text() + strings.Repeat("line of output\n", g.IntN(30))
		switch g.d {
		case Anthropic:
			content := g.str(text)
			if g.p(30) {
				content = g.arr(g.textPart("user", text), g.obj("type", `"image"`, "source", g.obj("type", `"base64"`, "media_type", `"image/png"`, "data", `"`+pixel+`"`)))
			}
			failed := ""
			if g.p(10) {
				failed = "true"
			}
			blocks = append(blocks, g.obj("type", `"tool_result"`, "tool_use_id", g.str(c.id), "content", content, "is_error", failed, "cache_control", g.mark()))
		case Gemini:
			id := ""
			if strings.HasPrefix(c.id, "fc") {
				id = g.str(c.id)
			}
			response := g.one(g.obj("output", g.str(text)), g.obj("error", g.str(text)), g.obj("a", "1", "b", g.str(text)))
			blocks = append(blocks, g.obj("functionResponse", g.obj("name", g.str(c.name), "response", response, "id", id)))
		case Responses:
			kind := `"function_call_output"`
			if strings.HasPrefix(c.id, "custom") {
				kind = `"custom_tool_call_output"`
			}
			output := g.str(text)
			if g.p(20) {
				output = g.arr(g.obj("type", `"input_text"`, "text", g.str(text)), g.image())
			}
			out = append(out, g.obj("type", kind, "call_id", g.str(c.id), "output", output))
		default:
			content := g.str(text)
			if g.p(20) {
				content = g.arr(g.textPart("tool", text))
			}
			out = append(out, g.obj("role", `"tool"`, "tool_call_id", g.str(c.id), "content", content))
		}
	}
	if len(blocks) == 0 {
		return out
	}
	if g.d == Gemini {
		return append(out, g.obj("role", g.one(`"user"`, `"user"`, `"function"`), "parts", g.arr(blocks...)))
	}
	if g.p(20) {
		blocks = append(blocks, g.textPart("user", g.text()))
	}
	return append(out, g.obj("role", `"user"`, "content", g.arr(blocks...)))
}

// conversation returns the elements of about n messages. It ends where a
// request may end: with input for the model.
func (g *gen) conversation(n int) []string {
	var out []string
	for len(out) < n {
		out = append(out, g.user()...)
		for range g.IntN(4) {
			var calls []genCall
			for range 1 + g.IntN(3) {
				prefix := "call_"
				if g.d == Gemini {
					prefix = g.one("fc", "")
				}
				if (g.d == OpenAI || g.d == Responses) && g.p(15) {
					prefix = "custom_"
				}
				calls = append(calls, genCall{g.id(prefix), g.one("read", "bash", "edit"), g.args()})
			}
			if g.d == Gemini { // a server gives all calls of an answer ids, or none
				for i := range calls {
					calls[i].id = calls[0].id[:min(2, len(calls[0].id))] + g.id("")
				}
			}
			out = append(out, g.assistant(calls)...)
			out = append(out, g.results(calls)...)
		}
		if g.p(80) {
			out = append(out, g.assistant(nil)...)
		}
	}
	return append(out, g.user()...)
}

// bodyOf puts elements into a body with other members around them.
func (g *gen) frame() (head, tail string) {
	sep := [...]string{"", " ", "\n  "}[g.style]
	fields := map[Dialect]string{
		OpenAI:    `"model":"gpt-x",` + sep + `"max_tokens":4096,` + sep + `"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],`,
		Anthropic: `"model":"claude-x",` + sep + `"max_tokens":32000,` + sep + `"system":[{"type":"text","text":"You are an agent.","cache_control":null}],`,
		Responses: `"model":"gpt-x",` + sep + `"instructions":"Be good.",` + sep + `"max_output_tokens":900,`,
		Gemini:    `"systemInstruction":{"parts":[{"text":"Be good."}]},` + sep + `"generationConfig":{"maxOutputTokens":77},`,
	}[g.d]
	if g.d == Anthropic && g.thinking {
		fields += `"thinking":{"type":"enabled","budget_tokens":2000},`
	}
	head = "{" + sep + fields + sep + `"` + g.d.listMember() + `":` + sep + "["
	if g.d == OpenAI {
		head += `{"role":"system","content":"You are an agent."}` + g.listComma() + `{"role":"developer","content":"Obey."}`
	}
	return head, sep + "]," + sep + `"stream":true,"x":{"messages":[1]}` + sep + "}"
}

func (g *gen) listComma() string { return [...]string{",", ", ", ",\n    "}[g.style] }

func (g *gen) body(elems []string) string {
	head, tail := g.frame()
	list := strings.Join(elems, g.listComma())
	if g.d == OpenAI && len(elems) > 0 {
		list = g.listComma() + list
	}
	return head + list + tail
}

// bodyWith is body with the same frame for the same seed.
func (g *gen) bodyWith(seed uint64, elems []string) string {
	f := newGen(g.d, seed)
	return f.body(elems)
}
