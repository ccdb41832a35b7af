package budget_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/winnow-llm/winnow/internal/budget"
)

// opus has the prices of a model whose cache reads cost a twentieth of input.
func opus() budget.Economy {
	return budget.Economy{Read: 0.2, Write: 5, Output: 20, Growth: 2500, Base: 25000, Tail: 20000, Summary: 3000, Called: true, Most: 800000}
}

// perRequest returns the dollars that a request costs on average when the
// conversation is rewritten at a prompt of at tokens: CommitPoint makes that small.
// The answers themselves are left out.
func perRequest(e budget.Economy, at int) float64 {
	after := float64(e.Base + e.Summary + e.Tail)
	grown := float64(at) - after
	if grown <= 0 || e.Growth <= 0 {
		return math.Inf(1)
	}
	cold := math.Min(math.Max(e.Cold, 0), 1)
	again := (1-cold)*e.Read + cold*e.Write
	once := math.Max(e.Write-e.Read, 0) * float64(e.Summary+e.Tail)
	if e.Called {
		once += e.Output*float64(e.Summary) + e.Read*float64(at)
	}
	return (again*(after+grown/2) + e.Write*e.Growth + e.Growth*once/grown) / 1e6
}

func TestCommitPointIsTheMinimum(t *testing.T) {
	for _, cold := range []float64{0, 0.05, 0.3} {
		for _, called := range []bool{false, true} {
			e := opus()
			e.Cold, e.Called = cold, called
			c := budget.CommitPoint(e)
			best, at := math.Inf(1), 0
			for x := c.After + 1000; x < 800000; x += 500 {
				if cost := perRequest(e, x); cost < best {
					best, at = cost, x
				}
			}
			if math.Abs(float64(c.At-at)) > 1000 {
				t.Errorf("cold %v, called %v: commit at %d, a search finds %d", cold, called, c.At, at)
			}
		}
	}
}

func TestCommitPointLimits(t *testing.T) {
	e := opus()
	free := budget.CommitPoint(e).At
	for _, c := range []struct {
		name  string
		set   func(*budget.Economy)
		at    int
		limit string
	}{
		{"costs decide", func(*budget.Economy) {}, free, ""},
		{"window", func(e *budget.Economy) { e.Most = 60000 }, 60000, "window"},
		{"tier", func(e *budget.Economy) { e.Tiers = []int{100000, 272000} }, 100000, "price tier"},
		{"tier above", func(e *budget.Economy) { e.Tiers = []int{272000} }, free, ""},
		{"tier below what a rewrite leaves", func(e *budget.Economy) { e.Tiers = []int{40000} }, 48000 + 10001, ""},
		{"floor", func(e *budget.Economy) { e.Floor = 150000 }, 150000, "floor"},
		{"floor below", func(e *budget.Economy) { e.Floor = 64000 }, free, ""},
		{"floor above a tier", func(e *budget.Economy) { e.Floor, e.Tiers = 150000, []int{120000} }, 120000, "price tier"},
		{"floor above the window", func(e *budget.Economy) { e.Floor, e.Most = 150000, 90000 }, 90000, "window"},
		{"floor without prices", func(e *budget.Economy) { e.Floor = 64000; e.Read, e.Write, e.Output = 0, 0, 0 }, 800000, "window"},
		{"no prices", func(e *budget.Economy) { e.Read, e.Write, e.Output = 0, 0, 0 }, 800000, "window"},
		{"nothing known", func(e *budget.Economy) { *e = budget.Economy{} }, 0, ""},
	} {
		e := opus()
		c.set(&e)
		if got := budget.CommitPoint(e); got.At != c.at || got.Limit != c.limit {
			t.Errorf("%s: %d %q, want %d %q", c.name, got.At, got.Limit, c.at, c.limit)
		}
	}
}

func TestColdCacheCommitsEarlier(t *testing.T) {
	e := opus()
	warm := budget.CommitPoint(e).At
	e.Cold = 0.05
	if cold := budget.CommitPoint(e).At; cold >= warm {
		t.Errorf("with a cache that is cold now and then: %d, always warm: %d", cold, warm)
	}
}

// Limits move the point and not the growth between two rewrites, which says
// whether the last one has paid.
func TestCommitPointGrowth(t *testing.T) {
	e := opus()
	free := budget.CommitPoint(e)
	if free.Growth != free.At-free.After {
		t.Errorf("growth %d, from %d to %d", free.Growth, free.After, free.At)
	}
	e.Floor = 300000
	if c := budget.CommitPoint(e); c.Growth != free.Growth {
		t.Errorf("with a floor: growth %d, without %d", c.Growth, free.Growth)
	}
	e.Read = 0
	e.Write = 0
	if c := budget.CommitPoint(e); c.Growth != 0 {
		t.Errorf("without prices: growth %d", c.Growth)
	}
}

func ExampleCommitPoint() {
	c := budget.CommitPoint(budget.Economy{
		Read: 0.20, Write: 5, Output: 20, // dollars for a million tokens
		Growth: 2500, Base: 25000, Tail: 20000, Summary: 3000,
		Most: 800000,
	})
	fmt.Printf("rewrite from %d tokens on, down to %d\n", c.At, c.After)
	// Output: rewrite from 100535 tokens on, down to 48000
}
