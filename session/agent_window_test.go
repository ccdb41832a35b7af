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
	agent := model.Window{Tokens: 200_000, Own: 167_000, Source: model.WindowAgent}
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "hello"), chat.TextMessage(chat.Assistant, "hi"))}
	for _, c := range []struct {
		name     string
		settings winnow.Settings
		agent    model.Window
		want     int
		own      int
	}{
		{"the agent's", winnow.Settings{}, agent, 200_000, 167_000},
		{"the model's", winnow.Settings{}, model.Window{Own: 967_000}, 1_000_000, 967_000},
		{"a person's", winnow.Settings{Window: 300_000}, agent, 300_000, 0},
		{"another model's", winnow.Settings{Model: "gpt-4o"}, agent, 128_000, 0},
	} {
		store := session.NewMemory()
		s, err := session.Import(ctx, store, session.Header{}, req, &session.Options{
			Settings: c.settings, Provider: "anthropic", Model: "claude-opus-4-6", Agent: c.agent,
		})
		if err != nil {
			t.Fatal(err)
		}
		id := s.ID()
		s.Close()
		again, err := session.Open(ctx, store, id, &session.Options{Settings: c.settings}) // which must have kept it
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := again.NeedsCompaction()
		if err != nil {
			t.Fatal(err)
		}
		if got.Limits.Context != c.want || got.Trigger.Own != c.own {
			t.Errorf("%s: %d tokens, the agent compacts at %d; want %d and %d", c.name, got.Limits.Context, got.Trigger.Own, c.want, c.own)
		}
		again.Close()
	}
}
