package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/summary"
)

// writer is a model that writes notes and remembers what it was asked.
type writer struct {
	mu      sync.Mutex
	prompts []string
	running int
	most    int           // calls at the same time
	pair    chan struct{} // where it is set, a call waits for another one
}

func (w *writer) Complete(ctx context.Context, p summary.Prompt) (summary.Completion, error) {
	w.mu.Lock()
	w.prompts = append(w.prompts, p.Text)
	n := len(w.prompts)
	w.running++
	w.most = max(w.most, w.running)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.running--
		w.mu.Unlock()
	}()
	if w.pair != nil {
		select {
		case w.pair <- struct{}{}:
		case <-w.pair:
		case <-ctx.Done():
			return summary.Completion{}, ctx.Err()
		}
	}
	about := "history"
	if strings.Contains(p.Text, "first part of a turn") {
		about = "turn"
	}
	var b strings.Builder
	for _, s := range summary.Sections() {
		fmt.Fprintf(&b, "## %s\n- %s of the %s in note %d\n", s, strings.ToLower(s), about, n)
	}
	return summary.Completion{Text: b.String(), Stop: "stop"}, nil
}

func (w *writer) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.prompts...)
}

// inWindow is a session in a window of that size, with a preset.
func inWindow(t testing.TB, preset string, window int, o session.Options) *session.Session {
	t.Helper()
	o.Settings = winnow.Settings{Preset: preset, Window: window, OutputReserve: 1000}
	s, err := session.Create(t.Context(), store(t), session.Header{Dir: "/project"}, &o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// A compaction with a focus summarises what is older than the recent messages,
// however much room there is, and the focus reaches who writes: S1.2.
func TestFocus(t *testing.T) {
	ctx := t.Context()
	for _, preset := range []string{"default", "pi", "neurolink"} {
		m := &writer{}
		s := inWindow(t, preset, 400_000, session.Options{Summarizer: summary.NewLLM(&summary.LLMOptions{Model: m})})
		say(t, s, user("hello"))
		n := s.Len()
		if _, err := s.Compact(ctx, "the parser"); !errors.Is(err, session.ErrNothing) || s.Len() != n {
			t.Errorf("%s: of one message: %v, %d entries of %d", preset, err, s.Len(), n)
		}
		turns(t, s, 0, 30, 2500)
		_, status, err := s.NeedsCompaction()
		must(t, err)
		if status.Ratio > 0.2 {
			t.Fatalf("%s: %.2f of the window is used", preset, status.Ratio)
		}
		c, err := s.Compact(ctx, "the parser")
		must(t, err)
		if folds := foldsOf(c); folds != 1 || c.Entry.Compaction.Focus != "the parser" {
			t.Errorf("%s: %d folds, %+v", preset, folds, c.Report.Stages)
		}
		asked := m.asked()
		if len(asked) == 0 || !strings.Contains(asked[len(asked)-1], "<focus>\nthe parser\n</focus>") {
			t.Errorf("%s: %d prompts, without the focus", preset, len(asked))
		}
		// Nothing was said since, but something else is asked for.
		// A summary that is as long as the one before takes its place too.
		for _, focus := range []string{"the tests", "the tools", "the types"} {
			again, err := s.Compact(ctx, focus)
			must(t, err)
			asked = m.asked()
			if !strings.Contains(asked[len(asked)-1], "<focus>\n"+focus+"\n</focus>") || foldsOf(again) != 1 {
				t.Errorf("%s: again: %d folds", preset, foldsOf(again))
			}
		}
		if _, err := s.Compact(ctx, ""); preset == "pi" && !errors.Is(err, session.ErrNothing) {
			t.Errorf("%s: without a focus: %v", preset, err)
		}
	}
}

func foldsOf(c *session.Compacted) int {
	n := 0
	for _, e := range c.Entry.Compaction.Plan.Edits {
		if e.Kind == plan.Fold && e.To > e.From {
			n++
		}
	}
	return n
}

// What prepare says, and what hooks are told, is what the compaction then does:
// S1.3, S3.3.
func TestPrepareIsTrue(t *testing.T) {
	ctx := t.Context()
	for _, preset := range []string{"default", "thrifty", "pi", "operator-use", "neurolink"} {
		for _, model := range []bool{false, true} {
			for _, focus := range []string{"", "the parser"} {
				t.Run(fmt.Sprintf("%s, model %v, focus %q", preset, model, focus), func(t *testing.T) {
					var told session.BeforeCompact
					seen := &recorded{}
					o := session.Options{Hooks: []session.Hooks{{BeforeCompact: func(_ context.Context, ev session.BeforeCompact) (session.CompactDecision, error) {
						told = ev
						return session.CompactDecision{}, nil
					}}}}
					if model {
						o.Summarizer = seen
					}
					s := inWindow(t, preset, 60_000, o)
					summaries := 0
					for round := range 3 {
						turns(t, s, 100*round, 12, 9000)
						say(t, s, user("and on"))
						for i := range 12 {
							id := fmt.Sprintf("long-%d-%d", round, i)
							say(t, s, chat.CallMessage("", chat.Call(id, "read", fmt.Sprintf(`{"path":"long%d.go"}`, i))), chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("line %d\n", i), 400)))
						}
						p, why, err := s.Prepare(ctx, focus, 0)
						must(t, err)
						seen.inputs = nil
						c, err := s.Compact(ctx, focus)
						must(t, err)
						if told.Nothing != why || told.Preparation.KeptID != p.KeptID || told.Preparation.Footer != p.Footer || len(told.Preparation.History()) != len(p.History()) {
							t.Errorf("the hook was told %q, %s; prepare said %q, %s", told.Nothing, told.Preparation.KeptID, why, p.KeptID)
						}
						made := c.Entry.Compaction
						if why != "" {
							if strings.Contains(why, "no summary is needed") && len(seen.inputs) == 0 {
								continue
							}
							t.Fatalf("prepare said %q, and it was compacted: %+v", why, c.Report.Stages)
						}
						summaries++
						if p.KeptID != made.FirstKept || p.TokensBefore != made.TokensBefore {
							t.Errorf("prepared to keep from %s on, of %d tokens; kept from %s on, of %d", p.KeptID, p.TokensBefore, made.FirstKept, made.TokensBefore)
						}
						if !strings.HasSuffix(made.Summary, p.Footer) || p.Footer == "" {
							t.Errorf("the footer is not %q", p.Footer)
						}
						if !model {
							continue
						}
						in := seen.inputs[len(seen.inputs)-1]
						turn := -1
						if p.Split {
							turn = p.Turn
						}
						if got := len(p.History()) + len(p.TurnPrefix()); in.Previous != p.Previous || in.Turn != turn || got != in.To-max(in.From, p.From)-len(in.Keep) {
							t.Errorf("prepared %d messages, the turn from %d on; the summariser got %d to %d without %d, the turn from %d on", got, turn, in.From, in.To, len(in.Keep), in.Turn)
						}
					}
					if summaries == 0 {
						t.Error("nothing was ever summarised")
					}
				})
			}
		}
	}
}

// recorded is a summariser that remembers what it was given.
type recorded struct{ inputs []summary.Input }

func (r *recorded) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	r.inputs = append(r.inputs, in)
	out, err := summary.Builtin().Summarize(ctx, in)
	out.Prose = fmt.Sprintf("## Goal\n- as of message %d", in.To)
	return out, err
}

// One set of notes is in view: an update takes the place of what it updates, and
// is made of that and of the news: S1.4.
func TestOneSetOfNotes(t *testing.T) {
	ctx := t.Context()
	for _, preset := range []string{"default", "pi", "neurolink"} {
		m := &writer{}
		s := inWindow(t, preset, 100_000, session.Options{Summarizer: summary.NewLLM(&summary.LLMOptions{Model: m})})
		for round := range 3 {
			turns(t, s, 100*round, 40, 2500)
			_, err := s.Compact(ctx, "how far we are")
			must(t, err)
			if n := strings.Count(words(t, s), "- goal of the history"); n != 1 {
				t.Errorf("%s: round %d: %d sets of notes are in view", preset, round, n)
			}
			asked := m.asked()
			// The turn that is cut has notes of its own, which may come sooner or later.
			n := len(asked)
			for strings.Contains(asked[n-1], "first part of a turn") {
				n--
			}
			last := asked[n-1]
			if !strings.Contains(words(t, s), fmt.Sprintf("- goal of the history in note %d", n)) {
				t.Errorf("%s: round %d: the newest notes are not in view", preset, round)
			}
			if round > 0 && (!strings.Contains(last, "<notes>\n## Goal\n- goal of the history in note") || strings.Contains(last, "[User]: Request 3:")) {
				t.Errorf("%s: round %d: the notes so far are not passed on, or what they cover is read again", preset, round)
			}
		}
		// A model that fails takes nothing away.
		down := &failing{Model: m}
		s2 := inWindow(t, preset, 100_000, session.Options{Summarizer: summary.NewLLM(&summary.LLMOptions{Model: down})})
		turns(t, s2, 0, 40, 2500)
		_, err := s2.Compact(ctx, "how far we are")
		must(t, err)
		down.down = true
		turns(t, s2, 100, 40, 2500)
		_, err = s2.Compact(ctx, "how far we are")
		must(t, err)
		if n := strings.Count(words(t, s2), "- goal of the history"); n != 1 {
			t.Errorf("%s: after a failure %d sets of notes are in view", preset, n)
		}
	}
}

// failing is a model that can be taken down.
type failing struct {
	summary.Model
	down bool
}

func (f *failing) Complete(ctx context.Context, p summary.Prompt) (summary.Completion, error) {
	if f.down {
		return summary.Completion{}, errors.New("no answer")
	}
	return f.Model.Complete(ctx, p)
}

// A cut inside a turn takes two calls at the same time, one for what came before
// the turn and one for its first part, joined by a divider: S1.7, S3.4.
func TestSplitTurnTakesTwoCalls(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		m := &writer{}
		if !sequential {
			m.pair = make(chan struct{}) // neither comes back before the other is asked
		}
		s := inWindow(t, "pi", 60_000, session.Options{Summarizer: summary.NewLLM(&summary.LLMOptions{Model: m, Sequential: sequential})})
		turns(t, s, 0, 10, 2500)
		say(t, s, user("and now everything else"))
		for i := range 60 {
			msgs := sessiontest.Turn(100+i, 2500)
			say(t, s, msgs[1:3]...)
		}
		s.Begin()
		call, err := s.Next(t.Context())
		must(t, err)
		if call.Compacted == nil {
			t.Fatalf("nothing was compacted: %v", call.Notes)
		}
		asked := m.asked()
		if len(asked) != 2 || sequential == (m.most == 2) {
			t.Fatalf("sequential %v: %d calls, %d at the same time", sequential, len(asked), m.most)
		}
		text := words(t, s)
		before, after, ok := strings.Cut(text, "\n---\n")
		if !ok || !strings.Contains(before, "- goal of the history") || !strings.Contains(after, "- goal of the turn") {
			t.Errorf("sequential %v: the two parts are not joined by a divider", sequential)
		}
		if !strings.Contains(text, "and now everything else") {
			t.Error("the request of the turn is gone")
		}
	}
}
