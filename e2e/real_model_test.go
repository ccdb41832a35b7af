package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

// realModel is the address of a real model's server that speaks chat
// completions, without a path; the script real-model sets it.
var realModel = os.Getenv("WINNOW_REAL_MODEL")

// realWindow is its window in tokens, where it is told.
var realWindow = os.Getenv("WINNOW_REAL_WINDOW")

// realTurns are more than a window of 2,048 tokens holds.
const realTurns = 30

// note is a turn of the conversation with a real model: short, so that small
// models on slow machines come to an end.
func note(n int) (user, assistant string) {
	return fmt.Sprintf("Note %d. Shelf %d of the archive holds the boxes %d to %d. The key is kept by keeper number %d, and the inventory of it was last checked in the year %d. Box %d is damaged and must not be lent out.",
			n, n, n*10, n*10+9, 100+n, 1950+n, n*10+3),
		fmt.Sprintf("Noted: shelf %d, keeper %d, box %d stays here.", n, 100+n, n*10+3)
}

// TestRealModel holds a conversation with a real model past its real window,
// once with the window told and once learning it from the server's own error.
// Without winnow the server refuses it. The first turns are written here, so
// that slow machines get to the window soon.
func TestRealModel(t *testing.T) {
	if realModel == "" {
		t.Skip("no model's server is named; see real-model in README.md")
	}
	const model, answer = "a-local-model", 16
	agentAt := func(base string, stream bool) *chatAgent {
		a := &chatAgent{client: openai.NewClient(openaiOptions(dial{base: base, key: "none"})...), stream: stream, params: openai.ChatCompletionNewParams{
			Model: model, MaxTokens: openai.Int(answer),
			Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("You keep the notes of an archive. Answer in one short sentence.")},
		}}
		for n := range realTurns {
			user, assistant := note(n)
			a.params.Messages = append(a.params.Messages, openai.UserMessage(user), openai.AssistantMessage(assistant))
		}
		return a
	}
	t.Run("without", func(t *testing.T) {
		a := agentAt(realModel, false)
		a.say("Which box of shelf 1 is damaged?")
		_, err := a.step(t.Context(), "")
		if err == nil {
			t.Fatalf("%d turns fit into the model's window: it is too large for this test", realTurns)
		}
		t.Log(err)
	})
	for _, c := range []struct {
		name string
		args []string
	}{{"learned", nil}, {"told", []string{"--window", realWindow}}} {
		t.Run(c.name, func(t *testing.T) {
			if c.args != nil && realWindow == "" {
				t.Skip("the model's window is not told")
			}
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "plans.db"), "--upstream", "openai=" + realModel}, c.args...)
			url, end, err := startProcess(t.TempDir(), args...)
			if err != nil {
				t.Fatal(err)
			}
			for i, question := range []string{"Which box of shelf 1 is damaged?", "Who keeps the key of shelf 2?", "Thank you. Is there anything else?"} {
				a := agentAt(url, i%2 == 1)
				for k := range i { // the questions before
					user, assistant := note(realTurns + k)
					a.params.Messages = append(a.params.Messages, openai.UserMessage(user), openai.AssistantMessage(assistant))
				}
				a.say(question)
				r, err := a.step(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s -> %q; the prompt had %d tokens", question, strings.TrimSpace(r.text), r.prompt)
			}
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}
