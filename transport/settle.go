package transport

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// Several transports may use one store, and may plan the same messages at the
// same moment. The first plan in the store is in force, and all of them send its
// bytes. A plan is replaced only by a transport that knows it, because it sent a
// request under it that was refused.

// settlePlan stores a plan that was made for this request. It returns the plan that
// is in force then: this one, or that of a writer who was faster.
func (c *conversation) settlePlan(p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	info.By, info.Request = "request", c.conv.Totals.Requests+1
	var won *plan.Plan
	err := c.retryStore(func() (err error) {
		won, err = c.t.opts.Store.Settle(c.ctx(), c.conv.Conversation, c.history(), c.base.ID(), p, info)
		return err
	})
	if err == nil {
		c.conv.Plan = won.ID()
	}
	return won, err
}

// settledBy says why a plan was made, from what the caller asked of the engine.
func settledBy(ask winnow.Ask, r *winnow.Result) control.PlanInfo {
	info := conview.DescribePlan(control.PlanInfo{Before: r.Before.Count.Tokens, After: r.After.Count.Tokens}, r.Plan)
	switch due, why := r.Before.Due(); {
	case ask.Limit > 0:
		info.Why = "the provider called the request too long"
	case ask.Refused:
		info.Why = "the provider refused thinking"
	case len(r.Before.Over) > 0:
		info.Why = "it did not fit: too many " + strings.Join(r.Before.Over, ", ")
	case r.Before.Count.Tokens > due:
		info.Why = why
	default:
		info.Why = "on what was not sent yet"
	}
	return info
}

// maxLost is how often a call makes a plan of its own for nothing.
const maxLost = 2

// yieldToPlan sends the request under the plan of another writer. Where that plan is
// not what the request needs, a plan that extends it replaces it.
func (c *conversation) yieldToPlan(d decision, s winnow.State, inForce *plan.Plan) (decision, error) {
	c.adoptPlan(inForce)
	if c.lost >= maxLost {
		return d, &failure{"store", fmt.Errorf("other writers were faster %d times; the plan in force is %s", c.lost, inForce.ID())}
	}
	s.Plan = inForce
	if (s.Limit > 0 || s.Force) && c.planServes(d, s) {
		s.Limit, s.Force = 0, false
	}
	return c.fitUnderPlan(d, s)
}

// adoptPlan lets another writer's plan be the one in force.
func (c *conversation) adoptPlan(inForce *plan.Plan) {
	c.lost++
	c.t.tally(func(s *Stats) { s.Conflicts++ })
	c.t.opts.Log.Info("another writer made a plan for the same messages first; that one is used", "plan", string(inForce.ID()),
		"dialect", string(c.end.Dialect), "model", c.whose.model, "messages", inForce.Len)
	c.t.background.dropOutdated(c.key, c.history(), c.base.ID())
	c.base = inForce
}

// planServes reports whether the plan in force is small enough for a request that
// was refused: within the limit, and smaller than the refused request.
func (c *conversation) planServes(d decision, s winnow.State) bool {
	status, err := c.engine.Check(c.requestToPlan(), s)
	if err != nil || !status.Fits {
		return false
	}
	view, err := plan.Apply(c.history(), s.Plan)
	if err != nil {
		return false
	}
	out, err := c.encodeView(view)
	return err == nil && len(out) < len(d.out)
}
