package winnow_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// The lines of the regression list about windows, limits and counts; the
// others are in regression_test.go.

// crush: the provider says it overflowed while the counters say it fits.
func TestRegressionOverflowWhileCountersFrozen(t *testing.T) {
	c := newWinnow(t, winnow.Settings{Model: "gpt-4o", OutputReserve: 1000}).Conversation(chat.Request{})
	talk(t, c, 0, 60) // usage is never reported
	st, _ := c.Check()
	for limit := st.Count.Tokens * 3 / 4; limit > 4000; limit = limit * 3 / 4 {
		r, err := c.Overflowed(context.Background(), limit)
		if err != nil || r.After.Count.Upper() > limit*7/10+50 {
			t.Fatalf("limit %d: %d tokens, %v", limit, r.After.Count.Upper(), err)
		}
	}
}

// One message is larger than the window.
func TestRegressionSingleMessageLargerThanWindow(t *testing.T) {
	w := newWinnow(t, small)
	huge := lines("huge", 4000)
	doc := chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Document, Name: "notes.txt", Text: huge}}}
	args := chat.CallMessage("", chat.Call("1", "write_file", fmt.Sprintf(`{"path":"a","content":%q}`, huge)))
	for name, h := range map[string]chat.History{
		"a result":                chat.NewHistory(append([]chat.Message{user("go")}, did("1", "x", "{}", huge)...)...),
		"an answer":               chat.NewHistory(user("go"), said(huge), user("shorter please")),
		"arguments":               chat.NewHistory(user("go"), args, chat.ResultMessage("1", "written")),
		"an earlier request":      chat.NewHistory(user(huge), said("read"), user("now go")),
		"a document":              chat.NewHistory(doc, said("read"), user("now go")),
		"a document in the last":  chat.NewHistory(doc),
		"a pending call":          chat.NewHistory(user("go"), args),
		"a synthetic user's text": chat.NewHistory(user("go"), said("ok"), chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: huge}}}),
	} {
		r := fit(t, w, chat.Request{History: h}, winnow.State{})
		if r.View.Len() == 0 || r.Before.Fits {
			t.Errorf("%s: %d messages, fits before: %v", name, r.View.Len(), r.Before.Fits)
		}
	}
	if e := cannotFit(t, w, chat.Request{History: chat.NewHistory(user(huge))}, winnow.State{}); !strings.Contains(e.Error(), "last user message") {
		t.Errorf("the request itself: %v", e)
	}
	e := cannotFit(t, w, chat.Request{System: []chat.Part{{Kind: chat.Text, Text: huge}}, History: chat.NewHistory(user("go"))}, winnow.State{})
	contains(t, "the error", e.Error(), "system prompt and tool definitions")
}

// The newest result has 3 MB: its head and tail fill the room that there is, beside the
// conversation before it, and say where the rest is. So they do where the thinking that
// the loop starts with must stay or go with it.
func TestRegressionHugeNewestResult(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 3_000_000; i++ {
		fmt.Fprintf(&b, "%06d case kind%d: return handler%d(ctx, request.Field%d)\n", i, i%120, i, i%977)
	}
	huge := b.String()
	msgs := []chat.Message{user("find the handler")}
	for i := range 40 {
		msgs = append(msgs, did(fmt.Sprint(i), "read", fmt.Sprintf(`{"path":"a%d.go"}`, i), lines("r", 60))...)
	}
	msgs = append(append(msgs, user("read the log")), did("last", "bash", `{"command":"cat log"}`, huge)...)
	thinks := slices.Clone(msgs)
	call := &thinks[len(thinks)-2]
	call.Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "The log tells.", Signature: "sig"}}, call.Parts...)
	for _, c := range []struct {
		window int
		msgs   []chat.Message
		rules  chat.Rules
	}{{64_000, msgs, chat.Rules{}}, {1_000_000, msgs, chat.Rules{}}, {64_000, thinks, thinkingRules}, {1_000_000, thinks, thinkingRules}} {
		window := c.window
		w := newWinnow(t, winnow.Settings{Window: window})
		r := fit(t, w, chat.Request{History: chat.NewHistory(c.msgs...), Rules: c.rules}, winnow.State{})
		aim, got := w.Target(r.After.Limits), r.After.Count.Tokens
		shown := r.View.At(r.View.Len() - 1).Parts[0].Text
		if got < aim*9/10 || got > aim*11/10 {
			t.Errorf("window %d, %s: %d tokens, though %d are aimed at", window, c.rules.Name, got, aim)
		}
		e := r.Plan.Edits[len(r.Plan.Edits)-1]
		if !strings.Contains(shown, huge[:2000]) || !strings.Contains(shown, huge[len(huge)-2000:]) || !strings.Contains(shown, "original: "+e.Handle) {
			t.Errorf("window %d: %q … %q", window, shown[:80], shown[len(shown)-80:])
		}
	}
}

// Window unknown, output limit unknown, window smaller than the reserve.
func TestRegressionUnknownAndTinyWindows(t *testing.T) {
	race.Skip(t)
	for _, s := range []winnow.Settings{
		{},                          // nothing known at all
		{Model: "some-local-model"}, // unknown model
		{Window: 4000},              // smaller than the default reserve of 16,384
		{Window: 4000, OutputReserve: 3900},
		{Window: 4000, OutputReserve: 100_000},
		{Window: 16_384, Systems: winnow.Systems{Reserve: 16_384}},
		{Window: 2000, Systems: winnow.Systems{Reserve: 1_000_000}},
		{Model: limitedModel},
	} {
		w := newWinnow(t, s)
		l := w.Limits(0)
		if l.Available <= 0 || l.Available > l.Context {
			t.Errorf("%+v: %v", s, l)
		}
		small := chat.Request{History: chat.NewHistory(user("hello"))}
		if st, err := w.Check(small, winnow.State{}); err != nil || st.ShouldCompact {
			t.Errorf("%+v: a hello is compacted: %v, %v", s, st.Ratio, err)
		}
		r, err := w.Fit(context.Background(), chat.Request{History: chat.NewHistory(coding(0, 400)...)}, winnow.State{})
		var cannot *winnow.CannotFitError
		if err != nil && !errors.As(err, &cannot) || err == nil && !r.After.Fits {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// 413 and image-count errors: bytes and images are limits of their own, while
// tokens look fine.
func TestRegressionBytesAndImages(t *testing.T) {
	var msgs []chat.Message
	for i := range 12 {
		shot := chat.ResultMessage(fmt.Sprint(i), fmt.Sprint("screenshot ", i))
		shot.Parts[0].Content = []chat.Part{{Kind: chat.Image, Media: "image/png", Data: strings.Repeat("iVBORw0KGgo", 3000)}}
		msgs = append(msgs, user(fmt.Sprint("click ", i)), chat.CallMessage("", chat.Call(fmt.Sprint(i), "screenshot", "{}")), shot, said("clicked"))
	}
	req := chat.Request{History: chat.NewHistory(append(msgs, user("what do you see?"))...)}
	for _, c := range []struct{ bytes, images int }{{200_000, 0}, {0, 5}, {100_000, 2}} {
		w := newWinnow(t, winnow.Settings{Model: "gpt-4o", MaxBytes: c.bytes, MaxImages: c.images})
		r := fit(t, w, req, winnow.State{})
		if r.Before.Fits || slices.Contains(r.Before.Over, "tokens") {
			t.Errorf("%+v: tokens should look fine: over %v", c, r.Before.Over)
		}
		if c.bytes > 0 && r.After.Bytes > c.bytes || c.images > 0 && r.After.Images > c.images {
			t.Errorf("%+v: %d bytes, %d images", c, r.After.Bytes, r.After.Images)
		}
		contains(t, "the view", text(r.View), "what do you see?", "click 11")
	}
}

// The model is changed for one with a smaller window, or for a larger one.
func TestRegressionModelDownshift(t *testing.T) {
	h := chat.NewHistory(coding(0, 150)...)
	large := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", OutputReserve: 1000})
	r := fit(t, large, chat.Request{History: h}, winnow.State{})
	if r.Plan != nil {
		t.Fatal("it fits in the large window")
	}
	var p *plan.Plan
	for _, window := range []int{64_000, 16_000, 4_000} {
		s := small
		s.Window = window
		r := fit(t, newWinnow(t, s), chat.Request{History: h}, winnow.State{Plan: p})
		if !r.Changed {
			t.Errorf("window %d: nothing changed", window)
		}
		p = r.Plan
	}
	if r := fit(t, large, chat.Request{History: h}, winnow.State{Plan: p}); r.Changed {
		t.Error("going back to the large window needs no compaction")
	}
}

// Usage from before a compaction says nothing about the view after it.
func TestRegressionStaleUsage(t *testing.T) {
	c := newWinnow(t, small).Conversation(chat.Request{History: chat.NewHistory(coding(0, 10)...)})
	ctx := context.Background()
	if _, err := c.Fit(ctx); err != nil {
		t.Fatal(err)
	}
	c.Answered(said("ok"), chat.Usage{Input: 7400, Output: 10})
	c.Append(user("next"))
	r, err := c.Fit(ctx)
	if err != nil || !r.Changed {
		t.Fatalf("7,400 of 7,500 are used and nothing changed: %v", err)
	}
	c.Append(said("yes"), user("go on"))
	st, err := c.Check()
	if err != nil || st.Count.Method == token.Anchored || st.ShouldCompact {
		t.Errorf("stale usage counts: %+v", st.Count)
	}
	for i := range 5 {
		r, err := c.Fit(ctx)
		if err != nil || r.Changed {
			t.Fatalf("step %d: compacted again without need: %v", i, err)
		}
		c.Append(said("yes"), user("go on"))
	}
}

// base64 is media with a fixed cost, and not text.
func TestRegressionBase64IsNotText(t *testing.T) {
	w := newWinnow(t, small)
	picture := chat.Part{Kind: chat.Image, Media: "image/png", Data: strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 50_000)}
	pdf := chat.Part{Kind: chat.Document, Media: "application/pdf", Name: "a.pdf", Data: picture.Data}
	req := chat.Request{History: chat.NewHistory(chat.Message{Role: chat.User, Parts: []chat.Part{picture, pdf, {Kind: chat.Text, Text: "what is this?"}}})}
	st, err := w.Check(req, winnow.State{})
	if err != nil || st.Tokens.Total > 2200 || st.Bytes < 2_000_000 || !st.Fits {
		t.Errorf("%d tokens, %d bytes, %v", st.Tokens.Total, st.Bytes, err)
	}
}

// Compaction never loops: a rewrite brings the request below the trigger, so
// that the next call does nothing.
func TestRegressionCompactionNeverLoops(t *testing.T) {
	// In the smallest window every turn is a fifth of what there is.
	for window, most := range map[int]int{3000: 80, 8000: 2, 32_000: 1} {
		s := small
		s.Window = window
		w := newWinnow(t, s)
		var h chat.History
		var p *plan.Plan
		in := 0 // rewrites in a row
		for i := range 80 {
			h = h.Append(coding(i, i+1)...)
			r := fit(t, w, chat.Request{History: h}, winnow.State{Plan: p})
			p = r.Plan
			again := fit(t, w, chat.Request{History: h}, winnow.State{Plan: p})
			if again.Changed {
				t.Fatalf("window %d, turn %d: the same history was compacted twice", window, i)
			}
			if in++; !r.Changed {
				in = 0
			}
			if in > most {
				t.Fatalf("window %d, turn %d: %d rewrites in a row", window, i, in)
			}
		}
	}
}

// quoting returns a text that is much longer in JSON than by itself.
func quoting(r *rand.Rand, n int) string {
	units := []string{"\"quoted\" ", "a\\b\\c\n", "\t{\"k\": \"v\"}\n", "plain words here ", "<b>&amp;</b>\r\n", "\x1b[31mred\x1b[0m ", "日本語 ", "é… ✓ "}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(units[r.IntN(len(units))])
	}
	return b.String()
}

// sentAs returns a body as different clients write it: close together,
// indented, or with everything that is not ASCII escaped.
func sentAs(t *testing.T, r *rand.Rand, raw []byte) []byte {
	t.Helper()
	switch r.IntN(3) {
	case 1:
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "    "); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	case 2:
		var b strings.Builder
		for _, c := range string(raw) {
			switch {
			case c < 0x80:
				b.WriteRune(c)
			case c < 0x10000:
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				hi, lo := utf16.EncodeRune(c)
				fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
			}
		}
		return []byte(b.String())
	}
	return raw
}

// TestMaxBytesHoldsForTheBody: whenever a request is said to fit, the body that
// is sent is within the limit in bytes, in every dialect.
func TestMaxBytesHoldsForTheBody(t *testing.T) {
	n := 400
	if !longrun.Asked() {
		n = 80
	}
	planned, cannot := 0, 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 77))
		d := []wire.Dialect{wire.OpenAI, wire.Responses, wire.Anthropic, wire.Gemini}[seed%4]
		msgs := randhist.Messages(r, randhist.Options{Healthy: true, Messages: 10 + r.IntN(40), MaxText: 600})
		for i := range msgs {
			for k := range msgs[i].Parts {
				if p := &msgs[i].Parts[k]; p.Text != "" && r.IntN(2) == 0 {
					p.Text = quoting(r, 20+r.IntN(800))
				}
			}
		}
		msgs = append(msgs, user("Go on."))
		req := chat.Request{
			System:  []chat.Part{{Kind: chat.Text, Text: quoting(r, 50+r.IntN(2000))}},
			Tools:   []chat.ToolDef{{Name: "bash", Description: quoting(r, 100), Schema: `{"type":"object"}`}},
			History: chat.NewHistory(msgs...), Output: 1000,
		}
		raw, err := wire.Render(d, "gpt-4o", req, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := wire.Parse(d, sentAs(t, r, raw))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		size := len(body.Raw())
		limit := size/3 + r.IntN(size*3/4)
		w := mustNew(winnow.Settings{Model: "gpt-4o", Window: 1_000_000, MaxBytes: limit})
		state := winnow.State{Ask: winnow.Ask{Encoded: body.Size}}
		before, err := w.Check(body.Request(), state)
		if err != nil || before.Bytes != size || before.Fits != (size <= limit) {
			t.Errorf("seed %d, %s: %d bytes and fits %v, the body has %d of %d: %v", seed, d, before.Bytes, before.Fits, size, limit, err)
		}
		res, err := w.Fit(context.Background(), body.Request(), state)
		var e *winnow.CannotFitError
		if errors.As(err, &e) {
			if cannot++; e.Bytes <= e.MaxBytes || e.MaxBytes != limit {
				t.Errorf("seed %d, %s: %d of %d bytes: %v", seed, d, e.Bytes, limit, e)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, d, err)
		}
		out, err := body.Encode(res.View)
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, d, err)
		}
		if !res.After.Fits || len(out) > limit || res.After.Bytes != len(out) {
			t.Errorf("seed %d, %s: fits %v with %d bytes, the body has %d, the limit is %d", seed, d, res.After.Fits, res.After.Bytes, len(out), limit)
		}
		if res.Changed {
			planned++
		}
	}
	t.Logf("%d planned, %d cannot fit", planned, cannot)
	if planned < n/4 || cannot > n/4 {
		t.Errorf("%d of %d planned, %d cannot fit: the limits are not where they matter", planned, n, cannot)
	}
}

// bodies with text files in base64, in each dialect: in an older message, and
// in the request that must stay.
func attached(d wire.Dialect, data string) (older, newest string) {
	var doc, ask, answer, format string
	switch d {
	case wire.OpenAI:
		doc = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"read"},{"type":"file","file":{"filename":"a.json","file_data":"data:application/json;base64,%s"}}]}`, data)
		ask, answer = `{"role":"user","content":"go on"}`, `{"role":"assistant","content":"read"}`
		format = `{"model":"gpt-4o","messages":[%s]}`
	case wire.Responses:
		doc = fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"read"},{"type":"input_file","filename":"a.txt","file_data":"data:text/plain;base64,%s"}]}`, data)
		ask = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}`
		answer = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"read"}]}`
		format = `{"model":"gpt-4o","input":[%s]}`
	case wire.Anthropic:
		doc = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"read"},{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"%s"}}]}`, data)
		ask, answer = `{"role":"user","content":"go on"}`, `{"role":"assistant","content":"read"}`
		format = `{"model":"claude-sonnet-4-5","max_tokens":500,"messages":[%s]}`
	case wire.Gemini:
		doc = fmt.Sprintf(`{"role":"user","parts":[{"text":"read"},{"inlineData":{"mimeType":"text/csv","data":"%s"}}]}`, data)
		ask, answer = `{"role":"user","parts":[{"text":"go on"}]}`, `{"role":"model","parts":[{"text":"read"}]}`
		format = `{"contents":[%s]}`
	}
	list := strings.Join([]string{doc, answer, ask}, ",")
	return fmt.Sprintf(format, list), fmt.Sprintf(format, strings.Join([]string{ask, answer, doc}, ","))
}

// Text files in base64 count as their text: such a request is made to fit, also
// where the file stands in the last request.
func TestEncodedTextFilesFit(t *testing.T) {
	file := lines("file", 30_000)
	data := base64.StdEncoding.EncodeToString([]byte(file))
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 100_000, OutputReserve: 500})
	want := token.New(token.O200K, &token.Options{Exact: true}).Text(file)
	for _, d := range []wire.Dialect{wire.OpenAI, wire.Responses, wire.Anthropic, wire.Gemini} {
		older, newest := attached(d, data)
		body, err := wire.Parse(d, []byte(older))
		if err != nil {
			t.Fatal(err)
		}
		r := fit(t, w, body.Request(), winnow.State{})
		if r.Before.Fits || r.Before.Count.Upper() < want || r.Before.Count.Tokens > want*5/4 {
			t.Errorf("%s: %d tokens before, the file has %d; fits %v", d, r.Before.Count.Tokens, want, r.Before.Fits)
		}
		out, err := body.Encode(r.View)
		if err != nil || !r.After.Fits || len(out) > len(older)/4 { // a file with a name stands among the files
			t.Errorf("%s: %d bytes are left of %d: %v", d, len(out), len(older), err)
		}
		if body, err = wire.Parse(d, []byte(newest)); err != nil {
			t.Fatal(err)
		}
		r = fit(t, w, body.Request(), winnow.State{})
		if out, err = body.Encode(r.View); err != nil || !r.After.Fits || len(out) < 50_000 || len(out) > len(newest)/2 {
			t.Errorf("%s: of the last request %d bytes are left of %d: %v", d, len(out), len(newest), err)
		}
	}
}

// "Fits" must be true by the model's own count, not only by ours.

// Output that the vocabulary has to spell byte by byte: scripts that tables
// were not made for, spinners, boxes, formulas; and output that repeats itself.
func TestUnmeasuredTextFits(t *testing.T) {
	exact := token.New(token.O200K, &token.Options{Exact: true})
	w := newWinnow(t, small)
	for name, unit := range map[string]string{
		"Amharic":  "ሰርቨሩ እንደገና ተነሳ ምክንያቱም ዲስኩ ሞልቶ ነበር ከዚያም ፈተናው እንደገና ወደቀ። ",
		"Cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᏂᏴᏫᏯ ᎤᎾᏓᏤᎵᏛ ",
		"Tibetan":  "བོད་ཀྱི་སྐད་ཡིག་ནི་བོད་རིགས་ཀྱི་སྐད་ཡིག་ཡིན། ",
		"Braille":  "⠓⠑⠇⠇⠕ ⠺⠕⠗⠇⠙ ",
		"spinner":  "⠋ building ⠙ building ⠹ building ⠸ building ⠼ building\r",
		"boxes":    "┏━┳━━┓╭╮╰╯▖▗▘▙▚▛▜▝▞▟\n",
		"letters":  "𝓕𝓲𝓽 𝕞𝕖𝕒𝕟𝕤 𝖿𝗂𝗍 ",
		"emoji":    "👩‍👩‍👧‍👦🧑🏽‍🚀🏴‍☠️ ",
		"icons":    "\ue0b0\ue0b1\uf113\uf09b ",
		"fences":   "`````````\n``",
		"bars":     "||'|'||||''",
		"warnings": "\toverflows := g.Stats().Overflows\n",
		"returns":  "\r\r\r\t\r",
	} {
		var msgs []chat.Message
		for i := range 20 {
			msgs = append(msgs, user(fmt.Sprintf("Step %d", i)))
			msgs = append(msgs, did(fmt.Sprint("c", i), "bash", `{"command":"make"}`, strings.Repeat(unit, 1200/len(unit)+1))...)
			msgs = append(msgs, said("Done."))
		}
		msgs = append(msgs, user("Go on."))
		req := chat.Request{History: chat.NewHistory(msgs...)}
		if before, err := w.Check(req, winnow.State{}); err != nil || before.Count.Upper() < exact.Request(&req) {
			t.Errorf("%s: counted at up to %d tokens, exactly %d (%v)", name, before.Count.Upper(), exact.Request(&req), err)
		}
		r := fit(t, w, req, winnow.State{})
		if n := exact.Messages(r.View); n > r.After.Limits.Available {
			t.Errorf("%s: the view that fits in %d has exactly %d tokens", name, r.After.Limits.Available, n)
		}
	}
}
