package session

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/recall"
)

// controller is what [Control] returns.
type controller struct {
	recall.Source
	conview.Verbs
	store Store
	o     Options

	mu   sync.Mutex
	open map[string]*opened
}

// Control shows the sessions of a store and acts on them, each as one
// conversation up to its leaf. Options are those that sessions are opened with.
// Every answer that a session holds is a request of its timeline, under the plan
// that was in force there, as its provider reported it and where that is not
// known as it is counted here.
//
// Of actions that come through one controller at once, one succeeds for each
// plan; another process that acts on the same session at the same moment makes a
// branch beside, as always in a session. A list shows of sessions that nobody
// looked at what the store knows without reading them.
//
// Sessions that were looked at stay open until Close, which leaves the store open, and
// what is added to them is read when they are looked at again.
func Control(store Store, o *Options) interface {
	control.Source
	io.Closer
} {
	c := &controller{Source: Recaller(store, RecallOptions{}), store: store, open: make(map[string]*opened)}
	c.Verbs = conview.On(c)
	if o != nil {
		c.o = *o
	}
	c.o.Recover = true
	return c
}

// opened is a session that somebody looked at.
type opened struct {
	s    *Session
	info Info
	turn sync.Mutex // one action at a time

	mu   sync.Mutex
	read *reading
}

// Close closes the sessions that are open.
func (c *controller) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, o := range c.open {
		errs = append(errs, o.s.Close())
	}
	c.open = make(map[string]*opened)
	return errors.Join(errs...)
}

// openByID returns the session with an id, or with the beginning of one, and opens it
// where it is not.
func (c *controller) openByID(ctx context.Context, id string) (*opened, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[id]; o != nil {
		return o, nil
	}
	info, err := c.infoByID(ctx, id)
	if err != nil {
		return nil, err
	}
	if o := c.open[info.ID]; o != nil {
		return o, nil
	}
	s, err := Open(ctx, c.store, info.ID, &c.o)
	if err != nil {
		return nil, err
	}
	o := &opened{s: s, info: info}
	c.open[info.ID] = o
	return o, nil
}

// infoByID returns the session with an id, or with the beginning of one.
func (c *controller) infoByID(ctx context.Context, id string) (Info, error) {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return Info{}, err
	}
	return conview.ByID(infos, id, func(i *Info) string { return i.ID })
}

// currentReading returns a session as it stands in the store, and how it came to that.
func (c *controller) currentReading(ctx context.Context, id string) (*opened, *reading, error) {
	o, err := c.openByID(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if err := o.s.Follow(ctx); err != nil {
		return nil, nil, err
	}
	r, err := o.refresh()
	return o, r, err
}

// refresh reads the session again where something was added to it.
func (o *opened) refresh() (*reading, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := int64(o.s.Len()); o.read == nil || now != o.read.revision {
		r, err := readAlong(o.s)
		if err != nil {
			return nil, err
		}
		r.revision, o.read = now, r
	}
	return o.read, nil
}

// Conversations implements [control.Source].
func (c *controller) Conversations(ctx context.Context, q control.List) ([]control.Conversation, error) {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	limit, words := conview.ListLimit(q), conview.Words(q.Words)
	said := make(map[string]bool)
	if len(words) > 0 {
		hits, err := Search(ctx, c.store, q.Words, control.MaxListed)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		for _, h := range hits { // what cannot be read is passed over; opening it says why
			said[h.Session] = true
		}
	}
	out := []control.Conversation{}
	for i := range infos {
		x := briefConversation(&infos[i])
		c.mu.Lock()
		o := c.open[x.ID]
		c.mu.Unlock()
		if o != nil {
			o.mu.Lock()
			r := o.read
			o.mu.Unlock()
			if r != nil {
				x = o.story(r).Conversation()
			}
		}
		if len(words) == 0 || said[x.ID] || conview.Named(&x, words) {
			if out = append(out, x); len(out) == limit {
				break
			}
		}
	}
	return out, nil
}

// briefConversation returns what a store knows of a session without reading it.
func briefConversation(i *Info) control.Conversation {
	return control.Conversation{
		ID: i.ID, Source: "session", Name: i.Name, Title: i.Title, Folder: i.Dir, Parent: i.Parent,
		Created: i.Time.UTC(), Used: i.Modified.UTC(),
	}
}

// story tells how a session came to stand as it was read.
func (o *opened) story(r *reading) *conview.Story {
	c := briefConversation(&o.info)
	c.Name = o.s.Name()
	if c.Title == "" {
		c.Title = conview.Title(r.request.History)
	}
	c.Model, c.Revision, c.Plan, c.Messages = r.model, r.revision, r.plan.ID(), r.request.History.Len()
	if !r.used.IsZero() {
		c.Used = r.used
	}
	return &conview.Story{About: c, Requests: r.requests, Plans: r.plans, Pins: r.pins, Notes: o.s.Noted()}
}

// Conversation implements [control.Source].
func (c *controller) Conversation(ctx context.Context, id string) (*control.Detail, error) {
	o, r, err := c.currentReading(ctx, id)
	if err != nil {
		return nil, err
	}
	d := o.story(r).Detail(conview.Next(r.requests, r.plan.ID(), func() (winnow.Status, error) {
		_, status, err := o.s.NeedsCompaction()
		return status, err
	}))
	infos, err := c.store.List(ctx, 0, 0)
	for i := range infos {
		if infos[i].Parent == d.ID {
			d.Forks = append(d.Forks, control.Fork{ID: infos[i].ID})
		}
	}
	return d, err
}

// watchEvery is how often the store is asked whether another process added
// something.
const watchEvery = time.Second

// Since implements [control.Source].
func (c *controller) Since(ctx context.Context, id string, revision int64) (*control.Change, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		o, r, err := c.currentReading(ctx, id)
		if err != nil {
			return nil, err
		}
		if r.revision != revision {
			return o.story(r).Since(revision), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
