package providersim

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestArgumentsFollowTheSchema(t *testing.T) {
	schema := parse(t, `{"type":"object","required":["file","n","on","list","mode","fixed","nothing","deep","many"],"properties":{
		"file":{"type":"string"},"n":{"type":"integer","minimum":5,"maximum":9},"on":{"type":"boolean"},
		"list":{"type":"array","minItems":2,"items":{"type":"string"}},"mode":{"enum":["r",3,null]},"fixed":{"const":{"a":1}},
		"nothing":{"type":"null"},"deep":{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}},
		"many":{"type":["number","null"]},"extra":{"type":"STRING"}}}`)
	extra := 0
	for seed := range uint64(200) {
		text := encodeJSON(fillSchema(rand.New(rand.NewPCG(seed, 0)), "", schema, 0))
		v := parse(t, string(text))
		n := v.get("n").num(-1)
		ok := strings.Contains(v.get("file").str(), "/") && n >= 5 && n < 9 && (v.get("on").kind == 't' || v.get("on").kind == 'f') &&
			len(v.get("list").elems) == 2 && v.path("fixed", "a").num(0) == 1 && v.path("deep", "command").isString() && v.get("many").kind == '0'
		if !ok || !json.Valid(text) {
			t.Fatalf("seed %d: %s", seed, text)
		}
		if v.get("extra").ok() {
			extra++
		}
	}
	if extra == 0 || extra == 200 {
		t.Errorf("an optional argument came %d times in 200", extra)
	}
	// A schema that never ends, in depth, comes to an end all the same.
	deep := strings.Repeat(`{"type":"array","minItems":1,"items":`, 50) + `{}` + strings.Repeat("}", 50)
	if out := encodeJSON(fillSchema(rand.New(rand.NewPCG(1, 1)), "", parse(t, deep), 0)); len(out) > 100 {
		t.Errorf("%s", out)
	}
}

func TestOpenAIChoice(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                         "",
		`{"tool_choice":"auto"}`:     "auto",
		`{"tool_choice":"required"}`: "any",
		`{"tool_choice":{"type":"function","function":{"name":"a"}}}`: "a",
		`{"tool_choice":{"type":"function","name":"b"}}`:              "b",
	} {
		if got, parallel := openaiChoice(parse(t, body)); got != want || !parallel {
			t.Errorf("%s: %q %v", body, got, parallel)
		}
	}
	if _, parallel := openaiChoice(parse(t, `{"parallel_tool_calls":false}`)); parallel {
		t.Error("parallel_tool_calls:false is ignored")
	}
}

func TestProseSpeaksOfWhatItRead(t *testing.T) {
	hits := 0
	for seed := range uint64(50) {
		text := writeProse(rand.New(rand.NewPCG(seed, 0)), "see lib/parser/lexer.rs, and that is all.", 3)
		if strings.Contains(text, "%") || text == "" {
			t.Fatalf("%q", text)
		}
		if strings.Contains(text, "lib/parser/lexer.rs") {
			hits++
		}
	}
	if hits == 0 {
		t.Error("the file that was named is never spoken of")
	}
	if got := fillerText(rand.New(rand.NewPCG(1, 0)), 12345); len(got) != 12345 {
		t.Errorf("filler of %d bytes", len(got))
	}
}

func TestPieces(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("é€😀", 1000), strings.Repeat("a", 1<<20)} {
		ps := cutIntoDeltas(text)
		if strings.Join(ps, "") != text || len(ps) > 2000 {
			t.Errorf("%d bytes in %d pieces", len(text), len(ps))
		}
		for _, p := range ps {
			if strings.ToValidUTF8(p, "#") != p {
				t.Fatalf("a rune is cut: %q", p)
			}
		}
	}
}

// TestQuote lets the agent answer from what stands in the prompt, the newest
// first, and from nothing else.
func TestQuote(t *testing.T) {
	a := &Ask{Rand: rand.New(rand.NewPCG(1, 1)), Tools: []Tool{{Name: "read"}}, body: parse(t, `{"tools":[{"name":"PORT"}],"messages":[
		{"role":"user","content":"first\nthe PORT is 1\nlast"},
		{"role":"assistant","content":[{"type":"text","text":"PORT is 2, COLOUR is \"red\""}]},
		{"role":"user","content":"and now?"}]}`)}
	for want, text := range map[string]string{
		"quote=PORT":     `PORT is 2, COLOUR is "red"`,
		"quote=the PORT": "the PORT is 1",
		"quote=name":     Unknown,
	} {
		a.Want = want
		if got := Scripted(8)(a); len(got) != 1 || got[0].Kind != Text || got[0].Text != text {
			t.Errorf("%s: %+v", want, got)
		}
	}
}
