package conview

import (
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
)

// Story is how a conversation came to stand as it does, where all of its requests
// are at hand.
type Story struct {
	About    control.Conversation // without what its requests tell
	Requests []control.Request
	Plans    []control.PlanInfo
	Pins     []control.Pin
	Notes    []control.Note
}

// MarkPlans names for each plan the first request that was sent under it. Requests
// of a burst are numbered when they are answered, so that a plan cannot know it.
func MarkPlans(plans []control.PlanInfo, requests []control.Request) {
	first := make(map[plan.ID]int)
	for i := range requests {
		if id := requests[i].Plan; first[id] == 0 {
			first[id] = requests[i].N
		}
	}
	for i := range plans {
		p := &plans[i]
		switch n := first[p.ID]; {
		case n > 0:
			p.Request = n
		case p.InForce && len(requests) > 0:
			p.Request = requests[len(requests)-1].N + 1
		}
	}
}

// Conversation returns the conversation as lists show it.
func (s *Story) Conversation() control.Conversation {
	c := s.About
	c.Pins = len(s.Pins)
	for i := range s.Requests {
		c.Totals.Add(&s.Requests[i])
	}
	for i := range s.Plans {
		if s.Plans[i].By != "undo" {
			c.Totals.Compactions++
		}
	}
	if n := len(s.Requests); n > 0 {
		c.Last = new(s.Requests[n-1])
	}
	return c
}

// Detail returns all about the conversation, with what is going to happen.
func (s *Story) Detail(next control.Next) *control.Detail {
	earlier := max(0, len(s.Requests)-control.MaxRequests)
	return &control.Detail{
		Conversation: s.Conversation(), Next: next, Readable: true, Pinned: s.Pins, Notes: append([]control.Note{}, s.Notes...), Forks: []control.Fork{}, Earlier: earlier,
		Requests: append([]control.Request{}, s.Requests[earlier:]...), Plans: append([]control.PlanInfo{}, s.Plans...),
	}
}

// Since returns what happened after a revision.
func (s *Story) Since(revision int64) *control.Change {
	c := &control.Change{
		Revision: s.About.Revision, Requests: []control.Request{}, Conversation: s.Conversation(), Missed: revision > s.About.Revision,
	}
	for i := range s.Requests {
		if s.Requests[i].Revision > revision {
			c.Requests = append(c.Requests, s.Requests[i])
		}
	}
	if n := len(c.Requests); n > control.MaxRequests {
		c.Requests, c.Missed = c.Requests[n-control.MaxRequests:], true
	}
	return c
}

// MeasuredRequest is a request that sends a view, as it was measured.
func MeasuredRequest(w *winnow.Winnow, v plan.View, s *winnow.Status) control.Request {
	r := control.Request{
		Messages: v.History().Len(), Sent: v.Len(), Tokens: s.Count.Tokens, Method: s.Count.Method, Kinds: w.Meter().Kinds(v, s),
		Window: s.Limits.Context, Available: s.Limits.Available, CommitAt: s.Commit.At, Plan: v.Plan().ID(),
	}
	r.CompactAt, r.CompactWhy = s.Due()
	if p := v.Plan(); p != nil {
		r.Saved = p.Saved().Tokens
	}
	return r
}

// SetUsage fills in what providers reported for a request, and what that cost.
func SetUsage(r *control.Request, prices model.Prices, reported ...chat.Usage) {
	r.Usage = &control.Usage{}
	dollars := 0.0
	for _, u := range reported {
		r.Usage.Add(u)
		dollars += prices.Cost(u)
	}
	if r.CacheShare = r.Usage.CacheShare(); prices.Known() {
		r.Dollars = &dollars
	}
}

// DescribePlan fills in what a plan says of itself.
func DescribePlan(info control.PlanInfo, p *plan.Plan) control.PlanInfo {
	info.ID, info.Saved = p.ID(), info.Before-info.After
	if p == nil {
		return info
	}
	info.Parent, info.Messages = p.Parent, p.Len
	for k := range p.Edits {
		if p.Edits[k].Made == info.ID {
			info.Edits++
		}
	}
	return info
}
