package app

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
)

// The columns of the report add up: what a rewrite left out of kept messages is
// not called kept, and what it added is not hidden.
func TestTalliesAddUp(t *testing.T) {
	for _, c := range []struct {
		name string
		kept plan.Tally
		want []string // rows: name, messages, tokens, now
	}{
		{"as it was", plan.Tally{Messages: 11, Before: 6125, After: 6125}, []string{"kept 11 6,125 6,125"}},
		{"thinking stripped", plan.Tally{Messages: 11, Before: 6125, After: 3410}, []string{"kept 11 3,410 3,410", "left out 2,715 0"}},
		{"results added", plan.Tally{Messages: 11, Before: 6125, After: 6162}, []string{"kept 11 6,125 6,125", "added 37"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			show.Tallies(&b, style{Width: 100}, &compacted{Report: show.PlanReport{
				Kept: c.kept, Reduced: plan.Tally{Messages: 2, Before: 900, After: 100}, Removed: plan.Tally{Messages: 50, Before: 30575, After: 4797},
			}})
			var got []string
			for line := range strings.Lines(b.String()) {
				numbers := strings.TrimSuffix(line, "\n")
				if n := len(numbers); n > 80 {
					t.Errorf("a line of %d columns: %s", n, numbers)
				}
				for _, note := range []string{"as they were", "placeholders for", "shorter,", "behind ", "thinking tied"} {
					numbers, _, _ = strings.Cut(numbers, note)
				}
				got = append(got, strings.Join(strings.Fields(numbers), " "))
			}
			want := append([]string{"messages tokens now", c.want[0], "reduced 2 900 100", "removed 50 30,575 4,797"}, c.want[1:]...)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
