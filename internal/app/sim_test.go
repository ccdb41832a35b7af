package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token"
)

// TestSimModel: the simulator is the model that it is told to be, and drives any
// client with a shell tool.
func TestSimModel(t *testing.T) {
	t.Parallel()
	addr, end := serving(t, "sim", "--listen", "127.0.0.1:0", "--model", "gpt-5.5", "--drive", "--drive-steps", "3")
	defer end()
	text := strings.Repeat("The quick brown fox jumps over the lazy dog: naïve façade 1234567. ", 50)
	send := func(body string) (status int, answer string) {
		t.Helper()
		resp, err := http.Post("http://"+addr+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	_, answer := send(`{"model":"whatever","messages":[{"role":"user","content":` + string(quoted) + `}],
		"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]}`)
	var doc struct {
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal([]byte(answer), &doc); err != nil || len(doc.Choices) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	exact := token.New(token.O200K, &token.Options{Exact: true}).Text(text)
	if framing := doc.Usage.Prompt - exact; framing < 0 || framing > 60 {
		t.Errorf("%d tokens were reported, and the text has %d", doc.Usage.Prompt, exact)
	}
	if !strings.Contains(string(doc.Choices[0].Message), "sh drive.sh 1") {
		t.Errorf("it calls no command: %s", doc.Choices[0].Message)
	}
	var asked struct{ Dollars float64 }
	getJSON(t, "http://"+addr+"/sim/requests", &asked)
	if asked.Dollars <= 0 {
		t.Error("the model's answers cost nothing")
	}
	var driven struct {
		Tasks []struct{ Calls, Steps int }
	}
	getJSON(t, "http://"+addr+"/sim/drive", &driven)
	if len(driven.Tasks) != 1 || driven.Tasks[0].Calls != 1 || driven.Tasks[0].Steps != 3 {
		t.Errorf("%+v", driven)
	}
	// The window is the model's too, and so are the words of a refusal.
	status, answer := send(`{"model":"whatever","messages":[{"role":"user","content":"` + strings.Repeat("a word ", 700_000) + `"}]}`)
	if status != http.StatusBadRequest || !strings.Contains(answer, "maximum context length is ") {
		t.Errorf("%d %.200s", status, answer)
	}
}

func getJSON(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// With --exact the simulator's usage grows by the tokens of the vocabulary.
func TestSimCountsExactly(t *testing.T) {
	t.Parallel()
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
