package frameworks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// LangChain returns a model that calls another with what fits. Agents, chains and memory
// keep the whole history.
func LangChain(w *winnow.Winnow, model llms.Model) llms.Model {
	return &langChainModel{model, winnow.NewAdapter(w, langChainToChat, langChainFromChat)}
}

type langChainModel struct {
	llms.Model
	adapter *winnow.Adapter[llms.MessageContent]
}

// GenerateContent calls the model with what fits.
func (m *langChainModel) GenerateContent(ctx context.Context, all []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	view, answered, err := m.adapter.Fit(ctx, langChainRequest(opts), all)
	if err != nil {
		return nil, err
	}
	out, err := m.Model.GenerateContent(ctx, view, opts...)
	if err == nil && len(out.Choices) > 0 {
		c := out.Choices[0]
		answer := llms.TextParts(llms.ChatMessageTypeAI, c.Content)
		for _, call := range c.ToolCalls {
			answer.Parts = append(answer.Parts, call)
		}
		answered(answer, langChainUsage(c.GenerationInfo))
	}
	return out, err
}

func langChainRequest(opts []llms.CallOption) chat.Request {
	var o llms.CallOptions
	for _, opt := range opts {
		opt(&o)
	}
	req := chat.Request{Output: o.MaxTokens}
	for _, t := range o.Tools {
		if t.Function != nil {
			schema, _ := json.Marshal(t.Function.Parameters)
			req.Tools = append(req.Tools, chat.ToolDef{Name: t.Function.Name, Description: t.Function.Description, Schema: string(schema)})
		}
	}
	return req
}

// langChainUsage reads the counts by the names that the providers' packages give them.
func langChainUsage(info map[string]any) chat.Usage {
	number := func(names ...string) int {
		for _, name := range names {
			if n, ok := info[name].(int); ok {
				return n
			}
		}
		return 0
	}
	u := chat.Usage{
		Input:     number("PromptTokens", "InputTokens", "input_tokens"),
		CacheRead: number("PromptCachedTokens", "CacheReadInputTokens"),
		Output:    number("CompletionTokens", "OutputTokens", "output_tokens"),
	}
	if number("PromptCachedTokens") > 0 {
		u.Input -= u.CacheRead // OpenAI counts the cached ones among the others
	}
	return u
}

var langChainRoles = map[llms.ChatMessageType]chat.Role{
	llms.ChatMessageTypeSystem: chat.System, llms.ChatMessageTypeAI: chat.Assistant,
	llms.ChatMessageTypeTool: chat.Tool, llms.ChatMessageTypeHuman: chat.User,
}

func langChainToChat(m llms.MessageContent) chat.Message {
	out := chat.Message{Role: chat.User}
	if r, ok := langChainRoles[m.Role]; ok {
		out.Role = r
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			if p.Text != "" {
				out.Parts = append(out.Parts, chat.Part{Kind: chat.Text, Text: p.Text})
			}
		case llms.ToolCall:
			out.Parts = append(out.Parts, chat.Call(p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments))
		case llms.ToolCallResponse:
			out.Parts = append(out.Parts, chat.Part{Kind: chat.ToolResult, ID: p.ToolCallID, Name: p.Name, Text: p.Content})
		case llms.ImageURLContent:
			out.Parts = append(out.Parts, chat.Part{Kind: chat.Image, Name: p.Detail, Data: p.URL})
		case llms.BinaryContent:
			kind := chat.Document
			if strings.HasPrefix(p.MIMEType, "image/") {
				kind = chat.Image
			}
			out.Parts = append(out.Parts, chat.Part{Kind: kind, Media: p.MIMEType, Data: base64.StdEncoding.EncodeToString(p.Data)})
		}
	}
	return out
}

func langChainFromChat(m chat.Message) llms.MessageContent {
	roles := slices.Collect(maps.Keys(langChainRoles))
	out := llms.MessageContent{Role: roles[slices.IndexFunc(roles, func(r llms.ChatMessageType) bool { return langChainRoles[r] == m.Role })]}
	for _, p := range m.Parts {
		switch p.Kind {
		case chat.ToolCall:
			out.Parts = append(out.Parts, llms.ToolCall{ID: p.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: p.Name, Arguments: p.Args}})
		case chat.ToolResult:
			out.Parts = append(out.Parts, llms.ToolCallResponse{ToolCallID: p.ID, Name: p.Name, Content: p.Text})
		case chat.Image, chat.Document:
			if p.Media == "" {
				out.Parts = append(out.Parts, llms.ImageURLContent{URL: p.Data, Detail: p.Name})
			} else {
				data, _ := base64.StdEncoding.DecodeString(p.Data) // it was written above
				out.Parts = append(out.Parts, llms.BinaryContent{MIMEType: p.Media, Data: data})
			}
		default:
			out.Parts = append(out.Parts, llms.TextContent{Text: p.Text})
		}
	}
	return out
}
