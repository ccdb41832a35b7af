package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/token/o200k"
)

// With --exact the simulator's usage grows by the tokens of the vocabulary.
func TestSimCountsExactly(t *testing.T) {
	provider, end := serving(t, "sim", "--listen", "127.0.0.1:0", "--exact")
	defer end()
	prompt := func(text string) int {
		body := fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"user","content":%q}]}`, text)
		resp, err := http.Post("http://"+provider+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // it was read
		var doc struct {
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
			t.Fatal(err)
		}
		return doc.Usage.Prompt
	}
	words, spelled := strings.Repeat(" the lease of the worker", 100), strings.Repeat("ሰላም", 100)
	want := o200k.Count(spelled) - o200k.Count(words)
	if got := prompt(spelled) - prompt(words); got != want {
		t.Errorf("the prompts differ by %d tokens, want %d", got, want)
	}
}
