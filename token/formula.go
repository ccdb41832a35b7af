package token

import "github.com/winnow-llm/winnow/chat"

// formula counts with the estimator of another system. Those systems estimate
// whole conversations; what a message or a part has is what it adds to one.
type formula struct {
	ConversationEstimator

	none int // what a conversation without messages has
}

// newFormula returns a counter for the estimator of that name, or nil where there
// is none.
func newFormula(f Family, o *Options) *Counter {
	e, err := Named(string(f))
	if err != nil {
		return nil
	}
	return &Counter{family: f, profile: profiles[Unknown], text: e.Text, named: &formula{e, e.Messages(chat.Messages{})}, cache: o.newCache()}
}

// messageTokens returns what a message adds to a conversation.
func (f *formula) messageTokens(m *chat.Message) int {
	return max(0, f.Messages(chat.Messages{*m})-f.none)
}

// partTokens returns what a part adds to a message.
func (f *formula) partTokens(p *chat.Part) int {
	role := chat.User
	switch p.Kind {
	case chat.ToolCall, chat.Thinking:
		role = chat.Assistant
	case chat.ToolResult:
		role = chat.Tool
	}
	without := chat.Message{Role: role}
	return max(0, f.messageTokens(&chat.Message{Role: role, Parts: []chat.Part{*p}})-f.messageTokens(&without))
}
