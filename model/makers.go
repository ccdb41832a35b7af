package model

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/token"
)

// maker is who makes a line of models.
type maker struct {
	providers []string // its own services, the first one preferred
	family    token.Family
	common    bool // the word also means other things: it counts at a name's start only
}

var (
	anthropic = &maker{providers: []string{"anthropic"}, family: token.Claude5}
	openai    = &maker{providers: []string{"openai"}, family: token.O200K}
	google    = &maker{providers: []string{"google", "google-vertex"}, family: token.Gemma3}
	mistral   = &maker{providers: []string{"mistral"}, family: token.Tekken}
	alibaba   = &maker{providers: []string{"alibaba", "alibaba-cn"}, family: token.Qwen3}
	deepseek  = &maker{providers: []string{"deepseek"}, family: token.DeepSeek3}
	llama     = &maker{providers: []string{"llama", "meta"}, family: token.Llama3}
	xai       = &maker{providers: []string{"xai"}}
	moonshot  = &maker{providers: []string{"moonshotai", "moonshotai-cn"}}
	zai       = &maker{providers: []string{"zai", "zhipuai"}}
	minimax   = &maker{providers: []string{"minimax", "minimax-cn"}}
)

// makers by the letters that a word of the name starts with.
var makers = map[string]*maker{
	"claude": anthropic, "opus": anthropic, "sonnet": anthropic, "haiku": anthropic, "fable": anthropic, "mythos": anthropic,
	"gpt": openai, "chatgpt": openai, "codex": openai, "o": openai, "davinci": openai,
	"gemini": google, "gemma": google, "learnlm": google,
	"mistral": mistral, "mixtral": mistral, "ministral": mistral, "codestral": mistral, "devstral": mistral,
	"magistral": mistral, "pixtral": mistral, "voxtral": mistral, "mistralai": mistral,
	"qwen": alibaba, "qwq": alibaba, "qvq": alibaba,
	"deepseek": deepseek,
	"llama":    llama, "codellama": llama, "muse": {providers: []string{"meta"}, common: true},
	"grok": xai, "kimi": moonshot, "moonshot": moonshot, "glm": zai, "chatglm": zai, "minimax": minimax,
	"command": {providers: []string{"cohere"}, common: true},
	"sonar":   {providers: []string{"perplexity"}, common: true},
	"nova":    {providers: []string{"amazon-bedrock"}, common: true},
	"titan":   {providers: []string{"amazon-bedrock"}, common: true},
	"mimo":    {providers: []string{"xiaomi"}, common: true},
	"step":    {providers: []string{"stepfun-ai", "stepfun"}, common: true},
}

// makerOf finds the maker named by a key's words, and the word that says so.
func makerOf(ws []string) (*maker, int) {
	for i, w := range ws {
		letters, rest := splitDigits(w)
		m := makers[letters]
		switch {
		case m == nil || m.common && i > 0:
		case letters == "o" && !isSmallNumber(rest): // o1, o3, but neither o nor o200
		default:
			return m, i
		}
	}
	return nil, 0
}

// familyOf tells the tokenizer from a key, for names that exist and for those
// to come: a later version has the tokenizer of the latest known one.
func familyOf(ws []string) token.Family {
	// A distilled model has the tokenizer of the model it was distilled into.
	if i := slices.Index(ws, "distill"); i >= 0 {
		if f := familyOf(ws[i+1:]); f != token.Unknown {
			return f
		}
	}
	m, at := makerOf(ws)
	if m == nil {
		if len(ws) > 1 && ws[0] == "text" && ws[1] == "embedding" {
			return token.CL100K
		}
		return token.Unknown
	}
	ws = ws[at:]
	v := versionOf(ws)
	switch m {
	case anthropic:
		if ws[0] == "claude" && len(ws) > 1 && ws[1] == "instant" {
			return token.Claude2
		}
		if v != nil && slices.Compare(v, []int{3}) < 0 {
			return token.Claude2
		}
		if v != nil && slices.Compare(v, []int{4, 70}) < 0 {
			return token.Claude
		}
	case openai:
		if letters, rest := splitDigits(ws[0]); letters == "o" || strings.HasSuffix(rest, "o") {
			return token.O200K // o1, gpt4o
		}
		if len(ws) > 1 && strings.HasPrefix(ws[1], "4o") {
			return token.O200K
		}
		if v != nil && slices.Compare(v, []int{4, 10}) < 0 {
			return token.CL100K
		}
	case llama:
		if strings.HasPrefix(ws[0], "codellama") || v != nil && v[0] < 3 {
			return token.Unknown // Llama 2 and before: a vocabulary of its own
		}
	}
	return m.family
}

// aliases are other names of providers, as programs and registries use them.
var aliases = map[string]string{
	"openai-native": "openai", "openai-responses": "openai", "text-completion-openai": "openai", "openai-codex": "openai", "chatgpt": "openai",
	"gemini": "google", "google-ai": "google", "googleai": "google", "google-ai-studio": "google", "google-generative-ai": "google", "models": "google",
	"vertex": "google-vertex", "vertexai": "google-vertex", "vertex-ai": "google-vertex", "google-vertex-anthropic": "google-vertex",
	"bedrock": "amazon-bedrock", "bedrock-converse": "amazon-bedrock", "aws": "amazon-bedrock", "aws-bedrock": "amazon-bedrock", "amazon": "amazon-bedrock", "amazon-nova": "amazon-bedrock",
	"azure-ai": "azure", "azure-openai": "azure", "azureopenai": "azure", "azure-text": "azure",
	"together": "togetherai", "together-ai": "togetherai", "fireworks": "fireworks-ai", "novita": "novita-ai",
	"vercel-ai-gateway": "vercel", "copilot": "github-copilot", "github": "github-models",
	"moonshot": "moonshotai", "x-ai": "xai", "z-ai": "zai", "zai-org": "zai", "mistralai": "mistral", "deepseek-ai": "deepseek",
	"dashscope": "alibaba", "minimaxai": "minimax", "xiaomimimo": "xiaomi", "cohere-chat": "cohere", "codestral": "mistral",
	"hf": "huggingface", "hugging-face": "huggingface", "ollama-chat": "ollama", "lm-studio": "lmstudio", "nvidia-nim": "nvidia",
	"cf": "cloudflare-workers-ai", "cloudflare": "cloudflare-workers-ai", "workers-ai": "cloudflare-workers-ai",
	"wafer-ai": "wafer", "opencode-zen": "opencode", "zhipu": "zhipuai", "zhipu-coding": "zhipuai-coding-plan",
	"minimax-china": "minimax-cn", "ionet": "io-net", "qiniucloud": "qiniu-ai", "kimi-coding": "kimi-for-coding", "sapaicore": "sap-ai-core",
}

// providerDefaults are the windows of models that a provider has and the
// registry does not.
var providerDefaults = map[string]int{
	"anthropic": 200_000, "openai": 128_000, "google": 1_048_576, "google-vertex": 1_048_576, "amazon-bedrock": 200_000,
	"azure": 128_000, "mistral": 128_000, "ollama": 128_000, "litellm": 128_000, "huggingface": 32_000, "sagemaker": 128_000,
}

// providerName returns a provider's name as the registry has it.
func providerName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch {
	case strings.HasPrefix(s, "arn:aws") && strings.Contains(s, ":bedrock:"): // arn:aws-us-gov too
		return "amazon-bedrock"
	case strings.HasPrefix(s, "arn:aws") && strings.Contains(s, ":sagemaker:"):
		return "sagemaker"
	}
	s = strings.Trim(strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r == ' ' || r == '@' {
			return '-'
		}
		return r
	}, s), "-")
	if p, ok := aliases[s]; ok {
		return p
	}
	return s
}
