package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// parameters are the tool's, as JSON schema.
var parameters = map[string]any{
	"type":       "object",
	"properties": map[string]any{"path": map[string]any{"type": "string"}, "line": map[string]any{"type": "integer"}},
	"required":   []string{"path"},
}

const (
	toolName = "read_file"
	toolText = "Reads a file and returns its text."
	system   = "You are a careful engineer."
)

func openaiOptions(d dial) []option.RequestOption {
	o := []option.RequestOption{option.WithBaseURL(d.base + "/v1"), option.WithAPIKey(d.key)}
	if d.doer != nil {
		o = append(o, option.WithHTTPClient(d.doer))
	}
	return o
}

// chatAgent uses chat completions.
type chatAgent struct {
	client openai.Client
	stream bool
	params openai.ChatCompletionNewParams
	calls  int
}

func TestOpenAIChat(t *testing.T) {
	everyWay(t, bearer, func(_ *testing.T, d dial, stream bool) agent {
		return &chatAgent{client: openai.NewClient(openaiOptions(d)...), stream: stream, params: openai.ChatCompletionNewParams{
			Model:               "gpt-4.1",
			MaxCompletionTokens: openai.Int(1024),
			Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system)},
			Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: toolName, Description: openai.String(toolText), Parameters: parameters,
			})},
		}}
	})
}

func (a *chatAgent) say(text string) {
	a.params.Messages = append(a.params.Messages, openai.UserMessage(text))
}

func (a *chatAgent) step(ctx context.Context, want string) (reply, error) {
	got, err := a.send(ctx, simAnswer(want))
	if err != nil {
		return reply{}, err
	}
	if len(got.Choices) != 1 {
		return reply{}, errors.New("no choice in the answer")
	}
	m := got.Choices[0].Message
	a.params.Messages = append(a.params.Messages, m.ToParam())
	for _, c := range m.ToolCalls {
		a.params.Messages = append(a.params.Messages, openai.ToolMessage(output(a.calls), c.ID))
		a.calls++
	}
	return reply{m.Content, len(m.ToolCalls), int(got.Usage.PromptTokens)}, nil
}

func (a *chatAgent) send(ctx context.Context, o ...option.RequestOption) (*openai.ChatCompletion, error) {
	if !a.stream {
		got, err := a.client.Chat.Completions.New(ctx, a.params, o...)
		return got, spelledOut(err)
	}
	a.params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := a.client.Chat.Completions.NewStreaming(ctx, a.params, o...)
	defer stream.Close()
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			return nil, errors.New("a chunk does not follow from those before it")
		}
	}
	return &sum.ChatCompletion, spelledOut(stream.Err())
}

// spelledOut adds to an error what the provider said, which the SDK's own text
// leaves out.
func spelledOut(err error) error {
	var e *openai.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%w: %s: %s", err, e.Code, e.Message)
	}
	return err
}

// simAnswer tells the simulator what to answer.
func simAnswer(want string) option.RequestOption {
	if want == "" {
		want = "auto"
	}
	return option.WithHeader("Sim-Answer", want)
}
