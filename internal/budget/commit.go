package budget

import "math"

// Economy is what the cost of a long conversation depends on. Prices are
// dollars for a million tokens, at the size at which the conversation is meant
// to stay; sizes are tokens.
type Economy struct {
	// Read, Write and Output are the prices of a token that the provider's
	// cache has, of one that it takes in, and of one that the model writes.
	Read, Write, Output float64

	// Growth is how much the prompt grows from one request to the next.
	Growth float64

	// Base is what every request carries: system prompt and tools. Summary and
	// Tail are what a rewrite leaves of the history.
	Base, Summary, Tail int

	// Called says that the summary is written by the same model at the end of
	// the conversation, so that a rewrite pays for reading all of it and for
	// writing the summary. A summary that code writes costs nothing.
	Called bool

	// Cold is the share of requests that find the cache cold, between 0 and 1.
	Cold float64

	// Most is what fits: the window without the output reserve. Tiers
	// are the prompts above which prices rise. Zero means no such limit.
	Most  int
	Tiers []int

	// Floor is the prompt below which a rewrite is not worth what it loses: the
	// sum is flat around its minimum, while everything that a rewrite does not
	// carry over is gone from the model's sight. Zero is none.
	Floor int
}

// Commit is where a conversation should be rewritten.
type Commit struct {
	// At is the prompt's size from which on a rewrite pays, After its size
	// right after one.
	At, After int

	// Growth is how much the prompt should grow between two rewrites, by costs
	// alone: limits do not change it. Zero where prices or growth are unknown.
	Growth int

	// Limit names what At was raised to ("floor") or lowered to ("window" or
	// "price tier"); "" when costs alone decide.
	Limit string
}

// CommitPoint returns where rewriting costs least in the long run.
//
// Between two rewrites the prompt grows by D from After. A request then reads
// on average After + D/2 tokens; a rewrite pays once for what it changes. The
// sum for each request is smallest at
//
//	D = sqrt(2 · growth · K / read)
//
// where K is the price of one rewrite and read the price of a token that is
// sent again, which is nearer to the price of writing the more often the cache
// is cold. The point is raised to the floor, then lowered to what fits and to the
// last price tier below it. It is never so low that a rewrite would follow the one
// before at once.
//
// An example: reading costs $0.5 and writing $6.25 for a million tokens, the prompt
// grows by 2,000 for each request, and a rewrite leaves 5,000 of summary and 15,000 of
// tail beside a base of 20,000. A rewrite writes those 20,000 instead of reading them:
//
//	K = (6.25-0.5) · 20,000 = 115,000 (millionths of a dollar)
//	D = sqrt(2 · 2,000 · 115,000 / 0.5) = 30,331
//	At = 40,000 + 30,331 = 70,331, after some fifteen requests
//
// Unknown prices or no growth leave the decision to the limits: At is then the
// smallest of them, 0 when there is none.
func CommitPoint(e Economy) Commit {
	c := Commit{After: e.Base + e.Summary + e.Tail}
	cold := math.Min(math.Max(e.Cold, 0), 1)
	again := (1-cold)*e.Read + cold*e.Write
	if again > 0 && e.Growth > 0 {
		// What a rewrite changes is written instead of read: summary and tail.
		once := math.Max(e.Write-e.Read, 0) * float64(e.Summary+e.Tail)
		if e.Called {
			once += e.Output*float64(e.Summary) + e.Read*float64(c.After)
		}
		c.Growth = int(math.Sqrt(2 * e.Growth * once / again))
		c.At = c.After + c.Growth
		if c.At < e.Floor {
			c.At, c.Limit = e.Floor, "floor"
		}
	}
	lower := func(to int, why string) {
		if to > 0 && (c.At == 0 || c.At > to) {
			c.At, c.Limit = to, why
		}
	}
	for _, t := range e.Tiers {
		lower(t, "price tier")
	}
	// A rewrite must last for a few requests, or it costs more than it saves;
	// the window alone is above that.
	if least := c.After + int(4*e.Growth) + 1; c.At > 0 && c.At < least {
		c.At, c.Limit = least, ""
	}
	lower(e.Most, "window")
	return c
}
