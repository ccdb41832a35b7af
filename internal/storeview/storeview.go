// Package storeview is [session.Control] for a page that stays open: sessions are
// read once and then only what is added to them, and every answer that a session
// holds is a request of the timeline, counted here where its provider reported
// nothing, under the plan that was in force there.
package storeview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
)

// Store is a store of sessions, as conversations.
type Store struct {
	control.Source
	store session.Store
	o     *session.Options

	mu   sync.Mutex
	open map[string]*opened
}

// New shows a store. The options are those that sessions are opened with.
func New(store session.Store, o *session.Options) *Store {
	return &Store{Source: session.Control(store, o), store: store, o: o, open: map[string]*opened{}}
}

// opened is a session that somebody looked at, as it was read last.
type opened struct {
	s    *session.Session
	info session.Info

	revision int64
	read     *reading
}

// Close closes the sessions, not the store.
func (v *Store) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs []error
	for _, o := range v.open {
		errs = append(errs, o.s.Close())
	}
	v.open = map[string]*opened{}
	return errors.Join(errs...)
}

// find returns the session with an id or the beginning of one, read up to what
// stands in the store now. The caller holds the lock.
func (v *Store) find(ctx context.Context, id string) (*opened, error) {
	if o := v.open[id]; o != nil {
		if err := o.s.Follow(ctx); err != nil {
			return nil, err
		}
		return o, o.refresh(ctx, v.o)
	}
	infos, err := v.store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	var found []session.Info
	for i := range infos {
		if infos[i].ID == id {
			found = []session.Info{infos[i]}
			break
		}
		if id != "" && strings.HasPrefix(infos[i].ID, id) {
			found = append(found, infos[i])
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%w: %s", control.ErrUnknown, text.Brief(id, 60))
	case len(found) > 1:
		return nil, fmt.Errorf("%w: %s matches more than one; write more of it", control.ErrInvalid, text.Brief(id, 60))
	case found[0].ID != id:
		return v.find(ctx, found[0].ID)
	}
	s, err := session.Open(ctx, v.store, id, v.o)
	if err != nil {
		return nil, err
	}
	o := &opened{s: s, info: found[0]}
	if err := o.refresh(ctx, v.o); err != nil {
		_ = s.Close() // it cannot be shown
		return nil, err
	}
	v.open[id] = o
	return o, nil
}

// refresh reads the session again where something was added to it.
func (o *opened) refresh(ctx context.Context, with *session.Options) error {
	now := int64(o.s.Len())
	if o.read != nil && now == o.revision {
		return nil
	}
	r, err := read(ctx, o.s, with)
	if err != nil {
		return err
	}
	o.read, o.revision = r, now
	return nil
}

// engine is the engine that the session's own settings make.
func engine(o *session.Options, provider, model string) (*winnow.Winnow, error) {
	settings := o.Settings
	if o.Live != nil {
		settings = o.Live(provider, model).Settings
	}
	if settings.Model == "" {
		settings.Model = model
	}
	return winnow.New(&winnow.Options{Settings: settings, Registry: o.Registry, Summarizer: o.Summarizer, Kinds: o.Kinds, Agent: o.Agent})
}

// Conversations implements [control.Source].
func (v *Store) Conversations(ctx context.Context, q control.List) ([]control.Conversation, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	infos, err := v.store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 50
	}
	limit = min(limit, control.MaxListed)
	words := conview.Words(q.Words)
	said := map[string]bool{}
	if len(words) > 0 {
		hits, err := session.Search(ctx, v.store, q.Words, control.MaxListed)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			said[h.Session] = true
		}
	}
	out := []control.Conversation{}
	for i := range infos {
		c := brief(&infos[i])
		if o := v.open[c.ID]; o != nil {
			c = o.conversation()
		}
		if len(words) == 0 || said[c.ID] || conview.Named(&c, words) {
			if out = append(out, c); len(out) == limit {
				break
			}
		}
	}
	return out, nil
}

// brief is what a store knows of a session without reading it.
func brief(i *session.Info) control.Conversation {
	return control.Conversation{
		ID: i.ID, Source: "session", Name: i.Name, Title: i.Title, Folder: i.Dir, Parent: i.Parent,
		Created: i.Time.UTC(), Used: i.Modified.UTC(),
	}
}

func (o *opened) conversation() control.Conversation {
	c, r := brief(&o.info), o.read
	c.Name = o.s.Name()
	if c.Title == "" {
		c.Title = conview.Title(r.request.History)
	}
	c.Model, c.Revision, c.Plan = r.model, o.revision, r.plan.ID()
	c.Messages, c.Pins = r.request.History.Len(), len(r.pins)
	if !r.used.IsZero() {
		c.Used = r.used
	}
	for i := range r.requests {
		c.Totals.Add(&r.requests[i])
	}
	c.Totals.Compactions = len(r.plans)
	if n := len(r.requests); n > 0 {
		last := r.requests[n-1]
		c.Last = &last
	}
	return c
}

// Conversation implements [control.Source].
func (v *Store) Conversation(ctx context.Context, id string) (*control.Detail, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, err := v.find(ctx, id)
	if err != nil {
		return nil, err
	}
	r := o.read
	d := &control.Detail{
		Conversation: o.conversation(), Next: o.next(), Readable: true,
		Requests: []control.Request{}, Plans: append([]control.PlanInfo{}, r.plans...), Pinned: r.pins, Forks: []control.Fork{},
	}
	d.Earlier = max(0, len(r.requests)-control.MaxRequests)
	d.Requests = append(d.Requests, r.requests[d.Earlier:]...)
	return d, nil
}

// next says what is going to happen to the next request, which may be sent under
// another plan than the last one.
func (o *opened) next() control.Next {
	all := o.read.requests
	n := len(all)
	if n == 0 || all[n-1].Plan == o.read.plan.ID() {
		return conview.Next(all)
	}
	_, status, err := o.s.NeedsCompaction()
	if err != nil {
		return control.Next{Do: "unknown", Say: "winnow cannot tell yet when it will be compacted."}
	}
	coming := all[n-1]
	coming.Plan, coming.Tokens = o.read.plan.ID(), status.Count.Tokens
	coming.CompactAt, coming.CompactWhy = status.Due()
	return conview.Next(append(all[:n:n], coming))
}

// watchEvery is how often the store is asked whether another process added
// something.
const watchEvery = time.Second

// Since implements [control.Source].
func (v *Store) Since(ctx context.Context, id string, revision int64) (*control.Change, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		v.mu.Lock()
		o, err := v.find(ctx, id)
		if err == nil && o.revision > revision {
			c := o.since(revision)
			v.mu.Unlock()
			return c, nil
		}
		v.mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

func (o *opened) since(revision int64) *control.Change {
	c := &control.Change{Revision: o.revision, Requests: []control.Request{}, Conversation: o.conversation()}
	for i := range o.read.requests {
		if o.read.requests[i].Revision > revision {
			c.Requests = append(c.Requests, o.read.requests[i])
		}
	}
	if n := len(c.Requests); n > control.MaxRequests {
		c.Requests, c.Missed = c.Requests[n-control.MaxRequests:], true
	}
	return c
}

var (
	_ control.Source     = (*Store)(nil)
	_ control.FileReader = (*Store)(nil)
	_ control.Adviser    = (*Store)(nil)
)
