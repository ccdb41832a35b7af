package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

func TestCompactAndRewind(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	twin := create(t, nil) // the same conversation, never compacted
	turns(t, s, 0, 12, 2500)
	turns(t, twin, 0, 12, 2500)
	c, err := s.Compact(ctx, "")
	must(t, err)
	e := c.Entry.Compaction
	if e.Reason != "manual" || e.FromHook || e.TokensAfter >= e.TokensBefore || e.Summary == "" || e.FirstKept == "" {
		t.Errorf("compaction: %+v", e)
	}
	if seen(t, s) == seen(t, twin) {
		t.Fatal("nothing was compacted")
	}
	turns(t, s, 12, 10, 50)
	turns(t, twin, 12, 10, 50)
	r, err := s.Rewind(ctx, c.Entry.ID)
	must(t, err)
	if seen(t, s) != seen(t, twin) {
		t.Error("after ten more turns a rewind does not give the view that would have been there")
	}
	if r.Compaction.Rewinds != c.Entry.ID || r.Compaction.Reason != "rewind" {
		t.Errorf("rewind: %+v", r.Compaction)
	}
	// A rewind can be rewound.
	turns(t, s, 22, 1, 50)
	turns(t, twin, 22, 1, 50)
	_, err = s.Rewind(ctx, r.ID)
	must(t, err)
	if seen(t, s) == seen(t, twin) {
		t.Error("rewinding the rewind does not bring the compaction back")
	}
	if _, err := s.Rewind(ctx, "nothing"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("rewinding nothing: %v", err)
	}
}

// Of two compactions the first or the second is taken back, by entry or plan.
func TestRewindOneOfTwo(t *testing.T) {
	ctx := t.Context()
	for _, byPlan := range []bool{false, true} {
		s := create(t, nil)
		turns(t, s, 0, 12, 2500)
		first, err := s.Compact(ctx, "")
		must(t, err)
		turns(t, s, 12, 12, 2500)
		between := seen(t, s)
		second, err := s.Compact(ctx, "")
		must(t, err)
		if seen(t, s) == between {
			t.Fatal("the second compaction did nothing")
		}
		id := second.Entry.ID
		if byPlan {
			id = string(second.Entry.Compaction.Plan.ID())
		}
		_, err = s.Rewind(ctx, id)
		must(t, err)
		if seen(t, s) != between {
			t.Error("rewinding the second compaction does not give the view of the first")
		}
		_, err = s.Rewind(ctx, first.Entry.ID)
		must(t, err)
		c, err := s.Context()
		must(t, err)
		for i := range c.View.Len() {
			if c.View.Raw(i) < 0 {
				t.Fatalf("message %d of the view is still changed", i)
			}
		}
	}
}

// Thinking that was signed under a compaction does not survive its rewind,
// because the provider would refuse it. Everything else does.
func TestRewindSignedThinking(t *testing.T) {
	s, twin := create(t, nil), create(t, nil)
	think := func(text, sig string) chat.Message {
		return chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking, Text: "thought", Signature: sig}, {Kind: chat.Text, Text: text}}}
	}
	both := func(msgs ...chat.Message) {
		say(t, s, msgs...)
		say(t, twin, msgs...)
	}
	both(user("q"), think("before", "s1"))
	for i := range 12 {
		both(sessiontest.Turn(i, 2500)...)
	}
	c, err := s.Compact(t.Context(), "")
	must(t, err)
	both(user("r"), think("after", "s2"), user("t"))
	_, err = s.Rewind(t.Context(), c.Entry.ID)
	must(t, err)
	if words(t, s) != words(t, twin) {
		t.Error("the words are not those that would have been there")
	}
	x, err := s.Context()
	must(t, err)
	for i := range x.View.Len() {
		if m := x.View.At(i); m.Text() == "after" && m.Has(chat.Thinking) {
			t.Error("thinking that was signed under the compaction is still there")
		}
	}
}

func TestRewindByHandle(t *testing.T) {
	s := create(t, &session.Options{Settings: winnow.Settings{Systems: winnow.Systems{Stages: []string{"prune"}}}})
	turns(t, s, 0, 12, 2500)
	_, err := s.Compact(t.Context(), "")
	must(t, err)
	c, err := s.Context()
	must(t, err)
	edits := c.View.Plan().Edits
	handle := ""
	for i := range edits {
		if edits[i].Handle != "" {
			handle = edits[i].Handle
		}
	}
	if handle == "" || len(edits) < 2 {
		t.Fatalf("%d edits, the last with handle %q", len(edits), handle)
	}
	if o, err := s.Recall(handle); err != nil || len(o.Messages) == 0 {
		t.Errorf("recall: %v", err)
	}
	_, err = s.Rewind(t.Context(), handle)
	must(t, err)
	c, err = s.Context()
	must(t, err)
	if got := len(c.View.Plan().Edits); got != len(edits)-1 {
		t.Errorf("%d edits are left of %d", got, len(edits))
	}
}

// What a state tells is there to be read once the only fold is taken back.
func TestRewindTheOnlyFold(t *testing.T) {
	s := create(t, nil)
	turns(t, s, 0, 12, 2500)
	before := words(t, s)
	_, err := s.Compact(t.Context(), "")
	must(t, err)
	c, err := s.Context()
	must(t, err)
	edits := c.View.Plan().Edits
	if len(edits) != 2 || edits[0].Kind != plan.Fold || edits[1].Kind != plan.State {
		t.Fatalf("%d edits", len(edits))
	}
	_, err = s.Rewind(t.Context(), edits[0].Handle)
	must(t, err)
	if words(t, s) != before {
		t.Error("the view is not what it was before the fold")
	}
}

func TestPinsSurviveCompaction(t *testing.T) {
	s := create(t, nil)
	ids := say(t, s, user("Never touch the production database, constraint ZX-81."))
	must(t, s.Pin(t.Context(), ids[0]))
	turns(t, s, 0, 14, 2500)
	_, err := s.Compact(t.Context(), "")
	must(t, err)
	if !strings.Contains(words(t, s), "Never touch the production database, constraint ZX-81.|") {
		t.Error("the pinned message is not there as it was")
	}
}

func TestCompactDuringTurn(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	turns(t, s, 0, 12, 2500)
	s.Begin()
	if _, err := s.Compact(ctx, ""); !errors.Is(err, session.ErrTurnRunning) {
		t.Errorf("compacting in a turn: %v", err)
	}
	if _, err := s.Navigate(ctx, s.Leaf(), session.NavigateOptions{}); !errors.Is(err, session.ErrTurnRunning) {
		t.Errorf("navigating in a turn: %v", err)
	}
	if c, err := s.RequestCompaction(ctx, "later"); c != nil || err != nil {
		t.Errorf("a request in a turn gives %v, %v", c, err)
	}
	c, err := s.End(ctx)
	must(t, err)
	if c == nil || c.Entry.Compaction.Focus != "later" {
		t.Fatalf("the compaction that was asked for did not come: %+v", c)
	}
}

// Compaction is checked before every call and after every turn.
func TestAutomatic(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	before := 0
	for i := range 40 {
		s.Begin()
		for _, m := range sessiontest.Turn(i, 2500) {
			if m.Role == chat.Assistant {
				call, err := s.Next(ctx)
				must(t, err)
				if !call.Status.Fits {
					t.Fatalf("turn %d: the call does not fit: %+v", i, call.Status)
				}
				if call.Compacted != nil {
					before++
				}
				_, err = s.Answered(ctx, m, chat.Usage{Input: call.Status.Tokens.Total, Output: 30})
				must(t, err)
				continue
			}
			say(t, s, m)
		}
		_, err := s.End(ctx)
		must(t, err)
	}
	if n := len(s.Compactions()); n == 0 || before == 0 {
		t.Errorf("%d compactions, %d before a call", n, before)
	}
	s.SetAuto(false)
	n := len(s.Compactions())
	turns(t, s, 40, 10, 2500)
	if _, err := s.End(ctx); err != nil || len(s.Compactions()) != n {
		t.Errorf("compacts though it is switched off: %v", err)
	}
}

// A message that arrives while a summary is being made is kept, in its place.
func TestMessagesDuringCompaction(t *testing.T) {
	ctx := t.Context()
	sum := newSlow()
	s := create(t, &session.Options{Settings: folding(), Summarizer: sum})
	turns(t, s, 0, 14, 2500)
	done := make(chan error, 1)
	go func() {
		_, err := s.Compact(ctx, "")
		done <- err
	}()
	<-sum.started
	late := say(t, s, user("typed meanwhile"), answer("noted"))
	if _, err := s.Compact(ctx, ""); !errors.Is(err, session.ErrCompacting) {
		t.Errorf("a second compaction at once: %v", err)
	}
	close(sum.goOn)
	must(t, <-done)
	if got := words(t, s); !strings.HasSuffix(got, "|typed meanwhile|noted") {
		t.Errorf("what came meanwhile is not at the end: …%s", got[max(0, len(got)-100):])
	}
	again, err := session.New(ctx, reopen(t, s), &session.Options{Settings: sessiontest.Settings()})
	must(t, err)
	defer again.Close()
	if seen(t, again) != seen(t, s) {
		t.Error("the view is another one after reopening")
	}
	if e, err := again.Entry(late[0]); err != nil || e.Message == nil {
		t.Errorf("the message is lost: %v", err)
	}
}

// delayed is a log that lets something else happen before it appends.
type delayed struct {
	session.Log
	before func()
}

func (d *delayed) Append(recs ...[]byte) func(context.Context) error {
	if do := d.before; do != nil {
		d.before = nil
		do()
	}
	return d.Log.Append(recs...)
}

// Of several processes that compact one conversation at once the first to write
// wins. The others say so, and a process that opens the session sees the winner's
// view.
func TestCompactionsAtOnce(t *testing.T) {
	ctx := t.Context()
	for _, late := range []string{"while the summary is made", "just before it is written"} {
		s := create(t, nil)
		turns(t, s, 0, 14, 2500)
		open := func(log session.Log, o session.Options) *session.Session {
			o.Settings = sessiontest.Settings()
			r, err := session.New(ctx, log, &o)
			must(t, err)
			t.Cleanup(func() { r.Close() })
			return r
		}
		first := open(reopen(t, s), session.Options{})
		var won *session.Compacted
		win := func() {
			var err error
			won, err = first.Compact(ctx, "")
			must(t, err)
		}
		log, o := &delayed{Log: reopen(t, s)}, session.Options{}
		if late == "just before it is written" {
			log.before = win
		} else {
			o.Hooks = []session.Hooks{{BeforeCompact: func(context.Context, session.BeforeCompact) (session.CompactDecision, error) {
				win()
				return session.CompactDecision{}, nil
			}}}
		}
		if _, err := open(log, o).Compact(ctx, ""); !errors.Is(err, session.ErrMoved) || !strings.Contains(err.Error(), "another process compacted the conversation first: entry "+won.Entry.ID) {
			t.Errorf("%s: the second says %v", late, err)
		}
		again := open(reopen(t, s), session.Options{})
		if again.Leaf() != won.Entry.ID || seen(t, again) != seen(t, first) {
			t.Errorf("%s: the leaf is %s, the first compaction %s", late, again.Leaf(), won.Entry.ID)
		}
	}
}

// A compaction that is called off leaves no trace.
func TestCompactCancelled(t *testing.T) {
	sum := newSlow()
	s := create(t, &session.Options{Settings: folding(), Summarizer: sum})
	turns(t, s, 0, 14, 2500)
	before, n := seen(t, s), s.Len()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-sum.started; cancel() }()
	if _, err := s.Compact(ctx, ""); err == nil {
		t.Fatal("no error")
	}
	if seen(t, s) != before || s.Len() != n {
		t.Error("a compaction that was called off changed something")
	}
	close(sum.goOn)
	_, err := s.Compact(t.Context(), "")
	must(t, err)
}

func TestOverflow(t *testing.T) { // A7.2
	ctx := t.Context()
	s := create(t, nil)
	s.Begin()
	turns(t, s, 0, 12, 2500)
	c, err := s.Overflowed(ctx, 6000)
	must(t, err)
	if c.Entry.Compaction.Reason != "overflow" || c.After.Count.Tokens > 6000 {
		t.Errorf("compacted to %d: %+v", c.After.Count.Tokens, c.Entry.Compaction.Reason)
	}
	if _, err := s.Overflowed(ctx, 6000); !errors.Is(err, session.ErrOverflowAgain) {
		t.Errorf("a second overflow: %v", err)
	}
	say(t, s, user("next"))
	turns(t, s, 20, 12, 2500)
	if _, err := s.Overflowed(ctx, 6000); err != nil {
		t.Errorf("an overflow in the next turn: %v", err)
	}
}

// An overflow without a limit in it is recovered from too, when the provider's
// window is smaller than the settings say.
func TestOverflowUnsaid(t *testing.T) {
	s := create(t, nil)
	s.Begin()
	turns(t, s, 0, 6, 1500)
	_, before, err := s.NeedsCompaction()
	must(t, err)
	c, err := s.Overflowed(t.Context(), 0)
	must(t, err)
	if 4*c.After.Count.Tokens > 3*before.Count.Tokens {
		t.Errorf("compacted from %d to %d", before.Count.Tokens, c.After.Count.Tokens)
	}
}

// Usage that is older than the last compaction says nothing about the present
// context, also after a restart. (A7.3, A7.6)
func TestStaleUsage(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	turns(t, s, 0, 12, 2500)
	last := answer("big")
	last.Model = "m"
	_, err := s.Answered(ctx, last, chat.Usage{Input: 610_000, Output: 10})
	must(t, err)
	if due, st, err := s.NeedsCompaction(); err != nil || !due || st.Count.Tokens < 600_000 {
		t.Fatalf("reported usage is not heeded: %v, %d tokens, %v", due, st.Count.Tokens, err)
	}
	_, err = s.Compact(ctx, "")
	must(t, err)
	for range 2 {
		due, st, err := s.NeedsCompaction()
		must(t, err)
		if due || st.Count.Tokens > 12_000 {
			t.Errorf("stale usage counts: %d tokens", st.Count.Tokens)
		}
		s, err = session.New(ctx, reopen(t, s), &session.Options{Settings: sessiontest.Settings()})
		must(t, err)
		defer s.Close()
	}
}

// An error message without usage does not hide the usage before it. (A7.4)
func TestUsageBeforeError(t *testing.T) {
	s := create(t, nil)
	say(t, s, user("u"))
	good := answer("a")
	_, err := s.Answered(t.Context(), good, chat.Usage{Input: 11_000, Output: 10})
	must(t, err)
	say(t, s, user("go on"))
	s2, err := session.New(t.Context(), reopen(t, s), &session.Options{Settings: sessiontest.Settings()})
	must(t, err)
	defer s2.Close()
	if due, _, err := s2.NeedsCompaction(); err != nil || !due {
		t.Errorf("not due: %v", err)
	}
}

func TestNothingToCompact(t *testing.T) {
	s := create(t, nil)
	n := s.Len()
	_, err := s.Compact(t.Context(), "")
	if !errors.Is(err, session.ErrNothing) || !strings.Contains(err.Error(), "no messages") {
		t.Errorf("an empty session: %v", err)
	}
	say(t, s, user("hi"), answer("ho"))
	if _, err = s.Compact(t.Context(), ""); !errors.Is(err, session.ErrNothing) {
		t.Errorf("a small session: %v", err)
	}
	if s.Len() != n+2 {
		t.Error("something was written")
	}
}

// Unanswered calls are mended before a call, and the mending lasts.
func TestNextRepairs(t *testing.T) {
	s := create(t, nil)
	say(t, s, user("u"), chat.CallMessage("", chat.Call("x", "read", `{"path":"a"}`)), user("never mind"))
	call, err := s.Next(t.Context())
	must(t, err)
	if p := chat.AllDialects().Check(call.View); len(p) > 0 {
		t.Errorf("the view is not valid: %v", p)
	}
	before := seen(t, s)
	s2, err := session.New(t.Context(), reopen(t, s), &session.Options{Settings: sessiontest.Settings()})
	must(t, err)
	defer s2.Close()
	if seen(t, s2) != before {
		t.Error("the mending is gone after reopening")
	}
	if n := len(s2.Compactions()); n != 0 {
		t.Errorf("mending counts as %d compactions", n)
	}
}

// Usage reported on one branch says nothing about another.
func TestUsageStaysOnItsBranch(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	ids := say(t, s, user("u"), answer("a"))
	say(t, s, user("v"))
	_, err := s.Next(ctx)
	must(t, err)
	_, err = s.Answered(ctx, answer("b"), chat.Usage{Input: 50_000, Output: 10})
	must(t, err)
	if due, _, _ := s.NeedsCompaction(); !due {
		t.Fatal("reported usage is not heeded")
	}
	_, err = s.Navigate(ctx, ids[1], session.NavigateOptions{})
	must(t, err)
	say(t, s, user("w"), answer("x"), user("y"), answer("z"))
	if due, st, _ := s.NeedsCompaction(); due {
		t.Errorf("the usage of another branch counts: %d tokens", st.Count.Tokens)
	}
}

// A compaction that was asked for comes early when the window is full.
func TestRequestedComesEarly(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	s.Begin()
	_, err := s.RequestCompaction(ctx, "the plan")
	must(t, err)
	turns(t, s, 0, 12, 2500)
	say(t, s, user("go on"))
	call, err := s.Next(ctx)
	must(t, err)
	if call.Compacted == nil || call.Compacted.Entry.Compaction.Focus != "the plan" {
		t.Fatalf("compacted: %+v, notes %q", call.Compacted, call.Notes)
	}
	if c, err := s.End(ctx); c != nil || err != nil {
		t.Errorf("at the end of the turn: %v, %v", c, err)
	}
}

func TestStats(t *testing.T) {
	s := create(t, nil)
	must(t, s.SetModel(t.Context(), "anthropic", "claude-sonnet-4-5"))
	turns(t, s, 0, 12, 2500)
	_, err := s.Answered(t.Context(), answer("x"), chat.Usage{Input: 9500, CacheRead: 50, Output: 7})
	must(t, err)
	_, err = s.Compact(t.Context(), "")
	must(t, err)
	st, err := s.Stats()
	must(t, err)
	if st.Messages != 49 || st.Turns != 12 || st.Compactions != 1 || st.Usage.Input != 9500 || st.Calls != 1 || st.Branches != 1 ||
		st.View >= st.Messages+1 || st.Tokens == 0 || st.Bytes == 0 || st.Model == "" || st.Entries != s.Len() || st.First.IsZero() {
		t.Errorf("%+v", st)
	}
}

func TestPrepare(t *testing.T) {
	s := create(t, nil)
	turns(t, s, 0, 12, 2500)
	n := s.Len()
	p, why, err := s.Prepare(t.Context(), "", 2000)
	must(t, err)
	if why != "" || p.KeptID == "" || p.KeptFrom == 0 || len(p.History()) == 0 || !strings.Contains(p.Footer, "file0.go") {
		t.Errorf("prepared %+v, %q", p, why)
	}
	if s.Len() != n {
		t.Error("preparing wrote something")
	}
}

func reopen(t testing.TB, s *session.Session) session.Log {
	t.Helper()
	log, err := openFile(s.Info().Path)
	must(t, err)
	return log
}

// A note stands in the view after each compaction, on the branch where it was
// written, until it is removed.
func TestNotesOutliveCompactions(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	ids := turns(t, s, 0, 12, 2500)
	if say, err := s.Note(ctx, "", "the relay listens on port 7319"); err != nil || !strings.Contains(say, "Noted as n") {
		t.Fatal(say, err)
	}
	for round := range 2 {
		turns(t, s, 12*(round+1), 12, 2500)
		_, err := s.Compact(ctx, "")
		must(t, err)
		if !strings.Contains(words(t, s), "after message") || !strings.Contains(words(t, s), "port 7319") {
			t.Fatalf("the note is gone after compaction %d: %s", round+1, words(t, s))
		}
	}
	noted := s.Noted()
	if len(noted) != 1 || noted[0].Message != len(ids) || noted[0].Time.IsZero() {
		t.Errorf("%+v", noted)
	}
	_, err := s.Note(ctx, noted[0].ID, "")
	must(t, err)
	turns(t, s, 40, 12, 2500)
	_, err = s.Compact(ctx, "")
	must(t, err)
	if len(s.Noted()) != 0 || strings.Contains(words(t, s), "port 7319") {
		t.Error("a note that was removed is still there")
	}
}
