package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

// readings is a conversation in which many files are read.
func readings(n int) chat.History {
	items := []any{user("Read all files of the service.")}
	for i := range n {
		name := fmt.Sprintf("file%d.go", i)
		items = append(items, did(fmt.Sprint("call", i), "read", fmt.Sprintf(`{"path":%q}`, name), lines(name, 60)), said("Read."), user("Go on."))
	}
	return of(items...)
}

// The state has what is left beside the folds and the newest messages, in tokens
// and, where those are limited, in bytes.
func TestStateWithinLimits(t *testing.T) {
	h := readings(40)
	whole := 0
	for i := range h.Len() {
		whole += h.At(i).Size().Bytes
	}
	for percent := 90; percent >= 15; percent -= 5 {
		limit := whole * percent / 100
		out := job{stages: stage.Named("limit", "ladder"), available: 1_000_000, target: 900_000, bytes: limit}.run(t, h)
		if n := out.After.Bytes; n > limit || n < limit/4 {
			t.Errorf("%d bytes became %d, the limit is %d", whole, n, limit)
		}
		if has := out.Plan.Stats()[plan.State] == 1; percent <= 30 && !has {
			t.Errorf("no state at %d%%: %v %v", percent, out.Plan.Stats(), out.Notes)
		}
	}
	out := job{stages: stage.Named("limit", "ladder"), available: 12_000, target: 8000}.run(t, h)
	if out.After.Tokens > 8000 || out.Plan.Stats()[plan.State] != 1 {
		t.Errorf("%d tokens, %v", out.After.Tokens, out.Plan.Stats())
	}
	last := out.Plan.Edits[len(out.Plan.Edits)-1]
	if last.Kind != plan.State || last.Handle != "" || last.From != last.To || !strings.Contains(last.Text, "## Files as they stand") {
		t.Errorf("the last edit is %+v", last)
	}
}
