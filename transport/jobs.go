package transport

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// Jobs has summaries written elsewhere: by any process that shares the store.
// Without, a transport writes its own, in the background.
type Jobs interface {
	// Enqueue has some process call [Transport.Prepare] with this job, at least
	// once. A job that waits already is not added again.
	Enqueue(ctx context.Context, j Job) error

	// Cancel gives up the jobs for a conversation under a plan that is not in force
	// any more, where they have not begun.
	Cancel(ctx context.Context, k planstore.Key, base plan.ID) error
}

// Job is a summary that is to be written for a conversation, which the store
// keeps.
type Job struct {
	Key     planstore.Key `json:"key"`
	Dialect wire.Dialect  `json:"dialect"`
	Host    string        `json:"host"`
	Model   string        `json:"model"`
	Len     int           `json:"len"`
	Chain   chat.Hash     `json:"chain"`
	Base    plan.ID       `json:"base"`

	// Window is the window that the agent works in; zero is the model's own.
	Window model.Window `json:"window"`
}

// ErrMoved says that a job's conversation has moved on, or that the store has
// dropped it: nothing is to be done.
var ErrMoved = errors.New("transport: the conversation has moved on")

// sharedStore returns the store where summaries are prepared by jobs, nil where they
// are prepared here: jobs need the conversation, so it must be kept, and as it
// is.
func (t *Transport) sharedStore() planstore.Preparations {
	if t.opts.Jobs == nil || t.originals == nil || t.opts.Redact != nil || t.opts.Same { // a credential is kept nowhere
		return nil
	}
	shared, _ := t.opts.Store.(planstore.Preparations)
	return shared
}

// enqueueJob has a job prepare a fold for a request's conversation.
func (b *background) enqueueJob(ctx context.Context, in *incoming, p *preparation) error {
	j := Job{Key: in.key, Dialect: in.end.Dialect, Host: in.whose.host, Model: in.whose.model, Len: p.Len, Chain: p.Chain, Base: p.Base, Window: in.whose.agent}
	o := planstore.Original{Len: p.Len, Prefix: p.Chain, Dialect: string(in.end.Dialect), Model: in.whose.model, Body: in.raw}
	if err := b.t.originals.PutOriginal(ctx, in.key, o, chat.Hash{}); err != nil {
		return err
	}
	return b.t.opts.Jobs.Enqueue(ctx, j)
}

// Prepare writes the summary of a job and has the store keep it. It may be
// called again for the same job: what is prepared already is left as it is. The
// error wraps [ErrMoved] where there is nothing to do any more.
func (t *Transport) Prepare(ctx context.Context, j Job) error {
	store := t.sharedStore()
	if store == nil || t.background == nil {
		return errors.New("transport: this process cannot prepare summaries: it needs a summariser, stored conversations and a shared store")
	}
	if _, err := store.Preparation(ctx, j.Key, j.Base); err == nil {
		return nil
	} else if !errors.Is(err, planstore.ErrNotFound) {
		return err
	}
	x, err := t.readOriginals(ctx, j.Key, j.Len, false, func(o *planstore.Original, h chat.History) bool {
		return wire.Dialect(o.Dialect) == j.Dialect && h.Len() == j.Len && h.StartsWith(j.Len, j.Chain)
	})
	if errors.Is(err, control.ErrGone) {
		return fmt.Errorf("it is not kept: %w", ErrMoved)
	}
	if err != nil {
		return err
	}
	base, err := findLongest(ctx, t.opts.Store, j.Key, x.history(), nil, "")
	if err != nil {
		return err
	}
	if base.ID() != j.Base {
		return fmt.Errorf("plan %s is in force: %w", base.ID(), ErrMoved)
	}
	x.whose = endpointModel{j.Key.Tenant, j.Host, j.Model, j.Window}
	if err := t.engines.readLesson(ctx, x.whose); err != nil {
		return err
	}
	c, err := t.resumeRequest(ctx, x, base)
	if err != nil {
		return err
	}
	p := &preparation{Preparation: planstore.Preparation{Len: j.Len, Chain: j.Chain, Base: j.Base}, key: j.Key}
	req, state := c.whatToPrepare()
	t.background.prepareEdits(ctx, p, c.engine, req, state)
	switch p.state {
	case ready, needless:
		return store.PutPrepared(ctx, j.Key, p.Preparation)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.New("transport: no summary was written; the log says why")
}

// takeStored returns what some process has prepared for a history under a plan.
func (b *background) takeStored(ctx context.Context, k planstore.Key, h chat.History, base plan.ID) (p planstore.Preparation) {
	store := b.t.sharedStore()
	if store == nil {
		return p
	}
	p, err := store.Preparation(ctx, k, base)
	if err != nil || !h.StartsWith(p.Len, p.Chain) {
		return planstore.Preparation{} // then the built-in summary is used
	}
	return p
}
