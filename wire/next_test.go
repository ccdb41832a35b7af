package wire

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

// sameBody fails where a body that was read on from another one is not what a
// reading from its start gives.
func sameBody(t *testing.T, what string, d Dialect, prev *Body, raw []byte) *Body {
	t.Helper()
	want, wantErr := Parse(d, raw)
	got, err := prev.Next(raw)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s: error %v, want %v", what, err, wantErr)
	}
	if err != nil {
		return prev
	}
	l := got.layout
	l.same = 0
	if len(l.elems) == 0 {
		l.elems = want.elems
	}
	if !reflect.DeepEqual(l, want.layout) {
		t.Fatalf("%s: layout\n%+v, want\n%+v", what, l, want.layout)
	}
	h, w := got.Request().History, want.Request().History
	if h.Len() != w.Len() || h.Chain(h.Len()) != w.Chain(w.Len()) || got.lead != want.lead || got.Request().Fixed != want.Request().Fixed || !reflect.DeepEqual(got.first, want.first) || got.Managed() != want.Managed() {
		t.Fatalf("%s: %d messages, want %d", what, h.Len(), w.Len())
	}
	if !reflect.DeepEqual(got.Request().System, want.Request().System) || len(got.Request().Tools) != len(want.Request().Tools) {
		t.Fatalf("%s: another system prompt", what)
	}
	return got
}

// TestNextIsParse reads growing conversations, forks and damaged bodies on from
// each other: the result is always what Parse gives.
func TestNextIsParse(t *testing.T) {
	race.Skip(t)
	resumed := 0
	for _, d := range Dialects() {
		for seed := range uint64(40) {
			g := newGen(d, seed)
			r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 5))
			elems := g.conversation(30)
			var prev *Body
			for n := 1; n <= len(elems); n += 1 + r.IntN(4) {
				raw := []byte(g.bodyWith(seed, elems[:n]))
				if prev == nil {
					var err error
					if prev, err = Parse(d, raw); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if l := resumeLayout(d, raw, prev); l != nil {
					resumed++
				}
				next := sameBody(t, fmt.Sprintf("%s seed %d, %d elements", d, seed, n), d, prev, raw)
				// What follows may be anything: cut off, changed, followed by more.
				for range 4 {
					bad := append([]byte(nil), raw...)
					at := len(bad)/2 + r.IntN(len(bad)/2)
					switch r.IntN(4) {
					case 0:
						bad = bad[:at]
					case 1:
						bad[at] = "\"{}[],:x0\\"[r.IntN(10)]
					case 2:
						bad = append(bad, bad[at:]...)
					case 3:
						bad = append(bad[:at:at], bad[at+r.IntN(len(bad)-at):]...)
					}
					sameBody(t, fmt.Sprintf("%s seed %d, %d elements, damaged at %d", d, seed, n, at), d, next, bad)
				}
				prev = next
			}
		}
	}
	if resumed < 100 {
		t.Errorf("only %d bodies were read on from another", resumed)
	}
}

// TestNextOddities reads on from bodies that are written in unusual ways.
func TestNextOddities(t *testing.T) {
	pad := strings.Repeat("words and more of them ", 400)
	user := func(s string) string { return `{"role":"user","content":"` + s + pad + `"}` }
	for name, c := range map[string]struct {
		d    Dialect
		a, b string
	}{
		"a bare list":            {OpenAI, "[" + user("a") + "]", "[" + user("a") + " , " + user("b") + "]"},
		"two lists":              {OpenAI, `{"messages":[` + user("a") + `],"messages":[` + user("b") + `]}`, `{"messages":[` + user("a") + `],"messages":[` + user("b") + `,` + user("c") + `],"model":"m"}`},
		"another list follows":   {OpenAI, `{"messages":[` + user("a") + `],"x":1}`, `{"messages":[` + user("a") + `],"messages":[` + user("c") + `]}`},
		"fields before":          {OpenAI, `{"model":"m","tools":[],"messages":[` + user("a") + `]}`, `{"model":"m","tools":[],"messages":[` + user("a") + `],"max_tokens":5}`},
		"fields after":           {Anthropic, `{"messages":[` + user("a") + `],"max_tokens":5,"system":"x"}`, `{"messages":[` + user("a") + `,{"role":"assistant","content":"b"}],"max_tokens":5,"system":"y"}`},
		"the last one goes on":   {OpenAI, `{"messages":[` + user("a") + `,1]}`, `{"messages":[` + user("a") + `,12]}`},
		"nothing is new":         {OpenAI, `{"messages":[` + user("a") + `]}`, `{"messages":[` + user("a") + `]}`},
		"one less":               {OpenAI, `{"messages":[` + user("a") + `,` + user("b") + `]}`, `{"messages":[` + user("a") + `]}`},
		"a string":               {Responses, `{"input":"` + pad + `"}`, `{"input":"` + pad + `more"}`},
		"a reference comes":      {Responses, `{"input":[` + user("a") + `]}`, `{"input":[` + user("a") + `,{"type":"item_reference","id":"msg_1"}]}`},
		"a reference goes":       {Responses, `{"input":[` + user("a") + `,{"type":"item_reference","id":"msg_1"}]}`, `{"input":[` + user("a") + `]}`},
		"a compaction comes":     {Anthropic, `{"messages":[` + user("a") + `]}`, `{"messages":[` + user("a") + `,{"role":"assistant","content":[{"type":"compaction","content":"s"}]}]}`},
		"a compaction stays":     {Responses, `{"input":[{"type":"compaction","encrypted_content":"e"},` + user("a") + `]}`, `{"input":[{"type":"compaction","encrypted_content":"e"},` + user("a") + `,` + user("b") + `]}`},
		"a wrapped request":      {Gemini, `{"generateContentRequest":{"contents":[{"parts":[{"text":"` + pad + `"}]}]}}`, `{"generateContentRequest":{"contents":[{"parts":[{"text":"` + pad + `"}]},{"role":"model","parts":[{"text":"b"}]}]}}`},
		"from plain to wrapped":  {Gemini, `{"contents":[{"parts":[{"text":"` + pad + `"}]}]}`, `{"generateContentRequest":{"contents":[{"parts":[{"text":"` + pad + `"}]}]}}`},
		"an escaped member name": {OpenAI, `{"mess\u0061ges":[` + user("a") + `]}`, `{"mess\u0061ges":[` + user("a") + `,` + user("b") + `]}`},
	} {
		prev, err := Parse(c.d, []byte(c.a))
		if err != nil && name != "the last one goes on" {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			sameBody(t, name, c.d, prev, []byte(c.b))
		}
	}
}

// nextSeeds are short bodies, cut where the next one goes on otherwise.
var nextSeeds = [...]struct {
	d          Dialect
	same, a, b string
}{
	{OpenAI, `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}`, `]}`, `,{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"max_tokens":9}`},
	{OpenAI, `[{"role":"user","content":"a"} ,`, `{"role":"user","content":"b"}]`, ` {"role":"user","content":"\u00e9"}]`},
	{Responses, `{"input":[{"role":"user","content":"a"},{"type":"reasoning","id":"r","summary":[]}`, `,{"type":"item_reference","id":"x"}]}`, `,{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}]}`},
	{Anthropic, `{"max_tokens":5,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}`, `]}],"system":"x"}`, `,{"type":"tool_use","id":"t1","name":"f","input":{}}]}],"system":[{"type":"text","text":"y"}]}`},
	{Gemini, `{"contents":[{"role":"user","parts":[{"text":"a"}]},`, `{"role":"model","parts":[{"text":"b"}]}]}`, `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}],"systemInstruction":{"parts":[{"text":"s"}]}}`},
	{Gemini, `{"generateContentRequest":{"contents":[{"parts":[{"text":"a"}]}`, `]}}`, `,{"role":"model","parts":[{"text":"b"}]}]}}`},
}

// FuzzNext reads a body on from another one that begins alike: what comes of it
// is what a reading from the start gives. The second body is the first one up to
// cut and then rest, since two that are fuzzed apart rarely have a beginning in
// common. Bodies are short, and read on as long ones are: the fuzzer shortens
// what it finds new byte by byte, and with many kilobytes it did nothing else.
func FuzzNext(f *testing.F) {
	was := leastResumed
	leastResumed = 1
	f.Cleanup(func() { leastResumed = was })
	resumed := 0
	for _, s := range nextSeeds {
		i := byte(slices.Index(Dialects(), s.d))
		f.Add(i, uint16(len(s.same)), []byte(s.same+s.a), []byte(s.b))
		f.Add(i, uint16(0), []byte(s.same+s.b), []byte(s.same+s.a))
		if prev, err := Parse(s.d, []byte(s.same+s.a)); err != nil {
			f.Fatal(err)
		} else if resumeLayout(s.d, []byte(s.same+s.b), prev) != nil {
			resumed++
		}
	}
	if resumed < len(nextSeeds)-1 { // a wrapped one is read from its start
		f.Fatalf("%d of %d seeds are read on", resumed, len(nextSeeds))
	}
	f.Fuzz(func(t *testing.T, i byte, cut uint16, a, rest []byte) {
		d := Dialects()[int(i)%len(Dialects())]
		prev, err := Parse(d, a)
		if err != nil {
			return
		}
		same := min(int(cut), len(a))
		sameBody(t, "fuzz", d, prev, append(a[:same:same], rest...))
	})
}

// TestCountWrapped reads Gemini's request for the count of a whole request, and
// writes it back in its wrapping.
func TestCountWrapped(t *testing.T) {
	for _, name := range []string{"generateContentRequest", "generate_content_request"} {
		raw := ` {"x":1, "` + name + `" : {"model":"models/gemini-3", "systemInstruction":{"parts":[{"text":"be brief"}]}, "contents":[{"role":"user","parts":[{"text":"one"}]} , {"role":"model","parts":[{"text":"two"}]},{"role":"user","parts":[{"text":"three"}]}],"generationConfig":{"maxOutputTokens":7} } , "y":2 } `
		b, err := Parse(Gemini, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		r := b.Request()
		if r.History.Len() != 3 || b.Model() != "gemini-3" || r.Output != 7 || len(r.System) != 1 {
			t.Errorf("%d messages, model %q, output %d, system %v", r.History.Len(), b.Model(), r.Output, r.System)
		}
		if d, ok := Detect([]byte(raw)); d != Gemini || !ok {
			t.Errorf("detected as %q", d)
		}
		if ps := Validate(Gemini, []byte(raw)); len(ps) > 0 {
			t.Error(ps)
		}
		if err := b.SetMaxTokens(5); err == nil {
			t.Error("a count got an output limit")
		}
		p, err := plan.Compose(nil, r.History, r.Rules, nil, plan.Edit{Kind: plan.Fold, From: 0, To: 2, Part: -1, Text: "earlier", Stage: "fold"})
		if err != nil {
			t.Fatal(err)
		}
		v, err := plan.Apply(r.History, p)
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.Encode(v)
		head, tail := raw[:strings.Index(raw, `{"role":"user","parts":[{"text":"one"`)], raw[strings.LastIndex(raw, "],"):]
		if err != nil || !strings.HasPrefix(string(out), head) || !strings.HasSuffix(string(out), tail) || strings.Contains(string(out), `"two"`) || !strings.Contains(string(out), "earlier") {
			t.Errorf("%v %s", err, out)
		}
	}
}

// TestManaged knows every way to hand the context to a provider.
func TestManaged(t *testing.T) {
	list := map[Dialect]string{
		OpenAI: `"messages":[{"role":"user","content":"x"}]`, Anthropic: `"messages":[{"role":"user","content":"x"}]`,
		Responses: `"input":[{"type":"message","role":"user","content":"x"}]`, Gemini: `"contents":[{"role":"user","parts":[{"text":"x"}]}]`,
	}
	for _, c := range []struct {
		d            Dialect
		member, want string
	}{
		{Responses, `"previous_response_id":"resp_1"`, "previous_response_id"},
		{Responses, `"previous_response_id":null`, ""},
		{Responses, `"conversation":"conv_1"`, "conversation"},
		{Responses, `"conversation":{"id":"conv_1"}`, "conversation"},
		{Responses, `"context_management":[{"type":"compaction","compact_threshold":1000}]`, "context_management"},
		{Responses, `"context_management":[]`, ""},
		{Responses, `"truncation":"auto"`, ""},
		{Responses, `"truncation":"disabled"`, ""},
		{OpenAI, `"truncation":"auto"`, ""},
		{Responses, `"store":true`, ""},
		{Anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`, "context_management"},
		{Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`, ""},
		{Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}}]}`, ""},
		{Anthropic, `"context_management":{"edits":[]}`, ""},
		{Anthropic, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},{"type":"clear_tool_uses_20250919"}]}`, "context_management"},
		{Anthropic, `"context_management":{"edits":[{"type":"compact_20260112"}]}`, "context_management"},
		{Anthropic, `"context_management":{"edits":[{"type":"something_new"}]}`, "context_management"},
		{Anthropic, `"context_management":{"other":true}`, "context_management"},
		{Anthropic, `"context_management":[{"type":"clear_thinking_20251015"}]`, "context_management"},
		{Responses, `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`, "context_management"},
		{Anthropic, `"compaction":{"type":"summarize"}`, "compaction"},
		{Anthropic, `"thread":{"type":"continue","previous_message_id":"m"}`, "thread"},
		{Anthropic, `"metadata":{"user_id":"u"}`, ""},
		{Gemini, `"cachedContent":"cachedContents/1"`, "cachedContent"},
		{Gemini, `"cached_content":"cachedContents/1"`, "cached_content"},
		{Gemini, `"previous_interaction_id":"i"`, "previous_interaction_id"},
	} {
		b, err := Parse(c.d, []byte("{"+c.member+","+list[c.d]+"}"))
		if err != nil || b.Managed() != c.want {
			t.Errorf("%s %s: %q, %v", c.d, c.member, b.Managed(), err)
		}
	}
	b, err := Parse(Responses, []byte(`{"input":[{"type":"item_reference","id":"msg_1"},{"type":"message","role":"user","content":"x"}]}`))
	if err != nil || b.Managed() != "item_reference" {
		t.Errorf("a reference: %q, %v", b.Managed(), err)
	}
	for _, c := range []struct {
		d          Dialect
		body, want string
	}{
		{Responses, `{"input":[{"role":"user","content":"x"},{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"},{"role":"user","content":"y"}]}`, ""},
		{Responses, `{"input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"compaction","encrypted_content":"gAAA"},{"type":"function_call_output","call_id":"1","output":"y"}]}`, "compaction"},
		{Responses, `{"input":[{"role":"user","content":"x"},{"type":"compaction_trigger"}]}`, ""},
		{Anthropic, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"compaction","content":"earlier","signature":"s"},{"type":"text","text":"y"}]},{"role":"user","content":"z"}]}`, ""},
		{Anthropic, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"compaction","content":null},{"type":"text","text":"y"}]},{"role":"user","content":"z"}]}`, ""},
		{OpenAI, `{"messages":[{"role":"user","content":[{"type":"compaction","content":"x"}]}]}`, ""},
	} {
		b, err := Parse(c.d, []byte(c.body))
		if err != nil || b.Managed() != c.want {
			t.Errorf("%s: %q, want %q, %v", c.body, b.Managed(), c.want, err)
		}
	}
	b, err = Parse(Gemini, []byte(`{"generateContentRequest":{"cachedContent":"c/1",`+list[Gemini]+`}}`))
	if err != nil || b.Managed() != "cachedContent" {
		t.Errorf("inside a wrapping: %q, %v", b.Managed(), err)
	}
}
