package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/model"
)

// priced is a preset in a large window, with prices of its own so that the
// registry may change.
func priced(t testing.TB, name string) winnow.Settings {
	t.Helper()
	s, err := winnow.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	s.Model, s.Window, s.OutputReserve = pricedModel, 400_000, 4000
	s.Economy, s.CommitFloor = winnow.EconomyPrices, 10_000
	s.Target /= 5 // the histories here are short
	return s
}

// worked is a session of an agent: each request adds about 900 tokens.
func worked(requests int) chat.History {
	return replaygen.Session(11, replaygen.Options{Requests: requests, Growth: 900}).History
}

// before is the history up to the request at or after message n.
func before(h chat.History, n int) chat.History {
	for h.At(n).Role != chat.Assistant {
		n++
	}
	return h.Head(n)
}

// walk plays a session request by request, as an agent would send it.
func walk(t *testing.T, w *winnow.Winnow, h chat.History, state func(request int) winnow.State, see func(last, r winnow.Result)) {
	t.Helper()
	var last winnow.Result
	n := 0
	for i := 1; i < h.Len(); i++ {
		if h.At(i).Role != chat.Assistant {
			continue
		}
		s := winnow.State{}
		if state != nil {
			s = state(n)
		}
		s.Plan = last.Plan
		r := fit(t, w, chat.Request{History: h.Head(i)}, s)
		if n > 0 {
			see(last, r)
		}
		last = r
		n++
	}
}

// With prices a conversation is rewritten at the commit point and at no other
// moment; in between the view only grows. Without them nothing happens below
// the threshold.
func TestEconomyRewritesAtTheCommitPoint(t *testing.T) {
	h := worked(120)
	for _, name := range winnow.PresetNames()[:2] {
		set := priced(t, name)
		w := newWinnow(t, set)
		rewrites := 0
		walk(t, w, h, nil, func(last, r winnow.Result) {
			if startsWith(r.View, last.View) {
				return
			}
			rewrites++
			c := r.Before.Commit
			if c.Growth == 0 || c.Limit == "window" {
				t.Fatalf("%s: rewritten at %d tokens though no commit point is known: %+v", name, r.Before.Tokens.Total, c)
			}
			if upper := r.Before.Count.Upper(); upper <= c.At {
				t.Errorf("%s: rewritten at %d tokens, below the commit point of %d", name, upper, c.At)
			}
			if r.After.Tokens.Total > c.At-c.Growth/2 {
				t.Errorf("%s: a rewrite at %d left %d tokens: it will not last", name, r.Before.Tokens.Total, r.After.Tokens.Total)
			}
		})
		if rewrites < 2 || rewrites > 12 {
			t.Errorf("%s: %d rewrites in 120 requests", name, rewrites)
		}
		set.Economy = winnow.EconomyOff
		walk(t, newWinnow(t, set), h, nil, func(last, r winnow.Result) {
			if r.Changed || r.Before.Commit.Growth != 0 {
				t.Fatalf("%s, prices off: rewritten at %d of %d tokens", name, r.Before.Tokens.Total, r.Before.Limits.Available)
			}
		})
	}
}

// With prices off a model's trigger is the documented one, whatever it costs.
func TestPricesOffKeepTheThreshold(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-opus-5-5", Economy: winnow.EconomyOff})
	if !w.Model().Prices.Known() {
		t.Fatal("the registry knows no prices for the model of this test")
	}
	st, err := w.Check(chat.Request{History: worked(200)}, winnow.State{})
	if err != nil {
		t.Fatal(err)
	}
	if st.ShouldCompact || st.Commit.At != 0 {
		t.Errorf("%d of %d tokens: compact %v, commit point %+v", st.Tokens.Total, st.Limits.Available, st.ShouldCompact, st.Commit)
	}
}

// What is known and what is asked for decide whether there is a commit point.
func TestCommitPointNeeds(t *testing.T) {
	h := worked(60)
	for _, c := range []struct {
		name string
		set  func(*winnow.Settings)
		h    chat.History
		want bool
	}{
		{"prices", func(*winnow.Settings) {}, h, true},
		{"the registry's prices", func(s *winnow.Settings) { s.Model = "claude-opus-5-5" }, h, true},
		{"off", func(s *winnow.Settings) { s.Economy = winnow.EconomyOff }, h, false},
		{"a model without prices", func(s *winnow.Settings) { s.Model = "nobody/knows-this-one" }, h, false},
		{"too few requests", func(*winnow.Settings) {}, h.Head(6), false},
	} {
		set := priced(t, "default")
		c.set(&set)
		st, err := newWinnow(t, set).Check(chat.Request{History: c.h}, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		if got := st.Commit.Growth > 0; got != c.want {
			t.Errorf("%s: commit point %+v", c.name, st.Commit)
		}
	}
}

// The commit point is clipped by the floor and by the window, and a cache that is
// often cold lowers it.
func TestCommitPointIsClipped(t *testing.T) {
	h := worked(60)
	at := func(change func(*winnow.Settings, *winnow.State)) (int, string) {
		set, s := priced(t, "default"), winnow.State{}
		change(&set, &s)
		st, err := newWinnow(t, set).Check(chat.Request{History: h}, s)
		if err != nil {
			t.Fatal(err)
		}
		return st.Commit.At, st.Commit.Limit
	}
	free, why := at(func(*winnow.Settings, *winnow.State) {})
	if why != "" {
		t.Fatalf("clipped by %s without a reason", why)
	}
	if n, why := at(func(s *winnow.Settings, _ *winnow.State) { s.CommitFloor = free + 1000 }); n != free+1000 || why != "floor" {
		t.Errorf("floor: %d by %q", n, why)
	}
	if n, _ := at(func(_ *winnow.Settings, s *winnow.State) { s.ColdShare = 0.2 }); n >= free {
		t.Errorf("with a fifth of the requests cold: %d, always warm: %d", n, free)
	}
	if n, why := at(func(s *winnow.Settings, _ *winnow.State) { s.Window = 13_000 }); why != "window" || n > 13_000 {
		t.Errorf("a small window: %d by %q", n, why)
	}
}

// A cache that was lost permits a rewrite from 70 % of the room on, by the caller's
// word or because its lifetime is over; with prices it may be made sooner still.
func TestColdCache(t *testing.T) {
	h := before(worked(60), 57)
	for _, economy := range []string{winnow.EconomyPrices, winnow.EconomyOff} {
		set := priced(t, "default")
		set.Economy = economy
		if economy == winnow.EconomyOff {
			st, err := newWinnow(t, set).Check(chat.Request{History: h}, winnow.State{})
			if err != nil {
				t.Fatal(err)
			}
			set.Window = set.OutputReserve + st.Count.Tokens*5/4 // it has 80 % of the room
		}
		w := newWinnow(t, set)
		for _, c := range []struct {
			name string
			s    winnow.State
			want bool
		}{
			{"warm", winnow.State{}, false},
			{"cold", winnow.State{Cold: true}, true},
			{"after the lifetime", winnow.State{Idle: 301 * time.Second}, true},
			{"within the lifetime", winnow.State{Idle: 299 * time.Second}, false},
		} {
			if r := fit(t, w, chat.Request{History: h}, c.s); r.Changed != c.want {
				t.Errorf("%s, %s: rewritten %v at %d tokens of %d (commit point %+v)", economy, c.name, r.Changed, r.Before.Tokens.Total, r.Before.Limits.Available, r.Before.Commit)
			}
		}
		early := h.Head(25)
		if r := fit(t, w, chat.Request{History: early}, winnow.State{Cold: true}); economy == winnow.EconomyOff && r.Changed {
			t.Errorf("rewritten at %d tokens of %d, below 70 %%", r.Before.Tokens.Total, r.Before.Limits.Available)
		}
	}
}

// A rewrite waits one request where the newest results are large, since then
// they can be summarised too; it does not wait for the user's words, nor without
// room, nor where the agent would compact by itself.
func TestRewriteWaitsForLargeResults(t *testing.T) {
	set := winnow.Settings{Model: "gpt-4o", Window: 20_000, OutputReserve: 100}
	w := newWinnow(t, set)
	h := chat.NewHistory(coding(0, 24)...) // about 14,000 tokens
	next := func(lineCount int) chat.History {
		return h.Append(user("Look at all of it.")).Append(did("big", "bash", `{"command":"make"}`, lines("build", lineCount))...)
	}
	grown := 0
	for n := 100; ; n += 5 { // until the trigger is reached
		st, err := w.Check(chat.Request{History: next(n)}, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		if st.Count.Tokens > st.Limits.Available*9/10+50 {
			grown = n
			break
		}
	}
	r := fit(t, w, chat.Request{History: next(grown)}, winnow.State{})
	if r.Changed || r.Before.ShouldCompact {
		t.Errorf("%d tokens, large results at the end: rewritten at once", r.Before.Tokens.Total)
	}
	after := next(grown).Append(did("small", "bash", `{"command":"ls"}`, "a.go")...)
	if r = fit(t, w, chat.Request{History: after}, winnow.State{Plan: r.Plan}); !r.Changed {
		t.Errorf("%d tokens, one request later: not rewritten", r.Before.Tokens.Total)
	}
	if r := fit(t, w, chat.Request{History: next(grown + 250)}, winnow.State{}); !r.Changed {
		t.Errorf("%d of %d tokens: there is no room to wait", r.Before.Tokens.Total, r.Before.Limits.Available)
	}
	if r := fit(t, w, chat.Request{History: h.Append(user(lines("pasted", grown)))}, winnow.State{}); !r.Changed {
		t.Errorf("%d tokens, the user's own words: they will not be summarised later either", r.Before.Tokens.Total)
	}
	set.Window = 0
	agent, err := winnow.New(&winnow.Options{Settings: set, Agent: model.Window{Tokens: 20_000, Own: 18_500}})
	if err != nil {
		t.Fatal(err)
	}
	if r := fit(t, agent, chat.Request{History: next(grown)}, winnow.State{}); !r.Changed {
		t.Errorf("%d tokens: the agent compacts by itself at 18,500", r.Before.Tokens.Total)
	}
}

// A rewrite that would free less than a fifth of the room waits while the request
// fits, save where somebody asked for it or said when and how far.
func TestSmallRewriteWaits(t *testing.T) {
	set := winnow.Settings{Model: "gpt-4o", Window: 20_000, OutputReserve: 100}
	w := newWinnow(t, set)
	h := chat.NewHistory(coding(0, 4)...).Append(user(lines("the specification", 1570)), said("Read."), user("Go on."))
	pins := []winnow.Pin{{Message: h.Len() - 3, Part: -1}}
	req := chat.Request{History: h}
	r := fit(t, w, req, winnow.State{Pins: pins})
	if used := r.Before.Count.Tokens; used <= r.Before.Limits.At(budget.DefaultThreshold) || !r.Before.Fits {
		t.Fatalf("%d tokens of %d: the test must start between the trigger and the limit", used, r.Before.Limits.Available)
	}
	if r.Changed || r.Before.ShouldCompact || r.View.Len() != h.Len() {
		t.Errorf("%d tokens became %d", r.Before.Count.Tokens, r.After.Count.Tokens)
	}
	contains(t, "the notes", strings.Join(r.Notes, "\n"), "it waits while the request fits")
	asked := fit(t, w, req, winnow.State{Pins: pins, Ask: winnow.Ask{Force: true}})
	set.Threshold = 0.9
	firm := fit(t, newWinnow(t, set), req, winnow.State{Pins: pins})
	if !asked.Changed || !firm.Changed {
		t.Errorf("forced: changed %v; with a threshold that is set: changed %v", asked.Changed, firm.Changed)
	}
	if full := fit(t, w, chat.Request{History: h.Append(said(lines("an answer", 200)), user("And?"))}, winnow.State{Pins: pins}); !full.Changed {
		t.Errorf("%d tokens of %d: it cannot wait any longer", full.Before.Count.Tokens, full.Before.Limits.Available)
	}
}

// Whatever costs say: what is sent fits and obeys the rules, a rewrite is made
// only when it is due, and otherwise the view only grows.
func TestEconomyKeepsTheGuarantee(t *testing.T) {
	for seed := range uint64(6) {
		h := replaygen.Session(seed, replaygen.Options{Requests: 90, Growth: 300 + int(seed)*400, Turn: 5 + int(seed)*12}).History
		set := priced(t, winnow.PresetNames()[seed%2])
		set.Window = 12_000 << (seed % 3)
		set.CommitFloor = 4000
		w := newWinnow(t, set)
		walk(t, w, h, func(n int) winnow.State {
			s := winnow.State{ColdShare: float64(seed%2) / 20}
			if seed%2 == 1 && n%20 == 19 {
				s.Idle = time.Hour
			}
			return s
		}, func(last, r winnow.Result) {
			if !startsWith(r.View, last.View) && !r.Before.ShouldCompact {
				t.Errorf("seed %d: rewritten at %d tokens though nothing is due", seed, r.Before.Tokens.Total)
			}
			if r.After.Count.Upper() > r.After.Limits.Available {
				t.Errorf("seed %d: %d tokens of %d", seed, r.After.Count.Upper(), r.After.Limits.Available)
			}
		})
	}
}

// A conversation learns by itself how often the cache is cold, and takes a pause
// into account once.
func TestConversationPause(t *testing.T) {
	w := newWinnow(t, priced(t, "default"))
	c := w.Conversation(chat.Request{})
	all := worked(60)
	h := before(all, 57)
	c.Append(h.Messages()...)
	ctx := context.Background()
	if r, err := c.Fit(ctx); err != nil || r.Changed {
		t.Fatalf("warm: changed %v, %v", r.Changed, err)
	}
	c.Paused(time.Hour)
	r, err := c.Fit(ctx)
	if err != nil || !r.Changed {
		t.Fatalf("after an hour: changed %v, %v", r.Changed, err)
	}
	c.Answered(*all.At(h.Len()), chat.Usage{Input: 9000, Output: 10})
	c.Append(*all.At(h.Len() + 1))
	if again, err := c.Fit(ctx); err != nil || !startsWith(again.View, r.View) {
		t.Errorf("the pause counts twice: %v", err)
	}
}

// Calls that read nothing from the cache lower the commit point, save where a
// rewrite is the reason or the provider reports no cache at all.
func TestConversationLearnsColdShare(t *testing.T) {
	h := worked(60)
	at := func(read func(i int) int) int {
		c := newWinnow(t, priced(t, "default")).Conversation(chat.Request{})
		n := 0
		for i := range 60 {
			if h.At(i).Role != chat.Assistant {
				c.Append(*h.At(i))
				continue
			}
			r, err := c.Fit(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			c.Answered(*h.At(i), chat.Usage{Input: r.After.Tokens.Total - read(n), CacheRead: read(n), Output: 10})
			n++
		}
		st, err := c.Check()
		if err != nil {
			t.Fatal(err)
		}
		return st.Commit.At
	}
	warm := at(func(int) int { return 100 })
	none := at(func(int) int { return 0 })
	cold := at(func(i int) int { return 100 * (i % 2) })
	if warm == 0 || none != warm || cold >= warm {
		t.Errorf("commit point: always warm %d, no cache %d, every other call cold %d", warm, none, cold)
	}
}

func TestEconomySettings(t *testing.T) {
	var e *winnow.SettingsError
	if err := (&winnow.Settings{Economy: "always"}).Validate(); !errors.As(err, &e) || e.Field != "economy" {
		t.Errorf("economy: %v", err)
	}
	if err := (&winnow.Settings{Economy: winnow.EconomyPrices, CommitFloor: -1}).Validate(); err != nil {
		t.Errorf("no floor: %v", err)
	}
}

// ExampleWinnow_Check_commit shows where a rewrite pays by a model's prices.
func ExampleWinnow_Check_commit() {
	set, _ := winnow.Preset("thrifty")
	set.Model = "claude-opus-5-5" // a window of a million tokens
	w, _ := winnow.New(&winnow.Options{Settings: set})
	h := replaygen.Session(1, replaygen.Options{Requests: 20, Growth: 2500}).History
	st, _ := w.Check(chat.Request{History: h}, winnow.State{})
	fmt.Println("compact now:", st.ShouldCompact)
	fmt.Println("far below the window:", st.Commit.At < st.Limits.Available/4, st.Commit.At > st.Commit.After)
	// Output:
	// compact now: false
	// far below the window: true true
}
