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
	run := func(set winnow.Settings, price model.Model) Outcome {
		d := driver{index: x, window: 1_000_000, trigger: 0.8, price: price}
		out, err := d.run(t.Context(), Ours("winnow", set))
		if err != nil {
			t.Fatal(err)
		}
		if out.Failed+out.Overflow+out.Invalid > 0 {
			t.Errorf("%d failed, %d overflows, %d invalid", out.Failed, out.Overflow, out.Invalid)
		}
		return out
	}
	for _, name := range []string{"claude-opus-5-5", "gpt-6-sol"} {
		price := model.Default().Lookup(name)
		late := run(winnow.Settings{Preset: "default", Economy: winnow.EconomyOff, Target: 0.048, KeepRecent: 20_000}, price)
		soon := run(winnow.Settings{Preset: "default", Economy: winnow.EconomyPrices}, price)
		t.Logf("%s: at the commit point $%.2f, %d rewrites; at 80 %% of the window $%.2f, %d", name, soon.Dollars, soon.Rewrites, late.Dollars, late.Rewrites)
		if soon.Dollars > 0.6*late.Dollars {
			t.Errorf("%s: $%.2f, at 80 %% of the window $%.2f", name, soon.Dollars, late.Dollars)
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
	d := driver{index: x, window: 64000, trigger: 0.8, price: o.Model}
	blind, err := d.run(t.Context(), Ours("winnow", set))
	if err != nil {
		t.Fatal(err)
	}
	d.clock = true
	seeing, err := d.run(t.Context(), Ours("winnow", set))
	if err != nil {
		t.Fatal(err)
	}
	if seeing.Timed >= blind.Timed {
		t.Errorf("with a clock $%.3f, without $%.3f", seeing.Timed, blind.Timed)
	}
}
