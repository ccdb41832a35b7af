package stage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/summary"
)

// turns is a conversation of n turns: a request, two exchanges and an answer,
// about 400 tokens each.
func turns(n int) chat.History {
	h := of()
	for i := range n {
		h = h.Append(user(fmt.Sprintf("Request %d: rename handler%d in api/h%d.go", i, i, i)))
		h = h.Append(did(fmt.Sprint("r", i), "read_file", fmt.Sprintf(`{"path":"api/h%d.go"}`, i), lines(fmt.Sprint("file", i), 12))...)
		h = h.Append(did(fmt.Sprint("t", i), "bash", fmt.Sprintf(`{"command":"go test ./api%d"}`, i), lines(fmt.Sprint("run", i), 12))...)
		h = h.Append(said(fmt.Sprintf("Renamed handler%d.", i)))
	}
	return h
}

const turnLen = 6 // messages of one turn of turns

func folding(change func(c *stage.Config)) job {
	return job{stages: stage.Named("fold"), config: with(func(c *stage.Config) {
		c.KeepRecent, c.RecentMessages = 16384, 4
		if change != nil {
			change(c)
		}
	})}
}

func fold(t testing.TB, p *plan.Plan) plan.Edit {
	t.Helper()
	folds := edits(p, "fold")
	if len(folds) != 1 {
		t.Fatalf("want one fold, got %v", p)
	}
	return folds[0]
}

// S1.3's cut: walk back until keep-recent is reached, never into an exchange.
func TestFoldCut(t *testing.T) {
	h := turns(30)
	each := counter.Messages(h) / 30
	for _, recent := range []int{each, 3 * each, 10 * each} {
		out := folding(func(c *stage.Config) { c.KeepRecent, c.Snap = recent, 0 }).run(t, h)
		e := fold(t, out.Plan)
		kept := 0
		for i := e.To; i < h.Len(); i++ {
			kept += counter.At(h, i)
		}
		if kept < recent || kept > recent+each {
			t.Errorf("keep %d: %d tokens stay", recent, kept)
		}
		o := chat.NewOutline(h)
		if !o.CanCut(e.From) || !o.CanCut(e.To) {
			t.Errorf("keep %d: the fold %d-%d separates an exchange", recent, e.From, e.To)
		}
		if e.From != 0 {
			t.Errorf("the fold starts at %d", e.From)
		}
	}
}

// The cut snaps to the start of a turn when that is cheap, and only then.
func TestFoldSnap(t *testing.T) {
	h := turns(30)
	each := counter.Messages(h) / 30
	out := folding(func(c *stage.Config) { c.KeepRecent, c.Snap = each/2+3*each, each }).run(t, h)
	if e := fold(t, out.Plan); e.To%turnLen != 0 {
		t.Errorf("the cut at %d is not the start of a turn", e.To)
	}
	out = folding(func(c *stage.Config) { c.KeepRecent, c.Snap = each/2+3*each, 0 }).run(t, h)
	if e := fold(t, out.Plan); e.To%turnLen == 0 {
		t.Errorf("the cut at %d snapped although that is switched off", e.To)
	}
}

// S4.5: at least four recent messages stay, and at most a share of the window
// counts as recent.
func TestFoldRecentMessagesAndShare(t *testing.T) {
	h := turns(30)
	out := folding(func(c *stage.Config) { c.KeepRecent, c.Snap = 1, 0 }).run(t, h)
	folds := edits(out.Plan, "fold") // one of the older turns, one inside the last turn
	if e := folds[len(folds)-1]; h.Len()-e.To < 4 {
		t.Errorf("%d recent messages stay, want 4", h.Len()-e.To)
	}
	n := counter.Messages(h)
	j := folding(func(c *stage.Config) { c.KeepRecent = n; c.RecentShare = 0.3; c.Snap = 0 })
	j.available, j.target = n, n/2
	e := fold(t, j.run(t, h).Plan)
	kept := 0
	for i := e.To; i < h.Len(); i++ {
		kept += counter.At(h, i)
	}
	if kept < n*3/10 || kept > n*4/10 {
		t.Errorf("%d of %d tokens are kept, want 30 %%", kept, n)
	}
}

// Pins, system messages and the user's last request inside the run stay.
func TestFoldKeeps(t *testing.T) {
	msgs := turns(20).Messages()
	msgs = slices.Insert(msgs, 3*turnLen, chat.TextMessage(chat.System, "Never push to main."))
	h := chat.NewHistory(msgs...)
	j := folding(func(c *stage.Config) { c.KeepRecent = 400 })
	j.pins = []stage.Pin{{Message: turnLen + 2, Part: -1}} // a result in the second turn
	out := j.run(t, h)
	e := fold(t, out.Plan)
	if want := []int{turnLen + 1, turnLen + 2, 3 * turnLen}; !slices.Equal(e.Keep, want) {
		t.Errorf("keeps %v, want the pinned exchange and the system message %v", e.Keep, want)
	}
	contains(t, "the view", text(out.View), "Never push to main.", lines("file1", 12))
}

// A fold holds the user's requests in their own words, the files and the
// commands, and gives the original back.
func TestFoldText(t *testing.T) {
	h := turns(20)
	j := folding(func(c *stage.Config) { c.KeepRecent = 400 })
	j.available, j.target = 8000, 2000
	out := j.run(t, h)
	e := fold(t, out.Plan)
	contains(t, "the fold", e.Text, "Request 0: rename handler0 in api/h0.go", "Request 15: rename handler15", "api/h3.go", "go test ./api", "[original: "+e.Handle+"]")
	o, err := plan.Recall(h, out.Plan, e.Handle)
	if err != nil || len(o.Messages) != e.To-e.From || o.From != e.From {
		t.Errorf("recall gives %d messages from %d, %v", len(o.Messages), o.From, err)
	}
	if e.After.Tokens > 1000+8000/6 {
		t.Errorf("the fold has %d tokens; its share is 1,000 and a sixth of the window for the user's words", e.After.Tokens)
	}
}

// A later fold of the ladder stands beside the earlier one, whose text stays as it
// is, until all folds have more than a quarter of the room: then one is made of
// them, from the originals.
func TestFoldBesideFoldThenRefold(t *testing.T) {
	race.Skip(t)
	j := job{stages: stage.Named("ladder"), available: 60_000, target: 30_000}
	all := turns(2000).Messages()
	var first plan.Edit
	beside, one := 0, 0
	for n := 200; n <= 2000; n += 200 {
		out := j.run(t, chat.NewHistory(all[:n*turnLen]...))
		folds := edits(out.Plan, "ladder")
		switch {
		case first.Text == "":
			first = folds[0]
		case len(folds) > 1 && one == 0:
			if beside++; folds[0].Text != first.Text || folds[1].From != first.To {
				t.Fatalf("the first fold is not as it was: %v", out.Plan)
			}
			lacks(t, "the second fold", folds[1].Text, "Request 3:")
		case len(folds) == 1 && beside > 0:
			if one++; folds[0].From != 0 || strings.Count(folds[0].Text, "[Earlier conversation") != 1 {
				t.Errorf("want one fold of all the originals, got %v", out.Plan)
			}
		}
		j.base = out.Plan
	}
	if beside == 0 || one == 0 {
		t.Errorf("%d plans have folds side by side, %d one of all", beside, one)
	}
}

// scripted is a summariser that a test writes.
type scripted func(in summary.Input) (summary.Output, error)

func (s scripted) Summarize(_ context.Context, in summary.Input) (summary.Output, error) {
	return s(in)
}

// The prose of the last fold is handed to the next summary, for an update.
func TestFoldHandsOnProse(t *testing.T) {
	var got []summary.Input
	j := folding(func(c *stage.Config) {
		c.KeepRecent, c.Snap, c.Focus = 400, 0, "the API"
		c.Summarizer = scripted(func(in summary.Input) (summary.Output, error) {
			got = append(got, in)
			return summary.Output{Text: "SUMMARY of prose", Prose: fmt.Sprint("prose ", len(got)), Used: "test"}, nil
		})
	})
	j.available, j.target = 12000, 3000
	h := turns(30)
	j.base = j.run(t, h).Plan
	h = h.Append(turns(60).Messages()[30*turnLen:]...)
	j.run(t, h)
	if len(got) != 2 || got[0].Previous != "" || got[1].Previous != "prose 1" || got[0].Focus != "the API" {
		t.Errorf("%d summaries; previous %q, focus %q", len(got), got[len(got)-1].Previous, got[0].Focus)
	}
	if got[0].Max <= 0 || got[0].Max > 1500+got[0].Verbatim || got[0].Verbatim > 2000 {
		t.Errorf("room for the summary: %d tokens, %d of them for the user's words", got[0].Max, got[0].Verbatim)
	}
}

// S4.5: a summariser that fails, or that writes more than it replaces, does not
// stop the pipeline: the next stage does the work and the notes say so.
func TestFoldSummariserFails(t *testing.T) {
	h := turns(40)
	n := counter.Messages(h)
	for name, s := range map[string]scripted{
		"error": func(summary.Input) (summary.Output, error) { return summary.Output{}, errors.New("rate limited") },
		"inflated": func(in summary.Input) (summary.Output, error) {
			return summary.Output{Text: text(in.History) + text(in.History)}, nil
		},
		"empty": func(summary.Input) (summary.Output, error) { return summary.Output{}, nil },
	} {
		j := job{config: with(func(c *stage.Config) { c.Summarizer, c.KeepRecent, c.PruneProtect = s, 400, 0 }), available: n / 2, target: n / 4}
		out := j.run(t, h)
		if out.After.Tokens+counter.Conversation() > n/2 {
			t.Errorf("%s: %d tokens, %d are available", name, out.After.Tokens, n/2)
		}
		if name == "error" && !slices.ContainsFunc(out.Notes, func(s string) bool { return strings.Contains(s, "fold: rate limited") }) {
			t.Errorf("%s: the notes say nothing of it: %q", name, out.Notes)
		}
	}
}

// A turn that is itself too long is folded inside, behind its request.
func TestFoldInsideALongTurn(t *testing.T) {
	h := shellWork(60)
	n := counter.Messages(h)
	j := folding(func(c *stage.Config) { c.KeepRecent = n / 10 })
	j.available, j.target = n/2, n/4
	out := j.run(t, h)
	e := fold(t, out.Plan)
	if e.From != 1 {
		t.Errorf("the fold starts at %d, want 1: behind the request", e.From)
	}
	if out.View.At(0) != h.At(0) {
		t.Error("the request is gone")
	}
	contains(t, "the fold", e.Text, "make step")
}
