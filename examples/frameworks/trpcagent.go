package frameworks

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"

	"trpc.group/trpc-go/trpc-agent-go/model"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// TRPCAgent returns callbacks for llmagent.WithModelCallbacks. They change the request of
// a call; the session keeps the whole history.
func TRPCAgent(w *winnow.Winnow) *model.Callbacks {
	adapter := winnow.NewAdapter(w, trpcToChat, trpcFromChat)
	type answeredKey struct{}
	before := func(ctx context.Context, args *model.BeforeModelArgs) (*model.BeforeModelResult, error) {
		view, answered, err := adapter.Fit(ctx, trpcRequest(args.Request), args.Request.Messages)
		if err != nil {
			return nil, err
		}
		args.Request.Messages = view
		return &model.BeforeModelResult{Context: context.WithValue(ctx, answeredKey{}, answered)}, nil
	}
	after := func(ctx context.Context, args *model.AfterModelArgs) (*model.AfterModelResult, error) {
		answered, ok := ctx.Value(answeredKey{}).(func(model.Message, chat.Usage))
		if r := args.Response; ok && r != nil && !r.IsPartial && r.Usage != nil && len(r.Choices) > 0 {
			cached := max(r.Usage.PromptTokensDetails.CachedTokens, r.Usage.PromptTokensDetails.CacheReadTokens)
			answered(r.Choices[0].Message, chat.Usage{Input: r.Usage.PromptTokens - cached, CacheRead: cached, Output: r.Usage.CompletionTokens})
		}
		return nil, nil
	}
	return model.NewCallbacks().RegisterBeforeModel(before).RegisterAfterModel(after)
}

func trpcRequest(r *model.Request) chat.Request {
	var req chat.Request
	if r.MaxTokens != nil {
		req.Output = *r.MaxTokens
	}
	for _, t := range r.Tools {
		d := t.Declaration()
		schema, _ := json.Marshal(d.InputSchema)
		req.Tools = append(req.Tools, chat.ToolDef{Name: d.Name, Description: d.Description, Schema: string(schema)})
	}
	return req
}

func trpcToChat(m model.Message) chat.Message {
	out := chat.Message{Role: chat.Role(m.Role)}
	if m.ReasoningContent != "" {
		out.Parts = append(out.Parts, chat.Part{Kind: chat.Thinking, Text: m.ReasoningContent, Signature: m.ReasoningSignature})
	}
	if m.Role == model.RoleTool {
		out.Parts = append(out.Parts, chat.Part{Kind: chat.ToolResult, ID: m.ToolID, Name: m.ToolName, Text: m.Content})
	} else if m.Content != "" {
		out.Parts = append(out.Parts, chat.Part{Kind: chat.Text, Text: m.Content})
	}
	for _, p := range m.ContentParts {
		switch {
		case p.Text != nil:
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Text, Text: *p.Text})
		case p.Image != nil:
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Image, Media: p.Image.Format, Data: cmp.Or(p.Image.URL, base64.StdEncoding.EncodeToString(p.Image.Data))})
		default:
			raw, _ := json.Marshal(p)
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Opaque, Data: string(raw)})
		}
	}
	for _, c := range m.ToolCalls {
		out.Parts = append(out.Parts, chat.Call(c.ID, c.Function.Name, cmp.Or(string(c.Function.Arguments), "{}")))
	}
	return out
}

func trpcFromChat(m chat.Message) model.Message {
	out := model.Message{Role: model.Role(m.Role)}
	for _, p := range m.Parts {
		switch p.Kind {
		case chat.Thinking:
			out.ReasoningContent, out.ReasoningSignature = p.Text, p.Signature
		case chat.ToolCall:
			out.ToolCalls = append(out.ToolCalls, model.ToolCall{ID: p.ID, Type: "function", Function: model.FunctionDefinitionParam{Name: p.Name, Arguments: []byte(p.Args)}})
		case chat.ToolResult:
			out.ToolID, out.ToolName, out.Content = p.ID, p.Name, p.Text
		case chat.Image:
			image := &model.Image{Format: p.Media, URL: p.Data}
			if data, err := base64.StdEncoding.DecodeString(p.Data); err == nil {
				image.URL, image.Data = "", data
			}
			out.ContentParts = append(out.ContentParts, model.ContentPart{Type: model.ContentTypeImage, Image: image})
		case chat.Opaque:
			var part model.ContentPart
			_ = json.Unmarshal([]byte(p.Data), &part) // it was written above
			out.ContentParts = append(out.ContentParts, part)
		default:
			out.Content += p.Text
		}
	}
	return out
}
