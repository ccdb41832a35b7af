package replay

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// Moments at which a rewrite might do less harm than at the trigger: after a pause in
// which the provider's cache was lost, and at the end of a task.

// MomentBoard is what such moments are worth.
type MomentBoard struct {
	Fingerprint string     `json:"fingerprint"`
	Model       string     `json:"model"`
	Pauses      []Pauses   `json:"pauses"`
	Ends        []TaskEnds `json:"task_ends"`
}

// Pauses is what rewriting at a late request saves, beside rewriting at the trigger
// only.
type Pauses struct {
	Place
	Sessions int `json:"sessions"` // that reach the cold threshold
	Requests int `json:"requests"`
	Late     int `json:"late"` // requests that found the cache lost

	// Rewrites, dollars with re-reads, and re-reads: at the trigger only, and with
	// rewrites at late requests, of which there are Cold.
	Waits        int     `json:"rewrites"`
	Rewrites     int     `json:"rewrites_late_too"`
	Cold         int     `json:"cold"`
	TriggerOnly  float64 `json:"dollars"`
	LateToo      float64 `json:"dollars_late_too"`
	TriggerReads int     `json:"rereads"`
	LateReads    int     `json:"rereads_late_too"`
}

// TaskEnds is what waiting for the end of a task gains.
type TaskEnds struct {
	Place
	Sessions int `json:"sessions"` // that reach 95 % of the room
	Closed   int `json:"closed"`   // with a closing message between 80 and 95 %
	Commits  int `json:"commits"`  // or a commit there, and no closing message before it

	// The next edits that are ready: in sessions that have such a moment, at 90 % and
	// at the moment; in all of them, at 90 % and at the moment or else at 95 %.
	At90   Tally `json:"at_90"`
	AtEnd  Tally `json:"at_end"`
	All90  Tally `json:"all_at_90"`
	AllEnd Tally `json:"all_waiting"`

	Took []time.Duration `json:"-"` // by rewrites, without a model
}

// The shares of the room between which a task's end is waited for, and at which a
// rewrite is made with nothing set.
const (
	endFrom, endTo = 0.80, 0.95
	endUsual       = 0.90
)

// Moments measures both.
func Moments(ctx context.Context, d *Data, opts *PlaceOptions) (*MomentBoard, error) {
	o := *opts
	if o.Places == nil {
		o.Places = []Place{{Window: 200_000, Fixed: 42_000}, {Window: 64_000}}
	}
	prices := model.Default().Lookup(shippedModel)
	b := &MomentBoard{Fingerprint: d.Fingerprint, Model: prices.Name}
	counter := token.New(counting, nil)
	places, err := openPlaces(o.Places)
	if err != nil {
		return nil, err
	}
	for i := range places {
		place := &places[i]
		pauses, ends := make([]Pauses, len(d.Sessions)), make([]TaskEnds, len(d.Sessions))
		err = o.Each(ctx, len(d.Sessions), "moments", func(i int) error {
			var err error
			s := &d.Sessions[i]
			if pauses[i], err = place.replayPauses(ctx, s, counter, prices); err != nil {
				return err
			}
			ends[i], err = place.taskEnds(ctx, s)
			return err
		})
		if err != nil {
			return nil, err
		}
		pause, end := Pauses{Place: place.Place}, TaskEnds{Place: place.Place}
		for i := range d.Sessions {
			pause, end = pause.plus(pauses[i]), end.plus(ends[i])
		}
		b.Pauses, b.Ends = append(b.Pauses, pause), append(b.Ends, end)
	}
	return b, nil
}

func (a Pauses) plus(b Pauses) Pauses {
	return Pauses{
		a.Place, a.Sessions + b.Sessions, a.Requests + b.Requests, a.Late + b.Late, a.Waits + b.Waits, a.Rewrites + b.Rewrites,
		a.Cold + b.Cold, a.TriggerOnly + b.TriggerOnly, a.LateToo + b.LateToo, a.TriggerReads + b.TriggerReads, a.LateReads + b.LateReads,
	}
}

func (a TaskEnds) plus(b TaskEnds) TaskEnds {
	return TaskEnds{
		a.Place, a.Sessions + b.Sessions, a.Closed + b.Closed, a.Commits + b.Commits,
		a.At90.plus(b.At90), a.AtEnd.plus(b.AtEnd), a.All90.plus(b.All90), a.AllEnd.plus(b.AllEnd), append(a.Took, b.Took...),
	}
}

// replayPauses replays a session twice with its recorded pauses: rewritten at the trigger
// only, and at late requests too. No agent's own point is in the way.
func (p *fieldPlace) replayPauses(ctx context.Context, s *Session, counter *token.Counter, prices model.Model) (Pauses, error) {
	padding := *s
	padding.System = padSystem(s, p.Fixed, counter)
	x := newIndex(&padding, counter)
	if x.cum[len(x.cum)-1] < p.Room()*7/10 {
		return Pauses{}, nil
	}
	out := Pauses{Sessions: 1}
	last := int64(0)
	base := driver{index: x, window: p.Window, trigger: 0.8, prices: []model.Model{prices}, own: true, clock: true, next: newNextIndex(&padding), step: medianStep(s.History)}
	for i, m := range s.History.All() {
		if m.Role != chat.Assistant || i == 0 {
			continue
		}
		out.Requests++
		if last > 0 && m.Time > 0 && base.lostCache(m.Time-last) {
			out.Late++
		}
		last = m.Time
	}
	for _, ignore := range []bool{true, false} {
		run := base
		r, err := run.run(ctx, Ours{Label: "winnow", IgnoreCold: ignore})
		if err != nil {
			return out, err
		}
		if ignore {
			out.Waits, out.TriggerOnly, out.TriggerReads = r.Rewrites, r.Timed[0]+r.Again[0], r.Rereads
		} else {
			out.Rewrites, out.Cold, out.LateToo, out.LateReads = r.Rewrites, r.Cold, r.Timed[0]+r.Again[0], r.Rereads
		}
	}
	return out, nil
}

// taskEnds measures the next edits at the first end of a task between the two shares,
// and at the usual share.
func (p *fieldPlace) taskEnds(ctx context.Context, s *Session) (out TaskEnds, err error) {
	x, bare := newBareIndex(s)
	req := p.newRequest(s, bare)
	usual, end, latest, size := 0, 0, 0, 0
	closed := false
	for at := 0; at < s.History.Len() && latest == 0; at++ {
		share := float64(size) / float64(p.Room())
		if at > 0 && s.History.At(at).Role == chat.Assistant {
			if share >= endUsual && usual == 0 {
				usual = at
			}
			if is, message := x.endsTask(at); share >= endFrom && is && end == 0 && share < endTo {
				end, closed = at, message
			}
			if share >= endTo {
				latest = at
			}
		}
		size += p.counter.At(s.History, at)
	}
	if latest == 0 || x.compactedBetween(0, latest) {
		return out, nil
	}
	out.Sessions = 1
	ready := func(at int) (Tally, error) {
		c := NextCut{At: at}
		x.findDemand(&c)
		now := req
		now.History = bare.Head(at)
		start := time.Now()
		r, err := p.engine.Fit(ctx, now, winnow.State{Ask: winnow.Ask{Force: true}})
		if err != nil {
			return Tally{}, fmt.Errorf("replay: %s at message %d: %w", s.File, at, err)
		}
		out.Took = append(out.Took, time.Since(start))
		return c.countReady(x.readView(viewMessages(now.History, r.View))), nil
	}
	if out.All90, err = ready(usual); err != nil {
		return out, err
	}
	if end == 0 {
		out.AllEnd, err = ready(latest)
		return out, err
	}
	if closed {
		out.Closed = 1
	} else {
		out.Commits = 1
	}
	out.At90 = out.All90
	out.AtEnd, err = ready(end)
	out.AllEnd = out.AtEnd
	return out, err
}

// endsTask reports whether a task ended before message at: with a closing message of
// the agent, after which the user typed something, or with a commit.
func (x *nextIndex) endsTask(at int) (is, message bool) {
	h := x.session.History
	before := h.At(at - 1)
	if before.StartsTurn() && !before.Synthetic && at > 1 {
		said := h.At(at - 2)
		return said.Role == chat.Assistant && !said.Has(chat.ToolCall) && strings.TrimSpace(said.Text()) != "", true
	}
	for k := range before.Parts {
		r := &before.Parts[k]
		if call := x.result[r]; call != nil && !r.Failed && strings.Contains(x.access[call].Command, "git commit") {
			return true, false
		}
	}
	return false, false
}

// Table prints the board.
func (b *MomentBoard) Table(out io.Writer) error {
	p := &page{w: out}
	late := grid{right: 0, head: []string{"window", "fixed", "sessions", "requests", "late", "rewrites", "with late", "cold", "$", "$ with late", "saved", "re-reads", "with late"}}
	for _, r := range b.Pauses {
		late.rows = append(late.rows, []string{
			text.Number(r.Window), text.Number(r.Fixed), text.Number(r.Sessions), text.Number(r.Requests), text.Number(r.Late), text.Number(r.Waits), text.Number(r.Rewrites),
			text.Number(r.Cold), fmt.Sprintf("%.2f", r.TriggerOnly), fmt.Sprintf("%.2f", r.LateToo), fmt.Sprintf("%.2f", r.TriggerOnly-r.LateToo), text.Number(r.TriggerReads), text.Number(r.LateReads),
		})
	}
	p.say("Rewriting at a request that comes after the provider's cache expired, from 70 %% of the room on, beside the trigger only (recorded pauses, prices of %s)", b.Model)
	p.put(late.writeText)
	p.say("")
	ends := grid{right: 0, head: []string{"window", "fixed", "sessions", "closing message", "commit", "edits", "V at 90 %", "V at the end", "all edits", "V at 90 %", "V waiting", "rewrite, median", "longest"}}
	for _, r := range b.Ends {
		half, most := medianOf(r.Took), time.Duration(0)
		if len(r.Took) > 0 {
			most = slices.Max(r.Took)
		}
		ends.rows = append(ends.rows, []string{
			text.Number(r.Window), text.Number(r.Fixed), text.Number(r.Sessions), text.Number(r.Closed), text.Number(r.Commits), text.Number(r.At90.Of),
			fmt.Sprintf("%.3f", r.At90.Share()), fmt.Sprintf("%.3f of %d", r.AtEnd.Share(), r.AtEnd.Of), text.Number(r.All90.Of), fmt.Sprintf("%.3f", r.All90.Share()), fmt.Sprintf("%.3f of %d", r.AllEnd.Share(), r.AllEnd.Of),
			half.Round(time.Millisecond).String(), most.Round(time.Millisecond).String(),
		})
	}
	p.say("Waiting for a task's end between 80 and 95 %% of the room (else at 95 %%), beside 90 %%: next edits ready")
	p.put(ends.writeText)
	return p.err
}
