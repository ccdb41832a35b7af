package transport

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// action is something that is done to a conversation at rest.
type action struct {
	*conversation
	s   *controller
	req chat.Request
	now winnow.State
	was winnow.Status
}

// beginAction reads what an action is about. Whether its base is in force is decided
// when it is written; looking before saves the work.
func (s *controller) beginAction(ctx context.Context, id string, base plan.ID) (*action, error) {
	c, err := s.findResting(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.conv.Plan != base {
		return nil, &control.ConflictError{Base: base, InForce: c.conv.Plan}
	}
	if c.base.ID() != base {
		// The request that is at hand is older than the plan, or the store has
		// forgotten it.
		return nil, goneError()
	}
	a := &action{conversation: c, s: s, req: c.body.Request(), now: c.restingState()}
	a.was, err = c.engine.Check(a.req, a.now)
	return a, err
}

// finish writes what was decided, a plan, a pin or what is to be undone later, and says
// what that did.
func (a *action) finish(ctx context.Context, p *plan.Plan, info control.PlanInfo, pin *planstore.Pin, say string) (*control.Done, error) {
	if err := a.act(p, info, pin); err != nil {
		return nil, err
	}
	a.t.records.wakeWaiters()
	a.t.opts.Log.Info("a conversation was acted on", "what", info.By, "conversation", a.conv.ID, "plan", string(p.ID()))
	c, err := a.s.findSeen(ctx, a.conv.ID)
	if err != nil {
		return nil, err
	}
	return &control.Done{Plan: c.Plan, Before: info.Before, After: info.After, Say: say, Conversation: c.listed()}, nil
}

// act puts a plan in force in place of the one that is, or keeps a pin, or what is to
// be undone.
func (c *conversation) act(p *plan.Plan, info control.PlanInfo, pin *planstore.Pin) error {
	was := c.base.ID()
	info = conview.DescribePlan(info, p)
	info.Parent, info.Request = was, c.conv.Totals.Requests+1
	if err := c.t.opts.Store.Act(c.ctx(), c.conv.Conversation, was, p, info, pin); err != nil || p == nil {
		return err
	}
	c.t.tally(func(s *Stats) { s.Plans++ })
	c.t.background.dropOutdated(c.key, c.history(), was)
	c.base, c.conv.Plan, c.conv.Waiting = p, p.ID(), ""
	return nil
}

// Compact implements [control.Source].
func (s *controller) Compact(ctx context.Context, id string, ask control.Compact) (*control.Done, error) {
	a, err := s.beginAction(ctx, id, ask.Plan)
	if err != nil {
		return nil, err
	}
	st := a.now
	if st.Plan != nil { // so that it can be taken back whole
		if p, err := s.t.linkPlan(ctx, a.key.Tenant, st.Plan); err == nil {
			st.Plan = p
		}
	}
	r, err := conview.Compact(ctx, a.engine, a.req, st, ask)
	if err != nil {
		return nil, err
	}
	if err := a.redactPlan(a.req, st, &r); err != nil {
		return nil, err
	}
	if _, err := a.encodeView(r.View); err != nil {
		return nil, fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	info := control.PlanInfo{By: "compact", Why: "it was asked for", Focus: ask.Focus, Before: r.Before.Count.Tokens, After: r.After.Count.Tokens}
	done, err := a.finish(ctx, r.Plan, info, nil, conview.Went("Compacted", info.Before, info.After))
	if err == nil {
		a.keepOriginal(st.Plan)
	}
	return done, err
}

// Undo implements [control.Source].
func (s *controller) Undo(ctx context.Context, id string, ask control.Undo) (*control.Done, error) {
	a, err := s.beginAction(ctx, id, ask.Plan)
	if err != nil {
		return nil, err
	}
	if a.base == nil || len(a.base.Edits) == 0 {
		return nil, fmt.Errorf("%w: there is no plan in force to undo", control.ErrNothing)
	}
	p, err := s.t.linkPlan(ctx, a.key.Tenant, a.base)
	if err != nil {
		return nil, fmt.Errorf("%w: the plans before plan %s are no longer stored", control.ErrGone, a.base.ID())
	}
	of := ask.Undo
	if of == "" {
		if of, err = s.newestUndoable(ctx, a, p); err != nil {
			return nil, err
		}
	}
	q, err := conview.Undo(p, of, &a.req)
	if err != nil {
		return nil, err
	}
	view, err := plan.Apply(a.req.History, q)
	if err != nil {
		return nil, err
	}
	if _, err := a.encodeView(view); err != nil {
		if !a.req.Rules.LeadThinking || chat.OpenLoop(a.req.History) < 0 { // else thinking in the turn under way must stay
			return nil, fmt.Errorf("%w: %w", control.ErrInvalid, err)
		}
		n := a.was.Count.Tokens
		return a.finish(ctx, nil, control.PlanInfo{By: "undo", Undid: of, Before: n, After: n}, nil,
			"It will be undone when this turn is over: until then, thinking in this turn depends on what was sent.")
	}
	st := a.now
	st.Plan = q
	after, err := a.engine.Check(a.req, st)
	if err != nil {
		return nil, err
	}
	info := control.PlanInfo{By: "undo", Why: "plan " + string(of) + " was taken back", Undid: of, Before: a.was.Count.Tokens, After: after.Count.Tokens}
	say := conview.Went("Undone", info.Before, info.After)
	if !after.Fits {
		say += " That does not fit, so the next request will be compacted again; pin what must stay."
	}
	return a.finish(ctx, q, info, nil, say)
}

// takeBack takes a plan back that somebody wanted gone while that could not be.
func (c *conversation) takeBack() error {
	of := c.conv.Waiting
	if of == "" || !c.conv.known || c.conv.behind || c.base == nil || c.base.ID() != c.conv.Plan {
		return nil
	}
	return c.undoPlan(of, "plan "+string(of)+" was taken back")
}

// undoPlan takes what one plan did out of the plan in force, where that can be.
func (c *conversation) undoPlan(of plan.ID, why string) error {
	req := c.body.Request()
	p, err := c.t.linkPlan(c.ctx(), c.key.Tenant, c.base)
	if err != nil {
		return err
	}
	q, err := plan.Undo(p, of, req.History, req.Rules)
	if err != nil {
		return nil //nolint:nilerr // nothing of it is left to take back
	}
	view, err := plan.Apply(req.History, q)
	if err != nil {
		return err
	}
	if _, err := c.encodeView(view); err != nil {
		return nil //nolint:nilerr // not yet
	}
	st := c.engineState()
	was, err := c.engine.Check(req, st)
	if err != nil {
		return err
	}
	st.Plan = q
	now, err := c.engine.Check(req, st)
	if err != nil {
		return err
	}
	return c.act(q, control.PlanInfo{By: "undo", Why: why, Undid: of, Before: was.Count.Tokens, After: now.Count.Tokens}, nil)
}

// newestUndoable returns the plan that an undo means which names none: the last one that
// came into force and of which something is left. The plan in force may hold only
// what others made, after an undo.
func (s *controller) newestUndoable(ctx context.Context, a *action, p *plan.Plan) (plan.ID, error) {
	all, err := s.t.opts.Store.Settled(ctx, a.conv.Key.Tenant, a.conv.ID)
	if err != nil {
		return "", err
	}
	makers := p.Makers()
	for _, x := range slices.Backward(all) {
		if slices.Contains(makers, x.ID) {
			return x.ID, nil
		}
	}
	if len(makers) > 0 { // that of a conversation that this one branched off from
		return makers[len(makers)-1], nil
	}
	return p.ID(), nil
}

// Mark implements [conview.Backend].
func (s *controller) Mark(ctx context.Context, id string, m control.Mark, on bool) (*control.Done, error) {
	a, err := s.beginAction(ctx, id, m.Plan)
	if err != nil {
		return nil, err
	}
	at, err := s.momentOf(ctx, a.conversation)
	if err != nil {
		return nil, err
	}
	say, err := conview.CheckMark(at, m, on)
	if err != nil {
		return nil, err
	}
	pin := &planstore.Pin{Conversation: a.conv.ID, Len: m.Message + 1, Chain: a.req.History.Chain(m.Message + 1), Part: m.Part, On: on}
	n := a.was.Count.Tokens
	return a.finish(ctx, nil, control.PlanInfo{By: "pin", Before: n, After: n}, pin, say)
}

// Note implements [control.Steering].
func (s *controller) Note(ctx context.Context, id string, w control.Write) (*control.Done, error) {
	a, err := s.beginAction(ctx, id, w.Plan)
	if err != nil {
		return nil, err
	}
	h := a.req.History
	c, err := conview.CheckNote(a.notes, w, h.Len(), s.t.opts.Now())
	if err != nil {
		return nil, err
	}
	at := func(n *control.Note) *planstore.Pin {
		return &planstore.Pin{Conversation: a.conv.ID, Len: n.Message, Chain: h.Chain(n.Message), Part: planstore.NotePart(n.ID)}
	}
	n := a.was.Count.Tokens
	info := control.PlanInfo{By: "note", Before: n, After: n}
	if c.Gone != nil {
		done, err := a.finish(ctx, nil, info, at(c.Gone), c.Say)
		if err != nil || c.Added == nil {
			return done, err
		}
	}
	pin := at(c.Added)
	pin.On, pin.Note, pin.Noted = true, c.Added.Text, c.Added.Time.UnixMilli()
	return a.finish(ctx, nil, info, pin, c.Say)
}

// Delete implements [control.Source].
func (s *controller) Delete(ctx context.Context, id string) ([]string, error) {
	c, err := s.conversationByID(ctx, id)
	if err != nil {
		return nil, err
	}
	leaves, _, err := s.t.opts.Store.Leaves(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	if err := s.t.forgetKey(ctx, c.Key); err != nil {
		return nil, err
	}
	var ids []string
	for i := range leaves {
		ids = append(ids, leaves[i].ID)
	}
	s.t.records.wakeWaiters()
	return ids, nil
}
