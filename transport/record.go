package transport

import (
	"context"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// What became of a request is recorded when its answer has ended, by a worker
// that runs while there is something to record: nobody waits for it. Whoever
// reads records waits until there is nothing left.

// recorder writes into the book what became of requests.
type recorder struct {
	mu      sync.Mutex
	queue   []func()
	running bool
	idle    chan struct{} // closed when the worker ends; nil when none runs

	// changed is closed when something was recorded or done, and made anew.
	changed chan struct{}
}

// maxQueued is how many requests may wait to be recorded; more are not.
const maxQueued = 4096

// add has something recorded.
func (r *recorder) add(work func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) >= maxQueued {
		return
	}
	r.queue = append(r.queue, work)
	if !r.running {
		r.running, r.idle = true, make(chan struct{})
		go r.run()
	}
}

func (r *recorder) run() {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.running = false
			close(r.idle)
			r.mu.Unlock()
			return
		}
		work := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		work()
		r.told()
	}
}

// wait returns when all is recorded that was added before.
func (r *recorder) wait(ctx context.Context) {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// told wakes those who wait for a change.
func (r *recorder) told() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// next returns a channel that is closed at the next change.
func (r *recorder) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// began keeps a conversation that is new, so that requests which follow at once
// are told apart from it.
func (c *call) began() {
	if c.conv.known || c.end.Counting {
		return
	}
	h := c.body.Request().History
	c.conv.Len, c.conv.Chain = h.Len(), h.Chain(h.Len())
	c.conv.Dialect, c.conv.Model = string(c.end.Dialect), c.model
	c.conv.Label, c.conv.Folder = c.t.opts.Label, c.t.opts.Folder
	if err := c.t.book.Note(c.ctx(), c.conv.Conversation, nil, linksOf(h, 0)); err != nil {
		c.t.count.storeFails.Add(1)
	}
}

// record notes what became of the request.
func (c *call) record() {
	if c.body == nil || c.end.Counting || c.conv.ID == "" || c.sent.view.Len() == 0 {
		return
	}
	leaf, h := c.conv.Conversation, c.sent.view.History()
	links := planstore.Links{From: h.Len()}
	if !c.conv.behind {
		from := leaf.Len
		if !c.conv.known {
			from = 0
		}
		links = linksOf(h, from)
		leaf.Len, leaf.Chain = h.Len(), h.Chain(h.Len())
		leaf.Model, leaf.Dialect = c.model, string(c.end.Dialect)
	}
	leaf.Label, leaf.Folder = c.t.opts.Label, c.t.opts.Folder
	c.told.Lock()
	heard, overflows := c.heard, c.overflows
	c.told.Unlock()
	at := c.t.opts.Now()
	ctx := context.WithoutCancel(c.ctx())
	c.t.records.add(func() {
		r := c.recorded(&heard, overflows)
		r.Time = at.UTC()
		if err := c.t.book.Note(ctx, leaf, &r, links); err != nil {
			c.t.count.storeFails.Add(1)
		}
	})
}

// recorded is the request as a record.
func (c *call) recorded(heard *Outcome, overflows int) control.Request {
	s := &c.sent.status
	req := c.body.Request()
	r := control.Request{
		Model: c.model, Gateway: c.t.opts.Name, Messages: req.History.Len(), Sent: c.sent.view.Len(),
		Tokens: c.sent.tokens, Method: s.Count.Method, Kinds: c.engine.Meter().Kinds(c.sent.view, s),
		Window: s.Limits.Context, Available: c.sent.available, CommitAt: s.Commit.At,
		New: c.planned, Why: c.why, Passed: string(c.passed), Overflows: overflows, Status: heard.Status,
	}
	r.CompactAt, r.CompactWhy = s.Due()
	if p := c.sent.plan; p != nil {
		r.Plan, r.Saved = p.ID(), c.sent.saved
	}
	if heard.Usage.Prompt() <= 0 {
		return r
	}
	var u control.Usage
	for _, x := range [...]chat.Usage{heard.Usage, heard.Extra} {
		u.Add(x)
	}
	r.Usage, r.CacheShare = &u, u.CacheShare()
	if prices := c.engine.Model().Prices; prices.Known() {
		dollars := prices.Cost(heard.Usage) + prices.Cost(heard.Extra)
		r.Dollars = &dollars
	}
	return r
}
