package classify

import (
	"regexp"
	"slices"
	"strings"
)

// marks tell which server an error comes from, the most certain ones first: a
// server that wraps the errors of others comes before those it wraps. They name
// the provider and decide nothing else.
var marks = []struct {
	provider string
	codes    []string // a whole code, in lower case
	words    []string // anywhere in the text, in lower case
}{
	{"litellm", nil, []string{"litellm"}},
	{"openrouter", nil, []string{"openrouter", "this endpoint's maximum context length", "middle-out", "provider returned error", "provider_name", "can only afford", "no auth credentials found", "no endpoints found"}},
	{"azure", []string{"deploymentnotfound"}, []string{"azure", "invalid subscription key", "pricing tier", "content management policy"}},
	{"sagemaker", nil, []string{"sagemaker", "invokeendpoint", "from primary with message"}},
	{"bedrock", nil, []string{"bedrock", "validationexception", "throttlingexception", "modelerrorexception", "modeltimeoutexception", "modelnotreadyexception", "modelstreamerrorexception", "accessdeniedexception", "expiredtokenexception", "serviceunavailableexception", "servicequotaexceededexception", "internalserverexception", "the model returned the following errors", "input is too long for requested model", "converse operation", "too many tokens, please wait", "toolresult blocks", "codewhisperer"}},
	{"cloudflare", []string{"5021"}, []string{"workers ai", "workers-ai", "aierror", "@cf/"}},
	{"databricks", nil, []string{"databricks"}},
	{"snowflake", nil, []string{"snowflake"}},
	{"watsonx", []string{"invalid_input_argument"}, []string{"watsonx", "total tokens limit"}},
	{"groq", nil, []string{"groq", "service tier `on_demand`", "in organization `org_"}},
	{"cerebras", []string{"queue_exceeded", "request_quota_exceeded", "token_quota_exceeded"}, []string{"cerebras", "status code (no body)", "while limit is", "high traffic right now", "tokens per minute limit exceeded"}},
	{"copilot", []string{"model_max_prompt_tokens_exceeded"}, []string{"copilot", "prompt token count of", "capierror"}},
	{"github", []string{"tokens_limit_reached"}, []string{"githubexception", "models.github.ai", "models.inference.ai.azure"}},
	{"cursor", nil, []string{"cursor"}},
	{"vercel", nil, []string{"vercel", "input tokens, limit is"}},
	{"replicate", nil, []string{"replicate", "e1002 "}},
	{"siliconflow", []string{"20015"}, []string{"siliconflow", "max_prompt_tokens", "less than max_seq_len", "equal to max_seq_len"}},
	{"volcengine", []string{"outofcontexterror"}, []string{"volcengine", "volces", "doubao", "arkbadrequest", "ark.cn-", "max message tokens", "request id: 021"}},
	{"tencent", []string{"20059"}, []string{"tencent", "hunyuan"}},
	{"baidu", []string{"336007", "336003"}, []string{"baidu", "qianfan", "ernie"}},
	{"nvidia", nil, []string{"nvidia", "worker local total request limit"}},
	{"lmstudio", nil, []string{"lm studio", "lmstudio", "trying to keep the first", "tokens to keep from the initial prompt", "n_keep"}},
	{"koboldcpp", nil, []string{"koboldcpp"}},
	{"mlx", nil, []string{"mlx"}},
	{"ollama", nil, []string{"ollama", "exceeded max context length by", "input length exceeds the context length", "input length exceeds maximum context length", "context length currently available", "maximum pending requests exceeded", "model requires more system memory"}},
	{"llamacpp", []string{"unavailable_error"}, []string{"llama.cpp", "llama_", "exceed_context_size_error", "available context size", "context size has been exceeded", "n_ctx", "physical batch size", "exceed context window of", "larger than the max context size"}},
	{"sglang", nil, []string{"sglang", "is longer than the model's context length", "exceeds the maximum allowed length", "requested token count exceeds the model's maximum context length"}},
	{"vllm", []string{"badrequesterror"}, []string{"vllm", "max_model_len", "decoder prompt", "maximum model length", "output tokens and your prompt contains", "input tokens. please reduce the length of the input", "parameter=input_tokens", "'max_tokens' or 'max_completion_tokens' is too large", "'object': 'error'", "the model's context length is only"}},
	{"together", nil, []string{"together.ai", "together.xyz", "together ai"}},
	{"huggingface", nil, []string{"huggingface", "hugging face", "input validation error", "`inputs`", "max_new_tokens", "is currently loading", "estimated_time", "unable to get response in less than", "token indices sequence length"}},
	{"moonshot", []string{"rate_limit_reached_error", "engine_overloaded_error", "exceeded_current_quota_error"}, []string{"moonshot", "kimi", "exceeded model token limit", "model max length exceeded", "request reached organization", "request reached project"}},
	{"dashscope", []string{"arrearage", "datainspectionfailed"}, []string{"dashscope", "aliyun", "range of input length", "range of max_tokens should", "algo.invalidparameter", "throttling.ratequota", "throttling.allocationquota"}},
	{"minimax", []string{"2013", "1008", "1039"}, []string{"minimax", "(2013)", "(1008)", "(1039)", "invalid params, "}},
	{"zhipu", []string{"1000", "1001", "1002", "1003", "1004", "1113", "1210", "1211", "1213", "1214", "1261", "1301", "1302", "1303", "1304", "1305", "1308", "1309"}, []string{"zhipu", "bigmodel", "z.ai", "glm coding plan", "tokens in request more than max tokens allowed", "prompt exceeds max length"}},
	{"mistral", []string{"3051", "3505"}, []string{"mistral", "draft tokens", "too large for model with", "prompt has too many tokens", "expected last role", "unexpected role '", "same number of function calls and responses", "service tier capacity"}},
	{"xai", nil, []string{"x.ai", "xai", "grok", "maximum prompt length is"}},
	{"deepseek", nil, []string{"deepseek", "authentication fails", "valid range of max_tokens", "in the thinking mode must be passed"}},
	{"fireworks", nil, []string{"fireworks", "model maximum context length:"}},
	{"cohere", nil, []string{"cohere", "prompt and prediction", "total number of tokens in the", "trial key", "too many tokens: "}},
	{"perplexity", nil, []string{"perplexity", "sonar"}},
	{"ai21", nil, []string{"ai21", "jamba"}},
	{"sambanova", nil, []string{"sambanova"}},
	{"deepinfra", nil, []string{"deepinfra"}},
	{"novita", nil, []string{"novita"}},
	{"google", []string{"invalid_argument", "resource_exhausted", "permission_denied", "unauthenticated", "unavailable", "deadline_exceeded", "failed_precondition"}, []string{"google", "vertex", "gemini", "invalid_argument", "resource_exhausted", "input token count", "number of tokens allowed", "cached content is", "request payload size exceeds", "api key not valid. please pass", "function response parts", "function call turn", "generatecontentrequest", "valid role: user, model", "your input context is too long"}},
	{"anthropic", []string{"rate_limit_error", "overloaded_error", "authentication_error", "permission_error", "not_found_error", "api_error", "billing_error"}, []string{"anthropic", "claude", "request_too_large", "overloaded_error", "rate_limit_error", "model_context_window_exceeded", "prompt is too long:", "exceed context limit", "input tokens per minute", "tool_use", "pdf pages may be provided", "messages: roles", "messages: text", "messages: final", "total text bytes", "message prefill", "long context", "credit balance is too low", "request would exceed your", "specified api usage limits", "budget_tokens"}},
	{"openai", []string{"context_length_exceeded", "insufficient_quota", "invalid_api_key", "model_not_found", "rate_limit_exceeded", "string_above_max_length", "array_above_max_length", "integer_above_max_value", "integer_below_min_value", "unsupported_value", "unsupported_parameter", "content_policy_violation", "max_tokens_per_request", "invalid_encrypted_content"}, []string{"openai", "this model's maximum context length", "context_length_exceeded", "insufficient_quota", "incorrect api key provided", "string_above_max_length", "exceeds the context window of this model", "exceeds this model's context window", "exceed the configured limit", "tool_calls", "exceeded your current quota", "in organization org-", "for organization org-", "no tool call found for function call output", "no tool output found for function call", "max 300000 tokens per request", "completion tokens, whereas"}},
}

// hasMark finds a mark. Short names must be the beginning of a word.
func hasMark(s, mark string) bool {
	if len(mark) <= 5 {
		return containsPhrase(s, mark)
	}
	return strings.Contains(s, mark)
}

// nameProvider names the server by its headers, its codes and its words.
func (f *facts) nameProvider(header map[string][]string) string {
	for _, h := range [...][2]string{
		{"anthropic-organization-id", "anthropic"},
		{"x-amzn-requestid", "bedrock"},
		{"x-groq-region", "groq"},
		{"x-litellm-version", "litellm"},
		{"apim-request-id", "azure"},
		{"x-ms-region", "azure"},
		{"openai-organization", "openai"},
		{"openai-version", "openai"},
		{"x-goog-api-client", "google"},
	} {
		if headerValue(header, h[0]) != "" {
			return h[1]
		}
	}
	p := f.providerByMark()
	if p == "" || p == "openai" {
		if q := f.providerByWording(); q != "" {
			return q
		}
	}
	if p == "" {
		p = f.providerByPhrase()
	}
	return p
}

// phrases are whole messages that others may use too; who is known for one is
// named where nothing else tells.
var phrases = []struct{ provider, said string }{
	{"azure", "content_length_exceeded"},
	{"google", "content is too long"},
	{"google", "exceeds the maximum number of tokens"},
	{"bedrock", "exceeds the model's maximum"},
	{"bedrock", "input is too long"},
	{"mistral", "context length exceeded"},
	{"mistral", "maximum number of tokens"},
	{"anthropic", "prompt is too long"},
	{"anthropic", "too many tokens"},
	{"openai", "reduce the length of the messages"},
}

// providerByPhrase goes by the message where it is one of the phrases and little else.
func (f *facts) providerByPhrase() string {
	m := strings.ToLower(strings.Trim(f.innermostWords(), " .!"))
	for _, p := range phrases {
		if strings.HasSuffix(m, p.said) && len(m) < len(p.said)+24 {
			return p.provider
		}
	}
	return ""
}

// providerByMark goes by the marks.
func (f *facts) providerByMark() string {
	for _, m := range marks {
		for _, w := range m.words {
			if hasMark(f.plain, w) {
				return m.provider
			}
		}
		for _, c := range f.codes {
			if slices.Contains(m.codes, strings.ToLower(c)) {
				return m.provider
			}
		}
	}
	return ""
}

// numberedMessage is how Anthropic names a place: messages.3.content.0.
var numberedMessage = regexp.MustCompile(`messages\.\d`)

// providerByWording tells apart those who use OpenAI's words in a way of their own, or
// words that anybody might use.
func (f *facts) providerByWording() string {
	window := strings.Contains(f.plain, "maximum context length")
	switch said := strings.ToLower(strings.Trim(f.innermostWords(), " .!")); {
	case window && strings.Contains(f.plain, "in the messages") && slices.Contains(f.codes, "invalid_request_error") && !slices.Contains(f.codes, "context_length_exceeded"):
		return "deepseek" // no code of its own for it
	case !window && strings.Contains(f.plain, "reduce the length of the messages or completion"):
		return "groq" // leaves the first half of the sentence out
	case f.status == 529 || said == "overloaded" || numberedMessage.MatchString(f.plain):
		return "anthropic"
	case said == "insufficient balance" && f.status == 402:
		return "deepseek"
	}
	return ""
}
