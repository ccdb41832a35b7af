package stage

import "github.com/winnow-llm/winnow/plan"

// releasePinned takes edits of the plan in force off messages pinned since.
func (r *run) releasePinned() {
	d := r.d
	if d.Base == nil || len(d.release) > 0 {
		return
	}
	var again []plan.Edit
	for i := range d.Base.Edits {
		e := &d.Base.Edits[i]
		switch {
		case e.Kind == plan.Mask:
			if d.Pinned(e.From, e.Part) {
				d.release = append(d.release, e.Ref())
			}
		case isRun(e):
			if f, ok := d.keepMore(e); ok {
				d.release = append(d.release, e.Ref())
				if f.From < f.To {
					again = append(again, f)
				}
			}
		}
	}
	if len(d.release) == 0 {
		return
	}
	added, was := d.added, d.View
	view, all, _, err := d.proposeEdits(r.Meter, again)
	if err == nil {
		d.added, d.View = all, view
		err = d.repairView(false) // a fold takes in the answers to calls that have none
	}
	if err != nil {
		r.note("pins: edits of the plan in force stay: %v", err)
		d.added, d.View, d.release = added, was, nil
		return
	}
	r.now = r.Meter.Measure(d.View)
}

// keepMore returns the run of an earlier plan with what must stay by now taken
// out of it; ok is false when it already keeps all that.
func (d *Draft) keepMore(e *plan.Edit) (plan.Edit, bool) {
	f := *e
	f.From, f.To, f.Keep = trimRun(e.From, e.To, func(i int) bool { return d.keep[i] || containsSorted(e.Keep, i) })
	f.Before = d.sizeOfRun(f.From, f.To, f.Keep)
	f.Handle = plan.Handle(d.History, f.From, f.To, -1)
	return f, f.To-f.From-len(f.Keep) < e.To-e.From-len(e.Keep)
}
