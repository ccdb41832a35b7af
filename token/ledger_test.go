package token

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
)

// provider is a made-up one: it counts factor times what the counter estimates,
// adds a fixed overhead that the counter does not see, and hides reasoning.
type provider struct {
	factor   float64
	overhead int
	kept     float64 // share of reasoning that comes back in the next prompt
	noise    float64

	r        *rand.Rand
	context  float64 // tokens sent and answered
	estimate int
	messages int
}

func newProvider(factor float64, overhead int, kept, noise float64) *provider {
	return &provider{factor: factor, overhead: overhead, kept: kept, noise: noise, r: rand.New(rand.NewPCG(7, 7)), context: float64(overhead)}
}

// add puts messages of that estimate into the view.
func (p *provider) add(estimate int) {
	p.messages++
	p.estimate += estimate
	p.context += float64(estimate) * p.factor * (1 + p.noise*p.r.NormFloat64())
}

// call sends the view and adds the answer.
func (p *provider) call(answer, thinking int, plan string) Step {
	prompt := int(math.Round(p.context))
	s := Step{Messages: p.messages, Estimate: p.estimate, Answer: answer, Model: "m", Plan: plan}
	visible := int(float64(answer) * p.factor * 1.1)
	s.Usage = chat.Usage{Input: 10, CacheRead: prompt / 2, CacheWrite: prompt - prompt/2 - 10, Output: visible + thinking, Thinking: thinking}
	p.messages++
	p.estimate += answer
	p.context += float64(visible) + p.kept*float64(thinking)
	return s
}

func TestLedgerPredictsTheNextPrompt(t *testing.T) {
	for _, tt := range []struct {
		name                string
		factor, kept, noise float64
		overhead            int
		within              float64
	}{
		{"as estimated", 1, 1, 0.03, 0, 0.01},
		{"much above the estimate", 1.5, 1, 0.05, 15000, 0.015},
		{"below the estimate", 0.8, 1, 0.05, 15000, 0.015},
		{"reasoning is dropped", 1.1, 0, 0.05, 9000, 0.02},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProvider(tt.factor, tt.overhead, tt.kept, tt.noise)
			l := NewLedger(Claude5)
			r := rand.New(rand.NewPCG(1, 9))
			outside, steps, banded := 0, 0, 0
			for i := range 80 {
				p.add(200 + r.IntN(2500))
				count, ok := l.Predict(Step{Messages: p.messages, Estimate: p.estimate, Plan: ""})
				s := p.call(100+r.IntN(300), r.IntN(2)*r.IntN(1500), "")
				if ok != (i > 0) {
					t.Fatalf("step %d: there is a prediction: %v", i, ok)
				}
				l.Record(s)
				if i < 15 {
					continue
				}
				steps++
				truth := float64(s.Usage.Prompt())
				if count.Method != Anchored {
					t.Fatalf("the method is %q", count.Method)
				}
				if math.Abs(float64(count.Tokens)/truth-1) > tt.within {
					outside++
				}
				if float64(count.Lower()) <= truth && truth <= float64(count.Upper()) {
					banded++
				}
			}
			if outside > steps/20 {
				t.Errorf("%d of %d predictions are more than %.1f %% off", outside, steps, 100*tt.within)
			}
			if banded < steps*9/10 {
				t.Errorf("only %d of %d true prompts lie in the band", banded, steps)
			}
			if f := l.Factor(); math.Abs(f/tt.factor-1) > 0.08 {
				t.Errorf("the factor is %.3f, want about %.2f", f, tt.factor)
			}
			if _, k := l.learn.solve(); math.Abs(k-tt.kept) > 0.25 {
				t.Errorf("the kept share of reasoning is %.2f, want about %.1f", k, tt.kept)
			}
		})
	}
}

func TestLedgerFactorIsShrunk(t *testing.T) {
	l := NewLedger(Claude)
	step := func(messages, estimate, prompt int) {
		l.Record(Step{Messages: messages, Estimate: estimate, Usage: chat.Usage{Input: prompt}})
	}
	step(1, 1000, 1000)
	if f := l.Factor(); f != 1 {
		t.Errorf("the factor is %v before anything was learned", f)
	}
	step(3, 5000, 9000) // 4,000 estimated, 8,000 in truth
	if f := l.Factor(); math.Abs(f-1.5) > 0.01 {
		t.Errorf("the factor is %.3f after 4,000 tokens that were 8,000, want 1.5", f)
	}
	step(5, 6000, 4000) // the client took something out: nothing to learn
	if f := l.Factor(); math.Abs(f-1.5) > 0.01 {
		t.Errorf("the factor is %.3f after the prompt shrank, want 1.5 still", f)
	}
	step(7, 6100, 54000) // the client put something in
	if f := l.Factor(); math.Abs(f-1.5) > 0.01 {
		t.Errorf("the factor is %.3f after an unexplained jump, want 1.5 still", f)
	}
}

func TestLedgerTakesTheLargestReport(t *testing.T) {
	l := NewLedger(O200K)
	l.Record(Step{}) // an aborted call
	if _, ok := l.Last(); ok {
		t.Fatal("a step without usage was recorded")
	}
	l.Record(Step{Messages: 1, Estimate: 900, Usage: chat.Usage{Input: 1000, Output: 50}, Answer: 45})
	report := func(output int) {
		l.Record(Step{Messages: 3, Estimate: 3000, Usage: chat.Usage{Input: 3500, Output: output}, Answer: 300})
	}
	report(1)
	factor := l.Factor()
	report(400)
	report(120)
	report(400)
	if l.Factor() != factor {
		t.Errorf("the factor went from %v to %v though one call was reported again", factor, l.Factor())
	}
	got, ok := l.Predict(Step{Messages: 5, Estimate: 3000 + 300 + 100, Plan: ""})
	if want := 3500 + 400 + int(math.Round(100*factor)); !ok || got.Tokens != want {
		t.Errorf("the next prompt is %d, want %d", got.Tokens, want)
	}
	if got, _ := l.Predict(Step{Messages: 3, Estimate: 3000, Plan: ""}); got.Tokens != 3500 {
		t.Errorf("the same prompt again is %d, want 3500", got.Tokens)
	}
}

func TestLedgerStartsAfresh(t *testing.T) {
	l := NewLedger(Claude)
	l.Record(Step{Messages: 1, Estimate: 1000, Usage: chat.Usage{Input: 1300}, Model: "a"})
	l.Record(Step{Messages: 3, Estimate: 9000, Usage: chat.Usage{Input: 11700}, Model: "a"})
	factor := l.Factor()
	if factor <= 1.1 {
		t.Fatalf("the factor is %v", factor)
	}
	if _, ok := l.Predict(Step{Messages: 5, Estimate: 9500, Plan: "plan-1"}); ok {
		t.Error("usage from before a plan predicts a prompt after it")
	}
	if _, ok := l.Predict(Step{Messages: 2, Estimate: 5000, Plan: ""}); ok {
		t.Error("usage of a longer view predicts a shorter one")
	}
	l.Record(Step{Messages: 2, Estimate: 4000, Usage: chat.Usage{Input: 5100}, Model: "a", Plan: "plan-1"})
	if l.Factor() != factor {
		t.Error("the step from one plan to the next was learned from")
	}
	if got, ok := l.Predict(Step{Messages: 2, Estimate: 4000, Plan: "plan-1"}); !ok || got.Tokens != 5100 {
		t.Errorf("after the plan the prompt is %v, %v, want 5100", got, ok)
	}
	if _, ok := l.Predict(Step{Messages: 5, Estimate: 9500, Plan: ""}); ok {
		t.Error("there is still a prediction without the plan")
	}
	l.Record(Step{Messages: 4, Estimate: 9000, Usage: chat.Usage{Input: 20000}, Model: "b", Plan: "plan-1"})
	if l.Factor() != factor {
		t.Error("the step from one model to the next was learned from")
	}
}

func TestLedgerRewritten(t *testing.T) {
	l := NewLedger(Claude5)
	if _, ok := l.Rewritten(Step{Estimate: 500}); ok {
		t.Error("there is a prediction without usage")
	}
	p := newProvider(1.4, 12000, 1, 0.04)
	for range 40 {
		p.add(1500)
		l.Record(p.call(200, 0, ""))
	}
	p.add(800)
	before, _ := l.Predict(Step{Messages: p.messages, Estimate: p.estimate, Plan: ""})
	same, ok := l.Rewritten(Step{Estimate: p.estimate})
	if d := same.Tokens - before.Tokens; !ok || d < -before.Tokens/500 || d > before.Tokens/500 {
		t.Errorf("a rewrite that changes nothing has %d tokens, want about %d", same.Tokens, before.Tokens)
	}
	for _, share := range []float64{0.1, 0.3, 0.6, 0.9} {
		after := int(share * float64(p.estimate))
		truth := 12000 + 1.4*float64(after)
		got, _ := l.Rewritten(Step{Estimate: after})
		if math.Abs(float64(got.Tokens)/truth-1) > 0.05 {
			t.Errorf("cut to %.1f: %d tokens, want about %.0f", share, got.Tokens, truth)
		}
		if float64(got.Upper()) < truth || float64(got.Lower()) > truth {
			t.Errorf("cut to %.1f: the band %d to %d does not hold %.0f", share, got.Lower(), got.Upper(), truth)
		}
		if raw := float64(after); math.Abs(raw/truth-1) < 0.1 {
			t.Errorf("cut to %.1f: the case proves nothing, the raw estimate is as good", share)
		}
	}
}

// TestLedgerRewrittenOnce knows of one call only: what its report has beyond the
// conversation is fixed and stays, and less than the estimate is a scale. With a
// small and a large call known, what lies between them lies between their reports.
func TestLedgerRewrittenOnce(t *testing.T) {
	for _, c := range []struct{ reported, want int }{{7000, 2800}, {10000, 4000}, {14000, 8000}, {24000, 18000}} {
		l := NewLedger(Claude5)
		l.Record(Step{Messages: 9, Estimate: 10000, Usage: chat.Usage{Input: c.reported}})
		got, ok := l.Rewritten(Step{Estimate: 4000})
		if !ok || got.Tokens != c.want {
			t.Errorf("%d reported for 10000: 4000 are %d, want %d", c.reported, got.Tokens, c.want)
		}
	}
	l := NewLedger(Claude5)
	l.Record(Step{Messages: 1, Estimate: 16000, Usage: chat.Usage{Input: 17200}})
	l.Record(Step{Messages: 9, Estimate: 18000, Usage: chat.Usage{Input: 18900}})
	for _, c := range []struct{ after, want int }{{17000, 18050}, {18000, 18900}} {
		got, _ := l.Rewritten(Step{Estimate: c.after})
		if got.Tokens < c.want-100 || got.Tokens > c.want+100 || got.Band > 0.03 {
			t.Errorf("%d are %d with a band of %.3f, want %d", c.after, got.Tokens, got.Band, c.want)
		}
	}
}

// TestLedgerKnowsWhatIsFixed: it comes from the first report, shifts with system
// prompt and tools, and neither a picture nor a jump of it teaches a scale.
func TestLedgerKnowsWhatIsFixed(t *testing.T) {
	l := NewLedger(Claude5)
	if got := l.Fixed(700); got != 700 {
		t.Errorf("nothing was reported: %d", got)
	}
	l.Record(Step{Messages: 1, Estimate: 1700, Fixed: 700, Usage: chat.Usage{Input: 31000}})
	if got := l.Fixed(700); got != 30000 {
		t.Errorf("after the first report: %d, want 30000", got)
	}
	l.Record(Step{Messages: 3, Estimate: 4724, Fixed: 700, Media: 1024, Usage: chat.Usage{Input: 33012}}) // a picture of 12 tokens
	if f := l.Factor(); f != 1 {
		t.Errorf("a picture taught a scale of %.2f to text", f)
	}
	l.Record(Step{Messages: 5, Estimate: 10724, Fixed: 4700, Media: 1024, Usage: chat.Usage{Input: 40012}}) // tools: 4,000 by the counter, 5,000 in truth
	if got := l.Fixed(4700); got != 35000 || l.Factor() != 1 {
		t.Errorf("with tools: %d, want 35000; scale %.2f", got, l.Factor())
	}
	got, _ := l.Rewritten(Step{Estimate: 4700, Fixed: 4700})
	if d := got.Tokens - 35000; d < -10 || d > 1000 {
		t.Errorf("without any message: %d, want about 35000", got.Tokens)
	}
}

// TestLedgerRewrittenRises looks at random reports, odd ones too: a larger
// estimate never has a smaller count, nor lower ends of it, save for rounding.
func TestLedgerRewrittenRises(t *testing.T) {
	// The smallest prompt is close to the next one, which is mostly an estimate.
	seeds := []uint64{72000367, 74000251}
	for seed := range uint64(400) {
		seeds = append(seeds, seed+randhist.FirstSeed)
	}
	for _, seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 5))
		l := NewLedger(Claude5)
		messages, estimate := 1, 50+r.IntN(20000)
		for range 1 + r.IntN(5) {
			l.Record(Step{Messages: messages, Estimate: estimate, Usage: chat.Usage{Input: 1 + int(float64(estimate)*4*r.Float64()), Output: r.IntN(900)}, Answer: r.IntN(900)})
			messages += 1 + r.IntN(3)
			estimate += r.IntN(9000)
		}
		was := Count{}
		for after := 0; after < 2*estimate; after += 1 + estimate/500 {
			got, ok := l.Rewritten(Step{Estimate: after})
			if !ok { // the last report is about another prompt
				break
			}
			if got.Tokens < was.Tokens || got.Upper() < was.Upper()-1 || got.Lower() < was.Lower()-1 {
				t.Fatalf("seed %d: %d of %d are %+v, fewer were %+v", seed, after, estimate, got, was)
			}
			was = got
		}
	}
}

// TestLedgerDoubtsPartialOutput covers logs that keep only the first number of
// a streamed answer: the answer's estimate is used instead.
func TestLedgerDoubtsPartialOutput(t *testing.T) {
	l := NewLedger(Claude)
	l.Record(Step{Messages: 1, Estimate: 10000, Usage: chat.Usage{Input: 10000, Output: 1}, Answer: 3000})
	if got, _ := l.Predict(Step{Messages: 3, Estimate: 13200, Plan: ""}); got.Tokens != 13200 {
		t.Errorf("after an answer of about 3,000 tokens reported as 1 the prompt is %d, want 13200", got.Tokens)
	}
	l.Record(Step{Messages: 3, Estimate: 13200, Usage: chat.Usage{Input: 13200, Output: 5}, Answer: 60})
	if f := l.Factor(); f != 1 {
		t.Errorf("the factor is %v, want 1: the estimates were right", f)
	}
}

// The example in front of the ledger has the figures that are written there.
func TestLedgerMethod(t *testing.T) {
	l := NewLedger(Claude5)
	l.Record(Step{Messages: 1, Estimate: 1_000, Answer: 300, Usage: chat.Usage{Input: 13_000, Output: 320}})
	check := func(what string, got Count, ok bool, tokens, upper int) {
		t.Helper()
		if !ok || got.Tokens != tokens || upper != 0 && got.Upper() != upper {
			t.Errorf("%s: %d up to %d, want %d up to %d", what, got.Tokens, got.Upper(), tokens, upper)
		}
	}
	next, ok := l.Predict(Step{Messages: 3, Estimate: 3_300, Plan: ""})
	check("the next prompt", next, ok, 15_320, 0)

	l.Record(Step{Messages: 3, Estimate: 3_300, Answer: 200, Usage: chat.Usage{Input: 15_720, Output: 210}})
	if got := math.Round(100*l.Factor()) / 100; got != 1.07 {
		t.Errorf("the factor is %.2f, want 1.07", got)
	}
	next, ok = l.Predict(Step{Messages: 5, Estimate: 33_500, Plan: ""})
	check("the large prompt", next, ok, 47_930, 51_491)
	l.Record(Step{Messages: 5, Estimate: 33_500, Usage: chat.Usage{Input: 47_930}})
	if _, ok := l.Predict(Step{Messages: 5, Estimate: 11_000, Plan: "a plan"}); ok {
		t.Error("there is a report under a plan that was never used")
	}
	rewritten, ok := l.Rewritten(Step{Estimate: 11_000})
	check("the rewrite", rewritten, ok, 23_753, 24_832)
	if got := l.Fixed(0); got != 11_933 {
		t.Errorf("%d are fixed, want 11,933", got)
	}
}
