package e2e

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"google.golang.org/genai"
)

// geminiAgent uses generateContent with thinking.
type geminiAgent struct {
	client   *genai.Client
	stream   bool
	config   genai.GenerateContentConfig
	contents []*genai.Content
	calls    int
}

const geminiModel = "gemini-3.1-pro-preview"

func TestGemini(t *testing.T) {
	credential := func(key string) http.Header { return http.Header{"X-Goog-Api-Key": {key}} }
	everyWay(t, credential, func(t *testing.T, d dial, stream bool) agent {
		client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
			APIKey: d.key, Backend: genai.BackendGeminiAPI, HTTPClient: d.doer, HTTPOptions: genai.HTTPOptions{BaseURL: d.base},
		})
		if err != nil {
			t.Fatal(err)
		}
		return &geminiAgent{client: client, stream: stream, config: genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText(system, genai.RoleUser),
			MaxOutputTokens:   1024,
			ThinkingConfig:    &genai.ThinkingConfig{IncludeThoughts: true},
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
				Name: toolName, Description: toolText, ParametersJsonSchema: parameters,
			}}}},
		}}
	})
}

func (a *geminiAgent) say(text string) {
	a.contents = append(a.contents, genai.NewContentFromText(text, genai.RoleUser))
}

func (a *geminiAgent) step(ctx context.Context, want string) (reply, error) {
	if want == "" {
		want = "auto"
	}
	config := a.config
	config.HTTPOptions = &genai.HTTPOptions{Headers: http.Header{"Sim-Answer": {want}}}
	answer, prompt, err := a.send(ctx, &config)
	if err != nil {
		return reply{}, err
	}
	a.contents = append(a.contents, answer)
	r := reply{prompt: prompt}
	var results []*genai.Part
	for _, p := range answer.Parts {
		if c := p.FunctionCall; c != nil {
			results = append(results, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: c.ID, Name: c.Name, Response: map[string]any{"output": output(a.calls)}}})
			a.calls++
			r.calls++
		} else if !p.Thought {
			r.text += p.Text
		}
	}
	if len(results) > 0 {
		a.contents = append(a.contents, genai.NewContentFromParts(results, genai.RoleUser))
	}
	return r, nil
}

// send returns the answer's content and the tokens of the prompt.
func (a *geminiAgent) send(ctx context.Context, config *genai.GenerateContentConfig) (*genai.Content, int, error) {
	sum := &genai.Content{Role: genai.RoleModel}
	prompt := 0
	add := func(r *genai.GenerateContentResponse) {
		if r.UsageMetadata != nil {
			prompt = int(r.UsageMetadata.PromptTokenCount)
		}
		if len(r.Candidates) == 0 || r.Candidates[0].Content == nil {
			return
		}
		for _, p := range r.Candidates[0].Content.Parts {
			if p.Text != "" || p.FunctionCall != nil { // streams end with an empty part, which may not come back
				sum.Parts = append(sum.Parts, p)
			}
		}
	}
	if a.stream {
		for r, err := range a.client.Models.GenerateContentStream(ctx, geminiModel, a.contents, config) {
			if err != nil {
				return nil, 0, err
			}
			add(r)
		}
	} else {
		r, err := a.client.Models.GenerateContent(ctx, geminiModel, a.contents, config)
		if err != nil {
			return nil, 0, err
		}
		add(r)
	}
	if len(sum.Parts) == 0 {
		return nil, 0, errors.New("an answer without content")
	}
	return sum, prompt, nil
}

func (a *geminiAgent) count(ctx context.Context) (int, error) {
	n, err := a.client.Models.CountTokens(ctx, geminiModel, a.contents, nil)
	if err != nil {
		return 0, err
	}
	return int(n.TotalTokens), nil
}
