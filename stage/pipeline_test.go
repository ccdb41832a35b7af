package stage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

// custom is a stage that a test writes.
type custom struct {
	name    string
	propose func(d *stage.Draft, need chat.Size) ([]plan.Edit, error)
}

func (c custom) Name() string { return c.name }

func (c custom) Propose(_ context.Context, d *stage.Draft, need chat.Size) ([]plan.Edit, error) {
	return c.propose(d, need)
}

func proposing(es ...plan.Edit) stage.Stage {
	return custom{"custom", func(*stage.Draft, chat.Size) ([]plan.Edit, error) { return es, nil }}
}

func noted(out stage.Outcome, words ...string) bool {
	return slices.ContainsFunc(out.Notes, func(n string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(n, w) })
	})
}

// A stage whose edits break a rule is rolled back and reported, and the stages
// after it do their work all the same.
func TestPipelineRollsBack(t *testing.T) {
	h := turns(20)
	n := counter.Messages(h)
	for _, c := range []struct {
		name  string
		edits []plan.Edit
		note  string
	}{
		{"splits an exchange", []plan.Edit{{Kind: plan.Fold, From: 0, To: 2, Part: -1, Text: "x", Stage: "custom"}}, "splits an exchange"},
		{"edits overlap", []plan.Edit{
			{Kind: plan.Drop, From: 0, To: 6, Part: -1, Text: "x", Stage: "custom"},
			{Kind: plan.Drop, From: 3, To: 12, Part: -1, Text: "y", Stage: "custom"},
		}, "overlaps"},
		{"arguments become no object", []plan.Edit{{Kind: plan.Mask, From: 1, To: 2, Part: 0, Text: "gone", Stage: "custom"}}, "JSON object"},
		{"an answered call is answered again", []plan.Edit{{Kind: plan.Answer, From: 1, To: 2, Part: 0, CallID: "r0", Text: "x", Stage: "custom"}}, "answered twice"},
		{"a part that is not there", []plan.Edit{{Kind: plan.Mask, From: 0, To: 1, Part: 7, Text: "x", Stage: "custom"}}, "part 7"},
		{"outside the history", []plan.Edit{{Kind: plan.Drop, From: 0, To: 9999, Part: -1, Text: "x", Stage: "custom"}}, "9999"},
	} {
		out := job{stages: []stage.Stage{proposing(c.edits...), stage.Named("truncate")[0]}, available: n, target: n / 2}.run(t, h)
		if !noted(out, "custom: rolled back", c.note) {
			t.Errorf("%s: the notes say nothing of it: %q", c.name, out.Notes)
		}
		if len(edits(out.Plan, "custom")) > 0 || len(edits(out.Plan, "truncate")) != 1 {
			t.Errorf("%s: %v", c.name, out.Plan)
		}
	}
}

// The rules of the dialect are checked after every stage, not only pairing.
func TestPipelineChecksTheDialect(t *testing.T) {
	h := turns(20)
	n := counter.Messages(h)
	empty := plan.Edit{Kind: plan.Mask, From: 5, To: 6, Part: 0, Text: "", Stage: "custom"}
	more := plan.Edit{Kind: plan.Mask, From: 2, To: 3, Part: 0, Text: "x", Stage: "custom"}
	out := job{stages: []stage.Stage{proposing(empty, more)}, rules: chat.AllDialects(), available: n, target: n / 2}.run(t, h)
	if len(edits(out.Plan, "custom")) != 2 {
		t.Errorf("a mask without text leaves a line, which is allowed: %q", out.Notes)
	}
	strict := chat.Rules{Name: "one image", MaxImages: 1}
	pictures := h.Append(chat.Message{Role: chat.User, Parts: []chat.Part{image("a")}}, said("seen"), user("next"))
	out = job{stages: stage.Named("truncate"), rules: strict, available: n, target: n / 2}.run(t, pictures)
	if out.Plan == nil {
		t.Error("nothing was dropped")
	}
}

// A stage that makes the view larger is skipped, with a note.
func TestPipelineSkipsUseless(t *testing.T) {
	h := turns(20)
	longer := plan.Edit{Kind: plan.Mask, From: 2, To: 3, Part: 0, Text: lines("longer", 500), Stage: "custom"}
	out := job{stages: []stage.Stage{proposing(longer)}}.run(t, h)
	if out.Plan != nil || !noted(out, "custom: skipped", "save nothing") {
		t.Errorf("%v, %q", out.Plan, out.Notes)
	}
}

// An error of a stage is a note; the pipeline goes on.
func TestPipelineStageErrors(t *testing.T) {
	h := turns(20)
	n := counter.Messages(h)
	broken := custom{"broken", func(*stage.Draft, chat.Size) ([]plan.Edit, error) { return nil, errors.New("no such table") }}
	out := job{stages: []stage.Stage{broken, stage.Named("truncate")[0]}, available: n, target: n / 2}.run(t, h)
	if !noted(out, "broken: no such table") || len(edits(out.Plan, "truncate")) != 1 {
		t.Errorf("%v, %q", out.Plan, out.Notes)
	}
}

func TestPipelineCancel(t *testing.T) {
	h := turns(20)
	n := counter.Messages(h)
	ctx, cancel := context.WithCancel(context.Background())
	stopping := custom{"stopping", func(*stage.Draft, chat.Size) ([]plan.Edit, error) {
		cancel()
		return nil, errors.New("interrupted")
	}}
	ran := false
	after := custom{"after", func(*stage.Draft, chat.Size) ([]plan.Edit, error) { ran = true; return nil, nil }}
	p := &stage.Pipeline{Meter: budget.NewMeter(counter), Config: stage.Defaults(), Stages: []stage.Stage{stopping, after}}
	_, err := p.Run(ctx, &chat.Request{History: h}, nil, nil, stage.Goal{Available: n / 2, Trigger: n / 4, Target: n / 4}, false)
	if !errors.Is(err, context.Canceled) || ran {
		t.Errorf("%v; the next stage ran: %v", err, ran)
	}
}

// Stages stop at the target, and the last resort is not taken below the trigger.
func TestPipelineStopsEarly(t *testing.T) {
	h := turns(30)
	n := counter.Messages(h)
	ran := 0
	counting := custom{"counting", func(*stage.Draft, chat.Size) ([]plan.Edit, error) { ran++; return nil, nil }}
	p := &stage.Pipeline{Meter: budget.NewMeter(counter), Config: stage.Defaults(), Stages: []stage.Stage{stage.Named("half")[0], counting}}
	if _, err := p.Run(context.Background(), &chat.Request{History: h, Rules: free}, nil, nil, stage.Goal{Available: n, Trigger: n, Target: n * 3 / 4}, true); err != nil || ran != 0 {
		t.Errorf("a stage ran %d times though the target was reached, %v", ran, err)
	}
	p.Stages = []stage.Stage{counting, stage.Named("truncate")[0]}
	out, err := p.Run(context.Background(), &chat.Request{History: h, Rules: free}, nil, nil, stage.Goal{Available: 2 * n, Trigger: 2 * n, Target: n / 2}, true)
	if err != nil || ran != 1 || out.Plan != nil {
		t.Errorf("below the trigger turns were dropped: %v, %v", out.Plan, err)
	}
}

// Every stage can be switched off; what is off leaves no edit.
func TestPipelineSwitchedOff(t *testing.T) {
	h := of(shellWork(12).Messages(), said("done"), turns(12).Messages(), shellWork(12).Messages())
	n := counter.Messages(h)
	for _, off := range stage.Named(stage.Names()...) {
		on := slices.DeleteFunc(stage.Named(stage.Names()...), func(s stage.Stage) bool { return s.Name() == off.Name() })
		for _, goal := range []int{n * 7 / 10, n / 3, n / 8} {
			out := job{stages: on, available: goal, target: goal * 3 / 4}.run(t, h)
			// The floor goes under these two names whatever the stages are: it is
			// the guarantee, and no stage.
			if off.Name() == "truncate" || off.Name() == "limit" {
				if out.After.Tokens+counter.Conversation() > goal {
					t.Errorf("without %s: %d tokens of %d", off.Name(), out.After.Tokens, goal)
				}
				continue
			}
			if got := edits(out.Plan, off.Name()); len(got) > 0 {
				t.Errorf("%s is off and left %d edits", off.Name(), len(got))
			}
			if out.After.Tokens+counter.Conversation() > goal {
				t.Errorf("without %s: %d tokens of %d", off.Name(), out.After.Tokens, goal)
			}
		}
	}
}

// B2: without any stage the guarantee still holds, by the floor alone.
func TestPipelineFloorAlone(t *testing.T) {
	h := of(turns(10).Messages(), user("the last request"), did("live", "bash", `{"command":"make"}`, lines("out", 500)+"ERROR: it broke\n"+lines("out", 500)))
	out := job{stages: []stage.Stage{}, available: 800, target: 500}.run(t, h)
	if got := out.After.Tokens + counter.Conversation(); got > 800 {
		t.Errorf("%d tokens of 800", got)
	}
	contains(t, "the view", text(out.View), "the last request", "make")
	live := resultText(t, out.View, "live")
	contains(t, "the live result", live, "ERROR: it broke", "original: w")
}

// B8: pins stay, whatever the window; together with what else must stay they
// are the floor, which the error lists item by item, largest first.
func TestPipelinePinsAndCannotFit(t *testing.T) {
	h := turns(30)
	n := counter.Messages(h)
	pin := []stage.Pin{{Message: 2, Part: -1}, {Message: 3 * turnLen, Part: -1}}
	for _, available := range []int{n / 2, n / 4, n / 8} {
		out := job{pins: pin, available: available, target: available * 3 / 4}.run(t, h)
		contains(t, "the view", text(out.View), lines("file0", 12), "Request 3:")
	}
	var cannot *stage.CannotFitError
	_, err := job{pins: pin, available: 150, target: 100}.try(h)
	if !errors.As(err, &cannot) {
		t.Fatalf("want a CannotFitError, got %v", err)
	}
	sum := 0
	for i, item := range cannot.Items {
		sum += item.Tokens
		if i > 0 && item.Tokens > cannot.Items[i-1].Tokens {
			t.Error("the items are not sorted by size")
		}
	}
	if cannot.Available != 150 || cannot.Floor <= 150 || sum < cannot.Floor-10 || sum > cannot.Floor {
		t.Errorf("available %d, floor %d, items %d", cannot.Available, cannot.Floor, sum)
	}
	contains(t, "the error", err.Error(), fmt.Sprint(cannot.Floor), "150", "pinned message 2", "larger window", "unpin")
}

// A pin that is set later takes the edit on it back at the next rewrite.
func TestPipelinePinAfterFold(t *testing.T) {
	h := turns(40)
	n := counter.Messages(h)
	j := job{available: n / 2, target: n / 3}
	first := j.run(t, h)
	lacks(t, "the first view", text(first.View), lines("file1", 12))
	h = h.Append(turns(60).Messages()[40*turnLen:]...)
	j.base, j.pins = first.Plan, []stage.Pin{{Message: turnLen + 2, Part: -1}}
	second := j.run(t, h)
	contains(t, "the second view", text(second.View), lines("file1", 12))
}

// What a pin brings back is mended again: the call in it never got a result, and
// the answer that stood there was folded with it.
func TestPipelinePinOnUnansweredCall(t *testing.T) {
	lost := chat.CallMessage("I look.", chat.Call("lost", "bash", `{"command":"ls"}`))
	h := of(turns(5).Messages(), user("look"), lost, user("stop"), said("stopped"), turns(40).Messages())
	n := counter.Messages(h)
	j := job{rules: chat.Rules{Name: "openai", NonEmpty: true}, available: n / 2, target: n / 3}
	first := j.run(t, h)
	lacks(t, "the first view", show(first.View), "I look.")
	h = h.Append(turns(60).Messages()[40*turnLen:]...)
	j.base, j.pins = first.Plan, []stage.Pin{{Message: 5*turnLen + 1, Part: -1}}
	second := j.run(t, h)
	contains(t, "the second view", text(second.View), "I look.")
	if second.After.Tokens > n/2 || len(edits(second.Plan, "ladder")) == 0 {
		t.Errorf("%d tokens of %d, %s", second.After.Tokens, n/2, second.Plan)
	}
}

// A plan of another history is not used.
func TestPipelineIgnoresForeignPlan(t *testing.T) {
	h := turns(20)
	n := counter.Messages(h)
	j := job{available: n / 2, target: n / 3}
	foreign := j.run(t, h).Plan
	other := chat.NewHistory(append([]chat.Message{user("something else")}, h.Messages()[1:]...)...)
	j.base = foreign
	out := j.run(t, other)
	if out.Plan.Parent != "" || !out.Plan.Covers(other) {
		t.Errorf("the plan grew from a foreign one: %v", out.Plan)
	}
}

// Bytes and images over their limit are brought down like tokens (B7).
func TestPipelineBytesAndImages(t *testing.T) {
	h := of(user("go"))
	for i := range 8 {
		shot := chat.ResultMessage(fmt.Sprint(i), "shot")
		shot.Parts[0].Content = []chat.Part{image(fmt.Sprint(i))}
		h = h.Append(chat.CallMessage("", chat.Call(fmt.Sprint(i), "shoot", "{}")), shot)
	}
	h = h.Append(said("seen"), user("next"))
	out := job{images: 3, target: 1 << 30}.run(t, h)
	if out.After.Images > 3 {
		t.Errorf("%d images", out.After.Images)
	}
	big := turns(40)
	out = job{bytes: 10000, target: 1 << 30}.run(t, big)
	if out.After.Bytes > 10000 || out.View.Len() < 3 {
		t.Errorf("%d bytes, %d messages", out.After.Bytes, out.View.Len())
	}
	var cannot *stage.CannotFitError
	_, err := job{bytes: 100, target: 1 << 30}.try(of(user(strings.Repeat("long ", 100))))
	if !errors.As(err, &cannot) || cannot.MaxBytes != 100 || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("%v", err)
	}
	_, err = job{images: 1, target: 1 << 30}.try(of(chat.Message{Role: chat.User, Parts: []chat.Part{image("a"), image("b")}}))
	if !errors.As(err, &cannot) || !strings.Contains(err.Error(), "2 images, the limit is 1") {
		t.Errorf("%v", err)
	}
}

// Signed thinking at the start of an open tool loop is bound to what stands
// before it: a rewrite waits, and when it cannot wait it takes the loop in.
func TestPipelineWaitsForBoundThinking(t *testing.T) {
	rules := chat.Rules{Name: "bound", UserFirst: true, BoundThinking: true, LeadThinking: true, NonEmpty: true}
	loop := did("live", "bash", `{"command":"make"}`, lines("out", 5))
	loop[0].Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "hm", Signature: "sig"}}, loop[0].Parts...)
	h := of(turns(30).Messages(), user("now"), loop)
	n := counter.Messages(h)
	j := job{rules: rules, available: n + 10, target: n / 2}
	out := j.run(t, h)
	if !out.Waited || out.Changed {
		t.Errorf("waited %v, changed %v", out.Waited, out.Changed)
	}
	j.available, j.target = n/2, n/3
	out = j.run(t, h)
	if out.Waited || !out.Changed {
		t.Errorf("over the limit: waited %v, changed %v", out.Waited, out.Changed)
	}
	for i := range out.View.Len() {
		if m := out.View.At(i); m.Has(chat.ToolCall) && m.Has(chat.Thinking) {
			t.Error("thinking is still bound to what is gone")
		}
	}
	contains(t, "the view", text(out.View), "bash(command=make)")
}

// Where the open loop has lost its thinking to an earlier rewrite, and still waits for
// a result so that it cannot be folded, what is in it shrinks all the same.
func TestPipelineShrinksLoopWithoutItsThinking(t *testing.T) {
	rules := chat.Rules{Name: "bound", UserFirst: true, BoundThinking: true, LeadThinking: true, NonEmpty: true}
	loop := did("first", "bash", `{"command":"make"}`, lines("out", 400))
	loop[0].Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "hm", Signature: "sig"}}, loop[0].Parts...)
	h := of(user("now"), loop)
	n := counter.Messages(h)
	j := job{rules: rules, available: n / 2, target: n / 3}
	j.base = j.run(t, h).Plan

	two := chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.Call("a", "read", `{"path":"a"}`), chat.Call("b", "read", `{"path":"b"}`)}}
	j.run(t, of(h.Messages(), two, chat.ResultMessage("a", lines("a", 400))))
}

// Taking the open loop in is a rewrite as well: messages pinned since the last one
// are there again, even where no stage finds anything to do.
func TestPipelinePinWhenLoopIsTaken(t *testing.T) {
	rules := chat.Rules{Name: "bound", UserFirst: true, BoundThinking: true, LeadThinking: true, NonEmpty: true}
	h := turns(30)
	n := counter.Messages(h)
	first := job{rules: rules, available: n / 2, target: n / 3}.run(t, h)
	lacks(t, "the first view", text(first.View), lines("file1", 12))

	loop := did("live", "bash", `{"command":"make"}`, lines("out", 2000))
	loop[0].Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "hm", Signature: "sig"}}, loop[0].Parts...)
	h = of(h.Messages(), user("now"), loop)
	j := job{rules: rules, base: first.Plan, pins: []stage.Pin{{Message: turnLen + 2, Part: -1}}, available: n, target: n / 2, stages: []stage.Stage{}}
	second := j.run(t, h)
	if !second.Changed {
		t.Fatal("nothing was rewritten")
	}
	contains(t, "the second view", text(second.View), lines("file1", 12))
}

// The same input gives the same plan.
func TestPipelineIsDeterministic(t *testing.T) {
	h := of(shellWork(30).Messages(), said("done"), turns(30).Messages())
	n := counter.Messages(h)
	j := job{available: n / 3, target: n / 4}
	first := j.run(t, h).Plan.ID()
	for range 3 {
		if id := j.run(t, h).Plan.ID(); id != first {
			t.Fatalf("plan %s, then %s", first, id)
		}
	}
}
