package wire

import "strings"

// marks are words by which servers give themselves away, most certain first.
// They name the provider and decide nothing else.
var marks = []struct {
	provider string
	words    []string
}{
	{"litellm", []string{"litellm"}},
	{"openrouter", []string{"openrouter", "this endpoint's maximum context length", "middle-out"}},
	{"azure", []string{"azure"}},
	{"bedrock", []string{"bedrock", "validationexception", "throttlingexception", "modelerrorexception", "the model returned the following errors", "input is too long for requested model", "converse operation"}},
	{"sagemaker", []string{"sagemaker"}},
	{"groq", []string{"groq", "service tier `on_demand`"}},
	{"cerebras", []string{"cerebras", "status code (no body)", "while limit is"}},
	{"copilot", []string{"copilot", "prompt token count of"}},
	{"cursor", []string{"cursor"}},
	{"vercel", []string{"vercel", "input tokens, limit is"}},
	{"lmstudio", []string{"lm studio", "lmstudio", "trying to keep the first", "tokens to keep from the initial prompt"}},
	{"mlx", []string{"mlx"}},
	{"ollama", []string{"ollama", "exceeded max context length by", "input length exceeds the context length", "context length currently available"}},
	{"llamacpp", []string{"llama.cpp", "llama_", "exceed_context_size_error", "available context size", "context size has been exceeded", "n_ctx"}},
	{"sglang", []string{"sglang", "is longer than the model's context length", "exceeds the maximum allowed length"}},
	{"vllm", []string{"vllm", "max_model_len", "decoder prompt", "output tokens and your prompt contains", "input tokens. please reduce the length of the input", "parameter=input_tokens"}},
	{"huggingface", []string{"huggingface", "hugging face", "input validation error", "`inputs`", "max_new_tokens"}},
	{"nvidia", []string{"nvidia", "worker local total request limit"}},
	{"mistral", []string{"mistral", "draft tokens", "too large for model with", "prompt has too many tokens"}},
	{"moonshot", []string{"moonshot", "kimi", "exceeded model token limit", "model max length exceeded"}},
	{"dashscope", []string{"dashscope", "range of input length", "algo.invalidparameter"}},
	{"minimax", []string{"minimax", "(2013)", "2013"}},
	{"zhipu", []string{"zhipu", "bigmodel", "z.ai"}},
	{"xai", []string{"x.ai", "xai", "grok", "maximum prompt length is"}},
	{"deepseek", []string{"deepseek"}},
	{"together", []string{"together.ai", "together.xyz"}},
	{"fireworks", []string{"fireworks"}},
	{"cohere", []string{"cohere"}},
	{"google", []string{"google", "vertex", "gemini", "invalid_argument", "resource_exhausted", "input token count", "number of tokens allowed", "cached content is of", "request payload size exceeds"}},
	{"anthropic", []string{"anthropic", "claude", "request_too_large", "overloaded_error", "rate_limit_error", "model_context_window_exceeded", "prompt is too long:", "exceed context limit", "input tokens per minute", "tool_use", "overloaded", "not_found_error"}},
	{"openai", []string{"openai", "this model's maximum context length", "context_length_exceeded", "insufficient_quota", "incorrect api key provided", "string_above_max_length", "exceeds the context window of this model", "exceed the configured limit", "tool_calls", "exceeded your current quota"}},
}

// provider names the server by its headers and its words.
func (f *facts) provider(header map[string][]string) string {
	for _, h := range [...][2]string{
		{"anthropic-organization-id", "anthropic"}, {"x-amzn-requestid", "bedrock"}, {"x-groq-region", "groq"}, {"x-litellm-version", "litellm"},
		{"apim-request-id", "azure"}, {"x-ms-region", "azure"}, {"openai-organization", "openai"}, {"openai-version", "openai"}, {"x-goog-api-client", "google"},
	} {
		if headerValue(header, h[0]) != "" {
			return h[1]
		}
	}
	for _, m := range marks {
		for _, w := range m.words {
			if strings.Contains(f.plain, w) {
				return m.provider
			}
		}
	}
	return ""
}
