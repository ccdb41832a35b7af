package session

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// Prepare returns what the summary of [Session.Compact] with this focus would be
// made of now, or the reason why there would be none. It is what that call then
// does: the same messages are summarised, and the same stay. Nothing is written
// and no model is asked. A keepRecent of 0 is the settings'.
func (s *Session) Prepare(ctx context.Context, focus string, keepRecent int) (summary.Preparation, string, error) {
	s.mu.Lock()
	own, ownErr := s.engineWith(&With{Settings: winnow.Settings{KeepRecent: keepRecent}})
	snap, snapErr := s.takeSnapshot(job{focus: focus, force: true, own: own})
	done, err := s.compactedAlready()
	s.mu.Unlock()
	if err = cmp.Or(ownErr, snapErr, err); err != nil {
		return summary.Preparation{}, "", err
	}
	if done && focus == "" {
		return summary.Preparation{}, alreadyCompacted, nil
	}
	return s.prepareSummary(ctx, snap)
}

// prepareSummary runs the compaction up to where a summary would be written.
func (s *Session) prepareSummary(ctx context.Context, snap *snapshot) (summary.Preparation, string, error) {
	state := snap.state
	state.Preview = true
	r, err := snap.w.Fit(ctx, snap.req, state)
	if ctx.Err() != nil {
		return summary.Preparation{}, "", s.failed("prepare", err)
	}
	why := ""
	var in summary.Input
	switch found := false; {
	case err != nil:
		why = err.Error()
	case !r.Changed || r.Plan == nil:
		why = s.whyNothing(snap, &r)
	default:
		if in, found = newestSummary(&r); !found {
			why = "no summary is needed: shorter tool output is enough"
		}
	}
	if why != "" { // a hook that supplies a summary all the same cuts before the recent messages
		p, _ := s.beforeRecent(snap.w, snap.req.History, snap.state.Plan, snap.state.Focus)
		return p, why, nil
	}
	p := in.Preparation(firstKept(r.Plan, snap.req.History))
	set := snap.w.Settings()
	p.TokensBefore, p.Options.KeepRecent, p.Options.Compacted = r.Before.Count.Tokens, set.KeepRecent, planLen(snap.state.Plan)
	s.mu.Lock()
	f := s.gatherFiles(s.line.history, 0, p.KeptFrom, s.line.path)
	p.KeptID = ""
	if p.KeptFrom < len(s.line.first) {
		p.KeptID = s.tree.nodes[s.line.first[p.KeptFrom]].id
	}
	s.mu.Unlock()
	p.Read, p.Modified, p.Footer = f.Read, f.Modified, f.Footer()
	return p, "", nil
}

// newestSummary returns what the newest fold was made of that is new in a plan.
func newestSummary(r *winnow.Result) (summary.Input, bool) {
	for _, in := range slices.Backward(r.Summaries) {
		is := func(e plan.Edit) bool { return e.Kind == plan.Fold && e.From == in.From && e.To == in.To }
		if slices.ContainsFunc(r.Plan.Edits, func(e plan.Edit) bool { return is(e) && e.Made == r.Plan.ID() }) {
			return in, true
		}
	}
	return summary.Input{}, false
}

// beforeRecent finds what is older than the recent messages, or says why nothing is.
func (s *Session) beforeRecent(w *winnow.Winnow, h chat.History, p *plan.Plan, focus string) (summary.Preparation, string) {
	set := w.Settings()
	o := summary.PrepareOptions{
		KeepRecent: set.KeepRecent, Counter: w.Meter().Counter(), Kinds: s.o.Kinds, Focus: focus, Compacted: planLen(p),
	}
	if p != nil {
		for i := range p.Edits {
			if e := &p.Edits[i]; e.Kind == plan.Fold {
				o.Start, o.Previous = e.To, e.Prose
			}
		}
	}
	return summary.Prepare(h, o)
}
