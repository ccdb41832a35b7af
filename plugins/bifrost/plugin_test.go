package bifrost_test

import (
	"context"
	"strings"
	"testing"

	core "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/schemas"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/plugins/bifrost"
	"github.com/winnow-llm/winnow/transport"
)

// account sends everything to the simulator.
type account struct{ url string }

func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

func (account) GetKeysForProvider(*context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{Value: "sk-test", Models: []string{}, Weight: 1}}, nil
}

func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	c := &schemas.ProviderConfig{NetworkConfig: schemas.NetworkConfig{BaseURL: a.url}}
	c.CheckAndSetDefaults()
	return c, nil
}

// TestConversation holds one that is three windows long through Bifrost itself:
// without the plugin the provider refuses it, with it every turn is answered.
func TestConversation(t *testing.T) {
	const window, turns = 16_000, 40
	hold := func(t *testing.T, plugins ...schemas.Plugin) (answered int) {
		_, url, _ := simtest.Start(t, providersim.Options{Window: window})
		client, err := core.Init(t.Context(), schemas.BifrostConfig{Account: account{url}, Plugins: plugins, Logger: core.NewDefaultLogger(schemas.LogLevelError)})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Shutdown()
		limit := 1000
		var history []schemas.ChatMessage
		say := func(role schemas.ChatMessageRole, text string) {
			history = append(history, schemas.ChatMessage{Role: role, Content: schemas.ChatMessageContent{ContentStr: &text}})
		}
		for range turns {
			say(schemas.ChatMessageRoleUser, strings.Repeat("the lease is renewed by nobody. ", 150))
			_, failed := client.ChatCompletionRequest(t.Context(), &schemas.BifrostChatRequest{
				Provider: schemas.OpenAI, Model: "gpt-4.1", Input: history, Params: &schemas.ChatParameters{MaxCompletionTokens: &limit},
			})
			if failed != nil {
				return answered
			}
			say(schemas.ChatMessageRoleAssistant, "noted")
			answered++
		}
		return answered
	}
	if n := hold(t); n == turns {
		t.Error("the provider took all of it: this proves nothing")
	}
	tr, err := transport.New(&transport.Options{Settings: winnow.Settings{Window: window}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if n := hold(t, bifrost.New(tr)); n != turns {
		t.Errorf("%d of %d turns were answered: %+v", n, turns, tr.Stats())
	}
	if tr.Stats().Plans == 0 {
		t.Error("no plan was made")
	}
}
