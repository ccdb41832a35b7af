package stage

import (
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/plan"
)

// Looking for the masks of a message with very many parts costs little for each
// part.
func TestManyMasksAreLinear(t *testing.T) {
	const n = 100_000
	edits := make([]plan.Edit, 0, 2*n)
	for i := range n {
		if i%2 == 0 {
			edits = append(edits, plan.Edit{Kind: plan.Mask, Part: i})
		}
		if i%3 == 0 {
			edits = append(edits, plan.Edit{Kind: plan.Answer, Part: i, CallID: "x"})
		}
	}
	found := 0
	if d := cputime.Of(func() {
		for i := range n {
			if e := maskOf(edits, i); e != nil && e.Part == i && e.Kind == plan.Mask {
				found++
			}
		}
	}); d > 2*time.Second {
		t.Errorf("looking for the masks of %d parts took %v", n, d)
	}
	if found != n/2 {
		t.Errorf("found %d masks of %d", found, n/2)
	}
}
