package stage_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
)

// counter counts for every test of this package.
var counter = token.New(token.O200K, nil)

// free are rules under which messages are neither joined nor stripped, so that
// tests see what the stages did and nothing else.
var free = chat.Rules{Name: "pairing only"}

// job is one run of a pipeline. Its zero value runs every stage with the
// defaults under rules that only ask for pairing.
type job struct {
	stages []stage.Stage
	config *stage.Config
	rules  chat.Rules
	pins   []stage.Pin
	base   *plan.Plan

	// target and available are tokens. Without available nothing has to fit, so
	// that a stage is seen alone; the target is then 1: as small as it gets.
	target, available int
	bytes, images     int
}

func (j job) try(h chat.History) (stage.Outcome, error) {
	config := stage.Defaults()
	if j.config != nil {
		config = *j.config
	}
	if j.rules == (chat.Rules{}) {
		j.rules = free
	}
	goal := stage.Goal{Available: j.available, Target: j.target, Bytes: j.bytes, Images: j.images}
	if goal.Available == 0 {
		goal.Available = 10_000_000
	}
	if goal.Target == 0 {
		goal.Target = 1
	}
	p := &stage.Pipeline{Meter: budget.NewMeter(counter), Config: config, Stages: j.stages}
	return p.Run(context.Background(), &chat.Request{History: h, Rules: j.rules}, j.base, j.pins, goal, true)
}

// run is try for histories that must come out well: the view obeys the rules
// and the history is what it was.
func (j job) run(t testing.TB, h chat.History) stage.Outcome {
	t.Helper()
	before := h.Messages()
	out, err := j.try(h)
	if err != nil {
		t.Fatal(err)
	}
	if chat.NewHistory(before...).Chain(len(before)) != h.Chain(h.Len()) {
		t.Fatal("the history was changed")
	}
	rules := j.rules
	if rules == (chat.Rules{}) {
		rules = free
	}
	checker := chat.NewChecker(rules)
	for i := range out.View.Len() {
		if ps := checker.Next(out.View.At(i)); len(ps) > 0 {
			t.Fatalf("view message %d: %s", i, ps[0].Message)
		}
	}
	return out
}

// with changes the default settings.
func with(change func(c *stage.Config)) *stage.Config {
	c := stage.Defaults()
	change(&c)
	return &c
}

func hist(notation string) chat.History { return chat.NewHistory(randhist.Parse(notation)...) }

func user(text string) chat.Message { return chat.TextMessage(chat.User, text) }
func said(text string) chat.Message { return chat.TextMessage(chat.Assistant, text) }

// did is an exchange of one call.
func did(id, tool, args, output string) []chat.Message {
	return []chat.Message{chat.CallMessage("", chat.Call(id, tool, args)), chat.ResultMessage(id, output)}
}

// of joins messages and exchanges to a history.
func of(items ...any) chat.History {
	var msgs []chat.Message
	for _, item := range items {
		switch m := item.(type) {
		case chat.Message:
			msgs = append(msgs, m)
		case []chat.Message:
			msgs = append(msgs, m...)
		default:
			panic(fmt.Sprintf("%T is no message", item))
		}
	}
	return chat.NewHistory(msgs...)
}

// lines returns n lines that all differ from each other and from those with
// another name.
func lines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s line %d holds value %d\n", name, i, i*7919%1000)
	}
	return b.String()
}

// show writes a sequence in the notation of randhist.Parse: roles and ids.
func show(s chat.Sequence) string {
	var out []string
	for i := range s.Len() {
		m := s.At(i)
		var calls, results []string
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.ToolCall:
				calls = append(calls, p.ID)
			case chat.ToolResult:
				results = append(results, p.ID)
			}
		}
		word := string(m.Role[:1])
		switch {
		case len(calls) > 0:
			word = "tc(" + strings.Join(calls, ",") + ")"
		case len(results) > 0 && m.Role == chat.User:
			word = "r(" + strings.Join(results, ",") + ")"
		case len(results) > 0:
			word = "t(" + strings.Join(results, ",") + ")"
		case m.Synthetic:
			word = "y"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// text is everything a sequence says, for looking things up in it.
func text(s chat.Sequence) string {
	var b strings.Builder
	for i := range s.Len() {
		m := s.At(i)
		for k := range m.Parts {
			fmt.Fprintf(&b, "%s\n%s\n", m.Parts[k].Text, m.Parts[k].Args)
		}
	}
	return b.String()
}

// edits returns the edits of a stage.
func edits(p *plan.Plan, name string) []plan.Edit {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Edits), func(e plan.Edit) bool { return e.Stage != name })
}

// resultText is what the view shows for the call with that id.
func resultText(t testing.TB, s chat.Sequence, id string) string {
	t.Helper()
	for i := range s.Len() {
		m := s.At(i)
		for k := range m.Parts {
			if m.Parts[k].Kind == chat.ToolResult && m.Parts[k].ID == id {
				return m.Parts[k].Text
			}
		}
	}
	t.Fatalf("the view has no result for %q: %s", id, show(s))
	return ""
}

func contains(t testing.TB, what, in string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(in, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, clip(in))
		}
	}
}

func lacks(t testing.TB, what, in string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(in, w) {
			t.Errorf("%s still has %q:\n%s", what, w, clip(in))
		}
	}
}

func clip(s string) string {
	if len(s) > 1500 {
		return s[:1000] + "\n...\n" + s[len(s)-400:]
	}
	return s
}
