package frameworks

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// Eino returns a middleware for the Handlers of an agent's configuration. It wraps the
// model, so that the agent's state keeps the whole history.
func Eino(w *winnow.Winnow) adk.ChatModelAgentMiddleware {
	return &einoMiddleware{adapter: winnow.NewAdapter(w, einoToChat, einoFromChat)}
}

type einoMiddleware struct {
	*adk.BaseChatModelAgentMiddleware
	adapter *winnow.Adapter[*schema.Message]
}

// WrapModel puts winnow before the model of a call.
func (e *einoMiddleware) WrapModel(_ context.Context, m model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	return &einoModel{m, e.adapter}, nil
}

type einoModel struct {
	next    model.BaseChatModel
	adapter *winnow.Adapter[*schema.Message]
}

// Generate calls the model with what fits.
func (m *einoModel) Generate(ctx context.Context, all []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	view, answered, err := m.adapter.Fit(ctx, einoRequest(opts), all)
	if err != nil {
		return nil, err
	}
	answer, err := m.next.Generate(ctx, view, opts...)
	if err == nil {
		answered(answer, einoUsage(answer))
	}
	return answer, err
}

// Stream calls the model with what fits.
func (m *einoModel) Stream(ctx context.Context, all []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	view, answered, err := m.adapter.Fit(ctx, einoRequest(opts), all)
	if err != nil {
		return nil, err
	}
	stream, err := m.next.Stream(ctx, view, opts...)
	if err != nil {
		return nil, err
	}
	both := stream.Copy(2)
	go func() {
		if answer, err := schema.ConcatMessageStream(both[1]); err == nil {
			answered(answer, einoUsage(answer))
		}
	}()
	return both[0], nil
}

func einoRequest(opts []model.Option) chat.Request {
	var req chat.Request
	o := model.GetCommonOptions(nil, opts...)
	if o.MaxTokens != nil {
		req.Output = *o.MaxTokens
	}
	for _, t := range o.Tools {
		def := chat.ToolDef{Name: t.Name, Description: t.Desc}
		if s, err := t.ToJSONSchema(); err == nil && s != nil {
			schema, _ := json.Marshal(s)
			def.Schema = string(schema)
		}
		req.Tools = append(req.Tools, def)
	}
	return req
}

func einoUsage(m *schema.Message) chat.Usage {
	if m.ResponseMeta == nil || m.ResponseMeta.Usage == nil {
		return chat.Usage{}
	}
	u := m.ResponseMeta.Usage
	return chat.Usage{Input: u.PromptTokens - u.PromptTokenDetails.CachedTokens, CacheRead: u.PromptTokenDetails.CachedTokens, Output: u.CompletionTokens}
}

func einoToChat(m *schema.Message) chat.Message {
	out := chat.Message{Role: chat.Role(m.Role)}
	if m.ReasoningContent != "" {
		out.Parts = append(out.Parts, chat.Part{Kind: chat.Thinking, Text: m.ReasoningContent})
	}
	if m.Role == schema.Tool {
		out.Parts = append(out.Parts, chat.Part{Kind: chat.ToolResult, ID: m.ToolCallID, Name: m.ToolName, Text: m.Content})
	} else if m.Content != "" {
		out.Parts = append(out.Parts, chat.Part{Kind: chat.Text, Text: m.Content})
	}
	for _, p := range m.UserInputMultiContent {
		switch {
		case p.Type == schema.ChatMessagePartTypeText:
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Text, Text: p.Text})
		case p.Image != nil:
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Image, Media: p.Image.MIMEType, Data: cmp.Or(einoText(p.Image.Base64Data), einoText(p.Image.URL))})
		default:
			raw, _ := json.Marshal(p)
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Opaque, Data: string(raw)})
		}
	}
	for _, c := range m.ToolCalls {
		out.Parts = append(out.Parts, chat.Call(c.ID, c.Function.Name, cmp.Or(c.Function.Arguments, "{}")))
	}
	return out
}

func einoText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func einoFromChat(m chat.Message) *schema.Message {
	out := &schema.Message{Role: schema.RoleType(m.Role)}
	media := m.Has(chat.Image) || m.Has(chat.Opaque)
	for _, p := range m.Parts {
		switch p.Kind {
		case chat.Thinking:
			out.ReasoningContent += p.Text
		case chat.ToolCall:
			out.ToolCalls = append(out.ToolCalls, schema.ToolCall{ID: p.ID, Type: "function", Function: schema.FunctionCall{Name: p.Name, Arguments: p.Args}})
		case chat.ToolResult:
			out.ToolCallID, out.ToolName, out.Content = p.ID, p.Name, p.Text
		case chat.Image:
			part := schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{MIMEType: p.Media, URL: &p.Data}}}
			if p.Media != "" {
				part.Image.URL, part.Image.Base64Data = nil, &p.Data
			}
			out.UserInputMultiContent = append(out.UserInputMultiContent, part)
		case chat.Opaque:
			var part schema.MessageInputPart
			_ = json.Unmarshal([]byte(p.Data), &part) // it was written above
			out.UserInputMultiContent = append(out.UserInputMultiContent, part)
		default:
			if media {
				out.UserInputMultiContent = append(out.UserInputMultiContent, schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: p.Text})
			} else {
				out.Content += p.Text
			}
		}
	}
	return out
}
