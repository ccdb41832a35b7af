package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// S0.5 and D1: below the trigger the same history comes back and nothing is
// allocated, with and without a plan in force.
func TestFitBelowTriggerAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	w := newWinnow(t, small)
	req := chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: "You are careful."}},
		Tools:   []chat.ToolDef{{Name: "bash", Description: "runs", Schema: "{}"}},
		History: chat.NewHistory(coding(0, 4)...),
	}
	long := req
	long.History = chat.NewHistory(coding(0, 30)...)
	planned := fit(t, w, long, winnow.State{}).Plan
	if planned == nil {
		t.Fatal("no plan was made")
	}
	for name, c := range map[string]struct {
		req   chat.Request
		state winnow.State
	}{
		"no plan":         {req, winnow.State{}},
		"a plan in force": {long, winnow.State{Plan: planned}},
		"with a ledger":   {req, winnow.State{Ledger: token.NewLedger(token.O200K)}},
	} {
		r := fit(t, w, c.req, c.state)
		if r.Changed || r.Plan != c.state.Plan {
			t.Errorf("%s: the plan was changed", name)
		}
		if c.state.Plan == nil && (r.View.Len() != c.req.History.Len() || r.View.At(0) != c.req.History.At(0)) {
			t.Errorf("%s: the view is not the history itself", name)
		}
		if n := testing.AllocsPerRun(100, func() {
			if _, err := w.Fit(ctx, c.req, c.state); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestFitOutcomes(t *testing.T) {
	w := newWinnow(t, small)
	req := chat.Request{History: chat.NewHistory(coding(0, 40)...)}
	r := fit(t, w, req, winnow.State{})
	if !r.Changed || r.Before.Fits || !r.Before.ShouldCompact {
		t.Errorf("changed %v, before %+v", r.Changed, r.Before)
	}
	if r.After.Tokens.Total >= r.Before.Tokens.Total {
		t.Errorf("%d tokens became %d", r.Before.Tokens.Total, r.After.Tokens.Total)
	}
	if aim := w.Target(r.Before.Limits); r.After.Tokens.Total > aim || r.After.Tokens.Total < aim*9/10 {
		t.Errorf("the target is %d and %d tokens are left", aim, r.After.Tokens.Total)
	}
	rep := r.Report()
	if rep.MessagesBefore != 240 || rep.MessagesAfter != r.View.Len() || rep.Before.Tokens <= rep.After.Tokens || len(rep.Stages) == 0 {
		t.Errorf("report %+v", rep)
	}
	if got := rep.Kept.Messages + rep.Reduced.Messages + rep.Removed.Messages; got != 240 {
		t.Errorf("the report tells of %d messages", got)
	}

	cannot := cannotFit(t, w, chat.Request{History: chat.NewHistory(user(strings.Repeat("very long request ", 4000)))}, winnow.State{})
	if cannot.Floor <= cannot.Available || len(cannot.Items) == 0 || cannot.Items[0].Tokens < 8000 {
		t.Errorf("%+v", cannot)
	}
}

func TestFitForceAndCold(t *testing.T) {
	w := newWinnow(t, small)
	between := chat.Request{History: chat.NewHistory(coding(0, 13)...)} // where a cold cache permits a rewrite, below the trigger
	st, err := w.Check(between, winnow.State{})
	if err != nil || st.ShouldCompact || st.Ratio < 0.78 {
		t.Fatalf("ratio %.2f, %v", st.Ratio, err)
	}
	if r := fit(t, w, between, winnow.State{}); r.Changed {
		t.Error("compacted below the trigger")
	}
	for name, s := range map[string]winnow.State{"force": {Ask: winnow.Ask{Force: true}}, "cold": {Cold: true}} {
		r := fit(t, w, between, s)
		if !r.Changed || r.After.Tokens.Total > w.Target(r.Before.Limits) {
			t.Errorf("%s: changed %v, ratio %.2f", name, r.Changed, r.After.Ratio)
		}
	}
	few := chat.Request{History: chat.NewHistory(coding(0, 10)...)}
	if r := fit(t, w, few, winnow.State{Cold: true}); r.Changed {
		t.Errorf("a cold cache is no reason to compact at %.2f", r.Before.Ratio)
	}
}

// A limit that a provider reported counts instead of the registry's, and the
// target is then 0.70 of it.
func TestFitReportedLimit(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", OutputReserve: 500})
	req := chat.Request{History: chat.NewHistory(coding(0, 60)...)}
	if r := fit(t, w, req, winnow.State{}); r.Changed {
		t.Fatal("it should fit by the registry's window")
	}
	r := fit(t, w, req, winnow.State{Ask: winnow.Ask{Limit: 16000}})
	if r.After.Limits.Available != 16000 || r.After.Count.Upper() > 16000*7/10+200 {
		t.Errorf("%d tokens (upper %d) for a limit of 16,000", r.After.Tokens.Total, r.After.Count.Upper())
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name                        string
		s                           winnow.Settings
		output                      int
		context, reserve, available int
	}{
		{"S4.9: nothing known", winnow.Settings{Preset: "neurolink"}, 0, 128_000, 44_800, 83_200},
		{"nothing known of the answers", winnow.Settings{}, 0, 128_000, 16_000, 112_000},
		{"a small window", winnow.Settings{Window: 40_000}, 0, 40_000, 8_000, 32_000},
		{"S2.4: what the request asks for", winnow.Settings{Preset: "picoclaw"}, 32_768, 128_000, 32_768, 95_232},
		{"not all that a request asks for", winnow.Settings{}, 64_000, 128_000, 16_000, 112_000},
		{"output of the request", winnow.Settings{}, 8_192, 128_000, 8_192, 119_808},
		{"S2.4: only the output known", winnow.Settings{OutputReserve: 4_096}, 0, 16_384, 4_096, 12_288},
		{"output of the settings", winnow.Settings{Model: "some-model", OutputReserve: 4_096}, 0, 128_000, 4_096, 123_904},
		{"the request's output wins", winnow.Settings{Model: "some-model", OutputReserve: 4_096}, 1_000, 128_000, 1_000, 127_000},
		{"35 % at most 64,000", winnow.Settings{Window: 1_000_000, Preset: "neurolink"}, 0, 1_000_000, 64_000, 936_000},
		{"a model's own output limit", winnow.Settings{Model: "gpt-4o", Preset: "neurolink"}, 0, 128_000, 16_384, 111_616},
		{"a window override", winnow.Settings{Model: "gpt-4o", Window: 32_000}, 2_000, 32_000, 2_000, 30_000},
		{"limits of the models file", winnow.Settings{Model: limitedModel}, 0, 128_000, 1_000, 50_000},
		{"more output than the window", winnow.Settings{Window: 4_000}, 9_999, 4_000, 800, 3_200},
	} {
		l := newWinnow(t, c.s).Limits(c.output)
		if l.Context != c.context || l.Reserve != c.reserve || l.Available != c.available {
			t.Errorf("%s: %v, want window %d, reserve %d, available %d", c.name, l, c.context, c.reserve, c.available)
		}
	}
	s := winnow.Settings{MaxBytes: 1 << 20, MaxImages: 20}
	if l := newWinnow(t, s).Limits(0); l.Bytes != 1<<20 || l.Images != 20 {
		t.Errorf("%+v", l)
	}
}

// Limits come from the registry that was given.
func TestLimitsOfRegistry(t *testing.T) {
	registry, err := model.Default().WithOverrides([]byte(`{"models":{"ours":{"context":16000,"output":2000}}}`))
	if err != nil {
		t.Fatal(err)
	}
	w, err := winnow.New(&winnow.Options{Registry: registry, Settings: winnow.Settings{Model: "ours"}})
	if err != nil {
		t.Fatal(err)
	}
	if l := w.Limits(0); l.Context != 16_000 || l.Reserve != 2_000 || l.Available != 14_000 {
		t.Errorf("%v", l)
	}
	if m := w.Model(); m.Source != model.Override {
		t.Errorf("the model comes from %s", m.Source)
	}
}

// Images are limited by the settings or by the dialect, whichever is less.
func TestFitImagesOfDialect(t *testing.T) {
	var msgs []chat.Message
	for i := range 6 {
		msgs = append(msgs, chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, Text: fmt.Sprint("shot ", i)}, {Kind: chat.Image, Media: "image/png", Data: "aGVsbG8="}}}, said("seen"))
	}
	req := chat.Request{History: chat.NewHistory(append(msgs, user("which is best?"))...)}
	for _, c := range []struct{ setting, rule, want int }{{0, 0, 6}, {4, 0, 4}, {0, 3, 3}, {2, 5, 2}, {5, 2, 2}} {
		s := winnow.Settings{Model: "gpt-4o", MaxImages: c.setting}
		req.Rules = chat.AllDialects()
		req.Rules.MaxImages = c.rule
		if r := fit(t, newWinnow(t, s), req, winnow.State{}); r.After.Images > c.want || c.want == 6 && r.After.Images != 6 {
			t.Errorf("setting %d, dialect %d: %d images", c.setting, c.rule, r.After.Images)
		}
	}
}

// A plan of another history is ignored, and no error.
func TestFitForeignPlan(t *testing.T) {
	w := newWinnow(t, small)
	p := fit(t, w, chat.Request{History: chat.NewHistory(coding(0, 40)...)}, winnow.State{}).Plan
	other := chat.Request{History: chat.NewHistory(coding(100, 104)...)}
	if r := fit(t, w, other, winnow.State{Plan: p}); r.Plan != nil || r.Changed {
		t.Errorf("%v", r.Plan)
	}
	long := chat.Request{History: chat.NewHistory(coding(100, 140)...)}
	if r := fit(t, w, long, winnow.State{Plan: p}); r.Plan == nil || r.Plan.Parent != "" {
		t.Errorf("the new plan grew from a foreign one: %v", r.Plan)
	}
	st, err := w.Check(other, winnow.State{Plan: p})
	if err != nil || st.Tokens.Total != fit(t, w, other, winnow.State{}).Before.Tokens.Total {
		t.Errorf("%+v, %v", st.Tokens, err)
	}
}

// bulky is a conversation whose pinned first message, of that number of sentences,
// leaves little room.
func bulky(sentences int) (chat.History, winnow.State) {
	bulk := user("the bulk " + strings.Repeat("of the matter is this one sentence ", sentences))
	return chat.NewHistory(bulk, said("noted")), winnow.State{Pins: []winnow.Pin{{Message: 0, Part: -1}}}
}

// further is one more turn of it.
func further(h chat.History, i int) chat.History {
	return h.Append(user(fmt.Sprint("go on ", i)), said("yes, going on with it "+strings.Repeat("word ", 10)))
}

// Where what must stay is above the trigger, a rewrite is made only where one
// must be, and it leaves room, so that it lasts.
func TestRewritesLastAboveTheTrigger(t *testing.T) {
	w := newWinnow(t, small)
	h, s := bulky(900)
	rewrites, above := 0, 0
	for i := range 60 {
		h = further(h, i)
		r := fit(t, w, chat.Request{History: h}, s)
		if r.Changed {
			rewrites++
		}
		if r.After.Ratio > w.Settings().Threshold {
			above++
		}
		s.Plan, s.NotLasted = r.Plan, r.NotLasted
	}
	if rewrites == 0 || rewrites > 6 || above < 40 {
		t.Errorf("%d rewrites in 60 requests, %d of them above the trigger; want a few, and nearly all", rewrites, above)
	}
}

// When it does not fit and has hardly grown since the third rewrite that did
// not last, there is an error that says so, and no loop.
func TestNotLasting(t *testing.T) {
	w := newWinnow(t, small)
	for sentences := 900; ; sentences++ {
		if sentences == 1000 {
			t.Fatal("no bulk is such that rewrites do not last")
		}
		h, s := bulky(sentences)
		var err error
		for i := 0; i < 60 && err == nil; i++ {
			h = further(h, i)
			var r winnow.Result
			if r, err = w.Fit(context.Background(), chat.Request{History: h}, s); err == nil {
				s.Plan, s.NotLasted = r.Plan, r.NotLasted
			}
		}
		var stop *winnow.NotLastingError
		if !errors.As(err, &stop) {
			continue
		}
		if stop.Rewrites != 3 || stop.Limits.Available != w.Limits(0).Available || stop.Used < stop.Limits.Available*9/10 {
			t.Errorf("%+v", stop)
		}
		contains(t, "the error", err.Error(), "3 rewrites in a row", "larger window", "pins")
		// A caller who would rather try gets the smallest view there is.
		s.BestEffort = true
		if r, err := w.Fit(context.Background(), chat.Request{History: h}, s); err != nil || r.After.Tokens.Total > stop.Used {
			t.Errorf("%d tokens, %v", r.After.Tokens.Total, err)
		}
		return
	}
}

// Where what must stay is neither sure to fit nor sure not to, the smallest view
// is to be had by asking for it.
func TestFitBestEffort(t *testing.T) {
	race.Skip(t)
	w := newWinnow(t, small)
	l := w.Limits(0)
	tried := 0
	for words := 1500; ; words += 50 {
		bulk, s := bulky(words / 7)
		h := bulk.Append(coding(0, 30)...).Append(user("and now?"))
		req := chat.Request{History: h}
		_, err := w.Fit(context.Background(), req, s)
		var cannot *winnow.CannotFitError
		if err == nil {
			continue
		}
		if !errors.As(err, &cannot) || cannot.Upper <= cannot.Available || cannot.Available != l.Available {
			t.Fatalf("%v: %+v", err, cannot)
		}
		s.BestEffort = true
		r, err := w.Fit(context.Background(), req, s)
		if err != nil {
			if !errors.As(err, &cannot) || cannot.Floor <= l.Context {
				t.Errorf("%d tokens of %d are not tried: %v", cannot.Floor, l.Context, err)
			}
			break
		}
		tried++
		if r.After.Fits || r.After.Tokens.Total != cannot.Floor || r.After.Count.Lower() > l.Context {
			t.Errorf("%d tokens, fits: %v; the floor has %d", r.After.Tokens.Total, r.After.Fits, cannot.Floor)
		}
		if cannot.Floor <= cannot.Available {
			contains(t, "the error", cannot.Error(), "possibly up to")
		}
	}
	if tried < 3 {
		t.Errorf("%d floors were tried", tried)
	}
}

func TestNotLastingErrorText(t *testing.T) {
	e := &winnow.NotLastingError{Rewrites: 3, Used: 900, Limits: newWinnow(t, small).Limits(0)}
	contains(t, "the error", e.Error(), "3 rewrites", "900 tokens", "7500 available")
}

// Fit gives ctx's error.
func TestFitCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := newWinnow(t, small).Fit(ctx, chat.Request{History: chat.NewHistory(coding(0, 40)...)}, winnow.State{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// An empty request is fine.
func TestFitEmpty(t *testing.T) {
	r := fit(t, newWinnow(t, small), chat.Request{}, winnow.State{})
	if r.Plan != nil || r.View.Len() != 0 {
		t.Errorf("%v", r.Plan)
	}
}

// A broken history is mended below the trigger too, once: the plan is kept.
func TestFitRepairsBelowTrigger(t *testing.T) {
	w := newWinnow(t, small)
	req := chat.Request{History: chat.NewHistory(randhist.Parse("u tc(A) u a u")...)}
	r := fit(t, w, req, winnow.State{})
	if !strings.Contains(r.Plan.String(), "1 answer") {
		t.Fatalf("%v", r.Plan)
	}
	again := fit(t, w, req, winnow.State{Plan: r.Plan})
	if again.Changed || again.Plan != r.Plan {
		t.Errorf("mended again: %v", again.Plan)
	}
}

// A request that is sent twice, or counted before it is sent, goes out under one
// plan, also where that plan could not bring it below the trigger.
func TestFitAgainIsTheSame(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Window: 16_000, OutputReserve: 1000, Threshold: 0.2, Target: 0.1})
	req := chat.Request{History: chat.NewHistory(append(coding(0, 60), user(strings.Repeat("Be careful with the production database. ", 900)))...)}
	first := fit(t, w, req, winnow.State{})
	if !first.Changed || !first.After.ShouldCompact {
		t.Fatalf("the test needs a plan that stays above the trigger: %d of %d tokens", first.After.Tokens.Total, first.After.Limits.Available)
	}
	for range 5 {
		again := fit(t, w, req, winnow.State{Plan: first.Plan})
		if again.Changed || again.Plan.ID() != first.Plan.ID() {
			t.Fatalf("another plan for the same history: %v", again.Plan)
		}
	}
	forced := fit(t, w, req, winnow.State{Plan: first.Plan, Ask: winnow.Ask{Force: true}})
	if forced.After.Tokens.Total > first.After.Tokens.Total {
		t.Errorf("forced: %d tokens after %d", forced.After.Tokens.Total, first.After.Tokens.Total)
	}
}

// The number that Status.Due gives is the one at which Fit starts to compact,
// whatever decides about it: a history is grown until it does.
func TestDueIsWhereFitCompacts(t *testing.T) {
	prices := priced(t, "default")
	floor := prices
	floor.Window, floor.CommitFloor = 1_000_000, 64_000
	prices.CommitFloor = 1
	for _, c := range []struct {
		name  string
		set   winnow.Settings
		state winnow.State
		why   string
	}{
		{"share", winnow.Settings{Model: "gpt-4o", Window: 40_000, OutputReserve: 4000}, winnow.State{}, "0.90 of the room"},
		{"another share", winnow.Settings{Model: "gpt-4o", Window: 40_000, OutputReserve: 4000, Threshold: 0.5, Target: 0.4}, winnow.State{}, "0.50 of the room"},
		{"reserve", winnow.Settings{Model: "gpt-4o", Window: 40_000, OutputReserve: 100, Threshold: 0.95, Systems: winnow.Systems{Reserve: 4000}}, winnow.State{}, "the window less the reserve"},
		{"tokens", winnow.Settings{Model: "gpt-4o", Window: 128_000, ThresholdTokens: 20_000}, winnow.State{}, "threshold_tokens"},
		{"all", winnow.Settings{Model: "gpt-4o", Window: 40_000, OutputReserve: 4000, Threshold: 1, Systems: winnow.Systems{Reserve: -1}}, winnow.State{}, "all that is available"},
		{"cold", winnow.Settings{Model: "gpt-4o", Window: 40_000, OutputReserve: 4000, Target: 0.60}, winnow.State{Cold: true}, "0.70 of the room"},
		{"commit point", prices, winnow.State{}, "a rewrite costs less than it saves"},
		{"commit floor", floor, winnow.State{}, "raised to commit_floor"},
		{"commit point, cold", prices, winnow.State{Cold: true}, "the provider's cache no longer has the prompt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWinnow(t, c.set)
			h := worked(160)
			for i := 1; i < h.Len(); i++ {
				if h.At(i).Role != chat.Assistant {
					continue
				}
				req := chat.Request{History: h.Head(i)}
				r := fit(t, w, req, c.state)
				due, why := r.Before.Due()
				if got := r.Before.Count.Tokens; r.Changed != (got >= due) {
					t.Fatalf("%d tokens, due from %d on (%s), compacted: %v", got, due, why, r.Changed)
				}
				if r.Changed {
					if !strings.Contains(why, c.why) {
						t.Errorf("due from %d on: %s; want %q", due, why, c.why)
					}
					return
				}
			}
			t.Fatal("it was never compacted")
		})
	}
}

// What a provider reported makes a count no less sure than the counter is by itself,
// and an error names its items in the tokens that the provider counts.
func TestReportedTokens(t *testing.T) {
	w := newWinnow(t, small)
	counter := w.Meter().Counter()
	reported := func(h chat.History, factor int) *token.Ledger {
		l := token.NewLedger(counter.Family())
		n := counter.Messages(h.Head(1))
		l.Record(token.Step{Messages: 1, Estimate: n, Usage: chat.Usage{Input: factor * n}})
		return l
	}
	h := chat.NewHistory(coding(0, 30)...)
	status, err := w.Check(chat.Request{History: h}, winnow.State{Ledger: reported(h, 1)})
	if err != nil || status.Count.Method != token.Anchored || status.Count.Band > counter.Band() {
		t.Errorf("%+v, %v; the counter's own band is %v", status.Count, err, counter.Band())
	}
	bulk, s := bulky(900)
	s.Ledger = reported(bulk, 3)
	cannot := cannotFit(t, w, chat.Request{History: bulk.Append(user("and now?"))}, s)
	if largest := cannot.Items[0].Tokens; largest < 2*counter.Messages(bulk.Head(1)) || largest > cannot.Floor {
		t.Errorf("the largest item has %d of %d tokens", largest, cannot.Floor)
	}
}
