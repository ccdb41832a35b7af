package winnow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// lateBody is a conversation in which the result of the first call stands after
// so many other exchanges. It returns where that result is in the history.
func lateBody(t *testing.T, d wire.Dialect, after int) (body *wire.Body, result int) {
	t.Helper()
	type object = map[string]any
	call := func(id string) object {
		if d == wire.Responses {
			return object{"type": "function_call", "call_id": id, "name": "exec", "arguments": fmt.Sprintf(`{"cmd":"make %s"}`, id)}
		}
		return object{"role": "assistant", "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "exec", "arguments": fmt.Sprintf(`{"cmd":"make %s"}`, id)}}}}
	}
	output := func(id, text string) object {
		if d == wire.Responses {
			return object{"type": "function_call_output", "call_id": id, "output": text}
		}
		return object{"role": "tool", "tool_call_id": id, "content": text}
	}
	items := []object{{"role": "user", "content": "mend it"}, call("late"), {"role": "user", "content": "meanwhile"}}
	for i := range 12 {
		if i == after {
			result = len(items)
			items = append(items, output("late", "the zygote count is 48151623"))
		}
		id := fmt.Sprint("c", i)
		items = append(items, call(id), output(id, strings.Repeat(fmt.Sprintf("line of output %d\n", i), 300)))
	}
	items = append(items, object{"role": "user", "content": "go on"})
	raw, err := json.Marshal(object{"model": "gpt-5", map[wire.Dialect]string{wire.Responses: "input", wire.OpenAI: "messages"}[d]: items})
	if err != nil {
		t.Fatal(err)
	}
	if body, err = wire.Parse(d, raw); err != nil {
		t.Fatal(err)
	}
	return body, result
}

// TestLateResultIsNotLost compacts conversations with a result that stands away
// from its call: it is in the view or behind a handle, and a pin holds it.
func TestLateResultIsNotLost(t *testing.T) {
	const words = "the zygote count is 48151623"
	for _, d := range []wire.Dialect{wire.Responses, wire.OpenAI} {
		for _, after := range []int{0, 5, 11} {
			for _, window := range []int{4000, 8000, 16_000} {
				for _, pinned := range []bool{false, true} {
					body, result := lateBody(t, d, after)
					w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-5", Window: window, MaxTokens: 500}})
					if err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%s, after %d, window %d, pinned %v", d, after, window, pinned)
					s := winnow.State{}
					if pinned {
						s.Pins = []winnow.Pin{{Message: result, Part: -1}}
					}
					r, err := w.Fit(t.Context(), body.Request(), s)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					out, err := body.Encode(r.View)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if ps := wire.Validate(d, out); len(ps) > 0 {
						t.Errorf("%s: message %d: %s", name, ps[0].At, ps[0].Message)
					}
					found := strings.Contains(string(out), words)
					for i := 0; r.Plan != nil && i < len(r.Plan.Edits) && !found && !pinned; i++ {
						o, _ := plan.Recall(body.Request().History, r.Plan, r.Plan.Edits[i].Handle)
						for _, m := range o.Messages {
							for _, p := range m.Parts {
								found = found || strings.Contains(p.Text, words)
							}
						}
					}
					if !found {
						t.Errorf("%s: the late result is lost", name)
					}
				}
			}
		}
	}
}

// TestLateResultIsHealthy leaves a request alone whose dialect allows results
// away from their calls.
func TestLateResultIsHealthy(t *testing.T) {
	body, _ := lateBody(t, wire.Responses, 5)
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-5"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Fit(t.Context(), body.Request(), winnow.State{})
	if err != nil || r.Plan != nil {
		t.Errorf("%s, %v", r.Plan, err)
	}
}
