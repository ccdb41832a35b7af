package winnow_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// indexed are methods that ask for one of several things, of which a zero value
// has none.
var indexed = map[string]bool{"At": true, "Digest": true, "Sources": true, "Summary": true, "ExchangeOf": true, "TurnOf": true, "Message": true}

// TestZeroValues calls every method of the library's types on their zero values,
// with arguments that are zero values too, and those of plans on no plan.
func TestZeroValues(t *testing.T) {
	for _, v := range []any{
		new(winnow.Winnow), new(winnow.Conversation), new(winnow.Track), new(winnow.Result), new(winnow.Settings), new(winnow.State),
		new(winnow.CannotFitError), new(winnow.NotLastingError), new(winnow.SettingsError),
		new(plan.Plan), (*plan.Plan)(nil), new(plan.View), new(plan.Origin), new(plan.Edit),
		new(chat.History), new(chat.Message), new(chat.Part), new(chat.Outline), new(chat.Checker), new(chat.Rules), new(chat.Usage), new(chat.Size),
		new(budget.Meter), new(budget.Status), new(budget.Limits), new(budget.Trigger), new(budget.Totals),
		new(token.Counter), new(token.Ledger), (*token.Ledger)(nil), new(token.Step), new(model.Registry), new(model.Model), new(model.Window),
		new(stage.Pipeline), new(stage.Config), new(work.Kinds), new(wire.Body), new(wire.Verdict), new(wire.Answer),
	} {
		rv := reflect.ValueOf(v)
		for i := range rv.NumMethod() {
			m := rv.Type().Method(i)
			t.Run(fmt.Sprintf("%T.%s", v, m.Name), func(t *testing.T) {
				f := rv.Method(i)
				if indexed[m.Name] && f.Type().NumIn() > 0 && f.Type().In(f.Type().NumIn()-1).Kind() == reflect.Int {
					return // out of range, as with a slice
				}
				var args []reflect.Value
				for k := range f.Type().NumIn() {
					in := f.Type().In(k)
					switch {
					case f.Type().IsVariadic() && k == f.Type().NumIn()-1:
					case in == reflect.TypeFor[context.Context]():
						args = append(args, reflect.ValueOf(t.Context()))
					case in == reflect.TypeFor[chat.Sequence]():
						args = append(args, reflect.ValueOf(plan.View{}))
					case in.Kind() == reflect.Pointer && in != reflect.TypeFor[*plan.Plan]():
						args = append(args, reflect.New(in.Elem()))
					default:
						args = append(args, reflect.Zero(in))
					}
				}
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("panic: %v", r)
					}
				}()
				f.Call(args)
			})
		}
	}
}

// TestAppendCopies lets a caller use the memory of its messages again.
func TestAppendCopies(t *testing.T) {
	w, err := winnow.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Conversation(chat.Request{})
	parts := []chat.Part{{Kind: chat.ToolResult, ID: "1", Text: "one", Content: []chat.Part{{Kind: chat.Image, Data: "a"}}}}
	usage := chat.Usage{Input: 1}
	c.Append(chat.Message{Role: chat.Tool, Parts: parts, Usage: &usage})
	parts[0].ID, parts[0].Content[0].Data, usage.Input = "2", "b", 2
	c.Answered(chat.Message{Role: chat.Assistant, Parts: parts}, chat.Usage{})
	parts[0].ID = "3"
	first, second := c.History().At(0), c.History().At(1)
	if p := first.Parts[0]; p.ID != "1" || p.Content[0].Data != "a" || first.Usage.Input != 1 || second.Parts[0].ID != "2" {
		t.Errorf("%+v, %+v", first, second)
	}
}

// TestEmptyTextBesideCall makes no plan for a model that says nothing beside its
// calls, and writes bodies that every provider takes, whatever ids the calls have.
func TestEmptyTextBesideCall(t *testing.T) {
	w, err := winnow.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Conversation(chat.Request{})
	c.Append(chat.TextMessage(chat.User, "go"))
	for i := range 50 {
		id := fmt.Sprintf("f:%d.0", i)
		c.Append(chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Text}, chat.Call(id, "f", "{}")}}, chat.ResultMessage(id, "ok"))
		r, err := c.Fit(t.Context())
		if err != nil || r.Plan != nil {
			t.Fatalf("call %d: %s, %v", i, r.Plan, err)
		}
		for _, d := range wire.Dialects() {
			body, err := wire.Render(d, "m", chat.Request{Output: 100}, r.View)
			if err != nil {
				t.Fatal(err)
			}
			if ps := wire.Validate(d, body); len(ps) > 0 {
				t.Fatalf("%s: %s", d, ps[0].Message)
			}
		}
	}
}
