package session

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// Context is the conversation at the leaf as the next call would see it.
type Context struct {
	// Request holds system prompt, tools and the untouched history; View is
	// that history under the plan in force.
	Request chat.Request
	View    plan.View

	// Leaf is the entry it ends with; "" before the first.
	Leaf string

	// Provider and Model are the last that were chosen or answered, Thinking
	// the level of reasoning that was chosen last, "" for none.
	Provider, Model, Thinking string
}

// Context returns what the model sees. After an append it costs next to
// nothing, however long the session is.
func (s *Session) Context() (Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentContext()
}

func (s *Session) currentContext() (Context, error) {
	c := Context{
		Request: s.currentRequest(), Leaf: s.leafID(),
		Provider: s.line.provider, Model: s.line.model, Thinking: s.line.thinking,
	}
	v, err := plan.Apply(s.line.history, s.line.plan)
	if err != nil {
		return c, s.opError("context", err, "rewind the last compaction", "%v", err)
	}
	c.View = v
	return c, nil
}

func (s *Session) currentRequest() chat.Request {
	r := chat.Request{System: s.o.System, Tools: s.o.Tools, History: s.line.history, Output: s.o.Output, Rules: s.o.Rules}
	if r.System == nil {
		r.System = s.line.system
	}
	if r.Tools == nil {
		r.Tools = s.line.tools
	}
	return r
}

// engineFor returns the engine, made anew when settings or model have changed.
// The caller holds the lock.
func (s *Session) engineFor() (*winnow.Winnow, error) {
	settings := s.settingsFor(s.line.provider, s.line.model)
	if s.engine != nil && reflect.DeepEqual(s.settings, settings) {
		return s.engine, nil
	}
	w, err := s.newEngine(settings, s.o.Summarizer)
	if err != nil {
		return nil, err
	}
	s.engine, s.settings = w, settings
	if f := w.Meter().Counter().Family(); s.track == nil || s.track.Family() != f {
		s.track, s.sent = w.Track(), nil
	}
	return w, nil
}

// settingsFor returns the settings in force for a model. The caller holds the lock.
func (s *Session) settingsFor(provider, model string) winnow.Settings {
	settings := s.o.Live(provider, model).Settings
	settings.Model = cmp.Or(settings.Model, model)
	return settings
}

func (s *Session) newEngine(settings winnow.Settings, writer summary.Summarizer) (*winnow.Winnow, error) {
	o := winnow.Options{Settings: settings, Registry: s.o.Registry, Summarizer: writer, Kinds: s.o.Kinds}
	switch {
	case s.o.Agent.Tokens+s.o.Agent.Own > 0 && settings.Model == s.o.Model:
		o.Agent = s.o.Agent
	case settings.Model == s.line.agentModel:
		o.Agent = s.line.agent
	}
	w, err := winnow.New(&o)
	if err != nil {
		return nil, s.opError("settings", err, "correct the setting", "%v", err)
	}
	return w, nil
}

// engineState returns what the engine knows of the conversation. The caller holds
// the lock.
func (s *Session) engineState(w *winnow.Winnow) winnow.State {
	s.learnReports(w)
	s.track.Use(s.line.plan, s.line.notLasted)
	s.track.Paused(s.idleTime())
	st := s.track.State()
	for _, i := range sortedKeys(s.line.pins) {
		st.Pins = append(st.Pins, winnow.Pin{Message: i, Part: -1})
	}
	st.Notes = s.line.notes
	return st
}

// idleTime returns how long ago the model spoke last: after a pause the provider's
// cache has lost the conversation.
func (s *Session) idleTime() time.Duration {
	h := s.line.history
	for i := h.Len() - 1; i >= 0; i-- {
		if m := h.At(i); m.Role == chat.Assistant && m.Time > 0 {
			return max(0, s.now().Sub(time.UnixMilli(m.Time)))
		}
	}
	return 0
}

// learnReports tells a fresh track what providers reported in the session, each with the
// plan that it was reported under, so that the numbers after a restart are those
// before it.
func (s *Session) learnReports(w *winnow.Winnow) {
	if s.track.Known() {
		return
	}
	// Few plans are enough: old reports fade.
	from := len(s.line.path)
	for plans := 0; from > 0 && plans < 32; {
		if from--; s.line.carriesPlan(&s.tree, s.line.path[from]) {
			plans++
		}
	}
	req := s.currentRequest()
	p := s.line.plan // of context edits, where no entry carries one
	if s.line.planAt != none {
		p = nil
	}
	for _, node := range s.line.path[from:] {
		if node == s.line.planAt {
			p = s.line.plan
		} else if s.line.carriesPlan(&s.tree, node) {
			p = s.planOf(node)
		}
		i := int(s.line.pos[node])
		if i < 0 || s.line.last[i] != node || !s.hasReport(i) {
			continue
		}
		if v, err := plan.Apply(req.History.Head(i), p); err == nil {
			if step, ok := w.Answered(&req, i, v, w.Settings().Model); ok {
				s.track.Record(step)
			}
		}
	}
}

// hasReport reports whether a message has a report of usage that counts. One that was
// imported counts for nothing: its provider reported on what another client sent,
// which had its own ways of leaving things out, and no entry tells of them.
func (s *Session) hasReport(i int) bool {
	m := s.line.history.At(i)
	if m.Role != chat.Assistant || m.Usage == nil || m.Usage.Prompt() == 0 {
		return false
	}
	return s.line.imported == 0 || RecordTime(s.tree.record(s.line.last[i])).UnixMilli() > s.line.imported
}

// Hear tells the session what a provider reported for a conversation that was
// imported, as [winnow.Winnow.Heard] finds it in the first messages, up to a number of
// them: the importer knows from where on the file tells less than was sent.
func (s *Session) Hear(until int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.engineFor()
	if err != nil {
		return err
	}
	req := s.currentRequest()
	s.track = w.Heard(&req, s.line.model, until)
	return nil
}

// NeedsCompaction measures the conversation as it would be sent now and
// reports whether it should be compacted first. It changes nothing.
func (s *Session) NeedsCompaction() (bool, winnow.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, status, err := s.checkSize()
	return err == nil && status.ShouldCompact && !w.Settings().Disabled, status, err
}

// checkSize measures the conversation. The caller holds the lock.
func (s *Session) checkSize() (*winnow.Winnow, winnow.Status, error) {
	w, err := s.engineFor()
	if err != nil {
		return nil, winnow.Status{}, err
	}
	status, err := w.Check(s.currentRequest(), s.engineState(w))
	return w, status, s.failed("check", err)
}

// SetAuto switches compaction by [Session.Next] and [Session.End] on or off
// while the session is open, whatever the options say.
func (s *Session) SetAuto(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auto = &on
}

func (s *Session) isAuto() bool {
	if s.auto != nil {
		return *s.auto
	}
	if auto := s.o.Live("", "").Auto; auto != nil {
		return *auto
	}
	return !s.o.Manual
}

// Answered adds what the model answered to the last [Session.Next], and learns
// from the usage that its provider reported.
func (s *Session) Answered(ctx context.Context, answer chat.Message, usage chat.Usage) (string, error) {
	if usage != (chat.Usage{}) {
		answer.Usage = &usage
	}
	s.mu.Lock()
	answer.Model = cmp.Or(answer.Model, s.line.model)
	sent, before := s.sent, s.line.history.Len()
	ids, wait, err := s.appendLocked([]chat.Message{answer})
	if err == nil && sent != nil && s.line.history.Len() > before {
		step := *sent
		step.Usage, step.Model = usage, cmp.Or(answer.Model, s.engine.Settings().Model)
		step.Answer = s.engine.Meter().Counter().At(s.line.history, before)
		s.track.Record(step)
	}
	s.mu.Unlock()
	if err == nil {
		err = wait(ctx)
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// Recall returns the original behind a handle of the plan in force.
func (s *Session) Recall(handle string) (plan.Original, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line.plan == nil {
		return plan.Original{}, fmt.Errorf("session: nothing is compacted: %w", plan.ErrNoHandle)
	}
	return plan.Recall(s.line.history, s.line.plan, handle)
}
