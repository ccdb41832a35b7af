package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// The lines of the regression list about windows, limits and counts; the
// others are in regression_test.go.

// crush: the provider says it overflowed while the counters say it fits.
func TestRegressionOverflowWhileCountersFrozen(t *testing.T) {
	c := newWinnow(t, winnow.Settings{Model: "gpt-4o", MaxTokens: 1000}).Conversation(chat.Request{})
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
		"a pending call":          chat.NewHistory(user("go"), args),
		"a synthetic user's text": chat.NewHistory(user("go"), said("ok"), chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: huge}}}),
	} {
		r := fit(t, w, chat.Request{History: h}, winnow.State{})
		if r.View.Len() == 0 || r.Before.Fits {
			t.Errorf("%s: %d messages, fits before: %v", name, r.View.Len(), r.Before.Fits)
		}
	}
	for name, h := range map[string]chat.History{
		"the request itself": chat.NewHistory(user(huge)),
		"a document in it":   chat.NewHistory(doc),
	} {
		if e := cannotFit(t, w, chat.Request{History: h}, winnow.State{}); !strings.Contains(e.Error(), "last user message") {
			t.Errorf("%s: %v", name, e)
		}
	}
	e := cannotFit(t, w, chat.Request{System: []chat.Part{{Kind: chat.Text, Text: huge}}, History: chat.NewHistory(user("go"))}, winnow.State{})
	contains(t, "the error", e.Error(), "system prompt and tool definitions")
}

// Window unknown, output limit unknown, window smaller than the reserve.
func TestRegressionUnknownAndTinyWindows(t *testing.T) {
	for _, s := range []winnow.Settings{
		{},                          // nothing known at all
		{Model: "some-local-model"}, // unknown model
		{Window: 4000},              // smaller than the default reserve of 16,384
		{Window: 4000, MaxTokens: 3900},
		{Window: 4000, MaxTokens: 100_000},
		{Window: 16_384, Reserve: 16_384},
		{Window: 2000, Reserve: 1_000_000},
		{InputLimit: 3000},
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
	large := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", MaxTokens: 1000})
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
