package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/session"
)

// talkative answers with a lot, and reads now and then.
func talkative(a *providersim.Ask) []providersim.Block {
	if a.Step < 2 && a.Rand.IntN(2) == 0 {
		return calls("read_file", `{"path":"big.txt"}`, "read_file", `{"path":"a.txt"}`)
	}
	return text(strings.Repeat("words of an answer about the parser ", 40+a.Rand.IntN(60)))
}

// Through a long conversation every warning is true: what it announces
// happens before anything else does, and nothing overflows.
func TestWarningsAreTrue(t *testing.T) {
	for _, model := range dialects {
		t.Run(strings.ReplaceAll(model, "/", "_"), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, providersim.Options{Window: 20_000, Seed: 3, Agent: talkative})
			b.big(150)
			d := b.driver(model)
			turns := 40
			if !longrun.Asked() {
				turns = 15
			}
			for range turns {
				b.must(d, "Go on with the parser, please, and mind src/parse.go.")
			}
			whole(t, d.Session())
			quiet, warned, compacted := 0, 0, 0
			announced := false
			for _, e := range b.ui.all() {
				if f := e.Fill; f != nil && (f.Ratio != float64(f.Used)/float64(f.Available) || f.Upper < f.Ratio) {
					t.Errorf("%d of %d tokens are called %.3f, at most %.3f", f.Used, f.Available, f.Ratio, f.Upper)
				}
				switch {
				case e.Kind == loop.Compacted:
					compacted++
					announced = false
				case e.Kind == loop.Filled && e.Fill.Level == loop.LevelQuiet:
					quiet++
					if e.Fill.Ratio <= 0.60 {
						t.Errorf("a line at %.2f", e.Fill.Ratio)
					}
				case e.Kind == loop.Filled && e.Fill.Level == loop.LevelWarning:
					warned++
					if e.Fill.Next != loop.NextCompacts {
						t.Errorf("a warning says %q", e.Fill.Next)
					}
					announced = true
				case e.Kind == loop.Idle && announced:
					t.Errorf("a compaction was announced and did not follow:\n%s", b.ui.text())
					announced = false
				}
			}
			if quiet == 0 || compacted == 0 {
				t.Errorf("%d quiet lines, %d warnings, %d compactions", quiet, warned, compacted)
			}
			if r := b.sim.Report(); r.Refused != 0 {
				t.Errorf("%d requests were refused", r.Refused)
			}
		})
	}
}

// With automatic compaction off, a warning says that nothing follows, and
// nothing does; switched on, compaction comes.
func TestAuto(t *testing.T) {
	b := newBench(t, providersim.Options{Window: 100_000, Agent: talkative})
	b.big(300)
	b.auto = false
	b.options.Manual = true
	d := b.driver(dialects[0])
	warned := func(next string) bool {
		for _, e := range b.ui.all() {
			if e.Kind == loop.Filled && e.Fill.Next == next {
				return true
			}
		}
		return false
	}
	for range 60 {
		if warned(loop.NextOff) {
			break
		}
		b.must(d, "Go on.")
	}
	b.must(d, "And on.")
	if !warned(loop.NextOff) || b.ui.count(loop.Compacted) != 0 {
		t.Fatalf("warned %v, %d compactions\n%s", warned(loop.NextOff), b.ui.count(loop.Compacted), b.ui.text())
	}
	b.must(d, "/auto")
	b.must(d, "/auto on")
	b.must(d, "And now?")
	if b.ui.count(loop.Compacted) == 0 {
		t.Errorf("no compaction after /auto on\n%s", b.ui.text())
	}
	if err := b.say(d, "/auto perhaps"); err == nil {
		t.Error("/auto perhaps is accepted")
	}
}

// A compaction that is asked for while a turn runs is made when it is over.
func TestCompactWhileRunning(t *testing.T) {
	queued := make(chan struct{})
	b := newBench(t, providersim.Options{
		Agent: func(*providersim.Ask) []providersim.Block {
			return text(strings.Repeat("words of an answer about the parser ", 60))
		},
		Hold: func(a *providersim.Ask, event int) <-chan struct{} {
			if a.LastText == "And the lexer?" && event > 10 {
				return queued
			}
			return nil
		},
	})
	b.small()
	d := b.driver(dialects[0])
	for range 5 {
		b.must(d, "Tell me about the parser.")
	}
	n := b.ui.count(loop.Words)
	d.Submit("And the lexer?")
	b.ui.wait(t, "words of the last answer", func(loop.Event) bool { return b.count(loop.Words) > n })
	d.Submit("/compact the lexer")
	d.Submit("/help")
	d.Submit("/context")
	b.ui.wait(t, "a word that it waits", func(e loop.Event) bool {
		return e.Kind == loop.Note && strings.Contains(e.Text, "when this turn is over")
	})
	close(queued)
	b.must(d, "Thanks.")
	var order []string
	for _, e := range b.ui.all() {
		switch {
		case e.Kind == loop.Compacted:
			order = append(order, "compacted "+e.Compaction.Focus)
		case e.Kind == loop.Asked && (e.Text == "And the lexer?" || e.Text == "Thanks."):
			order = append(order, e.Text)
		}
	}
	if got := strings.Join(order, ", "); got != "And the lexer?, compacted the lexer, Thanks." {
		t.Errorf("the order is %s", got)
	}
	whole(t, d.Session())
}

// count is for conditions inside wait, which holds the screen's lock.
func (b *bench) count(k loop.Kind) int {
	n := 0
	for _, e := range b.ui.events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// small makes the window small and compaction a matter of hand.
func (b *bench) small() {
	b.auto, b.options.Manual = false, true
	b.options.Settings.Window = 4000
}

// Undo takes compactions back one by one, newest first.
func TestUndo(t *testing.T) {
	b := newBench(t, providersim.Options{Agent: func(*providersim.Ask) []providersim.Block {
		return text(strings.Repeat("words of an answer about the parser ", 60))
	}})
	b.small()
	d := b.driver(dialects[0])
	view := func() string {
		c, err := d.Session().Context()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for i := range c.View.Len() {
			out.WriteString(c.View.At(i).Text() + "\n")
		}
		return out.String()
	}
	b.must(d, "/undo")
	if !b.ui.has(loop.Note, "no compaction to undo") {
		t.Error(b.ui.text())
	}
	for range 6 {
		b.must(d, "Tell me about the parser.")
	}
	first := view()
	b.must(d, "/compact")
	second := view()
	for range 4 {
		b.must(d, "Tell me about the lexer.")
	}
	grown := view()
	b.must(d, "/compact the lexer")
	if n := b.ui.count(loop.Compacted); n != 2 || second == first || view() == grown {
		t.Fatalf("%d compactions\n%s", n, b.ui.text())
	}
	b.must(d, "/undo")
	if view() != grown {
		t.Error("the first undo does not give the view before the second compaction")
	}
	b.must(d, "/undo")
	if got := view(); !strings.HasPrefix(got, first) {
		t.Error("the second undo does not give everything back")
	}
	b.must(d, "/undo")
	whole(t, d.Session())
	if _, ok := d.Session().LastCompaction(); ok {
		t.Error("a compaction still stands")
	}
}

// A hook that calls compactions off is obeyed, and the next warning does not
// promise what did not come.
func TestHookCancels(t *testing.T) {
	b := newBench(t, providersim.Options{Window: 100_000, Agent: talkative})
	b.big(300)
	b.options.Hooks = []session.Hooks{{BeforeCompact: func(context.Context, session.BeforeCompact) (session.CompactDecision, error) {
		return session.CompactDecision{Cancel: true}, nil
	}}}
	d := b.driver(dialects[0])
	for range 30 {
		if err := b.say(d, "Go on."); err != nil {
			break // it is full in the end
		}
		if b.ui.has(loop.Note, "not compacted") {
			break
		}
	}
	if b.ui.count(loop.Compacted) != 0 {
		t.Fatalf("compacted against the hook")
	}
	if !b.ui.has(loop.Note, "not compacted") {
		t.Fatalf("nothing said that it was not compacted:\n%s", b.ui.text())
	}
	f, err := d.Measure()
	if err != nil || f.Next != loop.NextStuck {
		t.Errorf("%+v, %v", f, err)
	}
	whole(t, d.Session())
}

// An edit of the settings file takes effect in the conversation that runs.
func TestLiveSettings(t *testing.T) {
	b := newBench(t, providersim.Options{Agent: func(*providersim.Ask) []providersim.Block {
		return text(strings.Repeat("words of an answer about the parser ", 20))
	}})
	file := filepath.Join(t.TempDir(), "winnow.yaml")
	set := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set("model: gpt-4.1\nwindow: 60000\n")
	live, err := config.Watch(config.Options{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	b.options.Live = live.Session
	d := b.driver(dialects[0])
	for range 10 {
		b.must(d, "Tell me about the parser.")
	}
	f, err := d.Measure()
	if err != nil || f.Window != 60000 || f.Level != "" {
		t.Fatalf("%+v, %v", f, err)
	}
	set("model: gpt-4.1\nwindow: 3000\n")
	for end := time.Now().Add(deadline); f.Window != 3000; time.Sleep(5 * time.Millisecond) {
		if f, err = d.Measure(); err != nil || time.Now().After(end) {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	b.must(d, "And now?")
	if b.ui.count(loop.Compacted) == 0 {
		t.Errorf("the smaller window is not heeded:\n%s", b.ui.text())
	}
	set("model: gpt-4.1\nwindow: enormous\n") // a bad edit changes nothing, and is told
	if err := live.Reload(); err == nil {
		t.Error("nobody is told of a bad edit")
	}
	if f, err = d.Measure(); err != nil || f.Window != 3000 {
		t.Errorf("after a bad edit: %+v, %v", f, err)
	}
	whole(t, d.Session())
}
