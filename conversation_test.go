package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// steps appends turns from to to-1 to a conversation. Before every answer of the
// model it yields that answer and what Fit gives for it; the caller says with
// Answered what it cost.
func steps(t testing.TB, c *winnow.Conversation, from, to int) iter.Seq2[chat.Message, winnow.Result] {
	t.Helper()
	return func(yield func(chat.Message, winnow.Result) bool) {
		for _, m := range coding(from, to) {
			if m.Role != chat.Assistant {
				c.Append(m)
				continue
			}
			r, err := c.Fit(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, c.Request(), r)
			if !yield(m, r) {
				return
			}
		}
	}
}

// talk appends turns from to to-1 to a conversation, fitting before every answer.
func talk(t testing.TB, c *winnow.Conversation, from, to int) {
	t.Helper()
	for m := range steps(t, c, from, to) {
		c.Answered(m, chat.Usage{})
	}
}

func TestConversation(t *testing.T) {
	w := newWinnow(t, small)
	c := w.Conversation(chat.Request{System: []chat.Part{{Kind: chat.Text, Text: "You are careful."}}})
	if c.Plan() != nil || c.History().Len() != 0 {
		t.Error("a new conversation is not empty")
	}
	talk(t, c, 0, 40)
	if c.History().Len() != 40*turnLen || c.Plan() == nil {
		t.Fatalf("%d messages, %v", c.History().Len(), c.Plan())
	}
	if want := chat.NewHistory(coding(0, 40)...); c.History().Chain(240) != want.Chain(240) {
		t.Error("the history is not what was appended")
	}
	st, err := c.Check()
	if err != nil || !st.Fits {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestConversationNotes: what is noted stands in the view after a compaction, is written
// anew under the same conversation, and goes on in a conversation that it is restored to.
func TestConversationNotes(t *testing.T) {
	w := newWinnow(t, small)
	c := w.Conversation(chat.Request{})
	now := time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC)
	talk(t, c, 0, 4)
	note := func(replaces, text string) {
		t.Helper()
		if _, err := c.Note(now, replaces, text); err != nil {
			t.Fatal(err)
		}
	}
	note("", "the relay listens on port 7319")
	note(c.Notes()[0].ID, "the relay listens on port 7320")
	if _, err := c.Note(now, "n0", "x"); err == nil {
		t.Error("a note that there is not was written anew")
	}
	kept := c.Notes()
	if len(kept) != 1 || kept[0].Message != 4*turnLen || !kept[0].Time.Equal(now) {
		t.Fatalf("%+v", kept)
	}
	restored := w.Conversation(chat.Request{})
	if err := restored.Restore(nil, nil, kept...); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*winnow.Conversation{c, restored} {
		talk(t, c, 4, 40)
		r, err := c.Compact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if shown := text(r.View); !strings.Contains(shown, "the agent's own, not the user's words") || !strings.Contains(shown, "port 7320") || strings.Contains(shown, "port 7319") {
			t.Errorf("%s", shown)
		}
	}
	note(kept[0].ID, "")
	if len(c.Notes()) != 0 {
		t.Error("a note cannot be removed")
	}
}

func TestConversationPins(t *testing.T) {
	c := newWinnow(t, small).Conversation(chat.Request{})
	for _, i := range []int{-1, 0, 5} {
		if err := c.Pin(i); err == nil || !strings.Contains(err.Error(), fmt.Sprint(i)) {
			t.Errorf("pin %d of nothing: %v", i, err)
		}
	}
	c.Append(coding(0, 2)...)
	if err := c.Pin(2); err != nil {
		t.Fatal(err)
	}
	if err := c.Pin(8); err != nil {
		t.Fatal(err)
	}
	if err := c.Unpin(8); err != nil {
		t.Fatal(err)
	}
	talk(t, c, 2, 40)
	r, err := c.Compact(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the view", text(r.View), lines("file0", 16))
	lacks(t, "the view", text(r.View), lines("file1", 16))
}

// The provider counts 1.3 times what we estimate. What is reported for each
// answer brings the prediction to the truth.
func TestAnsweredCalibrates(t *testing.T) {
	const truth = 1.3
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", Window: 1_000_000})
	c := w.Conversation(chat.Request{System: []chat.Part{{Kind: chat.Text, Text: strings.Repeat("Be careful. ", 50)}}})
	counter := token.New(token.Claude, nil)
	var errs, scales []float64
	for m, r := range steps(t, c, 0, 60) {
		req := c.Request()
		prompt := truth * float64(counter.Request(&req))
		errs = append(errs, math.Abs(float64(r.Before.Count.Tokens)-prompt)/prompt)
		scales = append(scales, r.Before.Scale)
		c.Answered(m, chat.Usage{Input: int(prompt), Output: int(truth * float64(counter.Message(&m)))})
	}
	if errs[0] < 0.2 {
		t.Errorf("the first prediction cannot know better: %.3f", errs[0])
	}
	last := len(errs) - 1
	if errs[last] > 0.005 || math.Abs(scales[last]-truth) > 0.01 {
		t.Errorf("after %d answers: off by %.2f %%, scale %.3f", last, 100*errs[last], scales[last])
	}
	for i := 10; i <= last; i++ {
		if errs[i] > 0.02 {
			t.Errorf("answer %d: off by %.2f %%", i, 100*errs[i])
		}
	}
	st, _ := c.Check()
	if st.Count.Method != token.Anchored {
		t.Errorf("the count is %s", st.Count.Method)
	}
	t.Logf("prediction off by %.1f %% at first, %.2f %% after 10 answers, %.2f %% after %d", 100*errs[0], 100*errs[10], 100*errs[last], last)
}

// The learned scale holds for the view after a rewrite: measured with it, the view
// fits the real window.
func TestCalibratedRewriteFits(t *testing.T) {
	const truth = 1.3
	w := newWinnow(t, small)
	c := w.Conversation(chat.Request{})
	counter := token.New(token.O200K, nil)
	worst := 0.0
	for m, r := range steps(t, c, 0, 60) {
		prompt := truth * float64(counter.Messages(r.View))
		if c.History().Len() > 2*turnLen { // before that it cannot know
			worst = max(worst, prompt/float64(r.After.Limits.Available))
		}
		c.Answered(m, chat.Usage{Input: int(prompt), Output: int(truth * float64(counter.Message(&m)))})
	}
	if worst > 1 || worst < 0.7 {
		t.Errorf("the largest prompt was %.2f of what is available", worst)
	}
}

func TestOverflowed(t *testing.T) {
	c := newWinnow(t, winnow.Settings{Model: "gpt-4o", OutputReserve: 1000}).Conversation(chat.Request{})
	talk(t, c, 0, 60)
	if c.Plan() != nil {
		t.Fatal("it should fit by the registry's window")
	}
	ctx := context.Background()
	r, err := c.Overflowed(ctx, 20_000)
	if err != nil || !r.Changed || r.After.Count.Upper() > 14_200 {
		t.Fatalf("%d tokens after an overflow at 20,000, %v", r.After.Count.Upper(), err)
	}
	if c.Plan() != r.Plan {
		t.Error("the plan is not kept")
	}
	again, err := c.Overflowed(ctx, 10_000)
	if err != nil || again.After.Count.Upper() > 7_200 {
		t.Errorf("%d tokens after an overflow at 10,000, %v", again.After.Count.Upper(), err)
	}
	// No limit named: the known one counts, so there is progress too.
	c = newWinnow(t, small).Conversation(chat.Request{History: chat.NewHistory(coding(0, 12)...)})
	r, err = c.Overflowed(ctx, 0)
	if err != nil || !r.Changed || r.After.Count.Upper() > 7500*7/10+50 {
		t.Errorf("changed %v, %d tokens, %v", r.Changed, r.After.Count.Upper(), err)
	}
}

func TestCompactUndoRecall(t *testing.T) {
	ctx := context.Background()
	c := newWinnow(t, small).Conversation(chat.Request{History: chat.NewHistory(coding(0, 10)...)})
	if err := c.Undo(""); !errors.Is(err, winnow.ErrNoPlan) {
		t.Errorf("nothing to take back: %v", err)
	}
	if _, err := c.Recall("wabc"); !errors.Is(err, winnow.ErrNoPlan) {
		t.Errorf("nothing to recall: %v", err)
	}
	r, err := c.Compact(ctx)
	if err != nil || !r.Changed {
		t.Fatalf("changed %v, %v", r.Changed, err)
	}
	for _, e := range r.Plan.Edits {
		if e.Kind == plan.State { // it stands for nothing that was there
			continue
		}
		o, err := c.Recall(e.Handle)
		if err != nil {
			t.Fatal(err)
		}
		want := c.History().At(e.From)
		if o.From != e.From || o.Messages[0].Role != want.Role {
			t.Errorf("handle %s: message %d", e.Handle, o.From)
		}
	}
	if _, err := c.Recall("wnonsense"); !errors.Is(err, plan.ErrNoHandle) {
		t.Errorf("%v", err)
	}
	if err := c.Undo("no such plan"); err == nil {
		t.Error("a plan that is not there was taken back")
	}
	if err := c.Undo(""); err != nil {
		t.Fatal(err)
	}
	after, err := c.Fit(ctx)
	if err != nil || text(after.View) != text(c.History()) {
		t.Errorf("after undo the view is not the history, %v", err)
	}
	if after.Before.Count.Method == token.Anchored {
		t.Error("usage of the view that was taken back still counts")
	}
}

func TestConversationIsSafe(t *testing.T) {
	c := newWinnow(t, small).Conversation(chat.Request{})
	c.Append(coding(0, 5)...)
	ctx := context.Background()
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 20 {
				switch k {
				case 0:
					c.Append(coding(100+i, 101+i)...)
				case 1:
					if _, err := c.Fit(ctx); err != nil {
						t.Error(err)
					}
				case 2:
					_ = c.Pin(i % 10)
					_ = c.Unpin(i % 10)
					_, _ = c.Check()
				case 3:
					_ = c.Undo("")
					if p := c.Plan(); p != nil && len(p.Edits) > 0 {
						_, _ = c.Recall(p.Edits[0].Handle)
					}
					_, _ = c.History(), c.Request()
				}
			}
		})
	}
	wg.Wait()
	r, err := c.Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, c.Request(), r)
}

// One Winnow serves many conversations at once.
func TestWinnowIsSafe(t *testing.T) {
	w := newWinnow(t, small)
	want := fit(t, w, chat.Request{History: chat.NewHistory(coding(0, 30)...)}, winnow.State{}).Plan.ID()
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 5 {
				h := chat.NewHistory(coding(0, 30)...)
				if (k+i)%2 == 0 {
					h = chat.NewHistory(coding(50*k, 50*k+20+i)...)
				}
				r, err := w.Fit(context.Background(), chat.Request{History: h}, winnow.State{})
				if err != nil {
					t.Error(err)
				} else if (k+i)%2 != 0 && r.Plan.ID() != want {
					t.Errorf("plan %s, want %s", r.Plan.ID(), want)
				}
			}
		})
	}
	wg.Wait()
}

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
	for _, preset := range append(winnow.PresetNames()[:2], "") {
		s := winnow.Settings{Preset: preset, Model: "claude-sonnet-4-5", Window: 200000, MaxImages: 20}
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
			state.Plan, state.NotLasted = r.Plan, r.NotLasted
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
		s := winnow.Settings{Model: pricedModel, Window: 200000, OutputReserve: 500, Economy: winnow.EconomyPrices, CommitFloor: 1000}
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
			w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 16000, OutputReserve: 1000})
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
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", Window: 1000000, OutputReserve: 4000, MaxImages: 4})
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

// TestConversationMoves: what belongs to the request can be changed on the way, and a
// plan and pins go over to another engine and to another process, with the same view.
func TestConversationMoves(t *testing.T) {
	c := newWinnow(t, small).Conversation(chat.Request{})
	talk(t, c, 0, 40)
	if err := c.Pin(7); err != nil {
		t.Fatal(err)
	}
	fit, err := c.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := small
	next.Model = "claude-sonnet-4-5"
	c.Switch(newWinnow(t, next))
	if moved, err := c.Fit(t.Context()); err != nil || moved.Changed || moved.View.Key() != fit.View.Key() || len(c.Pins()) != 1 {
		t.Errorf("another engine has another view: %v", err)
	}
	if body, err := c.Body(t.Context(), wire.Anthropic); err != nil || !bytes.HasPrefix(body, []byte(`{"model":"claude-sonnet-4-5"`)) {
		t.Errorf("%.80s %v", body, err)
	}
	if _, err := c.Note(time.Time{}, "", "the lease is the cause"); err != nil {
		t.Fatal(err)
	}
	other := newWinnow(t, small).Conversation(c.Request())
	if err := other.Restore(c.Plan(), c.Pins(), c.Notes()...); err != nil {
		t.Fatal(err)
	}
	again, err := other.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again.Changed || again.View.Key() != fit.View.Key() || len(other.Pins()) != 1 || len(other.Notes()) != 1 {
		t.Errorf("the plan did not go over: %v", again.Changed)
	}
	if err := other.Restore(nil, []winnow.Pin{{Message: 9999, Part: -1}}); err == nil {
		t.Error("a pin of no message was taken")
	}
	c.Update(func(r *chat.Request) {
		r.System = []chat.Part{{Kind: chat.Text, Text: "Be brief."}}
		r.History = chat.NewHistory(coding(50, 51)...)
	})
	if fit, err = c.Fit(t.Context()); err != nil || fit.Plan != nil || len(c.Pins()) != 0 || c.Request().System == nil {
		t.Errorf("%v %v", err, fit.Plan)
	}
	if err := c.Restore(other.Plan(), nil); !errors.Is(err, plan.ErrMismatch) {
		t.Errorf("a plan of another history: %v", err)
	}
}

// TestConversationAnswerBody: an answer is added with what its provider counted, and an
// error is not.
func TestConversationAnswerBody(t *testing.T) {
	c := newWinnow(t, small).Conversation(chat.Request{})
	c.Append(user("Hello."))
	if _, err := c.Body(t.Context(), wire.OpenAI); err != nil {
		t.Fatal(err)
	}
	answer, err := c.AnswerBody(wire.OpenAI, []byte(`{"choices":[{"message":{"role":"assistant","content":"Hi."}}],"usage":{"prompt_tokens":90,"completion_tokens":2}}`))
	if err != nil || answer.Text() != "Hi." || c.History().Len() != 2 {
		t.Errorf("%v %v, %d messages", answer, err, c.History().Len())
	}
	if s, err := c.Check(); err != nil || s.Count.Tokens < 90 {
		t.Errorf("the reported size is not known: %d tokens, %v", s.Count.Tokens, err)
	}
	_, err = c.AnswerBody(wire.OpenAI, []byte(`{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`))
	var refused *wire.Verdict
	if !errors.As(err, &refused) || refused.Kind != wire.KindOverflow || refused.Limit != 8192 || c.History().Len() != 2 {
		t.Errorf("%v, %d messages", err, c.History().Len())
	}
}

// TestTrackFits: a track alone keeps a conversation fitting that its owner holds.
func TestTrackFits(t *testing.T) {
	w := newWinnow(t, small)
	track := w.Track()
	var h chat.History
	for _, m := range coding(0, 40) {
		if m.Role == chat.Assistant {
			r, err := track.Fit(t.Context(), chat.Request{History: h})
			if err != nil {
				t.Fatal(err)
			}
			checkResult(t, chat.Request{History: h}, r)
			track.Answered(m, chat.Usage{Input: r.After.Count.Tokens, Output: 10})
		}
		h = h.Append(m)
	}
	if track.Plan() == nil || !track.Known() {
		t.Error("nothing was compacted, or nothing heard")
	}
}
