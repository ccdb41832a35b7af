package loop

import (
	"context"
	"errors"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/session"
)

// quietFrom is the share of the available input above which a turn ends with
// a quiet line about it.
const quietFrom = 0.60

// Levels and consequences of [Fill].
const (
	LevelQuiet   = "quiet"
	LevelWarning = "warning"

	NextCompacts = "compacts"
	NextLater    = "later"
	NextOff      = "off"
	NextStuck    = "stuck"
)

// Measure says how full the window is and what follows from it.
func (d *Driver) Measure() (*Fill, error) {
	due, st, err := d.session.NeedsCompaction()
	if err != nil {
		return nil, err
	}
	f := &Fill{
		Used: st.Count.Tokens, Available: st.Limits.Available, Window: st.Limits.Context,
		Ratio: show.Ratio(st.Count.Tokens, st.Limits.Available), Upper: st.Ratio,
	}
	switch {
	case st.ShouldCompact:
		f.Level, f.Next = LevelWarning, NextCompacts
		switch {
		case !due || !d.isAuto():
			f.Next = NextOff
		case d.stuck.Load():
			f.Next = NextStuck
		}
	case f.Ratio > quietFrom:
		f.Level = LevelQuiet
	}
	return f, nil
}

// finishTurn ends a turn: it says how full the window is, and compacts where that
// is due or was asked for. After a turn that the person cut off it compacts only on
// request, since the rest can wait for the next message. A failure to compact
// leaves the conversation as it was.
func (d *Driver) finishTurn(ctx context.Context, cut bool) error {
	f, err := d.Measure()
	if err == nil {
		if cut && f.Next == NextCompacts {
			f.Next = NextLater
		}
		if !d.told || f.Next != NextStuck {
			d.ui.Event(Event{Kind: Filled, Fill: f})
		}
		d.told = false
	}
	if asked := d.asked.Swap(false); asked || f != nil && f.Next == NextCompacts {
		d.ui.Event(Event{Kind: Compacting, Text: map[bool]string{true: "manual", false: "threshold"}[asked]})
	}
	d.session.SetAuto(d.isAuto() && !cut)
	c, err := d.session.End(ctx)
	switch {
	case ctx.Err() != nil && c == nil:
		return ErrInterrupted
	case errors.Is(err, session.ErrNothing): // only somebody who asked for it is told
		d.note("not compacted: %s", strings.TrimPrefix(problemText(err), "nothing to compact: "))
	case err != nil:
		return err
	case c != nil:
		d.reportCompaction(c)
	case f != nil && f.Next == NextCompacts:
		d.stuck.Store(true)
		d.note("not compacted: nothing can be made smaller now, or a hook called it off")
	case f != nil && f.Level != LevelWarning:
		d.stuck.Store(false)
	}
	return nil
}

// reportCompaction reports a compaction.
func (d *Driver) reportCompaction(c *session.Compacted) {
	d.stuck.Store(false)
	e := Compaction{
		Entry: c.Entry.ID, Before: c.Before.Count.Tokens, After: c.After.Count.Tokens,
		Available: c.Before.Limits.Available, Stages: c.Report.Stages,
	}
	if c.Entry.Compaction != nil {
		e.Reason, e.Focus = c.Entry.Compaction.Reason, c.Entry.Compaction.Focus
	}
	d.ui.Event(Event{Kind: Compacted, Compaction: &e})
}
