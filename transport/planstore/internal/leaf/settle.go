package leaf

import (
	"encoding/json"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// Tx is a transaction of a store in which nobody else changes a conversation.
type Tx interface {
	// InForce returns the plan in force; nil where it is not kept.
	InForce() (*plan.Plan, error)

	// Put keeps a plan in place of base, or where none is for its prefix, and
	// returns the one that is kept there then.
	Put(base plan.ID, p *plan.Plan) (*plan.Plan, error)

	// Force says that a plan is in force.
	Force(p *plan.Plan) error
}

// Settle is [planstore.Book.Settle] inside of a transaction: it puts plan p, which
// was made from base for history h, in force in a conversation, and returns the
// plan under which h is to be sent.
//
// Where another plan came into force since base was read, that one wins if it
// covers h. If it does not, h is older than that plan: p is kept for h and its
// like, and the other one stays in force.
func Settle(tx Tx, now *planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	if now.Plan == p.ID() && base != p.ID() {
		return p, nil // the connection broke when this was done
	}
	older := false
	if now.Plan != base {
		other, err := tx.InForce()
		if err != nil {
			return nil, err
		}
		if other != nil && other.Covers(h) {
			return other, nil
		}
		older = other != nil
	}
	won, err := tx.Put(base, p)
	if err != nil || older {
		return won, err
	}
	return won, tx.Force(won)
}

// Forced changes a conversation to one in which a plan is in force, and returns
// what is listed about that. It returns nil where the plan is in force already.
func Forced(c *planstore.Conversation, p *plan.Plan, info control.PlanInfo, at time.Time) ([]byte, error) {
	if c.Plan == p.ID() {
		return nil, nil
	}
	c.Plan, c.Wanted = p.ID(), ""
	c.Revision++
	c.Totals.Compactions++
	info.ID, info.Time = p.ID(), at
	return json.Marshal(info)
}
