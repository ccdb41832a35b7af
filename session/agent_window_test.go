package session_test

import (
	"context"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/session"
)

// A conversation that another agent led is measured in that agent's window, as
// long as nobody sets another and the same model answers.
func TestAgentWindow(t *testing.T) {
	ctx := context.Background()
	agent := model.Window{Tokens: 200_000, Source: model.WindowAgent}
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "hello"), chat.TextMessage(chat.Assistant, "hi"))}
	for _, c := range []struct {
		name     string
		settings winnow.Settings
		want     int
	}{
		{"the agent's", winnow.Settings{}, 200_000},
		{"a person's", winnow.Settings{Window: 300_000}, 300_000},
		{"another model's", winnow.Settings{Model: "gpt-4o"}, 128_000},
	} {
		s, err := session.Import(ctx, session.NewMemory(), session.Header{}, req, &session.Options{
			Settings: c.settings, Provider: "anthropic", Model: "claude-opus-4-6", Agent: agent,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := s.NeedsCompaction()
		if err != nil {
			t.Fatal(err)
		}
		if got.Limits.Context != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got.Limits.Context, c.want)
		}
		s.Close()
	}
}
