package rerun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/contents"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Plan returns a plan that was in force.
func (r *Rerun) Plan(_ context.Context, id plan.ID) (*plan.Plan, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.planOf(id)
}

func (r *Rerun) planOf(id plan.ID) (*plan.Plan, error) {
	if p := r.known[id]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("plan %q: %w", text.Brief(string(id), 40), control.ErrUnknown)
}

// Report says what a plan keeps, reduces and removes.
func (r *Rerun) Report(_ context.Context, id plan.ID) (plan.Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.planOf(id)
	if err != nil {
		return plan.Report{}, err
	}
	req := r.in.Request
	req.History = req.History.Head(p.Len)
	v, err := plan.Apply(req.History, p)
	if err != nil {
		return plan.Report{}, err
	}
	return r.w.Report(req, v), nil
}

// Patch shows a plan over the messages that it covers.
func (r *Rerun) Patch(_ context.Context, id plan.ID) (*control.Patch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.planOf(id)
	if err != nil {
		return nil, err
	}
	h := r.in.Request.History.Head(p.Len)
	c := r.w.Meter().Counter()
	doc := &control.Patch{Plan: id, Parent: p.Parent, Messages: h.Len(), Hunks: []control.Hunk{}}
	at := 0
	keep := func(to int) {
		if to <= at {
			return
		}
		k := control.Hunk{Op: "keep", From: at, To: to, Part: -1}
		for i := at; i < to; i++ {
			k.Before += c.At(h, i)
		}
		k.After = k.Before
		doc.Hunks = append(doc.Hunks, k)
		at = to
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		keep(e.From)
		doc.Hunks = append(doc.Hunks, r.hunk(h, e, id))
		if e.Part < 0 {
			at = max(at, e.To)
		} else if i+1 == len(p.Edits) || p.Edits[i+1].From > e.From {
			at = max(at, e.From+1)
		}
	}
	keep(h.Len())
	before := c.Messages(h)
	v, err := plan.Apply(h, p)
	if err != nil {
		return nil, err
	}
	doc.Before, doc.After = before, c.Messages(v)
	doc.Saved = doc.Before - doc.After
	return doc, nil
}

// hunk is an edit with what stood there.
func (r *Rerun) hunk(h chat.History, e *plan.Edit, id plan.ID) control.Hunk {
	k := control.Hunk{
		Op: string(e.Kind), From: e.From, To: e.To, Part: e.Part, Keep: e.Keep,
		Stage: e.Stage, Why: e.Why, Made: e.Made, Added: e.Made == id, Handle: e.Handle,
		Before: e.Before.Tokens, After: e.After.Tokens,
		New: text.Head(e.Text, control.MaxHunk), NewBytes: len(e.Text),
	}
	for i := e.From; i < max(e.To, e.From+1) && !k.Pinned; i++ {
		k.Pinned = r.pinned(i, e.Part)
	}
	var old string
	switch {
	case e.Part >= 0 && e.Part < len(h.At(e.From).Parts) && e.CallID == "":
		p := &h.At(e.From).Parts[e.Part]
		k.Role, k.Kind = h.At(e.From).Role, p.Kind.String()
		k.About = contents.Part(h, e.From, e.Part, 120)
		old = partText(p)
	case e.To > e.From && e.Part < 0:
		k.About = fmt.Sprintf("%d messages", e.To-e.From-len(e.Keep))
		old = outline(h, e)
	}
	k.Old, k.OldBytes = text.Head(old, control.MaxHunk), len(old)
	return k
}

// outline is a run of messages, one line each.
func outline(h chat.History, e *plan.Edit) string {
	var b strings.Builder
	for i := e.From; i < e.To; i++ {
		if slices.Contains(e.Keep, i) {
			continue
		}
		m := h.At(i)
		for k := range m.Parts {
			fmt.Fprintf(&b, "%d %s %s: %s\n", i, m.Role, strings.TrimPrefix(m.Parts[k].Kind.String(), "tool_"), contents.Part(h, i, k, 160))
		}
	}
	return b.String()
}

// partText is what a part says, as recall shows it.
func partText(p *chat.Part) string {
	return recall.Text(&plan.Original{Edit: plan.Edit{Part: 0}, Messages: []chat.Message{{Parts: []chat.Part{*p}}}})
}

// pinned reports whether a pin is on a message or part.
func (r *Rerun) pinned(message, part int) bool {
	for _, p := range r.pins {
		if p.Message == message && (p.Part < 0 || part < 0 || p.Part == part) {
			return true
		}
	}
	return false
}

// Recall returns a page of the original behind a handle, of any plan that was in
// force.
func (r *Rerun) Recall(_ context.Context, handle string, lines recall.Range) (recall.Page, error) {
	name, place, err := recall.Parse(handle)
	if err != nil {
		return recall.Page{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.plans) - 1; i >= 0; i-- {
		p := r.known[r.plans[i].ID]
		if p == nil {
			continue
		}
		if o, err := plan.Recall(r.in.Request.History, p, name); err == nil {
			return recall.Choose([]recall.Candidate{{Where: r.in.Name, Original: o}}, name, place, lines)
		}
	}
	return recall.Page{}, fmt.Errorf("%s: %w", name, recall.ErrUnknown)
}

// Search finds words in what is hidden now.
func (r *Rerun) Search(_ context.Context, q recall.Query) (recall.Results, error) {
	r.mu.Lock()
	h, p := r.in.Request.History, r.plan
	r.mu.Unlock()
	return recall.Limited(recall.Hidden(h, p, q.Words, r.in.Name), r.in.Name, q), nil
}

// Find is [Rerun.Search]: there is one conversation.
func (r *Rerun) Find(ctx context.Context, id string, q recall.Query) (recall.Results, error) {
	if err := r.is(id); err != nil {
		return recall.Results{}, err
	}
	return r.Search(ctx, q)
}
