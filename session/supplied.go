package session

import (
	"cmp"
	"context"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func (s *Session) beforeEvent(ctx context.Context, j job, snap *snapshot) (BeforeCompact, error) {
	ev := BeforeCompact{Session: s.ID(), Reason: j.reason, Focus: j.focus}
	var err error
	if ev.Status, err = snap.w.Check(snap.req, snap.state); err != nil {
		return ev, s.failed("compact", err)
	}
	ev.Preparation, ev.Nothing, err = s.prepareSummary(ctx, snap)
	ev.Entries = s.Path()
	return ev, err
}

// writeSupplied writes a compaction that a hook made.
func (s *Session) writeSupplied(ctx context.Context, j job, snap *snapshot, sup *Supplied) (*Compacted, error) {
	bad := func(format string, args ...any) error {
		return s.opError("compact", nil, "", format, args...)
	}
	if sup.Summary == "" {
		return nil, bad("its summary is empty")
	}
	said := s.cleanText(sup.Summary)
	s.mu.Lock()
	kept := -1
	if k, ok := s.tree.find(sup.FirstKept); ok && s.line.pos[k] >= 0 {
		kept = int(s.line.pos[k])
	}
	s.mu.Unlock()
	h := snap.req.History
	switch {
	case kept < 0:
		return nil, bad("it keeps entry %q, which is not a message on the path", sup.FirstKept)
	case kept >= h.Len():
		return nil, bad("it keeps entry %q, which came later", sup.FirstKept)
	case kept == 0:
		return nil, bad("it keeps everything")
	case h.At(kept).Role == chat.Tool || h.At(kept).Has(chat.ToolResult):
		return nil, bad("it keeps entry %q first, which is a tool result", sup.FirstKept)
	}
	fold := plan.Edit{Kind: plan.Fold, From: 0, To: kept, Part: -1, Text: compactedText(said), Prose: said, Stage: "hook", Handle: plan.Handle(h, 0, kept, -1)}
	for _, p := range snap.state.Pins {
		if p.Message < kept {
			fold.Keep = append(fold.Keep, p.Message)
		}
	}
	fold.Keep = wholeExchanges(h, fold.Keep, kept)
	p, err := plan.Compose(snap.state.Plan, h, s.o.Rules, nil, fold)
	if err != nil {
		return nil, bad("%v", err)
	}
	before, beforeErr := snap.w.Check(snap.req, winnow.State{Plan: snap.state.Plan, Ledger: snap.state.Ledger})
	after, afterErr := snap.w.Check(snap.req, winnow.State{Plan: p, Ledger: snap.state.Ledger})
	view, viewErr := plan.Apply(h, p)
	if err := cmp.Or(beforeErr, afterErr, viewErr); err != nil {
		return nil, bad("%v", err)
	}
	c := Compaction{
		Plan: p, Reason: j.reason, Focus: j.focus, Supplied: true, Summary: said,
		TokensBefore: cmp.Or(sup.TokensBefore, before.Count.Tokens), TokensAfter: after.Count.Tokens, Read: sup.Read, Modified: sup.Modified,
	}
	entry, err := s.commitCompaction(ctx, c, snap.state.Plan)
	if err != nil {
		return nil, err
	}
	report := scaledReport(snap.w.Report(snap.req, view), snap.w, view, &before)
	return &Compacted{Session: s.ID(), Entry: entry, Before: before, After: after, Report: report}, nil
}

// wholeExchanges adds to a list of messages before end those that belong to
// exchanges with them.
func wholeExchanges(h chat.History, keep []int, end int) []int {
	if len(keep) == 0 {
		return nil
	}
	o := chat.NewOutline(h)
	all := make(map[int]bool)
	for _, i := range keep {
		all[i] = true
		if x := o.ExchangeOf(i); x >= 0 {
			for k := o.Exchanges[x].From; k < min(o.Exchanges[x].To, end); k++ {
				all[k] = true
			}
		}
	}
	return sortedKeys(all)
}
