package transport

import (
	"cmp"
	"context"
	"sync"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/text"
)

// recorder tells who looks at conversations what is going on with them.
type recorder struct {
	// writing is held by those who write down what became of a request, when its
	// answer has ended.
	writing sync.RWMutex

	// changed is closed when something was recorded or done, and made anew.
	mu      sync.Mutex
	changed chan struct{}
}

// wait returns when all is recorded that ended before.
func (r *recorder) wait() {
	r.writing.Lock()
	defer r.writing.Unlock()
}

// wakeWaiters wakes those who wait for a change.
func (r *recorder) wakeWaiters() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// nextChange returns a channel that is closed at the next change.
func (r *recorder) nextChange() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// noteBeginning keeps a conversation that is new, so that requests which follow at once
// are told apart from it.
func (c *conversation) noteBeginning() {
	if c.conv.known || c.end.Counting {
		return
	}
	h := c.history()
	c.conv.Len, c.conv.Chain = h.Len(), h.Chain(h.Len())
	c.conv.Dialect, c.conv.Model = string(c.end.Dialect), c.whose.model
	c.conv.Label, c.conv.Folder = c.conversationLabel(), c.t.opts.Folder
	if err := c.t.opts.Store.Note(c.ctx(), c.conv.Conversation, nil, linksOf(h, 0)); err != nil {
		c.t.tally(func(s *Stats) { s.StoreFails++ })
	}
}

// conversationLabel names whose conversation it is: the program of [Options.Label], else the
// session that the agent itself names in a header.
func (in *incoming) conversationLabel() string {
	label := in.t.opts.Label
	for _, name := range [...]string{"X-Claude-Code-Session-Id", "Session_id", "Session-Id", "X-Session-Id"} {
		label = cmp.Or(label, text.Head(in.req.Header.Get(name), 64))
	}
	return label
}

// recordRequest notes what became of the request.
func (r *result) recordRequest() {
	c := r.c
	c.t.records.writing.RLock()
	defer c.t.records.writing.RUnlock()
	if r.d.kind == passedOn || c.end.Counting || c.conv.ID == "" || r.d.sent.view.Len() == 0 {
		return
	}
	leaf, h := c.conv.Conversation, c.history()
	links := planstore.Links{From: h.Len()}
	if !c.conv.behind {
		from := leaf.Len
		if !c.conv.known {
			from = 0
		}
		links = linksOf(h, from)
		leaf.Len, leaf.Chain = h.Len(), h.Chain(h.Len())
		leaf.Model, leaf.Dialect = c.whose.model, string(c.end.Dialect)
	}
	leaf.Label, leaf.Folder = c.conversationLabel(), c.t.opts.Folder
	r.told.Lock()
	heard := r.heard
	r.told.Unlock()
	row := r.requestRow(&heard)
	if err := c.t.opts.Store.Note(context.WithoutCancel(c.ctx()), leaf, &row, links); err != nil {
		c.t.tally(func(s *Stats) { s.StoreFails++ })
	}
	c.t.records.wakeWaiters()
}

// requestRow returns the request as a record.
func (r *result) requestRow(heard *Outcome) control.Request {
	c, d := r.c, r.d
	row := conview.MeasuredRequest(c.engine, d.sent.view, &d.sent.status)
	row.Time = c.t.opts.Now().UTC()
	row.Model, row.Gateway, row.Plan, row.Saved = c.whose.model, c.t.opts.Name, d.sent.plan.ID(), d.sent.saved
	row.New, row.Why, row.Passed, row.Overflows, row.Status = d.planned, d.why, string(d.passed), heard.Overflows, heard.Status
	if heard.Usage.Prompt() <= 0 {
		return row
	}
	conview.SetUsage(&row, c.engine.Model().Prices, heard.Usage, heard.Extra)
	return row
}
