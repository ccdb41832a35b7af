package transport

import (
	"context"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// File implements [control.FileReader].
func (s *controller) File(ctx context.Context, id, path string) (*control.FileText, error) {
	_, x, _, st, err := s.at(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := plan.Apply(x.history(), st.Plan)
	if err != nil {
		return nil, err
	}
	return conview.FileText(v, s.t.opts.Kinds, path)
}

// Hints implements [control.Adviser].
func (s *controller) Hints(ctx context.Context, id string) ([]control.Hint, error) {
	d, err := s.Conversation(ctx, id)
	if err != nil {
		return nil, err
	}
	_, x, w, _, err := s.at(ctx, id)
	if err != nil {
		return nil, err
	}
	return conview.Hints(x.history(), s.plansOf(ctx, d), w.Meter().Counter()), nil
}

// plansOf returns the plans that came into force, oldest first.
func (s *controller) plansOf(ctx context.Context, d *control.Detail) []*plan.Plan {
	var plans []*plan.Plan
	for _, info := range d.Plans {
		if p, err := s.Plan(ctx, info.ID); err == nil { // one that was forgotten hid what nobody knows
			plans = append(plans, p)
		}
	}
	return plans
}

var (
	_ control.FileReader = (*controller)(nil)
	_ control.Adviser    = (*controller)(nil)
)
