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

	// Trigger is the share of the window from which on everybody compacts; the
	// default is 0.8.
	Trigger float64

	// Fixed is what system prompt and tools have in every request, in tokens: what
	// a session has of its own is filled up with neutral text. With it our policies
	// compact when their settings say so, as they do in the field.
	Fixed int

	// Heard counts the prompts of each session as its provider did, system prompt and
	// tools included ([PromptOf]): for windows that sessions really had. Our policies
	// compact when their settings say so then, too.
	Heard bool

	// Models are those whose prices and cache lifetimes are charged; the column
	// dollars shows the first. The default is claude-opus-5-5 and gpt-6-sol.
	Models []model.Model

	// Edits adds the board of next edits at single cuts.
	Edits bool

	Crew
}

func (o *Options) orDefault() Options {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Policies == nil {
		r.Policies = append(Presets(), None())
	}
	if r.Windows == nil {
		r.Windows = []int{64000}
	}
	if r.Trigger <= 0 {
		r.Trigger = 0.8
	}
	if r.Models == nil {
		r.Models = []model.Model{model.Default().Lookup("claude-opus-5-5"), model.Default().Lookup("gpt-6-sol")}
	}
	return r
}

// Board is the result of a replay.
type Board struct {
	Fingerprint string   `json:"fingerprint"`
	Sessions    int      `json:"sessions"`
	Replayed    int      `json:"replayed"` // sessions long enough for the smallest window
	Models      []string `json:"models"`   // whose prices were charged
	Trigger     float64  `json:"trigger"`
	Fixed       int      `json:"fixed,omitempty"`
	Windows     []int    `json:"windows"`
	Rows        []Row    `json:"rows"`

	// Next is the board of next edits, where it was asked for.
	Next *NextBoard `json:"next,omitempty"`

	Skipped []string `json:"skipped,omitempty"`
}

// counting is the vocabulary that everything is counted in: the windows and the
// prices.
const counting = token.O200K

// Run measures. The error is ctx's, or that of a policy that failed.
func Run(ctx context.Context, d *Data, opts *Options) (*Board, error) {
	o := opts.orDefault()
	b := &Board{
		Fingerprint: d.Fingerprint, Sessions: len(d.Sessions), Trigger: o.Trigger, Fixed: o.Fixed,
		Windows: o.Windows, Skipped: d.Skipped,
	}
	for i := range o.Models {
		b.Models = append(b.Models, o.Models[i].Name)
	}
	r := &runner{Options: o, board: b, data: d, counter: token.New(counting, nil)}
	for _, part := range []func(context.Context) error{r.fillNextEdits, r.fillSessions} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// fillNextEdits fills the board of next edits.
func (r *runner) fillNextEdits(ctx context.Context) (err error) {
	if r.Edits {
		r.board.Next, err = RunNext(ctx, r.data, &NextOptions{Crew: r.Crew})
	}
	return err
}

// runner fills a board.
type runner struct {
	Options
	board   *Board
	data    *Data
	counter *token.Counter
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

// played is a session that is replayed: its edits are known where it fills a window.
type played struct {
	*index
	next *nextIndex
	step time.Duration
}

// fillSessions fills the rows of whole sessions.
func (r *runner) fillSessions(ctx context.Context) error {
	if len(r.Windows) == 0 || len(r.Policies) == 0 {
		return nil
	}
	sessions := slices.Clone(r.data.Sessions)
	for i := range sessions {
		if r.Fixed > 0 {
			sessions[i].System = padSystem(&sessions[i], r.Fixed, r.counter)
		}
	}
	all := make([]played, len(sessions))
	err := r.Each(ctx, len(sessions), "reading sessions", func(i int) error {
		if !r.Heard {
			all[i].index = newIndex(&sessions[i], r.counter)
			return nil
		}
		p, err := PromptOf(&sessions[i].Session, sessions[i].Model)
		all[i].index = newHeardIndex(&sessions[i], p)
		return err
	})
	if err != nil {
		return err
	}
	fills := func(p played, window int) bool { return p.wholePrompt() > int(r.Trigger*float64(window)) }
	err = r.Each(ctx, len(sessions), "reading edits", func(i int) error {
		if fills(all[i], slices.Min(r.Windows)) {
			all[i].next = newNextIndex(&sessions[i])
			all[i].step = medianStep(sessions[i].History)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var known []time.Duration
	for _, p := range all {
		if p.step > 0 {
			known = append(known, p.step)
		}
	}
	usual := medianOf(known) // for sessions that have no times
	for n, w := range r.Windows {
		long := slices.DeleteFunc(slices.Clone(all), func(p played) bool { return !fills(p, w) })
		if n == 0 || len(long) > r.board.Replayed {
			r.board.Replayed = len(long)
		}
		outs := make([][]Outcome, len(r.Policies))
		for k := range outs {
			outs[k] = make([]Outcome, len(long))
		}
		err := r.Each(ctx, len(long)*len(r.Policies), fmt.Sprintf("replaying in %d", w), func(i int) error {
			s, p := long[i/len(r.Policies)], i%len(r.Policies)
			d := driver{
				index: s.index, window: w, trigger: r.Trigger, prices: r.Models, own: r.Fixed > 0 || r.Heard,
				next: s.next, step: cmp.Or(s.step, usual),
			}
			var err error
			outs[p][i/len(r.Policies)], err = d.runAndTime(ctx, r.Policies[p])
			return err
		})
		if err != nil {
			return err
		}
		for k, p := range r.Policies {
			r.board.Rows = append(r.board.Rows, replayRows(p, w, outs[k], r.Models)...)
		}
	}
	return nil
}
