package llm

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// env returns a Getenv of pairs.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// What is missing is named, with the variable that would help.
func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		spec string
		env  []string
		want []string
	}{
		{"openai/gpt-5", nil, []string{"openai", "no key", "OPENAI_API_KEY"}},
		{"openai-responses/gpt-5", nil, []string{"OPENAI_API_KEY"}},
		{"azure/dep", nil, []string{"no address", "AZURE_OPENAI_ENDPOINT"}},
		{"azure/dep", []string{"AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com"}, []string{"AZURE_OPENAI_API_KEY", "llm/azure"}},
		{"anthropic/claude", nil, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}},
		{"gemini/gemini-2.5-pro", nil, []string{"google", "GEMINI_API_KEY"}},
		{"vertex/gemini", nil, []string{"no project", "GOOGLE_CLOUD_PROJECT"}},
		{"vertex/gemini", []string{"GOOGLE_CLOUD_PROJECT", "p"}, []string{"GOOGLE_APPLICATION_CREDENTIALS", "llm/gcp"}},
		{"bedrock/m", nil, []string{"no region", "AWS_REGION"}},
		{"bedrock/m", []string{"AWS_REGION", "eu-west-1"}, []string{"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "llm/aws"}},
		{"sagemaker/e", []string{"AWS_DEFAULT_REGION", "eu-west-1"}, []string{"AWS_ACCESS_KEY_ID", "llm/aws"}},
		{"mistral/m", nil, []string{"MISTRAL_API_KEY"}},
		{"openrouter/a/b", nil, []string{"OPENROUTER_API_KEY"}},
		{"hf/a/b", nil, []string{"HF_TOKEN"}},
		{"groq/m", nil, []string{"GROQ_API_KEY"}},
		{"deepseek/m", nil, []string{"DEEPSEEK_API_KEY"}},
		{"xai/m", nil, []string{"XAI_API_KEY"}},
		{"compatible/m", nil, []string{"no address", "OPENAI_COMPATIBLE_BASE_URL"}},
		{"nobody/m", nil, []string{`"nobody/m" does not name a provider`, "openai", "bedrock"}},
		{"", nil, []string{"does not name a provider"}},
		{"openai", nil, []string{"no model", "openai/MODEL"}},
		{"openai/ ", nil, []string{"no model"}},
		{"openai/a b", nil, []string{"spaces"}},
		{"openai/m", []string{"OPENAI_API_KEY", "sk-tēst-0123"}, []string{"OPENAI_API_KEY", "characters"}},
		{"openai/m", []string{"OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "file:///etc/passwd"}, []string{"not an http", "OPENAI_BASE_URL"}},
		{"openai/m", []string{"OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "https://me:hunter22@x.org/v1"}, []string{"password"}},
		{"bedrock/m", []string{"AWS_BEARER_TOKEN_BEDROCK", "k", "AWS_REGION", "evil.example/"}, []string{"not a region"}},
		{"vertex/m", []string{"CLOUDSDK_AUTH_ACCESS_TOKEN", "k", "GOOGLE_CLOUD_PROJECT", "p", "GOOGLE_CLOUD_LOCATION", "x.evil.example/"}, []string{"not a region"}},
	} {
		_, err := New(tt.spec, &Options{Getenv: env(tt.env...)})
		var missing *SetupError
		if !errors.As(err, &missing) {
			t.Errorf("%s: err = %v", tt.spec, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q is not in: %v", tt.spec, w, err)
			}
		}
		for _, leak := range []string{"sk-tēst", "hunter22"} {
			if strings.Contains(err.Error(), leak) {
				t.Errorf("%s: leaks: %v", tt.spec, err)
			}
		}
	}
}

// Every provider has its public address, or says how to name one.
func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		spec string
		o    Options
		env  []string
		want string
	}{
		{"openai/m", Options{}, nil, "https://api.openai.com/v1/chat/completions"},
		{"responses/m", Options{}, nil, "https://api.openai.com/v1/responses"},
		{"anthropic/m", Options{}, nil, "https://api.anthropic.com/v1/messages"},
		{"anthropic/m", Options{BaseURL: "http://127.0.0.1:9/v1/"}, nil, "http://127.0.0.1:9/v1/messages"},
		{"google/m", Options{}, nil, "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
		{"google/models/m", Options{}, nil, "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
		{"google/tunedModels/m", Options{}, nil, "https://generativelanguage.googleapis.com/v1beta/tunedModels/m:generateContent"},
		{"google/a/../../b", Options{}, nil, "https://generativelanguage.googleapis.com/v1beta/models/a%2F..%2F..%2Fb:generateContent"},
		{"vertex/m", Options{Project: "p"}, nil, "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/m:generateContent"},
		{"vertex/m", Options{Project: "p", Region: "global"}, nil, "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m:generateContent"},
		{"vertex/m", Options{Project: "p", Region: "eu"}, nil, "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/m:generateContent"},
		{"bedrock/m:0", Options{Region: "eu-west-1"}, nil, "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m%3A0/converse"},
		{"bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/x", Options{Region: "eu-west-1"}, nil, "https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse"},
		{"bedrock/m", Options{Region: "cn-north-1"}, nil, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/m/converse"},
		{"sagemaker/e", Options{Region: "us-east-1"}, nil, "https://runtime.sagemaker.us-east-1.amazonaws.com/endpoints/e/invocations"},
		{"azure/d", Options{BaseURL: "https://r.openai.azure.com/", APIVersion: "2025-01-01-preview"}, nil, "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview"},
		{"azure/d", Options{BaseURL: "https://r.openai.azure.com/openai/v1/"}, nil, "https://r.openai.azure.com/openai/v1/chat/completions"},
		{"mistral/m", Options{}, nil, "https://api.mistral.ai/v1/chat/completions"},
		{"litellm/m", Options{}, nil, "http://localhost:4000/v1/chat/completions"},
		{"openrouter/m", Options{}, nil, "https://openrouter.ai/api/v1/chat/completions"},
		{"vllm/m", Options{}, nil, "http://localhost:8000/v1/chat/completions"},
		{"llamacpp/m", Options{}, nil, "http://localhost:8080/v1/chat/completions"},
		{"huggingface/m", Options{}, nil, "https://router.huggingface.co/v1/chat/completions"},
		{"ollama/m", Options{}, nil, "http://localhost:11434/v1/chat/completions"},
		{"ollama/m", Options{}, []string{"OLLAMA_HOST", "0.0.0.0"}, "http://localhost:11434/v1/chat/completions"},
		{"ollama/m", Options{}, []string{"OLLAMA_HOST", "box:9999"}, "http://box:9999/v1/chat/completions"},
		{"ollama/m", Options{}, []string{"OLLAMA_HOST", "https://ollama.example.org"}, "https://ollama.example.org:443/v1/chat/completions"},
		{"ollama/m", Options{}, []string{"OLLAMA_HOST", "http://box"}, "http://box:80/v1/chat/completions"},
		{"ollama/m", Options{}, []string{"OLLAMA_HOST", "[::1]:11434"}, "http://[::1]:11434/v1/chat/completions"},
		{"compatible/m", Options{BaseURL: "https://llm.example.org/api"}, nil, "https://llm.example.org/api/chat/completions"},
	} {
		tt.o.Key, tt.o.Getenv = "k-123456", env(tt.env...)
		c, err := New(tt.spec, &tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.spec, err)
			continue
		}
		if c.plain != tt.want {
			t.Errorf("%s %v:\n got %s\nwant %s", tt.spec, tt.env, c.plain, tt.want)
		}
		if c.o.Timeout != 5*time.Minute || c.o.Retries != 2 || c.o.MaxAnswer != 8<<20 {
			t.Errorf("%s: defaults %v %d %d", tt.spec, c.o.Timeout, c.o.Retries, c.o.MaxAnswer)
		}
	}
}

func TestParseSpec(t *testing.T) {
	for spec, want := range map[string]string{
		"OpenAI/gpt-5": "openai gpt-5", "hf/a/b": "huggingface a/b", "claude/x": "anthropic x", " ollama/q:8b ": "ollama q:8b", "aws/m": "bedrock m",
	} {
		p, m, err := ParseSpec(spec)
		if got := p + " " + m; got != want || err != nil {
			t.Errorf("%q: %s, %v", spec, got, err)
		}
	}
	if names := Providers(); len(names) != len(allProviders()) || !slices.Contains(names, "sagemaker") {
		t.Error(names)
	}
}

// A key goes to the one server that was named, and into no message.
func TestSecrets(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		elsewhere := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) })
		s := play(t, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
				return
			}
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"you sent %v and ya29.token-of-a-cloud and x-amz-security-token:IQoJb3JpZ2luX2VjEXAMPLE"}}`, r.Header)
		})
		c, _ := a.client(t, s, Options{Header: http.Header{"X-Team": {"team-secret-9"}}})
		for range 2 {
			_, err := c.Complete(t.Context(), hello())
			if err == nil {
				t.Fatal("no error")
			}
			for _, shown := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", errorOf(err)), fmt.Sprintf("%+v %#v", c, c)} {
				for _, leak := range []string{secret, "team-secret-9", "ya29.token", "IQoJb3JpZ2"} {
					if strings.Contains(shown, leak) {
						t.Errorf("%q stands in %.300s", leak, shown)
					}
				}
			}
		}
		if elsewhere.count() != 0 {
			t.Error("a redirect was followed")
		}
		if s.count() != 2 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func errorOf(err error) Error {
	var e *Error
	errors.As(err, &e)
	return *e
}

// Neither the engine nor this package reaches a cloud's library.
func TestBorder(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "..", "../wire", "../summary", "../stage").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for dep := range strings.FieldsSeq(string(out)) {
		first, _, _ := strings.Cut(dep, "/")
		if !strings.Contains(first, ".") {
			continue // of the standard library
		}
		n++
		ours := strings.HasPrefix(dep, "github.com/winnow-llm/winnow")
		if !ours && !strings.HasPrefix(dep, "github.com/go-json-experiment/json") || strings.HasPrefix(dep, "github.com/winnow-llm/winnow/llm/") {
			t.Errorf("reaches %s", dep)
		}
	}
	if n < 10 {
		t.Errorf("go list gave %d packages", n)
	}
}
