package llm

import (
	"cmp"
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/wire"
)

// Model returns the client as a model for [summary.NewLLM].
func (c *Client) Model() summary.Model { return summarizing{c} }

type summarizing struct{ c *Client }

// Complete answers a prompt of the summariser.
func (m summarizing) Complete(ctx context.Context, p summary.Prompt) (summary.Completion, error) {
	req := &Request{Output: p.Output, Messages: chat.Messages{chat.TextMessage(chat.User, p.Text)}}
	if p.System != "" {
		req.System = []chat.Part{{Kind: chat.Text, Text: p.System}}
	}
	a, err := m.c.Complete(ctx, req)
	if err != nil {
		return summary.Completion{}, err
	}
	return Completion(a, m.c.p.name, m.c.model)
}

// Completion makes a completion for a summariser of an answer; the model's name is
// used where the answer has none. An answer that the provider withheld is an error.
func Completion(a *wire.Answer, provider, model string) (summary.Completion, error) {
	if a.Stop == wire.StopFilter || a.Stop == wire.StopRefusal {
		return summary.Completion{}, &Error{
			Provider: provider, Model: model, Status: 200, Tries: 1,
			Verdict: wire.Verdict{Kind: wire.KindOther, Message: "the provider withheld the answer (" + text.Clip(a.Reason, 60) + ")"},
		}
	}
	out := summary.Completion{Text: a.Message.Text(), Model: cmp.Or(a.Model, model), Stop: a.Reason, Usage: a.Usage}
	if a.Stop == wire.StopLength {
		out.Stop = summary.CutOff
	}
	for i := range a.Message.Parts {
		if a.Message.Parts[i].Kind == chat.ToolCall {
			out.ToolCalls++
		}
	}
	return out, nil
}
