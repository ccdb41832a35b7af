package session

import (
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// reading is a session as it was read: its conversation and how it came to that.
type reading struct {
	w       *winnow.Winnow
	status  winnow.Status // of what would be sent next
	request chat.Request
	view    plan.View
	plan    *plan.Plan
	model   string
	used    time.Time

	requests []control.Request
	plans    []control.PlanInfo
	known    map[plan.ID]*plan.Plan
	pins     []control.Pin

	revision int64 // how many entries the session had
}

// readAlong goes along the path to the leaf.
func readAlong(s *Session) (*reading, error) {
	c, err := s.Context()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	w, status, err := s.checkSize()
	pins := sortedKeys(s.line.pins)
	reported := make(map[string]bool) // by the messages' entries
	for i := range s.line.history.Len() {
		reported[s.line.history.At(i).ID] = s.hasReport(i)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r := &reading{
		w: w, status: status, request: c.Request, view: c.View, plan: c.View.Plan(), model: c.Model,
		known: map[plan.ID]*plan.Plan{}, plans: []control.PlanInfo{}, pins: []control.Pin{},
	}
	if r.plan != nil {
		r.known[r.plan.ID()] = r.plan
	}
	along := &along{reading: r, s: s, reported: reported, track: w.Track()}
	for n, e := range s.Path() {
		if !e.Time.IsZero() {
			r.used = e.Time.UTC()
		}
		if err := along.takeEntry(&e, int64(n+1)); err != nil {
			return nil, err
		}
	}
	for _, i := range pins {
		r.pins = append(r.pins, control.Pin{Message: i, Part: -1})
	}
	for i := range r.plans {
		r.plans[i].InForce = r.plans[i].ID == r.plan.ID() && r.plans[i].ID != ""
	}
	return r, nil
}

// along is a reading on its way.
type along struct {
	*reading
	s       *Session
	message int        // how many were passed
	now     *plan.Plan // in force
	entries []string   // of the compactions

	reported map[string]bool
	track    *winnow.Track // of the requests so far
}

func (a *along) takeEntry(e *Entry, revision int64) error {
	h := a.request.History
	if a.message < h.Len() && h.At(a.message).ID == e.ID {
		i := a.message
		a.message++
		if m := h.At(i); m.Role == chat.Assistant && i > 0 {
			return a.takeCall(m, i, e.Time, revision)
		}
		return nil
	}
	if e.Compaction != nil {
		a.takeCompaction(e)
	} else if p := planIn(e); p != nil && p.Covers(h) { // one that only mends
		a.now, a.known[p.ID()] = p, p
	}
	return nil
}

// takeCall takes in the request that message i answered.
func (a *along) takeCall(m *chat.Message, i int, at time.Time, revision int64) error {
	req := a.request
	req.History = req.History.Head(i)
	p := a.now
	v, err := plan.Apply(req.History, p)
	if err != nil { // the plan covers more than was there
		p = nil
		if v, err = plan.Apply(req.History, nil); err != nil {
			return err
		}
	}
	a.track.Use(p, 0)
	status, err := a.w.Check(req, a.track.State())
	if err != nil {
		return err
	}
	if step, ok := a.w.Answered(&a.request, i, v, a.w.Settings().Model); ok && a.reported[m.ID] {
		a.track.Record(step)
	}
	x := conview.MeasuredRequest(a.w, v, &status)
	x.N, x.Revision, x.Time, x.Model = len(a.requests)+1, revision, at.UTC(), m.Model
	if n := len(a.plans); n > 0 && a.plans[n-1].Request == x.N && a.plans[n-1].ID == x.Plan {
		x.New, x.Why = true, a.plans[n-1].Why
	}
	if u := m.Usage; u != nil && u.Prompt() > 0 {
		conview.SetUsage(&x, a.w.Model().Prices, *u)
	}
	a.requests = append(a.requests, x)
	return nil
}

// whyMade says for what reason a compaction was made.
var whyMade = map[string]string{
	"manual": "asked for", "threshold": "the trigger was reached", "overflow": "the provider refused the request as too long",
	"import": "taken over from the plan that came with it", "rewind": "takes a compaction back", "": "by the program that wrote the session",
}

func (a *along) takeCompaction(e *Entry) {
	c := e.Compaction
	p := c.Plan
	if p == nil && c.Reason == "" { // another program's: the session makes a plan of it
		a.s.mu.Lock()
		i, _ := a.s.tree.find(e.ID)
		p = a.s.planOf(i)
		a.s.mu.Unlock()
	}
	info := conview.DescribePlan(control.PlanInfo{
		Time: e.Time.UTC(), By: "request", Request: len(a.requests) + 1, Why: whyMade[c.Reason], Focus: c.Focus,
		Before: c.TokensBefore, After: c.TokensAfter,
	}, p)
	if p != nil {
		a.known[info.ID] = p
	}
	switch c.Reason {
	case "manual":
		info.By = "compact"
	case "rewind":
		info.By = "undo"
		for i := range a.plans {
			// A rewind names a plan by its entry, or by its own id.
			named := a.entries[i] == c.Rewinds || c.Rewinds != "" && string(a.plans[i].ID) == c.Rewinds
			a.plans[i].Undone = a.plans[i].Undone || named
		}
	}
	if info.After == 0 { // the program that wrote it does not say
		a.track.Use(p, 0)
		req := a.request
		req.History = req.History.Head(a.message)
		if s, err := a.w.Check(req, a.track.State()); err == nil {
			info.After = s.Count.Tokens
			info.Saved = info.Before - info.After
		}
	}
	a.now = p
	a.plans = append(a.plans, info)
	a.entries = append(a.entries, e.ID)
}
