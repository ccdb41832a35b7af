package frameworks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/firebase/genkit/go/ai"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// Genkit returns a middleware for ai.WithMiddleware. The request that the response
// carries, and with it its history, stays whole.
func Genkit(w *winnow.Winnow) ai.ModelMiddleware {
	adapter := winnow.NewAdapter(w, genkitToChat, genkitFromChat)
	return func(next ai.ModelFunc) ai.ModelFunc {
		return func(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			view, answered, err := adapter.Fit(ctx, genkitRequest(req), req.Messages)
			if err != nil {
				return nil, err
			}
			fitted := *req
			fitted.Messages = view
			out, err := next(ctx, &fitted, stream)
			if err == nil {
				out.Request = req
				if u := out.Usage; u != nil && out.Message != nil {
					answered(out.Message, chat.Usage{Input: u.InputTokens - u.CachedContentTokens, CacheRead: u.CachedContentTokens, Output: u.OutputTokens})
				}
			}
			return out, err
		}
	}
}

func genkitRequest(r *ai.ModelRequest) chat.Request {
	var req chat.Request
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, chat.ToolDef{Name: t.Name, Description: t.Description, Schema: genkitJSON(t.InputSchema)})
	}
	return req
}

func genkitJSON(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, _ := json.Marshal(v) // it came out of JSON
	return string(data)
}

// genkitRef names a call or result. Those without a name are told apart by the tool and
// their place among their likes, as Gemini does.
func genkitRef(ref, name string, seen map[string]int) string {
	if ref != "" {
		return ref
	}
	seen[name]++
	return fmt.Sprintf("unnamed:%s:%d", name, seen[name])
}

func genkitToChat(m *ai.Message) chat.Message {
	out := chat.Message{Role: chat.Role(m.Role)}
	if m.Role == ai.RoleModel {
		out.Role = chat.Assistant
	}
	seen := map[string]int{}
	for _, p := range m.Content {
		part := chat.Part{Kind: chat.Opaque, Data: genkitJSON(p)}
		switch {
		case p.Kind == ai.PartText:
			part = chat.Part{Kind: chat.Text, Text: p.Text}
		case p.Kind == ai.PartReasoning:
			part.Kind, part.Text = chat.Thinking, p.Text
			if p.Metadata["signature"] != nil {
				part.Signature = genkitJSON(p.Metadata["signature"])
			}
		case p.Kind == ai.PartMedia && strings.HasPrefix(p.ContentType, "image/"):
			part = chat.Part{Kind: chat.Image, Media: p.ContentType, Data: p.Text}
		case p.Kind == ai.PartToolRequest:
			part = chat.Call(genkitRef(p.ToolRequest.Ref, p.ToolRequest.Name, seen), p.ToolRequest.Name, genkitJSON(p.ToolRequest.Input))
		case p.Kind == ai.PartToolResponse:
			part = chat.Part{Kind: chat.ToolResult, ID: genkitRef(p.ToolResponse.Ref, p.ToolResponse.Name, seen), Name: p.ToolResponse.Name, Text: genkitJSON(p.ToolResponse.Output)}
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

func genkitFromChat(m chat.Message) *ai.Message {
	out := &ai.Message{Role: ai.Role(m.Role)}
	if m.Role == chat.Assistant {
		out.Role = ai.RoleModel
	}
	for _, p := range m.Parts {
		ref := p.ID
		if strings.HasPrefix(ref, "unnamed:") {
			ref = ""
		}
		part := ai.NewTextPart(p.Text)
		switch p.Kind {
		case chat.Image:
			part = ai.NewMediaPart(p.Media, p.Data)
		case chat.ToolCall:
			part = ai.NewToolRequestPart(&ai.ToolRequest{Ref: ref, Name: p.Name, Input: json.RawMessage(p.Args)})
		case chat.ToolResult:
			part = ai.NewToolResponsePart(&ai.ToolResponse{Ref: ref, Name: p.Name, Output: p.Text})
		case chat.Opaque, chat.Thinking:
			part = new(ai.Part)
			_ = json.Unmarshal([]byte(p.Data), part) // it was written above
		}
		out.Content = append(out.Content, part)
	}
	return out
}
