package stage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/stage"
)

func truncating(change func(c *stage.Config)) job {
	return job{stages: stage.Named("truncate"), config: with(func(c *stage.Config) {
		if change != nil {
			change(c)
		}
	})}
}

// S4.6: the first exchange stays, whole turns of the middle go, oldest first,
// a marker is left.
func TestTruncate(t *testing.T) {
	h := turns(20)
	n := counter.Messages(h)
	j := truncating(nil)
	j.available, j.target = n, n/2
	out := j.run(t, h)
	drops := edits(out.Plan, "truncate")
	if len(drops) != 1 {
		t.Fatalf("want one drop, got %v", out.Plan)
	}
	e := drops[0]
	if e.From != 3 || e.To%turnLen != 0 {
		t.Errorf("dropped %d-%d, want whole turns behind the first exchange", e.From, e.To)
	}
	contains(t, "the view", text(out.View), "Request 0:", "Request 19:", fmt.Sprintf("[%d earlier messages left out; original: %s]", e.To-e.From, e.Handle))
	if got := out.After.Tokens + counter.Conversation(); got > n/2 || got < n/2-2*n/20 {
		t.Errorf("%d tokens are left, aimed at %d", got, n/2)
	}

	j = truncating(func(c *stage.Config) { c.KeepFirst = false })
	j.available, j.target = n, n/2
	if e := edits(j.run(t, h).Plan, "truncate")[0]; e.From != 0 {
		t.Errorf("the first exchange stays although that is switched off: from %d", e.From)
	}
}

// A first exchange that is itself large stays too, unless it does not fit.
func TestTruncateLargeFirstExchange(t *testing.T) {
	h := of(user("start"), did("0", "read_file", `{"path":"x"}`, lines("big", 400)), said("read"), turns(10).Messages())
	n := counter.Messages(h)
	j := truncating(nil)
	j.available, j.target = n, n/4
	if e := edits(j.run(t, h).Plan, "truncate")[0]; e.From != 3 {
		t.Errorf("the large first exchange goes: dropped from %d", e.From)
	}
	j.available, j.target = n/4, n/8
	out := j.run(t, h)
	if e := edits(out.Plan, "truncate")[0]; e.From != 0 || !strings.Contains(strings.Join(out.Notes, " "), "the first exchange goes too") {
		t.Errorf("dropped from %d, notes %q", e.From, out.Notes)
	}
}

// A fold is not dropped: what it kept stays as long as that is enough.
func TestTruncateLeavesFolds(t *testing.T) {
	h := turns(40)
	n := counter.Messages(h)
	f := folding(func(c *stage.Config) { c.KeepRecent = n * 7 / 10; c.RecentShare = 1 })
	f.available, f.target = n, n*8/10
	folded := f.run(t, h)
	a := fold(t, folded.Plan)

	j := truncating(nil)
	j.base, j.available, j.target = folded.Plan, n, n/3
	out := j.run(t, h)
	contains(t, "the view", text(out.View), a.Text)
	if e := edits(out.Plan, "truncate")[0]; e.From < a.To {
		t.Errorf("dropped from %d, the fold ends at %d", e.From, a.To)
	}
}

// What stays in any case is not taken for something that was saved: behind a
// large pin the turns go all the same.
func TestTruncateBehindAPin(t *testing.T) {
	h := of(user(lines("bulk", 300)), said("noted"), turns(20).Messages())
	n := counter.Messages(h)
	j := truncating(func(c *stage.Config) { c.KeepFirst = false })
	j.pins = []stage.Pin{{Message: 0, Part: -1}}
	j.available, j.target = n, n*3/4
	out := j.run(t, h)
	if got := out.After.Tokens + counter.Conversation(); got > n*3/4 || out.View.At(0) != h.At(0) {
		t.Errorf("%d tokens of %d, aimed at %d", got, n, n*3/4)
	}
}

// Inside a turn that is too long, exchanges go whole and the request stays.
func TestTruncateInsideTurn(t *testing.T) {
	h := shellWork(30)
	n := counter.Messages(h)
	j := truncating(nil)
	j.available, j.target = n, n/2
	out := j.run(t, h)
	e := edits(out.Plan, "truncate")[0]
	if e.From != 1 || (e.To-e.From)%2 != 0 {
		t.Errorf("dropped %d-%d, want whole exchanges behind the request", e.From, e.To)
	}
	if got := out.After.Tokens; got > n/2 {
		t.Errorf("%d tokens, aimed at %d", got, n/2)
	}
}

// TestVectorC6 is PicoClaw's test of a history that is trimmed to fit the window.
func TestVectorC6(t *testing.T) {
	text360 := func(s string) string { return strings.Repeat(s+" and so on it goes ", 20)[:360] }
	h := of()
	for i := range 3 {
		h = h.Append(user(text360(fmt.Sprint("question", i))), said(text360(fmt.Sprint("answer", i))))
	}
	// The window of the vector holds two of the three turns and a marker.
	window := counter.Conversation() + 40
	for i := 2; i < 6; i++ {
		window += counter.At(h, i)
	}
	j := truncating(func(c *stage.Config) { c.KeepFirst = false })
	j.available, j.target = window, window
	out := j.run(t, h)
	if got, want := show(out.View), "y u a u a"; got != want {
		t.Errorf("%q, want %q: turn 1 goes, four messages stay behind a marker", got, want)
	}

	// Differs: there a single turn that is too large leaves an empty history and
	// counts as a fit. Ours never empties a history: what can shrink does, and a
	// request that is too large by itself is an error with numbers.
	one := of(user(strings.Repeat("please fix this ", 125)), said(strings.Repeat("I looked at it ", 134)))
	request := counter.At(one, 0) + counter.Conversation()
	out = job{available: request + 60, target: request + 60}.run(t, one)
	if out.View.Len() == 0 || out.View.At(0) != one.At(0) || out.After.Tokens+counter.Conversation() > request+60 {
		t.Errorf("%s, %d tokens of %d", show(out.View), out.After.Tokens, request+60)
	}
	var cannot *stage.CannotFitError
	if _, err := (job{available: 200, target: 200}).try(one); !errors.As(err, &cannot) {
		t.Fatalf("want a CannotFitError, got %v", err)
	}
	if cannot.Available != 200 || cannot.Floor <= 200 || len(cannot.Items) == 0 || !strings.Contains(cannot.Items[0].What, "last user message") {
		t.Errorf("%+v", cannot)
	}
}

// TestHalf is S2.2: the older half of the turns goes, whatever is needed.
func TestHalf(t *testing.T) {
	j := job{stages: stage.Named("half")}
	for n, want := range map[int]int{2: 1, 5: 2, 8: 4, 9: 4} {
		out := j.run(t, turns(n))
		drops := edits(out.Plan, "half")
		if len(drops) != 1 || drops[0].From != 0 || drops[0].To != want*turnLen {
			t.Errorf("%d turns: %v, want the first %d turns to go", n, drops, want)
		}
	}
	if out := j.run(t, turns(1)); out.Plan != nil {
		t.Errorf("a single turn was cut: %v", out.Plan)
	}
	h := turns(8)
	j.pins = []stage.Pin{{Message: turnLen, Part: -1}}
	out := j.run(t, h)
	contains(t, "the view", text(out.View), "Request 1:")
	if out.View.Len() != 1+1+4*turnLen {
		t.Errorf("%d messages are left: %s", out.View.Len(), show(out.View))
	}
	if got := out.View.At(out.View.Len() - 1); got.Role != chat.Assistant {
		t.Errorf("the last message is a %s's", got.Role)
	}
}
