// Package bifrost makes requests fit that go through Bifrost: it is a plugin for
// bifrost/core, whose PreHook shortens the conversation of chat and responses
// requests before Bifrost turns them into those of the provider.
//
//	t, err := transport.New(nil)
//	...
//	client, err := bifrost.Init(ctx, schemas.BifrostConfig{Account: account, Plugins: []schemas.Plugin{winnow.New(t)}})
//
// The answer is not seen, so sizes stay estimates. A conversation that does not fit
// in Bifrost's form goes out as it came, and Bifrost logs why.
package bifrost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/maximhq/bifrost/core/schemas"
	"github.com/maximhq/bifrost/core/schemas/providers/openai"
	"github.com/winnow-llm/winnow/transport"
)

// Plugin implements [schemas.Plugin].
type Plugin struct{ transport *transport.Transport }

// New returns a plugin that lets a transport decide. The caller closes the
// transport after Bifrost's Shutdown.
func New(t *transport.Transport) *Plugin { return &Plugin{t} }

// GetName implements [schemas.Plugin].
func (*Plugin) GetName() string { return "winnow" }

// PreHook implements [schemas.Plugin]: it returns the request with the messages
// that would be sent. Everything else of it stays.
func (p *Plugin) PreHook(ctx *context.Context, req *schemas.BifrostRequest) (*schemas.BifrostRequest, *schemas.PluginShortCircuit, error) {
	out := *req
	var err error
	switch {
	case req.ChatRequest != nil:
		chat := *req.ChatRequest
		body := openai.ToOpenAIChatRequest(&chat)
		if err = p.fitMessages(*ctx, body, "messages", &chat.Input); err == nil {
			out.ChatRequest = &chat
		}
	case req.ResponsesRequest != nil:
		responses := *req.ResponsesRequest
		body := openai.ToOpenAIResponsesRequest(&responses)
		if err = p.fitMessages(*ctx, body, "input", &responses.Input); err == nil {
			out.ResponsesRequest = &responses
		}
	}
	return &out, nil, err
}

// fitMessages reads the messages of a body into input, as they are to be sent.
func (p *Plugin) fitMessages(ctx context.Context, body any, list string, input any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("winnow: %w", err)
	}
	fitted, _, err := p.transport.Fit(ctx, raw)
	if err != nil {
		return fmt.Errorf("winnow: %w", err)
	}
	if bytes.Equal(fitted, raw) {
		return nil
	}
	var doc map[string]json.RawMessage
	if err = json.Unmarshal(fitted, &doc); err == nil {
		err = json.Unmarshal(doc[list], input)
	}
	if err != nil {
		return fmt.Errorf("winnow: %w", err)
	}
	return nil
}

// PostHook implements [schemas.Plugin]. It changes nothing.
func (*Plugin) PostHook(_ *context.Context, result *schemas.BifrostResponse, err *schemas.BifrostError) (*schemas.BifrostResponse, *schemas.BifrostError, error) {
	return result, err, nil
}

// Cleanup implements [schemas.Plugin].
func (*Plugin) Cleanup() error { return nil }
