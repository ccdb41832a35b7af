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
func (c *call) summarises() bool {
	if c.end.Compacting {
		return true
	}
	h := c.body.Request().History
	return slices.ContainsFunc(h.At(h.Len()-1).Parts, func(p chat.Part) bool {
		_, asks := table.AsksSummary(p.Text)
		return p.Kind == chat.Text && asks || p.Kind == chat.Opaque && p.Name == "compaction_trigger"
	})
}

// asItCame sends the request without a plan if it fits so, and reports whether
// it does: a summary of all that was said is better than one of what was left.
func (c *call) asItCame() bool {
	s := c.state()
	s.Plan = nil
	status, err := c.engine.Check(c.request(), s)
	if err != nil || !status.Fits || len(wire.Validate(c.end.Dialect, c.raw)) > 0 {
		return false
	}
	view, err := plan.Apply(c.body.Request().History, nil)
	if err != nil {
		return false
	}
	c.passed = PassedSummary
	c.out = c.raw
	c.sent = c.project(nil, view, status)
	c.remember()
	return true
}
