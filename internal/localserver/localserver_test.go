package localserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/localserver"
)

// TestWindow: each kind of server is asked in its own way, with the caller's key.
func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string
		want    int
		why     string
	}{
		"vLLM":                    {map[string]string{"GET /v1/models": `{"data":[{"id":"other","max_model_len":7},{"id":"qwen3","max_model_len":40960}]}`}, 40_960, "max_model_len"},
		"llama.cpp":               {map[string]string{"GET /v1/models": `{"data":[{"id":"x.gguf","meta":{"n_ctx_train":131072}}]}`, "GET /props": `{"default_generation_settings":{"n_ctx":8192}}`}, 8192, "n_ctx"},
		"Ollama, set":             {map[string]string{"POST /api/show": `{"parameters":"stop \"a b\"\nnum_ctx                        16384","model_info":{"qwen3.context_length":262144}}`, "GET /api/ps": `{"models":[]}`}, 16_384, "num_ctx"},
		"Ollama, loaded":          {map[string]string{"POST /api/show": `{"parameters":"num_ctx 16384"}`, "GET /api/ps": `{"models":[{"name":"qwen3:latest","context_length":4096}]}`}, 4096, "has loaded it"},
		"Ollama, nobody says":     {map[string]string{"POST /api/show": `{"model_info":{"qwen3.context_length":262144}}`}, 0, ""},
		"LM Studio":               {map[string]string{"GET /v1/models": `{"data":[{"id":"qwen3"},{"id":"b"}]}`, "GET /api/v0/models": `{"data":[{"id":"b","loaded_context_length":9},{"id":"qwen3","max_context_length":131072,"loaded_context_length":12000}]}`}, 12_000, "loaded_context_length"},
		"something else entirely": {map[string]string{"GET /v1/models": `<html>`}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, ok := c.answers[r.Method+" "+strings.TrimPrefix(r.URL.Path, "/here")]
				if !ok || r.Header.Get("Authorization") != "Bearer k" {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write([]byte(answer))
			}))
			defer srv.Close()
			at, err := url.Parse(srv.URL + "/here/v1/chat/completions")
			if err != nil {
				t.Fatal(err)
			}
			got, why := localserver.Window(t.Context(), http.DefaultTransport, at, "qwen3", http.Header{"Authorization": {"Bearer k"}})
			if got != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%d %q, want %d %q", got, why, c.want, c.why)
			}
		})
	}
}

// TestMay: only servers that may be somebody's own are asked, and only about models
// that can run there.
func TestMay(t *testing.T) {
	for _, c := range []struct {
		at, model string
		want      bool
	}{
		{"http://127.0.0.1:11434/v1/chat/completions", "qwen3:8b", true},
		{"http://localhost:8080/v1/messages", "gpt-oss-20b", true},
		{"http://192.168.1.7:8000/v1", "meta-llama/Llama-3.3-70B", true},
		{"http://gpu.local:8000/v1", "devstral", true},
		{"http://vllm:8000/v1", "devstral", true},
		{"http://[::1]:8000/v1", "devstral", true},
		{"http://8.8.8.8:8000/v1", "devstral", false},
		{"https://api.openai.com/v1", "gpt-oss-20b", false},
		{"http://127.0.0.1:8485/v1", "claude-opus-5-5", false},
		{"http://127.0.0.1:8485/v1", "openai/gpt-5", false},
		{"http://127.0.0.1:8485/v1", "", false},
	} {
		at, err := url.Parse(c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := localserver.May(at, c.model); got != c.want {
			t.Errorf("%s %s: %v", c.at, c.model, got)
		}
	}
}
