// Package storetest has what tests of plan stores share: conversations, plans for them,
// and a clock.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// Clock is a clock that tests set.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// History returns a conversation of n messages that begins like all others and
// then goes its own way.
func History(name string, n int) chat.History {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Fix the build."))
	for i := 1; i < n; i++ {
		role := chat.Assistant
		if i%2 == 0 {
			role = chat.User
		}
		h = h.Append(chat.TextMessage(role, fmt.Sprintf("%s says %d", name, i)))
	}
	return h
}

// Plan returns a plan that drops messages 1 and 2 of a history.
func Plan(t testing.TB, h chat.History, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Compose(nil, h, chat.Rules{Name: "test"}, nil, plan.Edit{Kind: plan.Fold, From: 1, To: 3, Part: -1, Text: text, Stage: "fold"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Put keeps a plan in a conversation of its own, and returns the plan that is in force
// for its prefix then.
func Put(ctx context.Context, s planstore.Store, k planstore.Key, p *plan.Plan) (*plan.Plan, error) {
	c := planstore.NewConversation(k, p.Prefix)
	c.Len, c.Chain = p.Len, p.Prefix
	return s.Settle(ctx, c, chat.History{}, "", p, control.PlanInfo{})
}

// At returns the plan that is kept for a prefix.
func At(ctx context.Context, s planstore.Store, k planstore.Key, prefix chat.Hash) (*plan.Plan, error) {
	heads, err := s.Heads(ctx, k)
	for _, x := range heads {
		if x.Prefix == prefix {
			found, err := s.ByID(ctx, k.Tenant, x.ID)
			return found.Plan, err
		}
	}
	return nil, errors.Join(err, planstore.ErrNotFound)
}

// Leaf returns the conversation of a history that branched off from none.
func Leaf(tenant string, h chat.History) planstore.Conversation {
	k := planstore.Key{Tenant: planstore.Tenant(tenant), First: h.Chain(1)}
	c := planstore.NewConversation(k, h.Chain(min(2, h.Len())))
	c.Len, c.Chain, c.Dialect, c.Model = h.Len(), h.Chain(h.Len()), "anthropic", "m"
	return c
}
