package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/summary"
)

// proposing is a stage of somebody else.
type proposing func(*stage.Draft) []plan.Edit

func (proposing) Name() string { return "mine" }

func (p proposing) Propose(_ context.Context, d *stage.Draft, _ chat.Size) ([]plan.Edit, error) {
	return p(d), nil
}

// maskOf masks a part with a short text.
func maskOf(message, part int) plan.Edit {
	return plan.Edit{Kind: plan.Mask, From: message, To: message + 1, Part: part, Text: "gone"}
}

// A stage of one's own runs, its edits are in the plan under its name, and it
// cannot break what winnow promises.
func TestOwnStage(t *testing.T) {
	h := chat.NewHistory(append(coding(0, 30), user("go on"))...)
	pinned := winnow.State{Pins: []winnow.Pin{{Message: 2, Part: -1}}}
	for _, c := range []struct {
		name  string
		edits func(*stage.Draft) []plan.Edit
		note  string // "" where the edits are taken
	}{
		{"masks", func(*stage.Draft) []plan.Edit { return []plan.Edit{maskOf(4, 0), maskOf(8, 0)} }, ""},
		{"a pin", func(*stage.Draft) []plan.Edit { return []plan.Edit{maskOf(2, 0)} }, "must stay as it is"},
		{"the user's last request", func(d *stage.Draft) []plan.Edit { return []plan.Edit{maskOf(d.LastUser, 0)} }, "must stay as it is"},
		{"a run over a pin", func(*stage.Draft) []plan.Edit {
			return []plan.Edit{{Kind: plan.Drop, From: 0, To: 6, Part: -1, Text: "x"}}
		}, "must stay"},
		{"a run over the live messages", func(d *stage.Draft) []plan.Edit {
			return []plan.Edit{{Kind: plan.Drop, From: 6, To: d.History.Len(), Part: -1, Text: "x"}}
		}, "what the next call is about"},
		{"half an exchange", func(*stage.Draft) []plan.Edit {
			return []plan.Edit{{Kind: plan.Drop, From: 6, To: 8, Part: -1, Text: "x"}}
		}, "mine: rolled back"},
		{"nowhere", func(*stage.Draft) []plan.Edit { return []plan.Edit{maskOf(10_000, 0)} }, "there are no messages"},
		{"a panic", func(*stage.Draft) []plan.Edit { panic("oh") }, "it panicked: oh"},
	} {
		w, err := winnow.New(&winnow.Options{Settings: small, Stages: []stage.Stage{proposing(c.edits)}})
		if err != nil {
			t.Fatal(err)
		}
		r := fit(t, w, chat.Request{History: h}, pinned)
		mine := 0
		for _, e := range r.Plan.Edits {
			if e.Stage == "mine" {
				mine++
			}
		}
		for _, e := range r.Plan.Replaced {
			if e.Stage == "mine" {
				mine++
			}
		}
		notes := strings.Join(r.Notes, "\n")
		if c.note == "" && strings.Contains(notes, "mine:") || c.note != "" && (mine > 0 || !strings.Contains(notes, c.note)) {
			t.Errorf("%s: %d edits of it, notes %q", c.name, mine, notes)
		}
	}
}

// writing is a summariser of somebody else.
type writing func(context.Context, summary.Input) (summary.Output, error)

func (w writing) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	return w(ctx, in)
}

// Nothing depends on a summariser: whatever it does, the request fits, and a
// note says that the built-in text stands in.
func TestOwnSummarizer(t *testing.T) {
	good := "The handlers were renamed one after the other and their tests passed each time."
	for name, c := range map[string]struct {
		s    writing
		note string
	}{
		"good": {func(context.Context, summary.Input) (summary.Output, error) {
			return summary.Output{Text: good, Prose: good, Used: "mine"}, nil
		}, ""},
		"empty": {func(context.Context, summary.Input) (summary.Output, error) { return summary.Output{}, nil }, "empty"},
		"error": {func(context.Context, summary.Input) (summary.Output, error) {
			return summary.Output{}, errors.New("no luck")
		}, "no luck"},
		"too long": {func(context.Context, summary.Input) (summary.Output, error) {
			return summary.Output{Text: strings.Repeat("many other words ", 5000)}, nil
		}, "larger"},
		"panic": {func(context.Context, summary.Input) (summary.Output, error) { panic("oh") }, "panicked"},
		"hang": {func(ctx context.Context, _ summary.Input) (summary.Output, error) {
			time.Sleep(24 * time.Hour)
			return summary.Output{}, nil
		}, "no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, err := winnow.New(&winnow.Options{Settings: small, Summarizer: c.s})
				if err != nil {
					t.Fatal(err)
				}
				r := fit(t, w, chat.Request{History: chat.NewHistory(coding(0, 60)...)}, winnow.State{})
				notes := fmt.Sprint(r.Notes)
				if c.note == "" != strings.Contains(text(r.View), good) || c.note != "" && !strings.Contains(notes, c.note) {
					t.Errorf("notes %s", notes)
				}
				time.Sleep(25 * time.Hour) // what hangs ends before the bubble does
			})
		})
	}
}
