package storeview

import (
	"context"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// with does something with a session as it is now.
func with[T any](ctx context.Context, v *Store, id string, do func(*opened) (T, error)) (T, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, err := v.find(ctx, id)
	if err != nil {
		var none T
		return none, err
	}
	return do(o)
}

// File implements [control.FileReader].
func (v *Store) File(ctx context.Context, id, path string) (*control.FileText, error) {
	return with(ctx, v, id, func(o *opened) (*control.FileText, error) { return conview.FileText(o.read.view, v.o.Kinds, path) })
}

// Hints implements [control.Adviser].
func (v *Store) Hints(ctx context.Context, id string) ([]control.Hint, error) {
	return with(ctx, v, id, func(o *opened) ([]control.Hint, error) {
		var plans []*plan.Plan
		for _, info := range o.read.plans {
			if p := o.read.known[info.ID]; p != nil {
				plans = append(plans, p)
			}
		}
		return conview.Hints(o.read.request.History, plans, o.read.w.Meter().Counter()), nil
	})
}
