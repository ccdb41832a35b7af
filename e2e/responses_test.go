package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// responsesAgent uses responses, and keeps the conversation itself.
type responsesAgent struct {
	client openai.Client
	stream bool
	params responses.ResponseNewParams
	input  responses.ResponseInputParam
	calls  int
}

func TestOpenAIResponses(t *testing.T) {
	everyWay(t, bearer, func(_ *testing.T, d dial, stream bool) agent {
		tool := responses.ToolParamOfFunction(toolName, parameters, false)
		tool.OfFunction.Description = openai.String(toolText)
		return &responsesAgent{client: openai.NewClient(openaiOptions(d)...), stream: stream, params: responses.ResponseNewParams{
			Model:           "gpt-5.4",
			Instructions:    openai.String(system),
			MaxOutputTokens: openai.Int(1024),
			Store:           openai.Bool(false),
			Include:         []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
			Reasoning:       shared.ReasoningParam{Effort: shared.ReasoningEffortHigh},
			Tools:           []responses.ToolUnionParam{tool},
		}}
	})
}

func (a *responsesAgent) say(text string) {
	a.input = append(a.input, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser))
}

func (a *responsesAgent) step(ctx context.Context, want string) (reply, error) {
	a.params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: a.input}
	got, err := a.send(ctx, simAnswer(want))
	if err != nil {
		return reply{}, err
	}
	if got.Status == responses.ResponseStatusFailed {
		return reply{}, fmt.Errorf("%s: %s", got.Error.Code, got.Error.Message)
	}
	r := reply{text: got.OutputText(), prompt: int(got.Usage.InputTokens)}
	var results responses.ResponseInputParam
	for _, item := range got.Output {
		switch v := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			p := v.ToParam()
			a.input = append(a.input, responses.ResponseInputItemUnionParam{OfReasoning: &p})
		case responses.ResponseOutputMessage:
			p := v.ToParam()
			a.input = append(a.input, responses.ResponseInputItemUnionParam{OfOutputMessage: &p})
		case responses.ResponseFunctionToolCall:
			p := v.ToParam()
			a.input = append(a.input, responses.ResponseInputItemUnionParam{OfFunctionCall: &p})
			result := responses.ResponseInputItemParamOfFunctionCallOutput(output(a.calls))
			result.OfFunctionCallOutput.CallID = openai.String(v.CallID)
			results = append(results, result)
			a.calls++
			r.calls++
		default:
			return r, fmt.Errorf("an item of type %s was not expected", item.Type)
		}
	}
	a.input = append(a.input, results...)
	return r, nil
}

func (a *responsesAgent) send(ctx context.Context, o ...option.RequestOption) (*responses.Response, error) {
	if !a.stream {
		got, err := a.client.Responses.New(ctx, a.params, o...)
		return got, spelledOut(err)
	}
	stream := a.client.Responses.NewStreaming(ctx, a.params, o...)
	defer stream.Close()
	var last *responses.Response
	for stream.Next() {
		switch v := stream.Current().AsAny().(type) {
		case responses.ResponseCompletedEvent:
			last = &v.Response
		case responses.ResponseFailedEvent:
			last = &v.Response
		}
	}
	if err := stream.Err(); err != nil {
		return nil, spelledOut(err)
	}
	if last == nil {
		return nil, errors.New("the stream ended before the response was complete")
	}
	return last, nil
}

func (a *responsesAgent) count(ctx context.Context) (int, error) {
	n, err := a.client.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{
		Model: openai.String(a.params.Model), Instructions: a.params.Instructions, Reasoning: a.params.Reasoning, Tools: a.params.Tools,
		Input: responses.InputTokenCountParamsInputUnion{OfResponseInputItemArray: a.input},
	})
	if err != nil {
		return 0, err
	}
	return int(n.InputTokens), nil
}
