package winnow_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// BenchmarkRewrite compacts a conversation of so many exchanges, about 1,500
// tokens each: for the first time, and again after twenty more, where what was
// read before is remembered.
func BenchmarkRewrite(b *testing.B) {
	for _, n := range []int{250, 2000} {
		msgs := longSession(2*n, 40, 80)
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) { benchRewrite(b, msgs, len(msgs)) })
		b.Run(fmt.Sprintf("again/%d", n), func(b *testing.B) { benchRewrite(b, msgs, 40) })
	}
}

func benchRewrite(b *testing.B, msgs []chat.Message, fresh int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 200000})
		h, s := rewritten(b, w, msgs[:len(msgs)-fresh])
		h = h.Append(msgs[len(msgs)-fresh:]...)
		b.StartTimer()
		r, err := w.Fit(context.Background(), chat.Request{History: h}, s)
		if err != nil || !r.Changed {
			b.Fatal(err, r.Changed)
		}
	}
}

// rewritten compacts messages, if there are any.
func rewritten(tb testing.TB, w *winnow.Winnow, msgs []chat.Message) (chat.History, winnow.State) {
	tb.Helper()
	h, s := chat.NewHistory(msgs...), winnow.State{Ask: winnow.Ask{Force: true}}
	if len(msgs) > 0 {
		r, err := w.Fit(context.Background(), chat.Request{History: h}, s)
		if err != nil {
			tb.Fatal(err)
		}
		s.Plan = r.Plan
	}
	return h, s
}

// A rewrite reads what came since the one before, and makes as little as that.
func TestRewriteReadsWhatIsNew(t *testing.T) {
	msgs := longSession(4000, 4, 13)
	allocs := func(fresh int) float64 {
		w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 60000})
		h, s := rewritten(t, w, msgs[:len(msgs)-fresh])
		h = h.Append(msgs[len(msgs)-fresh:]...)
		return testing.AllocsPerRun(1, func() { // once before it counts: what others keep is there then
			w := w
			if fresh == len(msgs) {
				w = mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 60000})
			}
			if _, err := w.Fit(context.Background(), chat.Request{History: h}, s); err != nil {
				t.Fatal(err)
			}
		})
	}
	first, again := allocs(len(msgs)), allocs(20)
	t.Logf("first %.0f allocations, again %.0f", first, again)
	if again > first/4 {
		t.Errorf("a rewrite after ten exchanges makes %.0f allocations, the first one %.0f", again, first)
	}
}

// A rewrite that frees little has the files in its state all the same.
func TestSmallRewriteKeepsTheState(t *testing.T) {
	msgs := longSession(400, 10, 20)
	w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 60000})
	h, s := rewritten(t, w, msgs)
	h = h.Append(longSession(5, 10, 20)...)
	r, err := w.Fit(context.Background(), chat.Request{History: h}, s)
	if err != nil || !r.Changed {
		t.Fatal(err, r.Changed)
	}
	if !slices.ContainsFunc(r.Plan.Edits, func(e plan.Edit) bool { return e.Kind == plan.State }) {
		t.Errorf("no state; %d tokens of %d", r.After.Tokens.Total, r.Before.Tokens.Total)
	}
}
