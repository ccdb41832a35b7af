package winnow_test

import (
	"math"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// A documented system's preset counts as that system does, to the token, and so do
// settings with that system's estimator: S2.3, S4.8, S4.23.
func TestEstimators(t *testing.T) {
	image := user(strings.Repeat("what is shown here? ", 10))
	image.Parts = append(image.Parts, chat.Part{Kind: chat.Image, Data: strings.Repeat("A", 40_000), Media: "image/png"})
	thought := said("It is é.")
	thought.Parts = append([]chat.Part{{Kind: chat.Thinking, Text: strings.Repeat("weigh it ", 30)}}, thought.Parts...)
	call := did("call_7", "grep", `{"pattern":"renewLease","path":"internal"}`, strings.Repeat("a line\n", 50))
	req := chat.Request{
		Tools:   []chat.ToolDef{{Name: "grep", Description: "Searches files", Schema: `{"type":"object"}`}},
		History: chat.NewHistory(append([]chat.Message{image, thought, user("go on")}, call...)...),
	}
	// Characters of each message: text, reasoning, the call's name once, arguments.
	texts := []int{200, 270 + 8, 5, 4 + 42, 350}
	quarters := func(round func(float64) float64, factor float64, message, image int) (n int) {
		for _, chars := range texts {
			n += int(math.Ceil(round(float64(chars)/4)*factor-1e-9)) + message
		}
		return n + image
	}
	tool := len(`{"name":"grep","description":"Searches files","parameters":{"type":"object"}}`)
	tools := (tool + 3) / 4
	pico := func(chars ...int) (n int) {
		for _, c := range chars {
			n += (c + 12) * 2 / 5
		}
		return n
	}
	for name, want := range map[string]int{
		"pi":                  quarters(math.Ceil, 1, 0, 1200) + tools,
		"operator-use":        quarters(math.Floor, 1, 0, 1200) + tools,
		"chars/4":             quarters(math.Ceil, 1, 0, 0) + tools,
		"neurolink:openai":    quarters(math.Ceil, 1.15, 4, 1024) + 24 + tools,
		"neurolink:anthropic": quarters(math.Ceil, 1.23*1.15, 4, 1024) + 24 + tools,
		// The ids of calls count there too, and media after the conversion.
		"picoclaw": pico(200, 278, 5, 6+8+4+42, 350+6) + 256 + (4+14+17+20)*2/5,
	} {
		for _, s := range []winnow.Settings{{Systems: winnow.Systems{Estimator: name}}, {Preset: strings.Split(name, ":")[0]}} {
			if s.Preset != "" && (name == "chars/4" || strings.HasPrefix(name, "neurolink")) {
				continue
			}
			s.Model = "gpt-4o"
			st, err := newWinnow(t, s).Check(req, winnow.State{})
			if err != nil {
				t.Fatal(err)
			}
			if st.Count.Tokens != want || st.Count.Method != token.ByFormula || st.Count.Band != 0 {
				t.Errorf("%+v: %+v, want %d tokens", s, st.Count, want)
			}
		}
	}
	// NeuroLink's estimate depends on the model's provider.
	count := func(s winnow.Settings) int {
		st, err := newWinnow(t, s).Check(req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		return st.Count.Tokens
	}
	for model, like := range map[string]string{
		"gpt-4o": "openai", "claude-sonnet-4-5": "anthropic", "gemini-2.5-pro": "google-ai", "vertex/gemini-2.5-pro": "vertex",
		"mistral-large-latest": "mistral", "bedrock/anthropic.claude-3-haiku-20240307-v1:0": "bedrock", "no-such-model": "openai",
	} {
		if got, want := count(winnow.Settings{Preset: "neurolink", Model: model}), count(winnow.Settings{Model: model, Systems: winnow.Systems{Estimator: "neurolink:" + like}}); got != want {
			t.Errorf("%s: %d tokens, want the %d of %s", model, got, want, like)
		}
	}
	// A field that is set wins over the preset; exact counting goes before both.
	own := count(winnow.Settings{Model: "gpt-4o"})
	if got := count(winnow.Settings{Model: "gpt-4o", Preset: "picoclaw", Systems: winnow.Systems{Estimator: "winnow"}}); got != own {
		t.Errorf("winnow's own count under a preset: %d, want %d", got, own)
	}
	if got, want := count(winnow.Settings{Model: "gpt-4o", Preset: "picoclaw", Exact: true}), count(winnow.Settings{Model: "gpt-4o", Exact: true}); got != want {
		t.Errorf("exact under a preset: %d, want %d", got, want)
	}
	if _, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Systems: winnow.Systems{Estimator: "abacus"}}}); err == nil || !strings.Contains(err.Error(), "setting systems.estimator: abacus") || !strings.Contains(err.Error(), "neurolink:PROVIDER") {
		t.Errorf("an unknown estimator: %v", err)
	}
}

// What another system's estimate lets through must fit by winnow's own count too:
// the promise does not depend on who counts. What a provider reports settles it.
func TestEstimatorsKeepThePromise(t *testing.T) {
	var m []chat.Message
	for range 40 { // characters of which each is a token or two, and counts as a quarter
		m = append(m, user(strings.Repeat("ሰላም ለዓለም ", 40)), said(strings.Repeat("├─┤⠋⠙", 60)))
	}
	req := chat.Request{History: chat.NewHistory(append(m, user("and now?"))...)}
	own := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 20_000, OutputReserve: 500})
	for _, name := range []string{"umbra", "pi", "picoclaw", "operator-use", "neurolink"} {
		w := newWinnow(t, winnow.Settings{Preset: name, Model: "gpt-4o", Window: 20_000, OutputReserve: 500})
		st, err := w.Check(req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		if st.Fits || !st.ShouldCompact || !strings.Contains(st.Doubt, name) || st.Count.Tokens > 19_500 {
			t.Errorf("%s: fits %v, %d tokens: %q", name, st.Fits, st.Count.Tokens, st.Doubt)
		}
		r := fit(t, w, req, winnow.State{})
		if st, err := own.Check(chat.Request{History: chat.NewHistory(r.View.Messages()...)}, winnow.State{}); err != nil || !st.Fits {
			t.Errorf("%s: what is sent has %d tokens of %d, %v", name, st.Count.Upper(), st.Limits.Available, err)
		}
		if !r.Changed || !r.After.Fits || !strings.Contains(strings.Join(r.Notes, " "), "are likely") {
			t.Errorf("%s: changed %v, fits %v, notes %q", name, r.Changed, r.After.Fits, r.Notes)
		}
		// The provider counts no more than was estimated, so winnow believes it.
		c := w.Conversation(chat.Request{})
		c.Append(req.History.Messages()[:10]...)
		before, err := c.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Answered(said("yes"), chat.Usage{Input: before.After.Count.Tokens, Output: 1})
		c.Append(req.History.Messages()[10:40]...)
		r, err = c.Fit(t.Context())
		if err != nil || r.Before.Doubt != "" {
			t.Errorf("%s: with usage: %q, %v", name, r.Before.Doubt, err)
		}
	}
}
