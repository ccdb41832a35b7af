package session

import (
	"cmp"
	"context"
	"reflect"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/summary"
)

// With is how one compaction is to be made. The zero value is what the session's
// own settings say.
type With struct {
	// Focus is what the summary should pay attention to.
	Focus string

	// TargetTokens is the size that the prompt should have; 0 is what the settings
	// say. With it less can be hidden than now.
	TargetTokens int

	// Settings hold for this call alone: a field that is set goes before the
	// session's.
	Settings winnow.Settings

	// Summarizer writes the summary; nil is the session's.
	Summarizer summary.Summarizer
}

// CompactWith is [Session.Compact] with a configuration of its own.
func (s *Session) CompactWith(ctx context.Context, with With) (*Compacted, error) {
	s.mu.Lock()
	running := s.turn
	done, err := s.compactedAlready()
	own, ownErr := s.engineWith(&with)
	s.mu.Unlock()
	switch {
	case running:
		return nil, s.opError("compact", ErrTurnRunning, "wait for its end, or ask for it with RequestCompaction", "a turn is running")
	case err != nil:
		return nil, err
	case ownErr != nil:
		return nil, ownErr
	case done && with.Focus == "" && own == nil && with.TargetTokens == 0:
		return nil, s.opError("compact", ErrNothing, "", alreadyCompacted)
	}
	return s.runCompaction(ctx, job{reason: reasonManual, focus: with.Focus, force: true, own: own, target: with.TargetTokens})
}

// engineWith returns the engine for one call; nil where that is the session's own.
// The caller holds the lock.
func (s *Session) engineWith(with *With) (*winnow.Winnow, error) {
	settings := s.settingsFor(s.line.provider, s.line.model)
	changed := with.Settings.Or(settings)
	if with.Summarizer == nil && reflect.DeepEqual(changed, settings) {
		return nil, nil
	}
	return s.newEngine(changed, cmp.Or(with.Summarizer, s.o.Summarizer))
}

// StatsFor is [Session.Stats] with the measures for another model than the
// session's, of which the provider may be "": what if the session moved there? Its
// Status says whether it would have to be compacted.
func (s *Session) StatsFor(provider, model string) (Stats, error) {
	st, err := s.Stats()
	if err != nil {
		return st, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := s.settingsFor(provider, model)
	if settings.Model = model; provider != "" {
		settings.Model = provider + "/" + model
	}
	w, err := s.newEngine(settings, s.o.Summarizer)
	if err != nil {
		return st, err
	}
	status, err := w.Check(s.currentRequest(), s.stateOf(w))
	if err != nil {
		return st, s.failed("check", err)
	}
	status.ShouldCompact = status.ShouldCompact && !w.Settings().Disabled
	st.setMeasured(&status)
	st.Model = model
	return st, nil
}

// stateOf returns what another engine than the session's knows of the conversation.
// Counts learned with one tokenizer say nothing about another. The caller holds the
// lock.
func (s *Session) stateOf(w *winnow.Winnow) winnow.State {
	own, err := s.engineFor()
	if err != nil {
		return winnow.State{Plan: s.line.plan, NotLasted: s.line.notLasted}
	}
	st := s.engineState(own)
	if s.track.Family() != w.Meter().Counter().Family() {
		st.Ledger, st.ColdShare = nil, 0
	}
	return st
}
