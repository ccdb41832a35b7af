package transport

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// asksForSummary reports whether the agent asks for a summary of its own, which will
// stand in the conversation's place.
func (in *incoming) asksForSummary() bool {
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
// it does: a summary of the whole conversation is better than one of its rest.
func (c *conversation) sendWhole(d decision) (decision, bool) {
	s := c.engineState()
	s.Plan = nil
	status, err := c.engine.Check(c.requestToPlan(), s)
	if err != nil || !status.Fits || len(wire.Validate(c.end.Dialect, c.raw)) > 0 {
		return d, false
	}
	view, err := plan.Apply(c.history(), nil)
	if err != nil {
		return d, false
	}
	d.passed = becauseSummary
	d.sent = c.projectView(nil, view, status)
	c.rememberRequest(d.asked)
	return d, true
}
