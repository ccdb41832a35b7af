package conview

import (
	"context"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/evidence"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Moment is a conversation as it stands, wherever that is kept.
type Moment struct {
	View  plan.View // of the whole history, under the plan in force
	Pins  []control.Pin
	Meter *budget.Meter
	Kinds *evidence.Kinds // nil is the built-in table
	Where string          // names the conversation in what a search finds

	// Plans returns the plans that came into force, oldest first, as far as they
	// are still known.
	Plans func(context.Context) ([]*plan.Plan, error)
}

// KnownPlans is [Moment.Plans] where the plans are at hand.
func KnownPlans(infos []control.PlanInfo, known map[plan.ID]*plan.Plan) func(context.Context) ([]*plan.Plan, error) {
	var plans []*plan.Plan
	for i := range infos {
		if p := known[infos[i].ID]; p != nil {
			plans = append(plans, p)
		}
	}
	return func(context.Context) ([]*plan.Plan, error) { return plans, nil }
}

// Reader is the part of a [control.Source] that needs no more than a conversation
// as it stands.
type Reader struct {
	at func(ctx context.Context, id string) (*Moment, error)
}

// NewReader returns a reader of the conversations that a function finds by id.
func NewReader(at func(ctx context.Context, id string) (*Moment, error)) Reader { return Reader{at} }

// Messages implements [control.Source].
func (r Reader) Messages(ctx context.Context, id string, from, limit int) (*control.Messages, error) {
	m, err := r.at(ctx, id)
	if err != nil {
		return nil, err
	}
	return messages(m, from, limit), nil
}

// Files implements [control.Source].
func (r Reader) Files(ctx context.Context, id string) (*control.Files, error) {
	m, err := r.at(ctx, id)
	if err != nil {
		return nil, err
	}
	return files(m.View, m.Kinds), nil
}

// File implements [control.Source].
func (r Reader) File(ctx context.Context, id, path string) (*control.FileText, error) {
	m, err := r.at(ctx, id)
	if err != nil {
		return nil, err
	}
	return fileText(m.View, m.Kinds, path)
}

// Find implements [control.Source].
func (r Reader) Find(ctx context.Context, id string, q recall.Query) (recall.Results, error) {
	m, err := r.at(ctx, id)
	if err != nil {
		return recall.Results{}, err
	}
	return recall.Limited(recall.Hidden(m.View.History(), m.View.Plan(), q.Words, m.Where), m.Where, q), nil
}

// Hints implements [control.Source].
func (r Reader) Hints(ctx context.Context, id string) ([]control.Hint, error) {
	m, err := r.at(ctx, id)
	if err != nil {
		return nil, err
	}
	plans, err := m.Plans(ctx)
	if err != nil {
		return nil, err
	}
	return hints(m.View.History(), plans, m.Meter.Counter()), nil
}
