package frameworks

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// ADK returns callbacks for an agent's configuration. They change the request of a call;
// the session keeps the whole history.
func ADK(w *winnow.Winnow) (llmagent.BeforeModelCallback, llmagent.AfterModelCallback) {
	adapter := winnow.NewAdapter(w, adkToChat, adkFromChat)
	var waiting sync.Map // what to tell of an answer, by the invocation
	before := func(ctx agent.Context, r *model.LLMRequest) (*model.LLMResponse, error) {
		view, answered, err := adapter.Fit(ctx, adkRequest(r), r.Contents)
		if err != nil {
			return nil, err
		}
		r.Contents = view
		waiting.Store(ctx.InvocationID(), answered)
		return nil, nil
	}
	after := func(ctx agent.Context, r *model.LLMResponse, err error) (*model.LLMResponse, error) {
		if r != nil && r.Partial {
			return nil, nil
		}
		answered, ok := waiting.LoadAndDelete(ctx.InvocationID())
		if ok && err == nil && r != nil && r.Content != nil && r.UsageMetadata != nil {
			u := r.UsageMetadata
			answered.(func(*genai.Content, chat.Usage))(r.Content, chat.Usage{
				Input: int(u.PromptTokenCount - u.CachedContentTokenCount), CacheRead: int(u.CachedContentTokenCount),
				Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), Thinking: int(u.ThoughtsTokenCount),
			})
		}
		return nil, nil
	}
	return before, after
}

func adkRequest(r *model.LLMRequest) chat.Request {
	var req chat.Request
	if r.Config == nil {
		return req
	}
	req.Output = int(r.Config.MaxOutputTokens)
	if s := r.Config.SystemInstruction; s != nil {
		req.System = adkToChat(s).Parts
	}
	for _, t := range r.Config.Tools {
		for _, f := range t.FunctionDeclarations {
			def := chat.ToolDef{Name: f.Name, Description: f.Description, Schema: adkJSON(f.Parameters)}
			if f.ParametersJsonSchema != nil {
				def.Schema = adkJSON(f.ParametersJsonSchema)
			}
			req.Tools = append(req.Tools, def)
		}
	}
	return req
}

func adkJSON(v any) string {
	data, _ := json.Marshal(v) // it came out of JSON
	return string(data)
}

// adkID names a call or result. ADK takes its own names off before a call; then they are
// told apart by the tool and their place among their likes, as Gemini does.
func adkID(id, name string, seen map[string]int) string {
	if id != "" {
		return id
	}
	seen[name]++
	return fmt.Sprintf("unnamed:%s:%d", name, seen[name])
}

func adkToChat(c *genai.Content) chat.Message {
	out := chat.Message{Role: chat.User}
	if c.Role == genai.RoleModel {
		out.Role = chat.Assistant
	}
	seen := map[string]int{}
	for _, p := range c.Parts {
		part := chat.Part{Kind: chat.Opaque, Data: adkJSON(p)}
		switch {
		case p.FunctionCall != nil:
			part = chat.Call(adkID(p.FunctionCall.ID, p.FunctionCall.Name, seen), p.FunctionCall.Name, adkJSON(p.FunctionCall.Args))
		case p.FunctionResponse != nil:
			part = chat.Part{Kind: chat.ToolResult, ID: adkID(p.FunctionResponse.ID, p.FunctionResponse.Name, seen), Name: p.FunctionResponse.Name, Text: adkJSON(p.FunctionResponse.Response)}
		case p.Thought:
			part.Kind, part.Text = chat.Thinking, p.Text
		case p.Text != "":
			part = chat.Part{Kind: chat.Text, Text: p.Text}
		case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
			part = chat.Part{Kind: chat.Image, Media: p.InlineData.MIMEType, Data: base64.StdEncoding.EncodeToString(p.InlineData.Data)}
		}
		part.Signature = base64.StdEncoding.EncodeToString(p.ThoughtSignature)
		out.Parts = append(out.Parts, part)
	}
	return out
}

func adkFromChat(m chat.Message) *genai.Content {
	out := &genai.Content{Role: genai.RoleUser}
	if m.Role == chat.Assistant {
		out.Role = genai.RoleModel
	}
	for _, p := range m.Parts {
		id := p.ID
		if strings.HasPrefix(id, "unnamed:") {
			id = ""
		}
		part := &genai.Part{Text: p.Text}
		switch p.Kind {
		case chat.ToolCall:
			part = &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: p.Name}}
			_ = json.Unmarshal([]byte(p.Args), &part.FunctionCall.Args) // an object, always
		case chat.ToolResult:
			part = &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: p.Name}}
			if json.Unmarshal([]byte(p.Text), &part.FunctionResponse.Response) != nil {
				part.FunctionResponse.Response = map[string]any{"output": p.Text} // it was shortened
			}
		case chat.Image:
			data, _ := base64.StdEncoding.DecodeString(p.Data) // it was written above
			part = &genai.Part{InlineData: &genai.Blob{MIMEType: p.Media, Data: data}}
		case chat.Thinking, chat.Opaque:
			_ = json.Unmarshal([]byte(p.Data), part) // it was written above
		}
		part.ThoughtSignature, _ = base64.StdEncoding.DecodeString(p.Signature)
		out.Parts = append(out.Parts, part)
	}
	return out
}
