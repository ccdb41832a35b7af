package budget_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/budget"
)

// S2.4: three numbers for a model; available = min(input, context - reserve).
func TestNewLimits(t *testing.T) {
	for _, c := range []struct {
		name                    string
		context, input, reserve int
		available, kept         int
	}{
		{"the window less the reserve", 200_000, 0, 64_000, 136_000, 64_000},
		{"an input limit below that", 400_000, 272_000, 64_000, 272_000, 64_000},
		{"an input limit above that", 400_000, 300_000, 128_000, 272_000, 128_000},
		{"an input limit above the window", 8_000, 20_000, 1_000, 7_000, 1_000},
		{"no reserve", 8_000, 0, 0, 8_000, 0},
		{"a negative reserve", 8_000, 0, -5, 8_000, 0},
		{"a large reserve is honoured", 2_000, 0, 1_800, 200, 1_800},
		{"a reserve that leaves no room", 500, 0, 32_768, 250, 250},
		{"a reserve of the whole window", 1_000, 0, 1_000, 500, 500},
	} {
		l := budget.NewLimits(c.context, c.input, c.reserve)
		if l.Available != c.available || l.Reserve != c.kept || l.Context != c.context {
			t.Errorf("%s: %v, want %d available and a reserve of %d", c.name, l, c.available, c.kept)
		}
	}
}

func carrying(window, reserve, fixed int) budget.Limits {
	l := budget.NewLimits(window, 0, reserve)
	l.Carry(fixed)
	return l
}

func TestTriggerAt(t *testing.T) {
	for _, c := range []struct {
		name    string
		limits  budget.Limits
		trigger budget.Trigger
		want    int
	}{
		{"A1.6: window less reserve", budget.NewLimits(100_000, 0, 0), budget.Trigger{Reserve: 10_000}, 90_000},
		{"S1.1: the default reserve", budget.NewLimits(200_000, 0, 0), budget.Trigger{Reserve: 16_384}, 183_616},
		{"S4.1: a share of what is available", carrying(200_000, 64_000, 42_000), budget.Trigger{Threshold: 0.8, Whole: true}, 108_800},
		{"a share of the room", carrying(200_000, 16_000, 42_000), budget.Trigger{Threshold: budget.DefaultThreshold}, 169_800},
		{"no room at all", carrying(200_000, 16_000, 190_000), budget.Trigger{Threshold: budget.DefaultThreshold}, 184_000},
		{"the agent's own point, sooner", carrying(200_000, 16_000, 42_000), budget.Trigger{Threshold: 0.9, Own: 167_000}, 158_650},
		{"the agent's own point, later", carrying(200_000, 4000, 0), budget.Trigger{Threshold: 0.9, Own: 190_000}, 180_500},
		{"the agent's own point, above what is available", carrying(200_000, 64_000, 0), budget.Trigger{Threshold: 0.9, Own: 190_000}, 136_000},
		{"a cold cache", carrying(200_000, 16_000, 42_000), budget.Trigger{Threshold: 0.9, Cold: true}, 141_400},
		{"a cold cache, before the agent's own point", carrying(200_000, 16_000, 42_000), budget.Trigger{Threshold: 0.9, Own: 167_000, Cold: true}, 158_650},
		{"whichever comes first: threshold", budget.NewLimits(200_000, 0, 0), budget.Trigger{Threshold: 0.5, Reserve: 16_384}, 100_000},
		{"whichever comes first: reserve", budget.NewLimits(200_000, 0, 0), budget.Trigger{Threshold: 0.99, Reserve: 20_000}, 180_000},
		{"a window smaller than the reserve", budget.NewLimits(8_000, 0, 0), budget.Trigger{Reserve: 16_384}, 2_000},
		{"never more than fits", budget.NewLimits(100_000, 50_000, 0), budget.Trigger{Reserve: 10_000}, 50_000},
		{"both off: what fits", budget.NewLimits(100_000, 0, 20_000), budget.Trigger{}, 80_000},
		{"what the last rewrite left, and room", budget.NewLimits(100_000, 0, 0), budget.Trigger{Threshold: 0.8, Least: 90_000}, 90_000},
		{"a rewrite that left little", budget.NewLimits(100_000, 0, 0), budget.Trigger{Threshold: 0.8, Least: 60_000}, 80_000},
		{"a rewrite that left too much to grow", budget.NewLimits(100_000, 0, 20_000), budget.Trigger{Threshold: 0.8, Commit: 40_000, Least: 90_000}, 80_000},
		{"no window at all", budget.NewLimits(0, 0, 0), budget.Trigger{Threshold: 0.8, Reserve: 16_384}, 0},
	} {
		if got := c.trigger.At(c.limits); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestLimitsString(t *testing.T) {
	if got, want := budget.NewLimits(200_000, 0, 64_000).String(), "136000 tokens available (window 200000, input limit 200000, output reserve 64000)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
