package replay

import (
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// Compacting at the commit point costs much less than filling a large window.
func TestCommitPointSaves(t *testing.T) {
	longrun.Only(t, "the generated session is long")
	s := replaygen.Session(1, replaygen.Options{Requests: 400, Growth: 2500, Output: 600, System: 25_000})
	x := newIndex(&Session{Session: s, File: s.ID}, token.New(counting, nil))
	models := (&Options{}).orDefault().Models
	run := func(set winnow.Settings, models []model.Model) Outcome {
		d := driver{index: x, window: 1_000_000, trigger: 0.8, prices: models}
		out, err := d.run(t.Context(), Ours{Label: "winnow", Settings: set})
		if err != nil {
			t.Fatal(err)
		}
		if out.Failed+out.Overflow+out.Invalid > 0 {
			t.Errorf("%d failed, %d overflows, %d invalid", out.Failed, out.Overflow, out.Invalid)
		}
		return out
	}
	late := run(winnow.Settings{Preset: "default", Economy: winnow.EconomyOff, Target: 0.048, KeepRecent: 20_000}, models)
	for m := range models {
		soon := run(winnow.Settings{Preset: "default", Economy: winnow.EconomyPrices}, models[m:m+1])
		t.Logf("%s: at the commit point $%.2f, %d rewrites; at 80 %% of the window $%.2f, %d", models[m].Name, soon.Dollars[0], soon.Rewrites, late.Dollars[m], late.Rewrites)
		if soon.Dollars[0] > 0.6*late.Dollars[m] {
			t.Errorf("%s: $%.2f, at 80 %% of the window $%.2f", models[m].Name, soon.Dollars[0], late.Dollars[m])
		}
	}
}

// The clock: after a pause that the cache does not survive, the engine rewrites
// what must be written anyway, and pays less than without a clock.
func TestClock(t *testing.T) {
	s := replaygen.Session(5, replaygen.Options{Requests: 120, Growth: 900})
	msgs := s.History.Messages()
	for i := range msgs {
		msgs[i].Time += int64(i/40) * time.Hour.Milliseconds()
	}
	s.History = chat.NewHistory(msgs...)
	x := newIndex(&Session{Session: s, File: "paused"}, token.New(counting, nil))
	o := (&Options{}).orDefault()
	set, err := winnow.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	d := driver{index: x, window: 64000, trigger: 0.8, prices: o.Models[:1]}
	blind, err := d.run(t.Context(), Ours{Label: "winnow", Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	seeing, err := d.runAndTime(t.Context(), Ours{Label: "winnow", Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	if seeing.Timed[0] >= blind.Timed[0] || seeing.Dollars[0] != blind.Dollars[0] {
		t.Errorf("with a clock $%.3f, without $%.3f; never cold $%.3f and $%.3f", seeing.Timed[0], blind.Timed[0], seeing.Dollars[0], blind.Dollars[0])
	}
}
