package budget

import "github.com/winnow-llm/winnow/plan"

// Remember makes a meter believe that a view has these totals.
func (m *Meter) Remember(v plan.View, t Totals) { m.totals.Put(v.History(), v.Key(), t) }
