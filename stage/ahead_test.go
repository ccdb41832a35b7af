package stage

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
)

// How things stand is read ahead where a rewrite is certain, and nowhere else.
func TestReadingAhead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const trigger = 1000
	long := chat.NewHistory(chat.TextMessage(chat.User, strings.Repeat("a", sureBytes*trigger+1)))
	for _, tc := range []struct {
		name  string
		h     chat.History
		share float64
		base  *plan.Plan
		want  int32
	}{
		{"a long history", long, 0.5, nil, 1},
		{"a short history", chat.NewHistory(chat.TextMessage(chat.User, strings.Repeat("a", sureBytes*trigger))), 0.5, nil, 0},
		{"no state", long, 0, nil, 0},
		{"a plan in force", long, 0.5, &plan.Plan{}, 0},
	} {
		p := &Pipeline{Meter: budget.NewMeter(token.New(token.Unknown, nil)), Config: Config{StateShare: tc.share}}
		d := newDraft(&chat.Request{History: tc.h}, p, tc.base, nil)
		var read atomic.Int32
		d.standing = func() (*summary.State, *guard.LeftOut) { read.Add(1); return nil, nil }
		d.readAhead(trigger)()
		if got := read.Load(); got != tc.want {
			t.Errorf("%s: the state was read %d times, want %d", tc.name, got, tc.want)
		}
	}
}
