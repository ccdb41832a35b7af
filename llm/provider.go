package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/wire"
)

// provider is one way to reach models.
type provider struct {
	name    string
	aliases []string
	dialect wire.Dialect

	// base is the public address, "" where there is none; baseVars are the
	// variables that hold another.
	base     string
	baseVars []string

	// keys are the variables that hold a key, the first one that is set counts.
	keys []keyVar
	// open says that a server may ask for no key.
	open bool

	// limit is the name of the output limit where the dialect's is not understood.
	limit string
	// bare says that a stream's options are refused.
	bare bool

	// address makes the client's addresses where the base is not all; it may set
	// the codec too.
	address func(s *setup) error
}

// keyVar is a variable with a key and the header the key is sent in.
type keyVar struct {
	name   string
	header string
}

// bearer is the header for most keys.
const bearer = "Authorization"

func bearerKeys(names ...string) []keyVar {
	out := make([]keyVar, len(names))
	for i, n := range names {
		out[i] = keyVar{n, bearer}
	}
	return out
}

// allProviders returns all providers. Those without an address function are plain
// servers of chat completions. One that names no variable for its address has those of
// its own name: XAI_BASE_URL, and XAI_API_KEY.
func allProviders() []provider {
	all := []provider{
		{
			name: "openai", dialect: wire.OpenAI, base: "https://api.openai.com/v1",
			baseVars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, keys: bearerKeys("OPENAI_API_KEY"), limit: "max_completion_tokens", address: openAIAddress,
		},
		{
			name: "openai-responses", aliases: []string{"responses"}, dialect: wire.Responses, base: "https://api.openai.com/v1",
			baseVars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, keys: bearerKeys("OPENAI_API_KEY"), address: openAIAddress,
		},
		{
			name: "azure", aliases: []string{"azure-openai"}, dialect: wire.OpenAI,
			baseVars: []string{"AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"},
			keys:     []keyVar{{"AZURE_OPENAI_API_KEY", "Api-Key"}, {"AZURE_API_KEY", "Api-Key"}}, limit: "max_completion_tokens", address: azureAddress,
		},
		{
			name: "anthropic", aliases: []string{"claude"}, dialect: wire.Anthropic, base: "https://api.anthropic.com",
			baseVars: []string{"ANTHROPIC_BASE_URL"},
			keys:     []keyVar{{"ANTHROPIC_API_KEY", "X-Api-Key"}, {"ANTHROPIC_AUTH_TOKEN", bearer}}, address: anthropicAddress,
		},
		{
			name: "google", aliases: []string{"gemini", "google-ai", "googleai"}, dialect: wire.Gemini, base: "https://generativelanguage.googleapis.com",
			baseVars: []string{"GOOGLE_GEMINI_BASE_URL"},
			keys: []keyVar{
				{"GOOGLE_API_KEY", "X-Goog-Api-Key"},
				{"GEMINI_API_KEY", "X-Goog-Api-Key"},
				{"GOOGLE_GENERATIVE_AI_API_KEY", "X-Goog-Api-Key"},
				{"GOOGLE_AI_API_KEY", "X-Goog-Api-Key"},
			},
			address: googleAddress,
		},
		{
			name: "vertex", aliases: []string{"vertexai", "google-vertex"}, dialect: wire.Gemini,
			baseVars: []string{"GOOGLE_VERTEX_BASE_URL"}, keys: bearerKeys("CLOUDSDK_AUTH_ACCESS_TOKEN"), address: vertexAddress,
		},
		{
			name: "bedrock", aliases: []string{"amazon-bedrock", "aws"},
			baseVars: []string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"}, keys: bearerKeys("AWS_BEARER_TOKEN_BEDROCK"), address: bedrockAddress,
		},
		{
			name: "sagemaker", aliases: []string{"amazon-sagemaker"}, dialect: wire.OpenAI,
			baseVars: []string{"AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME"}, address: sageMakerAddress,
		},
		{name: "mistral", base: "https://api.mistral.ai/v1", bare: true},
		{name: "ollama", base: "http://localhost:11434/v1", open: true, address: ollamaAddress},
		{
			name: "litellm", base: "http://localhost:4000/v1", open: true,
			baseVars: []string{"LITELLM_BASE_URL", "LITELLM_PROXY_API_BASE"}, keys: bearerKeys("LITELLM_API_KEY", "LITELLM_PROXY_API_KEY"),
		},
		{name: "openrouter", base: "https://openrouter.ai/api/v1"},
		{name: "vllm", base: "http://localhost:8000/v1", open: true},
		{name: "llamacpp", aliases: []string{"llama.cpp", "llama-server"}, base: "http://localhost:8080/v1", keys: bearerKeys("LLAMA_API_KEY"), open: true},
		{name: "lmstudio", base: "http://localhost:1234/v1", open: true},
		{
			name: "huggingface", aliases: []string{"hf"}, base: "https://router.huggingface.co/v1",
			baseVars: []string{"HF_BASE_URL"}, keys: bearerKeys("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_API_KEY"),
		},
		{name: "groq", base: "https://api.groq.com/openai/v1"},
		{name: "deepseek", base: "https://api.deepseek.com/v1"},
		{name: "xai", aliases: []string{"grok"}, base: "https://api.x.ai/v1"},
		{
			name: "compatible", aliases: []string{"openai-compatible"},
			baseVars: []string{"OPENAI_COMPATIBLE_BASE_URL"}, keys: bearerKeys("OPENAI_COMPATIBLE_API_KEY"), open: true,
		},
	}
	for i := range all {
		p, name := &all[i], strings.ToUpper(all[i].name)
		p.dialect = cmp.Or(p.dialect, wire.OpenAI)
		if p.baseVars == nil {
			p.baseVars = []string{name + "_BASE_URL"}
			if p.keys == nil {
				p.keys = bearerKeys(name + "_API_KEY")
			}
		}
	}
	return all
}

// Providers returns the names of all providers that [New] knows.
func Providers() []string {
	all := allProviders()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

// ParseSpec takes "provider/model" apart and returns the provider under its
// first name. The model may contain further slashes. The error is a [*SetupError].
func ParseSpec(spec string) (provider, model string, err error) {
	p, m, err := parseSpec(spec)
	if err != nil {
		return "", "", err
	}
	return p.name, m, nil
}

func parseSpec(spec string) (*provider, string, error) {
	name, model, _ := strings.Cut(strings.TrimSpace(spec), "/")
	name, model = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(model)
	for _, p := range allProviders() {
		if p.name != name && !slices.Contains(p.aliases, name) {
			continue
		}
		if model == "" {
			return nil, "", &SetupError{Provider: p.name, Problem: "no model is named", Hint: "write " + p.name + "/MODEL"}
		}
		if i := strings.IndexFunc(model, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 || len(model) > 2048 {
			return nil, "", &SetupError{Provider: p.name, Problem: "the name of the model contains spaces or is far too long", Hint: "write " + p.name + "/MODEL"}
		}
		return &p, model, nil
	}
	return nil, "", &SetupError{
		Problem: fmt.Sprintf("%s does not name a provider", text.Clip(fmt.Sprintf("%q", spec), 80)),
		Hint:    "write PROVIDER/MODEL with one of " + strings.Join(Providers(), ", "),
	}
}
