package replay

import (
	"fmt"

	"github.com/winnow-llm/winnow/internal/text"
)

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
	var bars []Bar
	add := func(met bool, what, want, format string, args ...any) {
		bars = append(bars, Bar{what, want, fmt.Sprintf(format, args...), met})
	}
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
				add(near(r.Least) && near(r.Most), name+"smallest and largest prompt", fmt.Sprintf("within 5 %% of %s", text.Number(r.Target)),
					"%s, %s", text.Number(r.Least), text.Number(r.Most))
				continue
			}
			p.addBars(r, name, add)
		}
	}
	if r := &b.Recorded; r.Lines.Of > 0 {
		add(r.Lines.Share() >= r.Tail.Share(), "lines that were read again after recorded compactions", fmt.Sprintf("at least %.3f (tail)", r.Tail.Share()), "%.3f", r.Lines.Share())
	}
	for i := range b.Plain {
		if p := &b.Plain[i]; p.Args > 0 {
			add(p.Ready.Share() >= p.Tail.Share(), "next arguments without files, "+p.What, fmt.Sprintf("at least %.3f (tail)", p.Tail.Share()), "%.3f", p.Ready.Share())
		}
	}
	return bars
}

// addBars adds those of the engine with nothing set.
func (p *FieldPlace) addBars(r *FieldRow, name string, add func(met bool, what, want, format string, args ...any)) {
	if r.C != nil {
		add(*r.C == 1, name+"binding sentences of the user", "all", "%.3f", *r.C)
	}
	add(r.Given == 0, name+"given up", "0", "%d", r.Given)
	if p.Window == smallWindow {
		if r.Part != nil {
			add(*r.Part >= smallPart, name+"closing messages in part", fmt.Sprintf("at least %.2f", smallPart), "%.3f", *r.Part)
		}
		return
	}
	add(r.V >= fieldV, name+"V", fmt.Sprintf("at least %.2f", fieldV), "%.3f", r.V)
	for _, v := range r.Rivals {
		add(r.V >= v.V, name+"V beside "+v.Name+" of the same size", fmt.Sprintf("at least %.3f", v.V), "%.3f", r.V)
	}
	if far := r.ByAge[len(r.ByAge)-1]; far != nil {
		add(*far >= fieldFar, fmt.Sprintf("%sV of %d edits of far text", name, p.ByAge[len(p.ByAge)-1]), fmt.Sprintf("at least %.2f", fieldFar), "%.3f", *far)
	}
	if r.Closing != nil {
		add(*r.Closing == 1, name+"closing messages whole", "all", "%.3f", *r.Closing)
	}
}
