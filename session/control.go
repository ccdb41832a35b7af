package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/token"
)

// Control shows the sessions of a store and acts on them, each as one
// conversation up to its leaf. Options are those that sessions are opened with.
// Of actions that come through one of these at once, one succeeds for each plan;
// another process that acts on the same session at the same moment makes a branch
// beside, as always in a session.
func Control(store Store, o *Options) control.Source {
	c := &controller{Source: Recaller(store, RecallOptions{}), store: store}
	if o != nil {
		c.o = *o
	}
	return c
}

type controller struct {
	recall.Source
	store Store
	o     Options
	turns [64]sync.Mutex // of sessions, by their ids
}

func (c *controller) turn(id string) *sync.Mutex {
	n := 0
	for i := range id {
		n = n*31 + int(id[i])
	}
	return &c.turns[uint(n)%uint(len(c.turns))]
}

// open opens a session by its id, or by the beginning of it. It must be closed.
func (c *controller) open(ctx context.Context, id string) (*Session, Info, error) {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return nil, Info{}, err
	}
	var found []Info
	for i := range infos {
		if infos[i].ID == id {
			found = infos[i : i+1]
			break
		}
		if id != "" && strings.HasPrefix(infos[i].ID, id) {
			found = append(found, infos[i])
		}
	}
	switch len(found) {
	case 0:
		return nil, Info{}, fmt.Errorf("%w: session %s", control.ErrUnknown, id)
	case 1:
	default:
		return nil, Info{}, fmt.Errorf("%w: %s matches more than one session; write more of it", control.ErrInvalid, id)
	}
	o := c.o
	o.Recover = true
	s, err := Open(ctx, c.store, found[0].ID, &o)
	return s, found[0], err
}

// Conversations implements [control.Source].
func (c *controller) Conversations(ctx context.Context, q control.List) ([]control.Conversation, error) {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 50
	}
	words := conview.Words(q.Words)
	out := []control.Conversation{}
	for i := range infos {
		if len(out) == min(limit, control.MaxListed) {
			break
		}
		brief := control.Conversation{ID: infos[i].ID, Name: infos[i].Name, Title: infos[i].Title, Folder: infos[i].Dir, Parent: infos[i].Parent}
		s, info, err := c.open(ctx, infos[i].ID)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // one that cannot be read is not shown; opening it says why
		}
		x, err := s.shown(info)
		if err == nil && (len(words) == 0 || conview.Named(&brief, words) || conview.Has(s.line.history, words)) {
			out = append(out, x.Conversation)
		}
		_ = s.Close() // it was only read
	}
	return out, nil
}

// shown is the session as a conversation.
func (s *Session) shown(info Info) (*control.Detail, error) {
	st, err := s.Stats()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.engineFor()
	if err != nil {
		return nil, err
	}
	d := &control.Detail{Readable: true, Pinned: []control.Pin{}, Forks: []control.Fork{}, Requests: []control.Request{}}
	d.Conversation = control.Conversation{
		ID: s.id, Parent: info.Parent, Source: "session", Name: st.Name, Title: info.Title, Folder: info.Dir, Model: st.Model,
		Created: info.Time.UTC(), Used: info.Modified.UTC(), Revision: int64(len(s.tree.nodes)), Plan: s.line.plan.ID(), Messages: st.Messages, Pins: st.Pins,
	}
	if d.Title == "" {
		d.Title = conview.Title(s.line.history)
	}
	for _, at := range sorted(s.line.pins) {
		d.Pinned = append(d.Pinned, control.Pin{Message: at, Part: -1})
	}
	d.Plans = s.settled()
	req := s.request()
	prices := w.Model().Prices
	for i, m := range s.line.history.All() {
		if m.Usage == nil || m.Usage.Prompt() <= 0 {
			continue
		}
		r := control.Request{N: d.Totals.Requests + 1, Model: m.Model, Messages: i, Tokens: m.Usage.Prompt(), Method: token.Anchored, Time: time.UnixMilli(m.Time).UTC()}
		var p *plan.Plan
		for k := range d.Plans {
			if q := s.planBy(d.Plans[k].ID); q != nil && d.Plans[k].Messages <= i {
				p = q
			}
		}
		head := s.line.history.Head(i)
		if !p.Covers(head) {
			p = nil
		}
		v, err := plan.Apply(head, p)
		if err != nil {
			return nil, err
		}
		whole, err := plan.Apply(head, nil)
		if err != nil {
			return nil, err
		}
		r.Sent, r.Plan = v.Len(), p.ID()
		raw := w.Meter().Kinds(&req, v)
		r.Kinds = raw.Scaled(r.Tokens)
		if sum := raw.Sum(); p != nil && sum > 0 {
			r.Saved = (w.Meter().Measure(whole).Tokens - w.Meter().Measure(v).Tokens) * r.Tokens / sum
		}
		limits := w.Limits(req.Output)
		r.Window, r.Available = limits.Context, limits.Available
		r.CompactAt, r.CompactWhy = st.Status.Due()
		var u control.Usage
		u.Add(*m.Usage)
		r.Usage, r.CacheShare = &u, u.CacheShare()
		if prices.Known() {
			dollars := prices.Cost(*m.Usage)
			r.Dollars = &dollars
		}
		d.Totals.Add(&r)
		r.Revision = int64(r.N)
		d.Requests = append(d.Requests, r)
	}
	d.Totals.Compactions = len(d.Plans)
	if n := len(d.Requests); n > 0 {
		last := d.Requests[n-1]
		d.Last = &last
		d.Earlier = max(0, n-control.MaxRequests)
		d.Requests = d.Requests[d.Earlier:]
	}
	now := d.Requests
	now = append(slices.Clone(now), control.Request{Plan: s.line.plan.ID(), Tokens: st.Tokens, CompactAt: due(st.Status), CompactWhy: why(st.Status)})
	d.Next = conview.Next(now)
	return d, nil
}

func due(s budget.Status) int { n, _ := s.Due(); return n }

func why(s budget.Status) string { _, w := s.Due(); return w }

// settled lists the compactions on the path as plans. The caller holds the lock.
func (s *Session) settled() []control.PlanInfo {
	out := []control.PlanInfo{}
	rewound := make(map[string]bool)
	var was plan.ID
	for _, i := range s.line.path {
		if s.tree.nodes[i].kind != TypeCompaction {
			continue
		}
		e := parseEntry(s.tree.nodes[i].raw)
		x := e.Compaction
		if x == nil {
			continue
		}
		info := control.PlanInfo{
			ID: x.Plan.ID(), Parent: was, Time: e.Time.UTC(), By: "request", Why: x.Reason, Focus: x.Focus,
			Before: x.TokensBefore, After: x.TokensAfter, Saved: x.TokensBefore - x.TokensAfter,
		}
		if x.Plan != nil {
			info.Messages, info.Edits = x.Plan.Len, len(x.Plan.Edits)
		}
		switch {
		case x.Rewinds != "":
			info.By = "undo"
			rewound[x.Rewinds] = true
		case x.Reason == reasonManual:
			info.By = "compact"
		}
		out = append(out, info)
		was = info.ID
	}
	n := 0
	for _, i := range s.line.path {
		if s.tree.nodes[i].kind == TypeCompaction && n < len(out) {
			out[n].Undone = rewound[s.tree.nodes[i].id]
			out[n].InForce = out[n].ID != "" && out[n].ID == s.line.plan.ID()
			n++
		}
	}
	return out
}

// planBy returns a plan on the path by its id. The caller holds the lock.
func (s *Session) planBy(id plan.ID) *plan.Plan {
	if id == "" {
		return nil
	}
	if s.line.plan.ID() == id {
		return s.line.plan
	}
	for _, i := range s.line.path {
		if s.tree.nodes[i].kind != TypeCompaction {
			continue
		}
		if e := parseEntry(s.tree.nodes[i].raw); e.Compaction != nil && e.Compaction.Plan.ID() == id {
			return e.Compaction.Plan
		}
	}
	return nil
}

// Conversation implements [control.Source].
func (c *controller) Conversation(ctx context.Context, id string) (*control.Detail, error) {
	s, info, err := c.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	d, err := s.shown(info)
	if err != nil {
		return nil, err
	}
	infos, err := c.store.List(ctx, 0, 0)
	for i := range infos {
		if infos[i].Parent == d.ID {
			d.Forks = append(d.Forks, control.Fork{ID: infos[i].ID})
		}
	}
	return d, err
}

// Since implements [control.Source].
func (c *controller) Since(ctx context.Context, id string, revision int64) (*control.Change, error) {
	for {
		d, err := c.Conversation(ctx, id)
		if err != nil {
			return nil, err
		}
		if d.Revision != revision {
			ch := &control.Change{Revision: d.Revision, Requests: []control.Request{}, Conversation: d.Conversation, Missed: true}
			return ch, nil
		}
		timer := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// Messages implements [control.Source].
func (c *controller) Messages(ctx context.Context, id string, from, limit int) (*control.Messages, error) {
	s, info, err := c.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	d, err := s.shown(info)
	if err != nil {
		return nil, err
	}
	w, err := s.engineFor()
	if err != nil {
		return nil, err
	}
	return conview.Messages(s.line.history, s.line.plan, d.Pinned, w.Meter(), from, limit), nil
}

// Files implements [control.Source].
func (c *controller) Files(ctx context.Context, id string) (*control.Files, error) {
	s, _, err := c.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	v, err := plan.Apply(s.line.history, s.line.plan)
	if err != nil {
		return nil, err
	}
	return conview.Files(v, nil), nil
}

// Find implements [control.Source].
func (c *controller) Find(ctx context.Context, id string, q recall.Query) (recall.Results, error) {
	s, _, err := c.open(ctx, id)
	if err != nil {
		return recall.Results{}, err
	}
	defer s.Close()
	at := whereOf(s.id)
	return recall.Limited(recall.Hidden(s.line.history, s.line.plan, q.Words, at), at, q), nil
}

// with runs something on the session that has a plan. Sessions are looked at in
// the order in which they were used.
func (c *controller) with(ctx context.Context, id plan.ID, do func(*Session, *plan.Plan) error) error {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return err
	}
	for i := range infos {
		s, _, err := c.open(ctx, infos[i].ID)
		if err != nil {
			continue
		}
		if p := s.planBy(id); p != nil {
			defer s.Close()
			return do(s, p)
		}
		_ = s.Close() // it was only read
	}
	return fmt.Errorf("%w: plan %s", control.ErrUnknown, id)
}

// Plan implements [control.Source].
func (c *controller) Plan(ctx context.Context, id plan.ID) (out *plan.Plan, err error) {
	err = c.with(ctx, id, func(_ *Session, p *plan.Plan) error { out = p; return nil })
	return out, err
}

// Report implements [control.Source].
func (c *controller) Report(ctx context.Context, id plan.ID) (out plan.Report, err error) {
	err = c.with(ctx, id, func(s *Session, p *plan.Plan) error {
		w, status, err := s.check()
		if err != nil {
			return err
		}
		v, err := plan.Apply(s.line.history, p)
		if err != nil {
			return err
		}
		out = w.Report(s.request(), v)
		out.Scale(status.Scale)
		return nil
	})
	return out, err
}

// Patch implements [control.Source].
func (c *controller) Patch(ctx context.Context, id plan.ID) (out *control.Patch, err error) {
	err = c.with(ctx, id, func(s *Session, p *plan.Plan) error {
		w, status, err := s.check()
		if err != nil {
			return err
		}
		v, err := plan.Apply(s.line.history, p)
		if err != nil {
			return err
		}
		var pins []control.Pin
		for _, at := range sorted(s.line.pins) {
			pins = append(pins, control.Pin{Message: at, Part: -1})
		}
		req := s.request()
		out = conview.Patch(&req, v, pins, w.Meter(), status.Scale)
		return nil
	})
	return out, err
}

// Locate implements [control.Steering].
func (c *controller) Locate(ctx context.Context, handle string) (*control.Place, error) {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	for i := range infos {
		s, _, err := c.open(ctx, infos[i].ID)
		if err != nil {
			continue
		}
		p := s.line.plan
		_ = s.Close() // it was only read
		if !hasHandle(p, handle) {
			continue
		}
		e := p.Edits[slices.IndexFunc(p.Edits, func(e plan.Edit) bool { return e.Handle == handle })]
		return &control.Place{Conversation: infos[i].ID, From: e.From, To: e.To, Part: e.Part}, nil
	}
	return nil, fmt.Errorf("%w: nothing is hidden behind %s now", control.ErrUnknown, handle)
}
