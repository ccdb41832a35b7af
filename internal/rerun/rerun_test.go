package rerun_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/summary"
)

// recorded is a session in which one file is read again and again.
func recorded(exchanges int) chat.Request {
	msgs := []chat.Message{chat.TextMessage(chat.User, "Rename total to sum everywhere.")}
	for i := range exchanges {
		id := fmt.Sprintf("call_%d", i)
		path := fmt.Sprintf("part%d.go", i)
		if i%6 == 0 {
			path = "main.go"
		}
		answer := chat.CallMessage("Reading on.", chat.Call(id, "read_file", fmt.Sprintf(`{"path":%q}`, path)))
		answer.Model, answer.Time = "claude-sonnet-4-5", int64(1_700_000_000_000+60_000*i)
		if i < 3 { // reported at the start, then the agent's file says nothing
			answer.Usage = &chat.Usage{Input: 50, CacheRead: 1500 * i, CacheWrite: 400, Output: 20}
		}
		msgs = append(msgs, answer, chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("1\tline of %s with marker%d\n", path, i), 60)))
	}
	return chat.Request{History: chat.NewHistory(msgs...)}
}

func ran(t *testing.T, exchanges int) *rerun.Rerun {
	t.Helper()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 14_000, OutputReserve: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rerun.New(t.Context(), rerun.Input{Name: "session.jsonl", Request: recorded(exchanges), Engine: w})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRequestsFit: every request of the rerun fits, its kinds add up, and each
// drop is a plan that can be read as a patch.
func TestRequestsFit(t *testing.T) {
	r := ran(t, 60)
	d, err := r.Conversation(t.Context(), r.ID())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Requests) != 60 || len(d.Plans) < 2 || d.Next.Say == "" {
		t.Fatalf("%d requests, %d plans, %+v", len(d.Requests), len(d.Plans), d.Next)
	}
	for i, q := range d.Requests {
		if q.Tokens > q.Available || q.Kinds.Sum() != q.Tokens || q.CompactAt <= 0 {
			t.Errorf("request %+v", q)
		}
		if (q.Usage != nil) != (i < 3) {
			t.Errorf("request %d: usage %v", q.N, q.Usage)
		}
	}
	for _, p := range d.Plans {
		patch, err := r.Patch(t.Context(), p.ID)
		if err != nil || len(patch.Hunks) == 0 || p.Why == "" {
			t.Errorf("%+v: %v", p, err)
		}
	}
	b, err := r.Beside(t.Context(), r.ID())
	if err != nil || len(b.Winnow.Prompt) != 60 || b.Agent.Prompt[0] == nil || b.Agent.Prompt[59] != nil || b.Winnow.Dollars[59] == nil {
		t.Errorf("%+v %v", b, err)
	}
	for i := range b.Winnow.Read {
		if *b.Winnow.Read[i] > *b.Winnow.Prompt[i] {
			t.Errorf("request %d reads %d of %d from the cache", i, *b.Winnow.Read[i], *b.Winnow.Prompt[i])
		}
	}
}

// TestHints: hints name the result that was hidden and fetched again.
func TestHints(t *testing.T) {
	r := ran(t, 60)
	hints, err := r.Hints(t.Context(), r.ID())
	if err != nil || len(hints) != 1 || hints[0].About != "read_file main.go" || hints[0].Again < 2 {
		t.Errorf("%+v %v", hints, err)
	}
}

// TestActs: what is done changes what would be sent, and names the plan that it
// is based on.
func TestActs(t *testing.T) {
	r := ran(t, 60)
	d, err := r.Conversation(t.Context(), r.ID())
	if err != nil {
		t.Fatal(err)
	}
	base := control.Base{Plan: d.Plan}
	heard := make(chan *control.Change, 1)
	go func() {
		c, _ := r.Since(t.Context(), r.ID(), d.Revision)
		heard <- c
	}()
	done, err := r.Undo(t.Context(), r.ID(), control.Undo{Base: base})
	if err != nil || done.After <= done.Before {
		t.Fatalf("%+v %v", done, err)
	}
	if c := <-heard; c == nil || c.Conversation.Plan != done.Plan {
		t.Errorf("who waits hears %+v", c)
	}
	if after, err := r.Conversation(t.Context(), r.ID()); err != nil || !slices.ContainsFunc(after.Plans, func(p control.PlanInfo) bool { return p.ID == base.Plan && p.Undone }) || after.Plans[len(after.Plans)-1].Undid != base.Plan {
		t.Errorf("what was taken back is not told: %+v %v", after, err)
	}
	var conflict *control.ConflictError
	if _, err := r.Pin(t.Context(), r.ID(), control.Mark{Base: base, Message: 2, Part: -1}); !errors.As(err, &conflict) {
		t.Errorf("pin on what was taken back: %v", err)
	}
	base.Plan = done.Plan
	if _, err := r.Pin(t.Context(), r.ID(), control.Mark{Base: base, Message: 2, Part: -1}); err != nil {
		t.Fatal(err)
	}
	done, err = r.Compact(t.Context(), r.ID(), control.Compact{Base: base, Focus: "marker7"})
	if err != nil || done.After >= done.Before {
		t.Fatalf("%+v %v", done, err)
	}
	m, err := r.Messages(t.Context(), r.ID(), control.Wanted{From: 2, Limit: 1})
	if err != nil || m.Messages[0].Shown != "kept" || !m.Messages[0].Pinned {
		t.Errorf("the pinned message is %+v, %v", m, err)
	}
	found, err := r.Find(t.Context(), r.ID(), recall.Query{Words: "marker5"})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%+v %v", found, err)
	}
	if page, err := r.Recall(t.Context(), found.Hits[0].Handle, recall.Range{}); err != nil || len(page.Lines) == 0 {
		t.Errorf("%+v %v", page, err)
	}
	if _, err := r.Undo(t.Context(), r.ID(), control.Undo{Base: control.Base{Plan: done.Plan}, Undo: "nothing"}); !errors.Is(err, control.ErrNothing) {
		t.Errorf("%v", err)
	}
}

// held writes summaries when it is let go.
type held struct {
	summary.Summarizer
	asked, free chan struct{}
	once        sync.Once
}

func (h *held) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	h.once.Do(func() { close(h.asked) })
	select {
	case <-h.free:
		return h.Summarizer.Summarize(ctx, in)
	case <-ctx.Done():
		return summary.Output{}, ctx.Err()
	}
}

// TestStartsAtOnce: while it is on its way the conversation has a name and says
// how far it is, and whatever needs all of it waits.
func TestStartsAtOnce(t *testing.T) {
	begin := func() (*rerun.Rerun, *held) {
		h := &held{Summarizer: summary.Builtin(), asked: make(chan struct{}), free: make(chan struct{})}
		w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 20_000, OutputReserve: 1000}, Summarizer: h})
		if err != nil {
			t.Fatal(err)
		}
		return rerun.Start(t.Context(), rerun.Input{Name: "session.jsonl", Request: recorded(60), Engine: w}), h
	}
	r, h := begin()
	<-h.asked
	if done, total := r.Progress(); done == 0 || done >= total || total != 60 {
		t.Errorf("%d of %d", done, total)
	}
	list, err := r.Conversations(t.Context(), control.List{Words: "rename"})
	if err != nil || len(list) != 1 || list[0].Title == "" || list[0].Messages != 121 || list[0].Last != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Conversation(late, r.ID()); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not wait: %v", err)
	}
	if _, err := r.Pin(late, r.ID(), control.Mark{Message: 1, Part: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("it is acted on: %v", err)
	}
	close(h.free)
	d, err := r.Conversation(t.Context(), r.ID())
	if done, total := r.Progress(); err != nil || len(d.Requests) != 60 || len(d.Plans) == 0 || done != total {
		t.Errorf("%d requests, %d plans, %v; %d of %d", len(d.Requests), len(d.Plans), err, done, total)
	}

	// A caller that closes it need not wait for the work.
	r, h = begin()
	<-h.asked
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Conversation(t.Context(), r.ID()); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was closed: %v", err)
	}
}
