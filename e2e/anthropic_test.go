package e2e

import (
	"context"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// messagesAgent uses messages with thinking, whose blocks are bound to what
// stands before them.
type messagesAgent struct {
	client anthropic.Client
	stream bool
	params anthropic.MessageNewParams
	calls  int
}

func TestAnthropic(t *testing.T) {
	credential := func(key string) http.Header { return http.Header{"X-Api-Key": {key}} }
	everyWay(t, credential, func(_ *testing.T, d dial, stream bool) agent {
		o := []option.RequestOption{option.WithBaseURL(d.base), option.WithAPIKey(d.key)}
		if d.doer != nil {
			o = append(o, option.WithHTTPClient(d.doer))
		}
		return &messagesAgent{client: anthropic.NewClient(o...), stream: stream, params: anthropic.MessageNewParams{
			Model:     anthropic.ModelClaudeFable5_1,
			MaxTokens: 2048,
			System:    []anthropic.TextBlockParam{{Text: system}},
			Thinking:  anthropic.ThinkingConfigParamOfEnabled(1024),
			Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
				Name: toolName, Description: anthropic.String(toolText),
				InputSchema: anthropic.ToolInputSchemaParam{Properties: parameters["properties"], Required: []string{"path"}},
			}}},
		}}
	})
}

func (a *messagesAgent) say(text string) {
	a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(text)))
}

func (a *messagesAgent) step(ctx context.Context, want string) (reply, error) {
	if want == "" {
		want = "auto"
	}
	got, err := a.send(ctx, option.WithHeader("Sim-Answer", want))
	if err != nil {
		return reply{}, err
	}
	a.params.Messages = append(a.params.Messages, got.ToParam())
	r := reply{prompt: int(got.Usage.InputTokens + got.Usage.CacheReadInputTokens + got.Usage.CacheCreationInputTokens)}
	var results []anthropic.ContentBlockParamUnion
	for _, b := range got.Content {
		switch v := b.AsAny().(type) {
		case anthropic.TextBlock:
			r.text += v.Text
		case anthropic.ToolUseBlock:
			results = append(results, anthropic.NewToolResultBlock(v.ID, output(a.calls), false))
			a.calls++
			r.calls++
		}
	}
	if len(results) > 0 {
		a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(results...))
	}
	return r, nil
}

func (a *messagesAgent) send(ctx context.Context, o ...option.RequestOption) (*anthropic.Message, error) {
	if !a.stream {
		return a.client.Messages.New(ctx, a.params, o...)
	}
	stream := a.client.Messages.NewStreaming(ctx, a.params, o...)
	defer stream.Close()
	var sum anthropic.Message
	for stream.Next() {
		if err := sum.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return &sum, stream.Err()
}

func (a *messagesAgent) count(ctx context.Context) (int, error) {
	n, err := a.client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
		Model: a.params.Model, Messages: a.params.Messages, Thinking: a.params.Thinking,
		System: anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: a.params.System},
		Tools:  []anthropic.MessageCountTokensToolUnionParam{{OfTool: a.params.Tools[0].OfTool}},
	})
	if err != nil {
		return 0, err
	}
	return int(n.InputTokens), nil
}
