package replay

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// Bar is something that a board must show, and what it shows.
type Bar struct {
	What, Want, Got string
	Met             bool
}

// bars are the bars of a board.
type bars []Bar

// add adds a bar, with what was measured in a format.
func (b *bars) add(met bool, what, want, format string, args ...any) {
	*b = append(*b, Bar{what, want, fmt.Sprintf(format, args...), met})
}

// The bars of a replay.
const (
	barWindow = 64000
	barMore   = 1.08 // dollars of the default preset for one of the cheapest peer

	barUser  = 0.95
	barStale = 0.01
)

// Bars returns what is asked of winnow, as far as the board measured it.
func (b *Board) Bars() []Bar {
	var all bars
	b.nextBars(&all)
	b.replayBars(&all)
	return all
}

// nextBars adds those of the next edits.
func (b *Board) nextBars(all *bars) {
	if b.Next == nil {
		return
	}
	for i := range b.Next.Rows {
		r := &b.Next.Rows[i]
		for _, rival := range r.Rivals {
			if rival.Range != nil {
				all.add(rival.Range[0] > 0, r.Policy+": V, beside "+rival.Name+" of the same size", "more, lower end above 0", "%+.3f (%v)", rival.More, rival.Range)
			}
		}
		if r.C != nil {
			all.add(*r.C >= barUser, r.Policy+": sentences of the user kept", fmt.Sprintf("at least %.2f", barUser), "%.3f", *r.C)
		}
		if r.Stale != nil {
			all.add(*r.Stale <= barStale, r.Policy+": stale lines", fmt.Sprintf("at most %.2f", barStale), "%.3f", *r.Stale)
		}
	}
}

// replayBars adds those of whole sessions.
func (b *Board) replayBars(all *bars) {
	cheapest, pi := b.CheapestPeer(), b.Row("pi", barWindow)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != barWindow || !IsOurs(r.Policy) {
			continue
		}
		if most, ok := map[string]float64{"winnow": barMore, "winnow thrifty": 1}[r.Policy]; ok && cheapest != nil {
			all.add(r.DollarsAgain <= most*cheapest.DollarsAgain, r.Policy+" in 64,000: dollars with re-reads", fmt.Sprintf("at most %.2f of %.2f (%s)", most, cheapest.DollarsAgain, cheapest.Policy), "%.2f", r.DollarsAgain)
		}
		if pi != nil {
			all.add(r.Rewrites <= pi.Rewrites, r.Policy+" in 64,000: rewrites", fmt.Sprintf("at most %d (pi)", pi.Rewrites), "%d", r.Rewrites)
		}
		all.add(r.Refused() == 0, r.Policy+" in 64,000: invalid, overflows, given up", "0, 0, 0", "%d, %d, %d", r.Invalid, r.Overflows, r.Failed)
	}
}

// Row finds the row over all sessions of a policy.
func (b *Board) Row(policy string, window int) *Row {
	for i := range b.Rows {
		if r := &b.Rows[i]; r.File == All && r.Policy == policy && r.Window == window {
			return r
		}
	}
	return nil
}

// CheapestPeer returns the row of the peer with the fewest dollars, re-reads
// included, among those that compete; nil where there is none.
func (b *Board) CheapestPeer() *Row {
	var best *Row
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != barWindow || IsOurs(r.Policy) || r.Policy == "none" || !r.Competes {
			continue
		}
		if best == nil || r.DollarsAgain < best.DollarsAgain {
			best = r
		}
	}
	return best
}

// IsOurs reports whether a policy is the engine under some settings.
func IsOurs(policy string) bool {
	return policy == "winnow" || strings.HasPrefix(policy, "winnow ")
}

// What is asked of the field.
const (
	fieldWindow = 200_000 // in which users are
	smallWindow = 64_000
	fieldV      = 0.90 // with a fixed part of 42,000 and nothing marked
	fieldFar    = 0.70 // over text last seen more than 60,000 tokens back
	fieldAim    = 0.05 // how far a prompt may be from its target
	smallPart   = 0.90 // closing messages that stand there in part, in the small window
)

// Bars returns what is asked of winnow, as far as the board measured it. Rows of
// places in which the file's marks help are not judged.
func (b *FieldBoard) Bars() []Bar {
	var all bars
	for i := range b.Places {
		p := &b.Places[i]
		if p.Window != fieldWindow && p.Window != smallWindow || p.Marked || p.Cuts == 0 {
			continue
		}
		for k := range p.Rows {
			r := &p.Rows[k]
			name := fmt.Sprintf("%s, %s with %s: ", r.Policy, text.Number(p.Window), text.Number(p.Fixed))
			if r.Target > 0 {
				near := func(n int) bool { return max(n-r.Target, r.Target-n) <= int(fieldAim*float64(r.Target)) }
				all.add(near(r.Least) && near(r.Most), name+"smallest and largest prompt", fmt.Sprintf("within 5 %% of %s", text.Number(r.Target)),
					"%s, %s", text.Number(r.Least), text.Number(r.Most))
				continue
			}
			p.addBars(r, name, &all)
		}
	}
	if r := &b.Recorded; r.Lines.Of > 0 {
		all.add(r.Lines.Share() >= r.Tail.Share(), "lines that were read again after recorded compactions", fmt.Sprintf("at least %.3f (tail)", r.Tail.Share()), "%.3f", r.Lines.Share())
	}
	for i := range b.Plain {
		if p := &b.Plain[i]; p.Args > 0 {
			all.add(p.Ready.Share() >= p.Tail.Share(), "next arguments without files, "+p.What, fmt.Sprintf("at least %.3f (tail)", p.Tail.Share()), "%.3f", p.Ready.Share())
		}
	}
	return all
}

// addBars adds those of the engine with nothing set.
func (p *FieldPlace) addBars(r *FieldRow, name string, all *bars) {
	if r.C != nil {
		all.add(*r.C == 1, name+"binding sentences of the user", "all", "%.3f", *r.C)
	}
	all.add(r.Given == 0, name+"given up", "0", "%d", r.Given)
	if p.Window == smallWindow {
		if r.Part != nil {
			all.add(*r.Part >= smallPart, name+"closing messages in part", fmt.Sprintf("at least %.2f", smallPart), "%.3f", *r.Part)
		}
		return
	}
	all.add(r.V >= fieldV, name+"V", fmt.Sprintf("at least %.2f", fieldV), "%.3f", r.V)
	for _, v := range r.Rivals {
		all.add(r.V >= v.V, name+"V beside "+v.Name+" of the same size", fmt.Sprintf("at least %.3f", v.V), "%.3f", r.V)
	}
	if far := r.ByAge[len(r.ByAge)-1]; far != nil {
		all.add(*far >= fieldFar, fmt.Sprintf("%sV of %d edits of far text", name, p.ByAge[len(p.ByAge)-1]), fmt.Sprintf("at least %.2f", fieldFar), "%.3f", *far)
	}
	if r.Closing != nil {
		all.add(*r.Closing == 1, name+"closing messages whole", "all", "%.3f", *r.Closing)
	}
}
