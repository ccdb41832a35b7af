package rerun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
)

// SourceName is what [control.Conversation.Source] says of a rerun.
const SourceName = "rerun"

// ID returns the conversation's id.
func (r *Rerun) ID() string { return r.id }

// whenReady calls f with the conversation locked, as soon as there is something to show of
// it. The id, or the beginning of one, must be this conversation's.
func whenReady[T any](ctx context.Context, r *Rerun, id string, f func() (T, error)) (none T, err error) {
	if id == "" || !strings.HasPrefix(r.id, id) {
		return none, fmt.Errorf("conversation %q: %w", text.Brief(id, 60), control.ErrUnknown)
	}
	if err := r.waitUntilReady(ctx); err != nil {
		return none, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return f()
}

// Conversations returns the only conversation, if it has the words. It does not
// wait for its numbers.
func (r *Rerun) Conversations(_ context.Context, q control.List) ([]control.Conversation, error) {
	c := r.describeRecording()
	select {
	case <-r.ready:
		r.mu.Lock()
		defer r.mu.Unlock()
		c = r.buildStory().Conversation()
	default:
	}
	words := conview.Words(q.Words)
	if len(words) > 0 && !conview.Named(&c, words) && !conview.Has(r.in.Request.History, words) {
		return []control.Conversation{}, nil
	}
	return []control.Conversation{c}, nil
}

// describeRecording returns what the recording says of itself.
func (r *Rerun) describeRecording() control.Conversation {
	h := r.in.Request.History
	c := control.Conversation{
		ID: r.id, Source: SourceName, Name: r.in.Name, Title: conview.Title(h), Model: r.w.Settings().Model, Messages: h.Len(),
	}
	for i := range h.Len() {
		if at := h.At(i).Time; at > 0 {
			if c.Created.IsZero() {
				c.Created = timeOfMillis(at)
			}
			c.Used = timeOfMillis(at)
		}
	}
	return c
}

// buildStory tells how the conversation came to stand as it does. The caller holds
// the lock.
func (r *Rerun) buildStory() *conview.Story {
	s := &conview.Story{About: r.describeRecording(), Pins: r.pinsInForce(), Notes: r.notes}
	s.About.Revision, s.About.Plan = r.revision, r.plan.ID()
	for i := range r.rows {
		s.Requests = append(s.Requests, r.rows[i].Request)
	}
	if n := len(r.rows); n > 0 && s.About.Model == "" {
		s.About.Model = r.rows[n-1].Model
	}
	for _, p := range r.plans {
		p.InForce, p.Undone = p.ID == r.plan.ID(), r.isUndone(p.ID)
		s.Plans = append(s.Plans, p)
	}
	return s
}

// Conversation returns everything about it.
func (r *Rerun) Conversation(ctx context.Context, id string) (*control.Detail, error) {
	return whenReady(ctx, r, id, func() (*control.Detail, error) {
		s := r.buildStory()
		coming := control.Request{Plan: r.plan.ID(), Tokens: r.status.Count.Tokens} // perhaps under another plan than the last one
		coming.CompactAt, coming.CompactWhy = r.status.Due()
		return s.Detail(conview.Next(append(slices.Clip(s.Requests), coming), coming.Plan, nil)), nil
	})
}

// Since waits for what is done about the conversation.
func (r *Rerun) Since(ctx context.Context, id string, revision int64) (*control.Change, error) {
	for {
		var changed chan struct{}
		c, err := whenReady(ctx, r, id, func() (*control.Change, error) {
			if changed = r.changed; r.revision > revision {
				return r.buildStory().Since(revision), nil
			}
			return nil, nil //nolint:nilnil // nothing was done yet
		})
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// Delete is refused: nothing is kept.
func (r *Rerun) Delete(context.Context, string) ([]string, error) {
	return nil, fmt.Errorf("%w: this conversation is not stored", control.ErrInvalid)
}

// Beside compares the usage reported to the agent with what winnow would have sent,
// request by request. Null is unknown.
type Beside struct {
	// Agent is what the provider reported for what the agent itself sent.
	Agent Costs `json:"agent"`
	// Winnow is an estimate: prompts as counted here, of which the cache has what
	// the request before began with, as far as the provider's still had the agent's.
	Winnow Costs `json:"winnow"`
	// Compacted are the requests before which the agent compacted by itself.
	Compacted []int `json:"compacted"`
}

// Costs are prompts and what they cost.
type Costs struct {
	Prompt  []*int     `json:"prompt"`
	Read    []*int     `json:"read"`
	Dollars []*float64 `json:"dollars"`
}

// Beside returns both, for the requests that [Rerun.Conversation] has.
func (r *Rerun) Beside(ctx context.Context, id string) (*Beside, error) {
	return whenReady(ctx, r, id, func() (*Beside, error) { return r.compareCosts(), nil })
}

func (r *Rerun) compareCosts() *Beside {
	b := &Beside{Compacted: []int{}}
	from := max(0, len(r.rows)-control.MaxRequests)
	for i := from; i < len(r.rows); i++ {
		w := &r.rows[i]
		b.Winnow.add(new(w.Tokens), new(w.read), w.price)
		if w.agent == nil {
			b.Agent.add(nil, nil, nil)
			continue
		}
		b.Agent.add(new(w.agent.Prompt()), new(w.agent.CacheRead), w.paid)
	}
	for _, at := range r.in.Compacted {
		for i := from; i < len(r.rows); i++ {
			if r.rows[i].Messages >= at {
				b.Compacted = append(b.Compacted, r.rows[i].N)
				break
			}
		}
	}
	return b
}

func (c *Costs) add(prompt, read *int, dollars *float64) {
	c.Prompt, c.Read, c.Dollars = append(c.Prompt, prompt), append(c.Read, read), append(c.Dollars, dollars)
}
