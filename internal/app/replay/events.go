package replay

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/summary"
)

// Event is a compaction that the original client made, with its summary and
// ours of the same size side by side.
//
// As at a cut, the newest 8,000 tokens count as a tail that stays, and the
// summaries are asked for what stands before it. Most of these clients kept no
// such tail; Bare is the comparison without one. Either way the client has an
// advantage: what the agent did afterwards was shaped by the client's summary,
// since it could only go on with what that summary held.
//
// A name counts that lost what made it one on the way into a summary. Exact and
// BareExact are the same comparisons with names matched as they stood.
type Event struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // of the file; 0 where it has none
	At      int    `json:"at"`   // message
	Format  string `json:"format"`
	Trigger string `json:"trigger,omitempty"`
	Region  int    `json:"region_tokens"` // tokens of the messages before it
	Size    int    `json:"summary_tokens"`

	Match `json:"-"`

	// Bare is the same with no tail: everything before the compaction is asked for.
	Bare, Exact, BareExact Match `json:"-"`

	// Shares of what is demanded; null where nothing is.
	ClientE *float64 `json:"client_e"`
	ClientP *float64 `json:"client_p"`
	ClientW *float64 `json:"client_w"`
	ClientC *float64 `json:"client_c"`
	OurE    *float64 `json:"our_e"`
	OurP    *float64 `json:"our_p"`
	OurW    *float64 `json:"our_w"`
	OurC    *float64 `json:"our_c"`
}

// Match is the recall of the client's summary beside that of ours.
type Match struct{ Client, Ours Recall }

// Better says how our text compares with the client's on entities and pairs:
// 1 when it is as good on both and better on one, 0 when equal on both, -1 else.
func (m *Match) Better() int {
	de, dp := m.Ours.E.Hit-m.Client.E.Hit, m.Ours.P.Hit-m.Client.P.Hit
	switch {
	case de < 0 || dp < 0:
		return -1
	case de > 0 || dp > 0:
		return 1
	}
	return 0
}

// Asked reports whether the future asks for any entity at all.
func (m *Match) Asked() bool { return m.Client.E.Of > 0 }

// Full reports whether the client's summary has all that is asked for: nothing
// is better.
func (m *Match) Full() bool {
	return m.Client.E.Hit == m.Client.E.Of && m.Client.P.Hit == m.Client.P.Of
}

// matches counts how events went.
type matches struct{ asked, won, equal, full int }

func (c *matches) add(m *Match) {
	if !m.Asked() {
		return
	}
	c.asked++
	if m.Full() {
		c.full++
	}
	switch m.Better() {
	case 1:
		c.won++
	case 0:
		c.equal++
	}
}

// met reports whether nine of ten were won.
func (c *matches) met() bool { return c.won*10 >= c.asked*9 }

func (c *matches) String() string {
	return fmt.Sprintf("%d of %d (equal: %d; nothing to win: %d)", c.won, c.asked, c.equal, c.full)
}

// comparison sums up the recorded events.
type comparison struct {
	kept, bare, exact, bareExact matches
	Match
}

func (b *Board) compared() comparison {
	var c comparison
	for i := range b.Events {
		e := &b.Events[i]
		c.Client, c.Ours = c.Client.Plus(e.Client), c.Ours.Plus(e.Ours)
		c.kept.add(&e.Match)
		c.bare.add(&e.Bare)
		c.exact.add(&e.Exact)
		c.bareExact.add(&e.BareExact)
	}
	return c
}

// events compares summaries at recorded compactions.
func (r *runner) events(ctx context.Context) error {
	if len(r.Sizes) == 0 || len(r.Summarisers) == 0 {
		return nil
	}
	type job struct {
		s    *Session
		c    int
		stop int
	}
	var jobs []job
	for i := range r.data.Sessions {
		s := &r.data.Sessions[i]
		for c := range s.Compactions {
			at := s.Compactions[c].At
			if s.Compactions[c].Summary == "" || at < 2 || at >= s.History.Len() {
				continue
			}
			end := s.History.Len()
			if c+1 < len(s.Compactions) {
				end = s.Compactions[c+1].At
			}
			steps, stop := 0, at
			for ; stop < end && steps < futureLong; stop++ {
				if s.History.At(stop).Role == chat.Assistant {
					steps++
				}
			}
			if steps > 0 {
				jobs = append(jobs, job{s, c, stop})
			}
		}
	}
	events := make([]Event, len(jobs))
	err := r.each(ctx, len(jobs), "recorded compactions", func(i int) error {
		j := jobs[i]
		c := &j.s.Compactions[j.c]
		e := Event{
			File: j.s.File, Line: c.Line, At: c.At, Format: string(j.s.Format), Trigger: c.Trigger,
			Size: r.counter.Text(c.Summary),
		}
		for m := range c.At {
			e.Region += r.counter.At(j.s.History, m)
		}
		compare := func(to int) (loose, exact Match, err error) {
			out, err := summary.Builtin().Summarize(ctx, summary.Input{
				History: j.s.History.Head(c.At), From: 0, To: to, Turn: -1, Max: e.Size, Counter: r.counter,
			})
			if err != nil {
				return loose, exact, fmt.Errorf("replay: %s at message %d: %w", e.File, c.At, err)
			}
			d := demand(j.s.History, 0, to, c.At, j.stop, r.common)
			for _, side := range []struct {
				text         string
				loose, exact *Recall
			}{{c.Summary, &loose.Client, &exact.Client}, {out.Text, &loose.Ours, &exact.Ours}} {
				*side.loose, _ = d.Score(side.text)
				*side.exact, _ = d.score(side.text, true)
			}
			return loose, exact, nil
		}
		var err error
		if e.Bare, e.BareExact, err = compare(c.At); err != nil {
			return err
		}
		e.Match, e.Exact = e.Bare, e.BareExact
		if to := tailFrom(j.s.History.Head(c.At), 0, r.counter); to > 0 {
			if e.Match, e.Exact, err = compare(to); err != nil {
				return err
			}
		}
		e.ClientE, e.ClientP, e.ClientW, e.ClientC = share(e.Client.E), share(e.Client.P), share(e.Client.W), share(e.Client.C)
		e.OurE, e.OurP, e.OurW, e.OurC = share(e.Ours.E), share(e.Ours.P), share(e.Ours.W), share(e.Ours.C)
		events[i] = e
		return nil
	})
	r.board.Events = events
	return err
}
