package transport

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// summarises reports whether the agent asks for a summary of its own, which will
// stand in the conversation's place.
func (in *incoming) summarises() bool {
	if in.end.Compacting {
		return true
	}
	h := in.history()
	return slices.ContainsFunc(h.At(h.Len()-1).Parts, func(p chat.Part) bool {
		_, asks := table.AsksSummary(p.Text)
		return p.Kind == chat.Text && asks || p.Kind == chat.Opaque && p.Name == "compaction_trigger"
	})
}

// sendWhole sends the request without a plan if it fits so, and reports whether
// it does: a summary of all that was said is better than one of what was left.
func (c *conversation) sendWhole(d decision) (decision, bool) {
	s := c.state()
	s.Plan = nil
	status, err := c.engine.Check(c.request(), s)
	if err != nil || !status.Fits || len(wire.Validate(c.end.Dialect, c.raw)) > 0 {
		return d, false
	}
	view, err := plan.Apply(c.history(), nil)
	if err != nil {
		return d, false
	}
	d.kind, d.passed = measured, becauseSummary
	d.sent = c.project(nil, view, status)
	c.remember(d.asked)
	return d, true
}
