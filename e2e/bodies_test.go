package e2e

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// bodiesAgent keeps a conversation of winnow's, whose bodies an SDK sends.
type bodiesAgent struct {
	dialect wire.Dialect
	c       *winnow.Conversation
	calls   int
	plans   map[plan.ID]bool

	// post is the Post of an SDK's client, and returns the answer's JSON.
	post func(ctx context.Context, want string, body json.RawMessage) (raw string, err error)
}

// TestConversationBodies has the SDKs send what a conversation renders, and the
// conversation read what they got.
func TestConversationBodies(t *testing.T) {
	key := "key of " + t.Name()
	ai := openai.NewClient(openaiOptions(dial{base: processes.provider, key: key})...)
	claude := anthropic.NewClient(option.WithBaseURL(processes.provider), option.WithAPIKey(key))
	schema, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []struct {
		model string
		bodiesAgent
	}{
		{"gpt-4.1", bodiesAgent{dialect: wire.OpenAI, post: func(ctx context.Context, want string, body json.RawMessage) (string, error) {
			var got openai.ChatCompletion
			err := ai.Post(ctx, "chat/completions", body, &got, simAnswer(want))
			return got.RawJSON(), spelledOut(err)
		}}},
		{anthropic.ModelClaudeFable5_1, bodiesAgent{dialect: wire.Anthropic, post: func(ctx context.Context, want string, body json.RawMessage) (string, error) {
			var got anthropic.Message
			err := claude.Post(ctx, "v1/messages", body, &got, option.WithHeader("Sim-Answer", want),
				option.WithJSONSet("thinking", map[string]any{"type": "enabled", "budget_tokens": 1024}))
			return got.RawJSON(), err
		}}},
	} {
		t.Run(string(a.dialect), func(t *testing.T) {
			t.Parallel()
			w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: a.model, Window: window}})
			if err != nil {
				t.Fatal(err)
			}
			a.plans = map[plan.ID]bool{}
			a.c = w.Conversation(chat.Request{
				System: []chat.Part{{Kind: chat.Text, Text: system}}, Output: 2048,
				Tools: []chat.ToolDef{{Name: toolName, Description: toolText, Schema: string(schema)}},
			})
			y, err := converse(t.Context(), &a.bodiesAgent)
			if err != nil {
				t.Fatal(err)
			}
			y.check(t, len(a.plans))
			notRefused(t)
		})
	}
}

func (a *bodiesAgent) say(text string) { a.c.Append(chat.TextMessage(chat.User, text)) }

func (a *bodiesAgent) step(ctx context.Context, want string) (reply, error) {
	if want == "" {
		want = "auto"
	}
	body, err := a.c.Body(ctx, a.dialect)
	if err != nil {
		return reply{}, err
	}
	if p := a.c.Plan(); p != nil {
		a.plans[p.ID()] = true
	}
	raw, err := a.post(ctx, want, body)
	if err != nil {
		return reply{}, err
	}
	answer, err := a.c.AnswerBody(a.dialect, []byte(raw))
	if err != nil {
		return reply{}, err
	}
	r := reply{text: answer.Text()}
	if answer.Usage != nil {
		r.prompt = answer.Usage.Prompt()
	}
	for _, p := range answer.Parts {
		if p.Kind == chat.ToolCall {
			a.c.Append(chat.ResultMessage(p.ID, output(a.calls)))
			a.calls++
			r.calls++
		}
	}
	return r, nil
}
