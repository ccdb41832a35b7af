package conview_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/plan"
)

// reading is a session in which files are read and the agent answers with a list
// that looks like actions. Every file ends like the others.
func reading(t *testing.T) *rerun.Rerun {
	t.Helper()
	var msgs []chat.Message
	for turn := range 6 {
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Please look at part %d and tell me what it adds up.", turn)))
		for i := range 6 {
			id, path := fmt.Sprintf("c%d_%d", turn, i), fmt.Sprintf("/src/part%d_%d.go", turn, i)
			body := "package src\n"
			for n := range 40 {
				body += fmt.Sprintf("var total%d_%d_%d = %d\n", turn, i, n, n)
			}
			msgs = append(msgs, chat.CallMessage("Reading on.", chat.Call(id, "read_file", fmt.Sprintf(`{"path":%q}`, path))), chat.ResultMessage(id, body+"// the end\n"))
		}
		msgs = append(msgs, chat.TextMessage(chat.Assistant, fmt.Sprintf("It adds up:\n- read the totals of part %d\n- no more than that", turn)))
	}
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 14_000, OutputReserve: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rerun.New(t.Context(), rerun.Input{Request: chat.Request{History: chat.NewHistory(msgs...)}, Engine: w})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bands(v *control.View) map[string]int {
	sums := make(map[string]int)
	for _, r := range v.Runs {
		sums[r.Band] += r.Tokens
	}
	return sums
}

// The view is one text whose bands add up to the prompt, and what somebody said as a
// list is not taken for actions.
func TestViewHasBands(t *testing.T) {
	r := reading(t)
	v, err := r.View(t.Context(), r.ID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range bands(v) {
		sum += n
	}
	if len(bands(v)) < 4 || sum < v.Tokens*9/10 || sum > v.Tokens*11/10 || v.Tokens >= v.Whole || v.Later == nil {
		t.Errorf("bands %v of %d tokens, %d without a plan", bands(v), v.Tokens, v.Whole)
	}
	for _, x := range v.Runs {
		if x.Band == "actions" && strings.Contains(x.Text, "no more than that") {
			t.Errorf("what the agent said is told as an action: %s", x.Text)
		}
	}
}

// A preview says what the compaction then does, to either side of what is hidden now,
// and changes nothing; undone, the same is seen as before.
func TestPreviewHoldsWhatItSays(t *testing.T) {
	r := reading(t)
	ctx, id := t.Context(), r.ID()
	now, err := r.View(ctx, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []int{now.Fixed + (now.Tokens-now.Fixed)/2, now.Tokens + (now.CompactAt-now.Tokens)*3/4} {
		before, err := r.View(ctx, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		ask := control.Compact{Base: control.Base{Plan: before.Plan}, Target: target}
		then, err := r.View(ctx, id, &ask)
		if err != nil {
			t.Fatal(err)
		}
		if (then.Tokens < before.Tokens) != (target < before.Tokens) || then.Tokens > target+target/20 {
			t.Errorf("asked for %d, had %d, would have %d", target, before.Tokens, then.Tokens)
		}
		if still, err := r.View(ctx, id, nil); err != nil || still.Plan != before.Plan {
			t.Errorf("the preview changed the plan: %v", err)
		}
		done, err := r.Compact(ctx, id, ask)
		if err != nil || done.After != then.Tokens {
			t.Fatalf("it was to have %d tokens: %+v, %v", then.Tokens, done, err)
		}
		if _, err := r.Undo(ctx, id, control.Undo{Base: control.Base{Plan: done.Plan}}); err != nil {
			t.Fatal(err)
		}
		if after, err := r.View(ctx, id, nil); err != nil || after.Tokens != before.Tokens {
			t.Errorf("undone it has %d tokens, had %d: %v", after.Tokens, before.Tokens, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := r.View(stopped, id, &control.Compact{Base: control.Base{Plan: now.Plan}, Target: now.Tokens / 2}); err == nil {
		t.Error("a preview that nobody waits for was made")
	}
}

// Lines of other files that read alike are not lines of this one.
func TestSeenLinesAreTheFilesOwn(t *testing.T) {
	r := reading(t)
	files, err := r.Files(t.Context(), r.ID())
	if err != nil {
		t.Fatal(err)
	}
	none := 0
	for _, f := range files.Files {
		if f.Shown == 0 {
			none++
		}
	}
	if none == 0 || none == len(files.Files) {
		t.Errorf("of %d files %d are not seen at all; each shares a line with those that are", len(files.Files), none)
	}
}

// Messages are filtered by what they are and what became of them.
func TestMessagesAreFiltered(t *testing.T) {
	r := reading(t)
	for _, c := range []struct {
		which control.Wanted
		fits  int
	}{
		{control.Wanted{Role: chat.User}, 6},
		{control.Wanted{Tool: "read_file"}, 72},
		{control.Wanted{Tool: "write_file"}, 0},
		{control.Wanted{Pinned: true}, 0},
	} {
		m, err := r.Messages(t.Context(), r.ID(), c.which)
		if err != nil || m.Fits != c.fits || len(m.Messages) != c.fits || !slices.Equal(m.Tools, []string{"read_file"}) {
			t.Errorf("%+v: %d messages, %v", c.which, m.Fits, err)
		}
	}
	all, hidden := 0, 0
	for _, shown := range []string{"kept", "reduced", "hidden"} {
		m, err := r.Messages(t.Context(), r.ID(), control.Wanted{Shown: shown, Limit: 3})
		if err != nil || len(m.Messages) > 3 || m.Next == 0 && m.Fits > 3 {
			t.Errorf("%s: %+v, %v", shown, m, err)
		}
		if all += m.Fits; shown == "hidden" {
			hidden = m.Fits
		}
	}
	if all != 84 || hidden == 0 {
		t.Errorf("of 84 messages %d have a fate, %d are hidden", all, hidden)
	}
}

// A patch tells what is hidden as turns.
func TestPatchTellsTurns(t *testing.T) {
	r := reading(t)
	d, err := r.Conversation(t.Context(), r.ID())
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Patch(t.Context(), d.Plans[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(p.Hunks, func(h control.Hunk) bool { return len(h.Turns) > 0 })
	if at < 0 {
		t.Fatal("no turn is told")
	}
	turn := p.Hunks[at].Turns[0]
	if !strings.HasPrefix(turn.Asked, "Please look at part 0") || !strings.Contains(turn.Did, "6 files read") || !strings.Contains(turn.Left, "the request whole") {
		t.Errorf("%+v", turn)
	}
}

// Requests of a burst are numbered as they are answered: a plan stands before the
// first that was sent under it, wherever it was made.
func TestMarksOfABurst(t *testing.T) {
	requests := []control.Request{{N: 1}, {N: 2}, {N: 3}, {N: 4, Plan: "a"}, {N: 5}, {N: 6, Plan: "a"}}
	plans := []control.PlanInfo{{ID: "a", By: "request", Request: 2}, {ID: "b", By: "compact", Request: 5, InForce: true}}
	conview.MarkPlans(plans, requests)
	if plans[0].Request != 4 || plans[1].Request != 7 {
		t.Errorf("the marks stand before %d and %d, want 4 and 7", plans[0].Request, plans[1].Request)
	}
}

// The next prompt is that of the plan in force, and an undo is not a compaction.
func TestNextAfterUndo(t *testing.T) {
	r := reading(t)
	was, err := r.Conversation(t.Context(), r.ID())
	if err != nil {
		t.Fatal(err)
	}
	done, err := r.Undo(t.Context(), r.ID(), control.Undo{Base: control.Base{Plan: was.Plan}})
	if err != nil {
		t.Fatal(err)
	}
	now, err := r.Conversation(t.Context(), r.ID())
	if err != nil || now.Next.Tokens != done.After || now.Next.Tokens <= was.Next.Tokens {
		t.Errorf("the next prompt had %d tokens and has %d after an undo that left %d: %v", was.Next.Tokens, now.Next.Tokens, done.After, err)
	}
	if now.Totals.Compactions != was.Totals.Compactions || len(now.Plans) != len(was.Plans)+1 {
		t.Errorf("%d compactions, %d before the undo", now.Totals.Compactions, was.Totals.Compactions)
	}
	if n := conview.Next([]control.Request{{Plan: "a", Tokens: 5, CompactAt: 9}}, "b", func() (winnow.Status, error) { return winnow.Status{}, plan.ErrMismatch }); n.Do != "unknown" {
		t.Errorf("%+v", n)
	}
}
