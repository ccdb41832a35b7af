package replay

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// Options say what to measure. The zero value is the whole table.
type Options struct {
	// Policies that are replayed; nil is our presets and none.
	Policies []Policy

	// Windows are the models' windows that sessions are replayed in, in tokens
	// (default 64,000). An empty slice that is not nil leaves that part out.
	Windows []int

	// Fixed is what system prompt and tools have in every request, in tokens: what
	// a session has of its own is filled up with neutral text. With it our policies
	// compact when their settings say so, as they do in the field.
	Fixed int

	// Model is the one whose prices and cache lifetime are charged; the default is
	// claude-opus-5-5.
	Model model.Model

	// Edits adds the board of next edits at single cuts.
	Edits bool

	Crew
}

func (o *Options) orDefault() Options {
	r := *o
	if r.Policies == nil {
		r.Policies = append(Presets(), None())
	}
	if r.Windows == nil {
		r.Windows = []int{64000}
	}
	if r.Model.Name == "" {
		r.Model = model.Default().Lookup(shippedModel)
	}
	return r
}

// Board is the result of a replay.
type Board struct {
	Fingerprint string  `json:"fingerprint"`
	Sessions    int     `json:"sessions"`
	Replayed    int     `json:"replayed"` // sessions long enough for the smallest window
	Model       string  `json:"model"`    // whose prices were charged
	Trigger     float64 `json:"trigger"`
	Fixed       int     `json:"fixed,omitempty"`
	Windows     []int   `json:"windows"`
	Rows        []Row   `json:"rows"`

	// Next is the board of next edits, where it was asked for.
	Next *NextBoard `json:"next,omitempty"`

	Skipped []string `json:"skipped,omitempty"`
}

// trigger is the share of the window from which on everybody compacts.
const trigger = 0.8

// counting is the vocabulary that everything is counted in: the windows and the
// prices.
const counting = token.O200K

// Run measures. The error is ctx's, or that of a policy that failed.
func Run(ctx context.Context, d *Data, opts *Options) (*Board, error) {
	o := opts.orDefault()
	b := &Board{
		Fingerprint: d.Fingerprint, Sessions: len(d.Sessions), Trigger: trigger, Fixed: o.Fixed,
		Windows: o.Windows, Model: o.Model.Name, Skipped: d.Skipped,
	}
	var err error
	if o.Edits {
		if b.Next, err = RunNext(ctx, d, 0, &o.Crew); err != nil {
			return nil, err
		}
	}
	if len(o.Windows) > 0 && len(o.Policies) > 0 {
		err = o.fillSessions(ctx, d, b)
	}
	return b, err
}

// Crew is who measures. The zero value works.
type Crew struct {
	// Workers is how many sessions are looked at at once; the default is the
	// number of cores.
	Workers int

	// Progress is told how much is done. It is called by one goroutine at a time.
	Progress func(done, total int, what string)
}

// Each does n pieces of work and stops at the first error, which it returns, or when
// ctx ends.
func (c *Crew) Each(ctx context.Context, n int, what string, f func(i int) error) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(c.Workers, runtime.GOMAXPROCS(0)))
	var mu sync.Mutex
	done := 0
	for i := 0; i < n && inner.Err() == nil; i++ {
		g.Go(func() error {
			if err := f(i); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; c.Progress != nil {
				c.Progress(done, n, what)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// playAll runs policies on sessions. It returns for each session the outcome of each policy.
func (c *Crew) playAll(ctx context.Context, what string, sessions []driver, policies []Policy) ([][]Outcome, error) {
	outs := make([][]Outcome, len(sessions))
	for i := range outs {
		outs[i] = make([]Outcome, len(policies))
	}
	n := len(policies)
	return outs, c.Each(ctx, len(sessions)*n, what, func(i int) (err error) {
		d := sessions[i/n]
		outs[i/n][i%n], err = d.run(ctx, policies[i%n])
		return err
	})
}

// fillSessions fills the rows of whole sessions.
func (o *Options) fillSessions(ctx context.Context, d *Data, b *Board) error {
	sessions := slices.Clone(d.Sessions)
	counter := token.New(counting, nil)
	fills := func(d driver, window int) bool { return d.wholePrompt() > int(trigger*float64(window)) }
	all := make([]driver, len(sessions))
	err := o.Each(ctx, len(sessions), "reading sessions", func(i int) error {
		s := &sessions[i]
		if o.Fixed > 0 {
			s.System = padSystem(s, o.Fixed, counter)
		}
		all[i] = driver{price: o.Model, own: o.Fixed > 0, index: newIndex(s, counter)}
		if fills(all[i], slices.Min(o.Windows)) {
			all[i].next, all[i].step = newNextIndex(s), medianStep(s.History)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var known []time.Duration
	for _, d := range all {
		if d.step > 0 {
			known = append(known, d.step)
		}
	}
	usual := medianOf(known) // for sessions that have no times
	for _, w := range o.Windows {
		var long []driver
		for _, d := range all {
			if fills(d, w) {
				d.window, d.step = w, cmp.Or(d.step, usual)
				long = append(long, d)
			}
		}
		b.Replayed = max(b.Replayed, len(long))
		outs, err := o.playAll(ctx, fmt.Sprintf("replaying in %d", w), long, o.Policies)
		if err != nil {
			return err
		}
		for k, p := range o.Policies {
			var list []*Outcome
			for i := range outs {
				list = append(list, &outs[i][k])
			}
			row := sumOutcomes(p, w, list)
			row.File = All
			b.Rows = append(b.Rows, row)
			for _, out := range list {
				row := sumOutcomes(p, w, []*Outcome{out})
				row.File = out.Session.File
				b.Rows = append(b.Rows, row)
			}
		}
	}
	return nil
}
