package transport

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// historyOf returns the messages that a plan applies to, and the plan as it applies
// there. The error wraps [control.ErrGone].
func (t *Transport) historyOf(ctx context.Context, k planstore.Kept) (*plan.Plan, chat.History, error) {
	if k.Key.Tenant == planstore.Files {
		h, err := planstore.FileOf(ctx, t.opts.Store, k.Key, k.Plan)
		if errors.Is(err, planstore.ErrNotFound) {
			err = goneError()
		}
		return k.Plan, h, err
	}
	p, x, err := t.requestOf(ctx, k)
	if err != nil {
		return nil, chat.History{}, err
	}
	return p, x.history(), nil
}

// requestOf returns a request that a plan applies to, and the plan as it applies
// there. The error wraps [control.ErrGone].
func (t *Transport) requestOf(ctx context.Context, k planstore.Kept) (*plan.Plan, *recent, error) {
	for _, x := range t.memory.listRequests(k.Key.Tenant) {
		if k.Plan.Covers(x.history()) {
			return k.Plan, x, nil
		}
	}
	var p *plan.Plan
	x, err := t.readOriginals(ctx, k.Key, k.Plan.Len, false, func(o *planstore.Original, h chat.History) bool {
		p = planOver(o, h, k.Plan)
		return p != nil
	})
	return p, x, err
}

// readOriginals returns the shortest of the stored conversations under a key that is
// wanted, or the longest, as a request that was seen. The error wraps
// [control.ErrGone].
func (t *Transport) readOriginals(ctx context.Context, k planstore.Key, atLeast int, longest bool, wanted func(*planstore.Original, chat.History) bool) (*recent, error) {
	if t.originals == nil {
		return nil, goneError()
	}
	all, err := t.originals.Originals(ctx, k, atLeast)
	if err != nil {
		return nil, err
	}
	if longest {
		slices.Reverse(all)
	}
	for i := range all {
		o := &all[i]
		body, err := wire.Parse(wire.Dialect(o.Dialect), o.Body)
		if err == nil && wanted(o, body.Request().History) {
			return &recent{said: said{body, endpointModel{tenant: k.Tenant, model: o.Model}, k}}, nil
		}
	}
	return nil, goneError()
}

// forgetKey forgets the conversations under a key.
func (t *Transport) forgetKey(ctx context.Context, k planstore.Key) error {
	t.records.wait()
	// From memory too, and from there first: a caller at the same time must not
	// find there what is gone from the store.
	t.memory.forget(k)
	t.offered.forget(k)
	if t.background != nil {
		t.background.dropWhere(func(p *preparation) bool { return p.key == k })
	}
	_, _, err := t.opts.Store.Remove(ctx, k)
	return err
}

// keepOriginal stores the conversation that a plan was made for, where that is
// allowed. It contains the conversation of the plan before.
func (in *incoming) keepOriginal(was *plan.Plan) {
	if in.t.originals == nil {
		return
	}
	h := in.history()
	var before chat.Hash
	if was != nil {
		before = was.Prefix
	}
	body := in.raw
	if in.t.opts.Redact != nil {
		// One without secrets has other hashes, which do not show that the
		// conversation before is part of it: then that stays.
		if body = in.t.opts.Redact.Record(in.raw); !bytes.Equal(body, in.raw) {
			before = chat.Hash{}
		}
	}
	o := planstore.Original{Len: h.Len(), Prefix: h.Chain(h.Len()), Dialect: string(in.end.Dialect), Model: in.whose.model, Body: body}
	if err := in.t.originals.PutOriginal(in.ctx(), in.key, o, before); err != nil {
		in.t.tally(func(s *Stats) { s.StoreFails++ })
		in.t.opts.Log.Warn("a conversation could not be stored for recall", "why", briefError(err))
	}
}
