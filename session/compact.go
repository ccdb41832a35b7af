package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// Begin marks the start of a turn. While a turn runs, [Session.Compact] fails
// at once. Beginning twice is the same as once.
func (s *Session) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn, s.overflowed = true, false
}

// End marks the end of a turn, checks the conversation and compacts it if that
// is due or was asked for. The compaction is nil when there was none. A failure
// leaves the conversation as it was.
func (s *Session) End(ctx context.Context) (*Compacted, error) {
	s.mu.Lock()
	s.turn = false
	asked, auto := s.requested, s.isAuto()
	s.requested = nil
	s.mu.Unlock()
	if asked != nil {
		return s.runCompaction(ctx, job{reason: reasonManual, focus: *asked, force: true})
	}
	if !auto {
		return nil, nil
	}
	due, _, err := s.NeedsCompaction()
	if err != nil || !due {
		return nil, err
	}
	c, err := s.runCompaction(ctx, job{reason: reasonThreshold})
	if errors.Is(err, ErrNothing) || errors.Is(err, ErrCancelled) || errors.Is(err, ErrCompacting) {
		return nil, nil
	}
	return c, err
}

// RequestCompaction asks for a compaction as soon as the turn that runs is
// over, or at once when none runs.
func (s *Session) RequestCompaction(ctx context.Context, focus string) (*Compacted, error) {
	s.mu.Lock()
	if s.turn {
		s.requested = &focus
		s.mu.Unlock()
		return nil, nil
	}
	s.mu.Unlock()
	return s.Compact(ctx, focus)
}

// Compact rewrites the conversation down to the target now, whatever the
// trigger says. Focus is what the summary should pay attention to. It fails at
// once with [ErrTurnRunning] while a turn runs, and with [ErrNothing] when
// nothing can be made smaller, or nothing was said since the last compaction and
// no focus asks for another summary; then nothing is written.
func (s *Session) Compact(ctx context.Context, focus string) (*Compacted, error) {
	return s.CompactWith(ctx, With{Focus: focus})
}

const alreadyCompacted = "it is already compacted, and nothing was added since"

// compactedAlready reports whether the view is what the last compaction made,
// and as small as one should make it. The caller holds the lock.
func (s *Session) compactedAlready() (bool, error) {
	// A rewind may have put an older plan in force, which covers less.
	if s.line.plan == nil || planLen(s.line.plan) < s.line.history.Len() {
		return false, nil
	}
	w, status, err := s.checkSize()
	if err != nil {
		return false, err
	}
	return status.Count.Tokens <= w.Target(status.Limits), nil
}

// Overflowed is to be called when the provider refused a call as too long. The
// limit is the one it named, 0 for none. It compacts, once in a turn: a second
// time it fails with [ErrOverflowAgain], so that no loop comes of it.
func (s *Session) Overflowed(ctx context.Context, limit int) (*Compacted, error) {
	s.mu.Lock()
	again := s.overflowed
	s.overflowed = true
	if w, now, err := s.checkSize(); err == nil {
		if limit <= 0 {
			limit = w.Limits(s.o.Output).Available
		}
		// The request was too long, whatever the provider names or leaves unsaid.
		if now.Count.Tokens > 0 {
			limit = min(limit, now.Count.Tokens)
		}
	}
	s.mu.Unlock()
	if again {
		return nil, s.opError("recover from an overflow", ErrOverflowAgain, "use a larger window, or shorten what was put in last", "the request was too long again after a compaction")
	}
	return s.runCompaction(ctx, job{reason: reasonOverflow, force: true, limit: limit})
}

// job is one compaction to be made.
type job struct {
	reason, focus string
	force         bool
	limit, target int
	own           *winnow.Winnow // the engine for this one; nil is the session's
}

// snapshot is the conversation that a compaction is made for.
type snapshot struct {
	w     *winnow.Winnow
	req   chat.Request
	state winnow.State
}

// takeSnapshot returns the conversation as it is now, with what a job asks of the engine.
// A person who names a focus wants a summary, however much room there is. The caller holds
// the lock.
func (s *Session) takeSnapshot(j job) (*snapshot, error) {
	own, err := s.engineFor()
	if err != nil {
		return nil, err
	}
	snap := &snapshot{w: cmp.Or(j.own, own), req: s.currentRequest()}
	snap.state = s.stateOf(snap.w)
	snap.state.Ask = winnow.Ask{
		Force: j.force, Limit: j.limit, Focus: j.focus, Summarise: j.focus != "", TargetTokens: j.target, Anew: j.target > 0,
	}
	return snap, nil
}

// runCompaction makes a compaction and writes it. No lock is held while a summary is
// made, so messages can be added all the while.
func (s *Session) runCompaction(ctx context.Context, j job) (*Compacted, error) {
	snap, err := s.startCompacting(j)
	if err != nil {
		return nil, err
	}
	c, err := s.tryCompact(ctx, j, snap)
	s.mu.Lock()
	s.compacting = false
	if err == nil {
		s.requested = nil
		c.Queued = s.line.history.Len() - snap.req.History.Len()
	}
	s.mu.Unlock()
	if err != nil {
		tellHooks(context.WithoutCancel(ctx), s, "compact_failed", func(h *Hooks) func(context.Context, CompactFailure) error { return h.CompactFailed },
			CompactFailure{s.ID(), j.reason, err, errors.Is(err, ErrCancelled) || ctx.Err() != nil})
		return nil, err
	}
	tellHooks(ctx, s, "after_compact", func(h *Hooks) func(context.Context, Compacted) error { return h.AfterCompact }, *c)
	return c, nil
}

func (s *Session) startCompacting(j job) (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compacting {
		return nil, s.opError("compact", ErrCompacting, "wait for it", "a compaction is in progress")
	}
	snap, err := s.takeSnapshot(j)
	s.compacting = err == nil
	return snap, err
}

func (s *Session) tryCompact(ctx context.Context, j job, snap *snapshot) (*Compacted, error) {
	d, err := s.beforeCompact(ctx, j, snap)
	if err != nil {
		return nil, err
	}
	if d.Cancel {
		return nil, s.opError("compact", ErrCancelled, "", "a hook cancelled the compaction")
	}
	var notes []string
	if d.Supply != nil {
		c, err := s.writeSupplied(ctx, j, snap, d.Supply)
		if err == nil || ctx.Err() != nil {
			return c, err
		}
		// A hook's result that does not fit counts as none.
		notes = append(notes, "the compaction that a hook supplied was not used: "+err.Error())
	}
	r, err := snap.w.Fit(ctx, snap.req, snap.state)
	if err != nil {
		return nil, s.failed("compact", err)
	}
	if !r.Changed || r.Plan == nil {
		return nil, s.opError("compact", ErrNothing, "", "%s", s.whyNothing(snap, &r))
	}
	c := Compaction{
		Plan: r.Plan, Reason: j.reason, Focus: j.focus,
		TokensBefore: r.Before.Count.Tokens, TokensAfter: r.After.Count.Tokens, notLasted: r.NotLasted,
	}
	entry, err := s.commitCompaction(ctx, c, snap.state.Plan)
	if err != nil {
		return nil, err
	}
	report := scaledReport(r.Report(), snap.w, r.View, &r.Before)
	return &Compacted{Session: s.ID(), Entry: entry, Before: r.Before, After: r.After, Notes: append(notes, r.Notes...), Report: report}, nil
}

// whyNothing says why a compaction would change nothing.
func (s *Session) whyNothing(snap *snapshot, r *winnow.Result) string {
	if r.Waited {
		return "the rewrite has to wait for the end of the turn, because thinking in this turn depends on what would be rewritten"
	}
	if _, why := s.beforeRecent(snap.w, snap.req.History, snap.state.Plan, ""); why != "" {
		return why
	}
	return fmt.Sprintf("nothing can be made smaller: %d of %d available tokens are used", r.Before.Count.Tokens, r.Before.Limits.Available)
}

func planLen(p *plan.Plan) int {
	if p == nil {
		return 0
	}
	return p.Len
}

// commitCompaction writes a compaction after the leaf, if the conversation still starts
// with what it was made for and no other process compacted it first.
func (s *Session) commitCompaction(ctx context.Context, c Compaction, base *plan.Plan) (Entry, error) {
	s.mu.Lock()
	if s.line.plan != base || c.Plan != nil && !c.Plan.Covers(s.line.history) {
		s.mu.Unlock()
		return Entry{}, s.opError(c.Reason, ErrMoved, "compact again", "the leaf moved, or another plan came into force, while the summary was being written")
	}
	after := s.leafID()
	if other := s.compactedFirst(ctx, after, ""); other != "" {
		s.mu.Unlock()
		return Entry{}, s.lostRaceError(c.Reason, other)
	}
	list, err := s.compactionEntries(c)
	if err != nil {
		s.mu.Unlock()
		return Entry{}, s.failed(c.Reason, err)
	}
	wait := s.placeEntries(list)
	s.sent = nil
	s.mu.Unlock()
	if err := wait(ctx); err != nil {
		return Entry{}, err
	}
	if err := s.yieldToFirst(ctx, c.Reason, after, list[0].id); err != nil {
		return Entry{}, err
	}
	return s.Entry(list[0].id)
}

// compactedFirst reads what other processes wrote and returns the first compaction
// among it that follows the entry after, up to our own entry. The log has one order
// for all, so of several who compact at once everybody finds the same first.
func (s *Session) compactedFirst(ctx context.Context, after, own string) string {
	recs, err := s.readNew(ctx)
	if err != nil {
		return "" // the write itself will tell
	}
	for i := range recs {
		id := decode.Str(recs[i].Raw, "id")
		if id == own {
			return ""
		}
		if decode.Str(recs[i].Raw, "parentId") == after && decode.Str(recs[i].Raw, "type") == string(TypeCompaction) {
			return id
		}
	}
	return ""
}

// yieldToFirst moves the leaf to the compaction of another process that was
// written between the last look and our own.
func (s *Session) yieldToFirst(ctx context.Context, reason, after, own string) error {
	s.mu.Lock()
	other := s.compactedFirst(ctx, after, own)
	if other == "" {
		s.mu.Unlock()
		return nil
	}
	at, _ := s.tree.find(other)
	err := s.moveTo(at, reason)
	wait := func(context.Context) error { return nil }
	if err == nil {
		wait = s.placeEntries([]placed{{id: s.newID(), draft: customDraft(customLeaf, []byte("{}"))}})
	}
	s.mu.Unlock()
	return errors.Join(s.lostRaceError(reason, other), err, wait(ctx))
}

func (s *Session) lostRaceError(reason, other string) error {
	return s.opError(reason, ErrMoved, "look at that entry", "another process compacted the conversation first: entry %s", other)
}

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
