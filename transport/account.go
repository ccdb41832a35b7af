package transport

import (
	"context"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
)

// Account is what became of the conversations of one program.
type Account struct {
	// Windows are those that the requests were made to fit, in the order in which
	// they were first used.
	Windows []int

	// Cuts are the plans that made a prompt smaller or larger, oldest first.
	Cuts []control.PlanInfo

	// Again is how often a file was read again whose newest reading a plan had hidden.
	Again int

	// Totals are those of the requests that are kept one by one; Left is how many
	// are not.
	Totals control.Totals
	Left   int

	// Uncut is what the priced requests would have cost, had nothing been hidden
	// from them and had the provider taken them all. Beyond is how many of them
	// would have been larger than the window.
	Uncut  float64
	Beyond int
}

// Account adds up the requests sent since a moment under the label [Options.Label].
func (t *Transport) Account(ctx context.Context, since time.Time) (Account, error) {
	var a Account
	source, err := t.ControlAll(ctx)
	if err != nil {
		return a, err
	}
	all := source.(*controller)
	list, err := all.Conversations(ctx, control.List{Limit: control.MaxListed})
	if err != nil {
		return a, err
	}
	for i := range list {
		if t.opts.Label != "" && list[i].Label != t.opts.Label || list[i].Used.Before(since) {
			continue
		}
		d, err := all.Conversation(ctx, list[i].ID)
		if err != nil {
			return a, err
		}
		a.addConversation(d, since, t.opts.Registry.Lookup)
		again, err := all.readAgain(ctx, d, since)
		if err != nil {
			return a, err
		}
		a.Again += again
	}
	slices.SortStableFunc(a.Cuts, func(x, y control.PlanInfo) int { return x.Time.Compare(y.Time) })
	return a, nil
}

// addConversation adds a conversation.
func (a *Account) addConversation(d *control.Detail, since time.Time, lookup func(string) model.Model) {
	for i := range d.Plans {
		if p := d.Plans[i]; p.Saved != 0 && !p.Time.Before(since) {
			a.Cuts = append(a.Cuts, p)
		}
	}
	if len(d.Requests) > 0 && !d.Requests[0].Time.Before(since) {
		a.Left += d.Earlier
	}
	var u uncut
	for i := range d.Requests {
		r := &d.Requests[i]
		m := lookup(r.Model)
		would := u.nextUsage(r, &m)
		if r.Time.Before(since) {
			continue
		}
		a.Totals.Add(r)
		if r.Window > 0 && !slices.Contains(a.Windows, r.Window) {
			a.Windows = append(a.Windows, r.Window)
		}
		if r.Dollars == nil {
			continue
		}
		a.Uncut += *r.Dollars
		if r.Saved != 0 {
			a.Uncut += m.Prices.Cost(would) - m.Prices.Cost(plainUsage(r.Usage))
		}
		if would.Prompt() > r.Window {
			a.Beyond++
		}
	}
}

// uncut follows what the requests of a conversation would have been without plans.
type uncut struct {
	prompt int // of the last request
	at     time.Time
	plan   plan.ID
	cached bool // the provider's cache is in use
}

// nextUsage returns what would have been reported for a request: what a plan saved is
// read from the cache with the rest. Where the plan is new, all of the request
// before would have been read, as long as the cache has it.
func (u *uncut) nextUsage(r *control.Request, m *model.Model) chat.Usage {
	if r.Usage == nil {
		return chat.Usage{}
	}
	was := plainUsage(r.Usage)
	out := was
	prompt := max(0, was.Prompt()+r.Saved)
	switch warm := m.Cache.Lifetime == 0 || r.Time.Sub(u.at) <= m.Cache.Lifetime; {
	case r.Plan != u.plan && u.cached && warm:
		out.CacheRead = min(max(u.prompt, was.CacheRead), prompt)
	case was.CacheRead > 0:
		out.CacheRead = min(max(0, was.CacheRead+r.Saved), prompt)
	}
	if was.CacheWrite > 0 {
		out.Input = min(was.Input, prompt-out.CacheRead)
		out.CacheWrite = prompt - out.CacheRead - out.Input
	} else {
		out.Input = prompt - out.CacheRead
	}
	u.prompt, u.at, u.plan = prompt, r.Time, r.Plan
	u.cached = u.cached || was.CacheRead+was.CacheWrite > 0
	return out
}

// plainUsage returns a usage as prices are charged.
func plainUsage(u *control.Usage) chat.Usage {
	return chat.Usage{Input: int(u.Input), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite), Output: int(u.Output)}
}

// readAgain counts the files that were read again since a moment after plans hid them; none where the messages are not at hand.
func (s *controller) readAgain(ctx context.Context, d *control.Detail, since time.Time) (int, error) {
	if !d.Readable || len(d.Plans) == 0 {
		return 0, nil
	}
	m, err := s.Moment(ctx, d.ID)
	if err != nil {
		return 0, err
	}
	plans, err := m.Plans(ctx)
	from := 0 // messages that were there before
	for i := range d.Requests {
		if d.Requests[i].Time.Before(since) {
			from = d.Requests[i].Messages
		}
	}
	return conview.ReadAgain(m.View.History(), from, plans, m.Kinds), err
}
