package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// clicked is a call of a tool that answers with a screenshot.
func clicked(i int) []chat.Message {
	id := fmt.Sprint("c", i)
	shot := chat.ResultMessage(id, fmt.Sprint("clicked ", i))
	shot.Parts[0].Content = []chat.Part{{Kind: chat.Image, Media: "image/png", Data: strings.Repeat("iVBO", 200)}}
	return []chat.Message{chat.CallMessage("", chat.Call(id, "click", fmt.Sprintf(`{"x":%d}`, i))), shot}
}

// TestImagesLast takes a screenshot in every step, under a limit of images. A
// rewrite must make room for more than the next one, or each step has its own.
func TestImagesLast(t *testing.T) {
	for _, preset := range append(winnow.PresetNames(), "") {
		s, err := winnow.Settings{}, error(nil)
		if preset != "" {
			if s, err = winnow.Preset(preset); err != nil {
				t.Fatal(err)
			}
		}
		s.Model, s.Window, s.MaxImages = "claude-sonnet-4-5", 200000, 20
		c := newWinnow(t, s).Conversation(chat.Request{})
		c.Append(user("Click through the shop and note the prices."))
		rewrites := 0
		for i := range 80 {
			c.Append(clicked(i)...)
			r, err := c.Fit(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, c.Request(), r)
			if r.After.Images == 0 {
				t.Fatalf("preset %q, step %d: the newest image is gone", preset, i)
			}
			if r.Changed {
				rewrites++
			}
		}
		if rewrites == 0 || rewrites > 80/5 {
			t.Errorf("preset %q: %d rewrites in 80 steps", preset, rewrites)
		}
	}
}

// TestAfterAgrees checks that what a result says of itself is of one piece, and
// that measuring it again says the same of a plan that has no usage yet.
func TestAfterAgrees(t *testing.T) {
	for _, c := range []struct {
		factor   float64
		overhead int
	}{{0.6, 0}, {1, 1500}, {1.4, 0}} {
		w := newWinnow(t, small)
		ledger := token.NewLedger(w.Meter().Counter().Family())
		req := chat.Request{History: chat.NewHistory(coding(0, 4)...)}
		state := winnow.State{Ledger: ledger}
		compared := 0
		for turns := 4; turns < 60; turns += 2 {
			r := fit(t, w, req, state)
			if r.After.Fits != (len(r.After.Over) == 0) {
				t.Errorf("%+v: fits: %v, over: %v", c, r.After.Fits, r.After.Over)
			}
			state.Plan = r.Plan
			if r.Plan == nil { // after a rewrite no usage comes back any more
				estimate := r.Before.Tokens.Total
				if r.Before.Scale != 1 {
					estimate = int(float64(estimate)/r.Before.Scale + 0.5)
				}
				ledger.Record(token.Step{Messages: r.View.Len(), Estimate: estimate, Usage: chat.Usage{Input: c.overhead + int(c.factor*float64(estimate))}})
			}
			again, err := w.Check(req, state)
			if err != nil {
				t.Fatal(err)
			}
			if r.Changed && r.Before.Count.Method != token.Anchored {
				compared++
				if d := again.Count.Tokens - r.After.Count.Tokens; d < -2 || d > 2 {
					t.Errorf("%+v, %d turns: %d tokens after the rewrite, %d when checked", c, turns, r.After.Count.Tokens, again.Count.Tokens)
				}
			}
			req.History = req.History.Append(coding(turns, turns+2)...)
		}
		if compared == 0 {
			t.Errorf("%+v: nothing was compared", c)
		}
	}
}

// TestUnreportedIsNotCold has a provider that reports usage for every other
// call only: a call without a report says nothing about the cache.
func TestUnreportedIsNotCold(t *testing.T) {
	run := func(report bool) int {
		s := winnow.Settings{
			Model: "gpt-4o", Window: 200000, MaxTokens: 500, Economy: winnow.EconomyPrices, CommitFloor: 1000,
			ReadPrice: 0.1, WritePrice: 10, OutputPrice: 20,
		}
		c := newWinnow(t, s).Conversation(chat.Request{})
		at := 0
		for i := range 40 {
			c.Append(user(fmt.Sprint("Request ", i, ": ", lines("x", 10))))
			r, err := c.Fit(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			at = r.Before.Commit.At
			usage := chat.Usage{Input: 100, CacheRead: r.After.Count.Tokens - 100, Output: 5}
			if !report && i%2 == 1 {
				usage = chat.Usage{}
			}
			c.Answered(said("Done."), usage)
		}
		return at
	}
	all, half := run(true), run(false)
	if all == 0 || half < all*9/10 {
		t.Errorf("commit point at %d with all usage, at %d with half of it", all, half)
	}
}

// TestPartialUsage has a server that reports only what its cache did not have.
func TestPartialUsage(t *testing.T) {
	w := newWinnow(t, small)
	c := w.Conversation(chat.Request{})
	for i := range 40 {
		c.Append(user(fmt.Sprint("Request ", i, ": ", lines(fmt.Sprint("file", i), 30))))
		r, err := c.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if plain := w.Meter().Measure(r.View).Tokens; plain > r.After.Limits.Available {
			t.Fatalf("request %d: %d tokens are sent, %d are available, and the count is %d", i, plain, r.After.Limits.Available, r.After.Count.Tokens)
		}
		c.Answered(said("Done."), chat.Usage{Input: 12, Output: 3})
	}
}

// TestOverflowedAgain has a provider that refuses whatever is counted: each view
// is smaller than the one it refused, until nothing smaller can be had.
func TestOverflowedAgain(t *testing.T) {
	for _, limit := range []int{0, 16000} { // none named, or one that the count is below
		for _, system := range []int{1, 400} {
			w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 16000, MaxTokens: 1000})
			c := w.Conversation(chat.Request{System: []chat.Part{{Kind: chat.Text, Text: lines("rule", system)}}, History: chat.NewHistory(coding(0, 30)...)})
			c.Append(user("Go on."))
			r, err := c.Fit(context.Background())
			for n := 0; err == nil; n++ {
				was := w.Meter().Measure(r.View).Tokens
				r, err = c.Overflowed(context.Background(), limit)
				if err == nil && w.Meter().Measure(r.View).Tokens >= was || n > 30 {
					t.Fatalf("limit %d, system %d: %d tokens were refused, %d are offered", limit, system, was, w.Meter().Measure(r.View).Tokens)
				}
			}
			var cannot *winnow.CannotFitError
			if !errors.As(err, &cannot) || !strings.Contains(cannot.Items[0].What, "system") && !strings.Contains(cannot.Items[0].What, "markers") {
				t.Errorf("limit %d, system %d: %v", limit, system, err)
			}
		}
	}
}

// TestImagesAloneAreNoFailure has so much else in the window that taking images
// away hardly makes the request smaller. It fits after that all the same.
func TestImagesAloneAreNoFailure(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", Window: 1000000, MaxTokens: 4000, MaxImages: 4})
	c := w.Conversation(chat.Request{System: []chat.Part{{Kind: chat.Text, Text: lines("rule", 56000)}}})
	c.Append(user("Click through the shop."))
	for i := range 40 {
		c.Append(clicked(i)...)
		r, err := c.Fit(context.Background())
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if r.After.Ratio > 0.9 || r.After.Ratio < 0.5 {
			t.Fatalf("step %d: %.2f of the window is used; the case proves nothing", i, r.After.Ratio)
		}
	}
}
