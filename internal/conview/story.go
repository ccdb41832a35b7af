package conview

import (
	"github.com/winnow-llm/winnow/control"
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

// Conversation is the conversation as lists show it.
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
		last := s.Requests[n-1]
		c.Last = &last
	}
	return c
}

// Detail is all about the conversation, with what is going to happen.
func (s *Story) Detail(next control.Next) *control.Detail {
	earlier := max(0, len(s.Requests)-control.MaxRequests)
	return &control.Detail{
		Conversation: s.Conversation(), Next: next, Readable: true, Pinned: s.Pins, Notes: append([]control.Note{}, s.Notes...), Forks: []control.Fork{}, Earlier: earlier,
		Requests: append([]control.Request{}, s.Requests[earlier:]...), Plans: append([]control.PlanInfo{}, s.Plans...),
	}
}

// Since is what happened after a revision.
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
