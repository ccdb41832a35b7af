package budget_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/token"
)

func picture() chat.Part {
	return chat.Part{Kind: chat.Image, Media: "image/png", Data: strings.Repeat("iVBORw0KGgo", 1000)}
}

// S4.1: what the tokens are spent on adds up, with and without reported usage.
func TestBreakdownAddsUp(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 9))
		req := chat.Request{History: randhist.New(r, randhist.Options{MaxText: 500})}
		if seed%2 == 0 {
			req.System = []chat.Part{{Kind: chat.Text, Text: "You are careful."}}
			req.Tools = []chat.ToolDef{{Name: "read", Description: "reads", Schema: `{"type":"object"}`}}
		}
		m := newMeter()
		v := apply(t, req.History, nil)
		ledger := token.NewLedger(token.O200K)
		for range 2 {
			s := m.Check(&req, v, budget.NewLimits(1<<20, 0, 0), budget.Trigger{}, ledger)
			b := s.Tokens
			if b.Total != b.System+b.History+b.Prompt+b.Tools+b.Unseen || b.Attachments > b.History+b.Prompt || b.Total != s.Count.Tokens {
				t.Fatalf("seed %d: %+v, count %d", seed, b, s.Count.Tokens)
			}
			step := m.Step(&req, m.Measure(v), "")
			step.Usage = chat.Usage{Input: b.Total*int(1+seed%3)/2 + 7, Output: 1}
			ledger.Record(step)
		}
	}
}

func TestBreakdownOfARequest(t *testing.T) {
	m := newMeter()
	c := m.Counter()
	h := chat.NewHistory(randhist.Parse("u tc t a")...).Append(
		chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, Text: "look"}, picture()}})
	req := chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: strings.Repeat("be careful ", 50)}},
		Tools:   []chat.ToolDef{{Name: "read", Description: strings.Repeat("reads ", 30), Schema: "{}"}},
		History: h,
	}
	s := m.Check(&req, apply(t, h, nil), budget.NewLimits(1<<20, 0, 0), budget.Trigger{}, nil)
	history := 0
	for i := range 4 {
		history += c.At(h, i)
	}
	want := budget.Breakdown{
		System: c.System(req.System) + c.Conversation(), Tools: c.Tools(req.Tools),
		History: history, Prompt: c.At(h, 4), Attachments: 1024,
	}
	want.Total = want.System + want.Tools + want.History + want.Prompt
	if s.Tokens != want || s.Images != 1 {
		t.Errorf("%+v and %d images, want %+v and 1", s.Tokens, s.Images, want)
	}
	if s.Bytes < 11000 || s.Tokens.Prompt > 1100 {
		t.Errorf("%d bytes, %d tokens: the picture must count in bytes and not as text", s.Bytes, s.Tokens.Prompt)
	}
}

// The trigger is strict: what is exactly at it is not over it (A1.6).
func TestTriggerIsStrict(t *testing.T) {
	m := newMeter()
	req := chat.Request{History: chat.NewHistory(randhist.Parse("u a u a u a u a u a u a u a u a u")...)}
	v := apply(t, req.History, nil)
	upper := m.Check(&req, v, budget.NewLimits(1<<20, 0, 0), budget.Trigger{}, nil).Count.Upper()
	for _, c := range []struct {
		available     int
		fits, compact bool
	}{{upper, true, false}, {upper - 1, false, true}, {upper + 1, true, false}} {
		s := m.Check(&req, v, budget.NewLimits(c.available, 0, 0), budget.Trigger{}, nil)
		if s.Fits != c.fits || s.ShouldCompact != c.compact {
			t.Errorf("%d of %d: fits %v, compact %v", upper, c.available, s.Fits, s.ShouldCompact)
		}
	}
	// By a reserve: window less reserve is the last number that is left alone. The
	// band of the count does not decide about that.
	count := m.Check(&req, v, budget.NewLimits(1<<20, 0, 0), budget.Trigger{}, nil).Count.Tokens
	tr := budget.Trigger{Reserve: 15}
	for window, compact := range map[int]bool{count + 15: false, count + 14: true} {
		if s := m.Check(&req, v, budget.NewLimits(window, 0, 0), tr, nil); s.ShouldCompact != compact {
			t.Errorf("window %d, reserve 15, %d tokens: compact %v", window, count, s.ShouldCompact)
		}
	}
}

// C5 in our numbers: messages, tools and the wanted output against the window.
func TestOverBudget(t *testing.T) {
	m := newMeter()
	text := strings.Repeat("You are a helpful assistant with tools. ", 60)
	req := chat.Request{System: []chat.Part{{Kind: chat.Text, Text: text}}, History: chat.NewHistory(randhist.Parse("u a u")...)}
	for _, c := range []struct {
		window, output int
		over           bool
	}{{100_000, 4096, false}, {100, 0, true}, {2000, 1800, true}, {131_072, 32_768, false}, {500, 32_768, true}} {
		s := m.Check(&req, apply(t, req.History, nil), budget.NewLimits(c.window, 0, c.output), budget.Trigger{}, nil)
		if s.Fits == c.over {
			t.Errorf("window %d, output %d: %d tokens, fits %v", c.window, c.output, s.Count.Upper(), s.Fits)
		}
	}
	if s := m.Check(&chat.Request{}, apply(t, chat.History{}, nil), budget.NewLimits(10_000, 0, 4096), budget.Trigger{Threshold: 0.8}, nil); s.ShouldCompact {
		t.Error("an empty request is over budget")
	}
}

// B7: bytes and images have limits of their own.
func TestBytesAndImages(t *testing.T) {
	m := newMeter()
	req := chat.Request{History: chat.NewHistory(
		chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, Text: "look"}, picture(), picture()}})}
	v := apply(t, req.History, nil)
	for _, c := range []struct {
		name          string
		bytes, images int
		over          []string
		compact       bool
	}{
		{"no limits", 0, 0, nil, false},
		{"bytes over", 20_000, 0, []string{"bytes"}, true},
		{"bytes at 80 %", 26_000, 0, nil, true},
		{"bytes well below", 100_000, 0, nil, false},
		{"images over", 0, 1, []string{"images"}, true},
		{"images at the limit", 0, 2, nil, true},
		{"images below", 0, 3, nil, false},
		{"both over", 20_000, 1, []string{"bytes", "images"}, true},
	} {
		l := budget.NewLimits(1<<20, 0, 0)
		l.Bytes, l.Images = c.bytes, c.images
		s := m.Check(&req, v, l, budget.Trigger{Threshold: 0.8}, nil)
		if !slices.Equal(s.Over, c.over) || s.Fits != (len(c.over) == 0) || s.ShouldCompact != c.compact {
			t.Errorf("%s: over %v, fits %v, compact %v", c.name, s.Over, s.Fits, s.ShouldCompact)
		}
	}
}

// Reported usage anchors tokens, and tokens only.
func TestCheckIsAnchored(t *testing.T) {
	m := newMeter()
	req := chat.Request{History: chat.NewHistory(randhist.Parse("u a u")...)}
	v := apply(t, req.History, nil)
	l := budget.NewLimits(1<<20, 0, 0)
	raw := m.Check(&req, v, l, budget.Trigger{}, nil)
	ledger := token.NewLedger(token.O200K)
	if s := m.Check(&req, v, l, budget.Trigger{}, ledger); s.Count.Tokens != raw.Count.Tokens || s.Scale != 1 {
		t.Errorf("an empty ledger changed the count: %+v", s.Count)
	}
	ledger.Record(token.Step{Messages: 3, Estimate: raw.Tokens.Total, Usage: chat.Usage{Input: 5000, Output: 20}, Answer: 10})
	s := m.Check(&req, v, l, budget.Trigger{}, ledger)
	if s.Count.Method != token.Anchored || s.Count.Tokens != 5000 || s.Bytes != raw.Bytes || s.Images != raw.Images {
		t.Errorf("%+v, %d bytes; want 5,000 tokens anchored and %d bytes", s.Count, s.Bytes, raw.Bytes)
	}
	longer := req
	longer.History = req.History.Append(chat.TextMessage(chat.Assistant, "ok"), chat.TextMessage(chat.User, strings.Repeat("more words ", 100)))
	s = m.Check(&longer, apply(t, longer.History, nil), l, budget.Trigger{}, ledger)
	if s.Count.Tokens < 5100 || s.Count.Tokens > 5400 {
		t.Errorf("%d tokens after about 200 more", s.Count.Tokens)
	}
	// Usage of another plan is stale.
	view := apply(t, req.History, somePlan(t, req.History))
	if s := m.Check(&req, view, l, budget.Trigger{}, ledger); s.Count.Method == token.Anchored || view.Plan() == nil {
		t.Error("the usage of the whole history anchors the view of a plan")
	}
}

// What the provider counts in every request and nobody shows is a number of its own:
// the messages keep their size, and the room is what is left beside it.
func TestUnseenIsANumberOfItsOwn(t *testing.T) {
	m := newMeter()
	req := chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: "You are careful."}},
		History: chat.NewHistory(chat.TextMessage(chat.User, strings.Repeat("some words ", 200))),
	}
	v := apply(t, req.History, nil)
	l := budget.NewLimits(100_000, 0, 10_000)
	raw := m.Check(&req, v, l, budget.Trigger{}, nil)
	if raw.Limits.Fixed != raw.Tokens.System || raw.Limits.Room != 90_000-raw.Tokens.System || raw.Tokens.Unseen != 0 {
		t.Errorf("without a report: %+v, %+v", raw.Limits, raw.Tokens)
	}
	ledger := token.NewLedger(token.O200K)
	step := m.Step(&req, m.Measure(v), "")
	step.Usage.Input = raw.Tokens.Total + 30_000
	ledger.Record(step)
	s := m.Check(&req, v, l, budget.Trigger{}, ledger)
	want := raw.Tokens
	want.Total, want.Unseen = want.Total+30_000, 30_000
	if s.Tokens != want || s.Limits.Fixed != want.System+30_000 || s.Limits.Room != 90_000-s.Limits.Fixed || s.Scale != 1 {
		t.Errorf("%+v, want %+v; %+v", s.Tokens, want, s.Limits)
	}
	if k := m.Kinds(v, &s); k.Unseen != 30_000 || k.User != raw.Tokens.Prompt || k.Sum() != s.Tokens.Total {
		t.Errorf("%+v", k)
	}
}

// The memo of system prompt and tools goes by content.
func TestFixedGoesByContent(t *testing.T) {
	m := newMeter()
	a := chat.Request{System: []chat.Part{{Kind: chat.Text, Text: "one"}}}
	b := chat.Request{System: []chat.Part{{Kind: chat.Text, Text: strings.Repeat("two words ", 50)}}, Tools: []chat.ToolDef{{Name: "x", Schema: "{}"}}}
	a1, _ := m.Fixed(&a)
	b1, bt := m.Fixed(&b)
	a2, at := m.Fixed(&a)
	if a1 != a2 || a1.Tokens >= b1.Tokens || at.Tokens != 0 || bt.Tokens == 0 || bt.Bytes == 0 {
		t.Errorf("%v %v %v, tools %v %v", a1, b1, a2, at, bt)
	}
}

// Near a limit in bytes or images a rewrite must be allowed to last too, as
// long as the request fits.
func TestLeastHoldsForBytesAndImages(t *testing.T) {
	for _, c := range []struct {
		bytes, least  int
		compact, fits bool
	}{
		{900, 0, true, true},
		{900, 100, true, true},
		{900, 600, false, true},
		{1001, 600, true, false},
		{700, 0, false, true},
	} {
		s := budget.Status{Count: token.Count{Tokens: 500}, Bytes: c.bytes, Limits: budget.Limits{Context: 9000, Input: 9000, Available: 9000, Room: 9000, Bytes: 1000}}
		s.Judge(budget.Trigger{Threshold: 0.8, Least: c.least})
		if s.ShouldCompact != c.compact || s.Fits != c.fits {
			t.Errorf("%d bytes of 1000, least %d: compact %v, fits %v", c.bytes, c.least, s.ShouldCompact, s.Fits)
		}
		s = budget.Status{Count: token.Count{Tokens: 500}, Images: c.bytes, Limits: budget.Limits{Context: 9000, Input: 9000, Available: 9000, Room: 9000, Images: 1000}}
		s.Judge(budget.Trigger{Threshold: 0.8, Least: c.least})
		if s.ShouldCompact != c.compact || s.Fits != c.fits {
			t.Errorf("%d images of 1000, least %d: compact %v, fits %v", c.bytes, c.least, s.ShouldCompact, s.Fits)
		}
	}
}
