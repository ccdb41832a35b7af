package winnow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/wire"
)

// jsonObject is an object of JSON.
type jsonObject = map[string]any

// anthropicBody is a request in Anthropic's dialect, with thinking switched on.
func anthropicBody(t *testing.T, messages []jsonObject) *wire.Body {
	t.Helper()
	raw, err := json.Marshal(jsonObject{
		"model": "claude-fable-5-1", "max_tokens": 2000, "thinking": jsonObject{"type": "enabled", "budget_tokens": 1024}, "messages": messages,
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := wire.Parse(wire.Anthropic, raw)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// anthropicExchange is a call with thinking before it, and its result.
func anthropicExchange(id, name string, size int) []jsonObject {
	return []jsonObject{
		{"role": "assistant", "content": []jsonObject{
			{"type": "thinking", "thinking": "well", "signature": "c2ln" + name},
			{"type": "tool_use", "id": id, "name": "read", "input": jsonObject{"path": name + ".go"}},
		}},
		{"role": "user", "content": []jsonObject{{"type": "tool_result", "tool_use_id": id, "content": lines(name, size)}}},
	}
}

// sendAnthropic fits a request and returns the body that is sent, which the
// provider takes.
func sendAnthropic(t *testing.T, window int, body *wire.Body, s winnow.State) (winnow.Result, []byte) {
	t.Helper()
	w := newWinnow(t, winnow.Settings{Model: "claude-fable-5-1", Window: window, OutputReserve: 2000})
	r := fit(t, w, body.Request(), s)
	out, err := body.Encode(r.View)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range wire.Validate(wire.Anthropic, out) {
		t.Errorf("message %d: %s: %s", p.At, p.Rule, p.Message)
	}
	return r, out
}

// Some clients count their calls anew in every turn. Where two exchanges with one
// id stand in a view, the later pair is sent under an id of its own.
func TestCallIDsThatComeAgain(t *testing.T) {
	messages := []jsonObject{{"role": "user", "content": "Read all of it."}}
	for i := range 40 {
		messages = append(messages, anthropicExchange(fmt.Sprint("call_", i%2), fmt.Sprint("part", i), 40)...)
		messages = append(messages, jsonObject{"role": "assistant", "content": "That was it."}, jsonObject{"role": "user", "content": "On with the next."})
	}
	r, out := sendAnthropic(t, 16_000, anthropicBody(t, messages), winnow.State{})
	if !r.Changed || bytes.Count(out, []byte(`"type":"tool_use"`)) < 3 || !bytes.Contains(out, []byte(`"id":"call_1_2"`)) || !bytes.Contains(out, []byte(`"tool_use_id":"call_1_2"`)) {
		t.Errorf("no pair has a new id: changed %v\n%.3000s", r.Changed, out)
	}
}

// With thinking switched on no view ends in a call without its thinking before
// the user's last words: a pinned exchange, or one that the user interrupted,
// whose thinking a rewrite took.
func TestCallWithoutThinkingBeforeWords(t *testing.T) {
	for _, pinned := range []bool{true, false} {
		messages := []jsonObject{{"role": "user", "content": "Read all of it."}}
		for i := range 40 {
			messages = append(messages, anthropicExchange(fmt.Sprint("c", i), fmt.Sprint("part", i), 40)...)
			messages = append(messages, jsonObject{"role": "assistant", "content": "That was it."}, jsonObject{"role": "user", "content": "On with the next."})
		}
		var s winnow.State
		if pinned {
			s.Pins = []winnow.Pin{{Message: 81, Part: -1}, {Message: 82, Part: -1}}
			messages = append(messages, jsonObject{"role": "assistant", "content": lines("said", 400)})
		} else {
			messages = append(messages, anthropicExchange("last", "last", 10)...)
		}
		messages = append(messages, jsonObject{"role": "user", "content": "Stop. What did you find?"})
		r, out := sendAnthropic(t, 10_000, anthropicBody(t, messages), s)
		call := `"part20.go"`
		if !pinned {
			call = `"last.go"`
		}
		if !r.Changed || !bytes.Contains(out, []byte(call)) || bytes.Contains(out, []byte(`"type":"thinking"`)) {
			t.Errorf("pinned %v: the call does not stand without its thinking: changed %v\n%s", pinned, r.Changed, out)
		}
		if last := r.View.At(r.View.Len() - 2); last.Role != chat.Assistant || last.Has(chat.ToolCall) {
			t.Errorf("pinned %v: nothing stands between the results and the user's words\n%s", pinned, out)
		}
	}
}

// An answer without content is left out. Words in its place would start the open
// loop, which must start with thinking.
func TestEmptyAnswerInOpenLoop(t *testing.T) {
	for _, content := range []any{"", []jsonObject{}} {
		messages := []jsonObject{{"role": "user", "content": "Read it."}, {"role": "assistant", "content": content}}
		messages = append(messages, anthropicExchange("c1", "part", 3)...)
		r, out := sendAnthropic(t, 16_000, anthropicBody(t, messages), winnow.State{})
		if r.View.Len() != 3 || !bytes.Contains(out, []byte(`"signature":"c2lnpart"`)) {
			t.Errorf("%d messages: %s", r.View.Len(), out)
		}
	}
}

// What a draft calls editable a stage of one's own can edit, and nothing else.
func TestEditableIsTrue(t *testing.T) {
	msgs := append(coding(0, 30), chat.Message{Role: chat.Assistant, Parts: []chat.Part{
		{Kind: chat.Thinking, Text: lines("thought", 9), Signature: "sig"},
		{Kind: chat.Opaque, Data: `{"type":"search","of":"` + strings.Repeat("much ", 99) + `"}`},
		{Kind: chat.Text, Text: lines("said", 30)},
	}})
	special := len(msgs) - 1
	msgs = append(msgs, user("more"), said(lines("done", 9)), user("go on"))
	msgs = append(msgs, did("live", "bash", `{}`, lines("live", 30))...)
	h := chat.NewHistory(msgs...)
	base := fit(t, newWinnow(t, small), chat.Request{History: h}, winnow.State{}).Plan
	hidden := slices.IndexFunc(base.Edits, func(e plan.Edit) bool { return e.Kind == plan.Fold })
	pin := winnow.Pin{Message: special + 1, Part: -1}
	for _, c := range []struct {
		name          string
		message, part int
		editable      bool
	}{
		{"the words of an answer", special, 2, true},
		{"thinking", special, 0, false},
		{"a part of the provider's own", special, 1, false},
		{"a part that is not there", special, 3, false},
		{"a message that is not there", h.Len(), 0, false},
		{"a pin", pin.Message, 0, false},
		{"the last request", h.Len() - 3, 0, false},
		{"what the next call is about", h.Len() - 1, 0, false},
		{"what a fold hides", base.Edits[hidden].From, 0, false},
	} {
		var told bool
		w, err := winnow.New(&winnow.Options{Settings: small, Registry: models(), Stages: []stage.Stage{proposing(func(d *stage.Draft) []plan.Edit {
			told = d.Editable(c.message, c.part)
			return []plan.Edit{maskOf(c.message, c.part)}
		})}})
		if err != nil {
			t.Fatal(err)
		}
		s := winnow.State{Plan: base, Pins: []winnow.Pin{pin}, Ask: winnow.Ask{Force: true, TargetTokens: 1500}}
		r := fit(t, w, chat.Request{History: h}, s)
		notes := strings.Join(r.Notes, "\n")
		if taken := !strings.Contains(notes, "mine: rolled back"); told != c.editable || taken != c.editable {
			t.Errorf("%s: editable %v, taken %v: %s", c.name, told, taken, notes)
		}
	}
}
