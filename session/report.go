package session

import (
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/plan"
)

// scaledReport returns a report in the units in which a compaction was measured, so that
// its tallies add up to the counts printed beside them.
func scaledReport(r plan.Report, w *winnow.Winnow, v plan.View, before *winnow.Status) plan.Report {
	r = withForeign(r, w, v)
	r.Scale(before.Scale, before.Seen(), before.Limits.Fixed)
	return r
}

// withForeign adds the sizes of edits that were made of another program's
// compaction: it did not note them, so they would count as kept.
func withForeign(r plan.Report, w *winnow.Winnow, v plan.View) plan.Report {
	p, c := v.Plan(), w.Meter().Counter()
	if p == nil {
		return r
	}
	r.Stages = slices.Clone(r.Stages)
	for k := range v.Len() {
		at := v.Origin(k).Edit
		if at < 0 {
			continue
		}
		e := &p.Edits[at]
		if e.Kind == plan.Mask || e.Kind == plan.State || e.Before.Tokens != 0 {
			continue
		}
		before, after := 0, c.Message(v.At(k))
		for i := e.From; i < e.To; i++ {
			if !slices.Contains(e.Keep, i) {
				before += c.At(v.History(), i)
			}
		}
		before, after = min(before, r.Kept.Before), min(after, r.Kept.After)
		r.Kept.Before -= before
		r.Kept.After -= after
		r.Removed.Before += before
		r.Removed.After += after
		if s := slices.IndexFunc(r.Stages, func(s plan.StageReport) bool { return s.Name == e.Stage }); s >= 0 {
			r.Stages[s].Saved += before - after
		}
	}
	return r
}
