package loop_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/summary"
)

// slowly is a summariser that takes its time, and tells when it is at work.
type slowly struct {
	begun chan struct{}
	long  atomic.Bool // it may still be asked after it was given up
}

func (s *slowly) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	select {
	case s.begun <- struct{}{}:
	default:
	}
	if s.long.Load() {
		<-ctx.Done()
		return summary.Output{}, ctx.Err()
	}
	return summary.Builtin().Summarize(ctx, in)
}

// begun lets long answers begin and not go on: they end when the client does not
// want them any more, or with the simulator.
func begun(_ *providersim.Ask, event int) <-chan struct{} {
	if event > 20 {
		return make(chan struct{})
	}
	return nil
}

// Whatever is cancelled, and when, the session stays whole, the partial answer
// is kept and marked, calls have answers, and the conversation goes on.
func TestInterrupt(t *testing.T) {
	slow := func() func(*providersim.Ask) []providersim.Block {
		return steps(calls("run", `{"command":"sleep 300"}`, "read_file", `{"path":"a.txt"}`), text("And on."))
	}
	for _, c := range []struct {
		name  string
		sim   providersim.Options
		ready func(*testing.T, *bench)
		want  string // in the session afterwards
	}{
		{
			"before the answer",
			providersim.Options{FirstByte: time.Hour, Agent: steps(text("Never."))},
			func(t *testing.T, b *bench) { b.ui.waitFor(t, loop.Asked) },
			"assistant: \"[The user interrupted this answer.]\"\n",
		},
		{
			"while it streams",
			providersim.Options{Hold: begun, Agent: steps(text(strings.Repeat("one word after the other ", 4000)), text("And on."))},
			func(t *testing.T, b *bench) { b.ui.waitFor(t, loop.Words) },
			"assistant: \"one word",
		},
		{
			"at the question",
			providersim.Options{Agent: slow()},
			func(t *testing.T, b *bench) { b.ui.waitFor(t, "confirm") },
			"tool: result \"Not run: the user interrupted.\"\ntool: result \"Not run: the user interrupted.\"\n",
		},
		{
			"while a tool runs",
			providersim.Options{Agent: slow()},
			func(t *testing.T, b *bench) { b.ui.waitFor(t, loop.Called) },
			"tool: result \"[cancelled by the user]\"\ntool: result",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.sim)
			if c.name == "at the question" {
				b.ui.confirm = func(ctx context.Context, _ tools.Action) (loop.Reply, error) {
					<-ctx.Done()
					return loop.No, ctx.Err()
				}
			}
			d := b.driver(dialects[0])
			if d.Interrupt() {
				t.Error("there was nothing to interrupt")
			}
			d.Submit("Do it.")
			c.ready(t, b)
			if !d.Interrupt() {
				t.Fatal("nothing ran")
			}
			b.ui.waitFor(t, loop.Interrupted)
			b.rest(d)
			h := whole(t, d.Session())
			if got := story(h); !strings.Contains(got, c.want) {
				t.Errorf("the session:\n%s", got)
			}
			if last := h.At(h.Len() - 1); last.Role == chat.Assistant && !strings.HasSuffix(last.Text(), "[The user interrupted this answer.]") {
				t.Errorf("the cut answer is not marked: %q", last.Text())
			}
			if c.sim.FirstByte > 0 {
				return
			}
			b.must(d, "Go on then.")
			if got := story(whole(t, d.Session())); !strings.HasSuffix(got, "user: \"Go on then.\"\nassistant: \"And on.\"\n") {
				t.Errorf("the session:\n%s", got)
			}
		})
	}
}

// A compaction that is cancelled leaves the conversation as it was, by hand and
// at the end of a turn; an answer that is cancelled does not cancel it.
func TestInterruptCompaction(t *testing.T) {
	b := newBench(t, providersim.Options{Agent: func(a *providersim.Ask) []providersim.Block { return text(strings.Repeat("words of an answer ", 150)) }})
	s := &slowly{begun: make(chan struct{}, 1)}
	b.options.Summarizer = s
	b.small()
	d := b.driver(dialects[0])
	for range 6 {
		b.must(d, "Tell me "+strings.Repeat("more and more ", 40))
	}
	before := story(whole(t, d.Session()))
	s.long.Store(true)
	d.Submit("/compact everything")
	waitFor(t, s.begun)
	d.Interrupt()
	b.ui.waitFor(t, loop.Interrupted)
	b.rest(d)
	if after := story(whole(t, d.Session())); after != before || b.ui.count(loop.Compacted) != 0 {
		t.Errorf("something changed:\n%s", b.ui.text())
	}

	b.must(d, "/auto on")
	select { // it may have been asked once more before it was given up
	case <-s.begun:
	default:
	}
	for b.ui.count(loop.Compacting) < 2 && b.ui.count(loop.Filled) < 100 { // up to the threshold
		d.Submit("Tell me " + strings.Repeat("yet more ", 40))
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		over := make(chan error, 1)
		go func() { over <- d.Wait(ctx) }()
		select {
		case <-s.begun:
			d.Interrupt()
			<-over
			cancel()
			goto reached
		case err := <-over:
			cancel()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
reached:
	if b.ui.count(loop.Interrupted) < 2 || b.ui.count(loop.Compacted) != 0 {
		t.Fatalf("no compaction was cancelled:\n%s", b.ui.text())
	}
	whole(t, d.Session())
	s.long.Store(false)
	b.must(d, "/compact")
	if b.ui.count(loop.Compacted) != 1 {
		t.Errorf("not compacted:\n%s", b.ui.text())
	}
	b.must(d, "Still there?")
	whole(t, d.Session())
}

func waitFor(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(deadline):
		t.Fatal("waited in vain")
	}
}

// Lines that are typed while an answer runs are done afterwards, in order; an
// interrupt cancels the answer and not them.
func TestQueue(t *testing.T) {
	b := newBench(t, providersim.Options{
		Agent: func(a *providersim.Ask) []providersim.Block { return text("About " + a.LastText) },
		Hold: func(a *providersim.Ask, _ int) <-chan struct{} {
			if a.LastText == "one" {
				return make(chan struct{}) // its answer never begins
			}
			return nil
		},
	})
	d := b.driver(dialects[0])
	for _, l := range []string{"one", "two", "/pin", "", "  ", "three", "/nonsense here", "four"} {
		d.Submit(l)
	}
	if n := len(d.Waiting()); n < 4 {
		t.Errorf("%d lines wait", n)
	}
	b.ui.waitFor(t, loop.Asked)
	d.Interrupt()
	b.ui.wait(t, "the wrong command", func(e loop.Event) bool {
		return e.Kind == loop.Failed && strings.Contains(e.Text, "/nonsense") && e.Waiting == 1
	})
	b.must(d, "five") // what waited goes first
	want := `user: "one"
assistant: "[The user interrupted this answer.]"
user: "two"
assistant: "About two"
user: "three"
assistant: "About three"
user: "four"
assistant: "About four"
user: "five"
assistant: "About five"
`
	if got := story(whole(t, d.Session())); got != want {
		t.Errorf("the session:\n%s", got)
	}
	if !b.ui.has(loop.Note, "pinned") {
		t.Error("nothing is pinned")
	}
}

// Leaving in the middle of an answer keeps what came.
func TestCloseInTheMiddle(t *testing.T) {
	b := newBench(t, providersim.Options{Hold: begun, Agent: steps(text(strings.Repeat("one word after the other ", 4000)))})
	d := b.driver(dialects[0])
	id := d.Session().ID()
	d.Submit("Tell me.")
	d.Submit("Never asked.")
	b.ui.waitFor(t, loop.Words)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d.Submit("too late")
	s, err := b.Resume(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := whole(t, s)
	if h.Len() != 2 || !strings.HasSuffix(h.At(1).Text(), "[The user interrupted this answer.]") {
		t.Errorf("the session:\n%s", story(h))
	}
}
