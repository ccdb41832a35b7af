package decode

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// OpenAIUsage reads the usage of a chat completion. The prompt that is reported
// there includes what came from the cache.
//
// Three habits of compatible servers are understood: cached tokens under
// Anthropic's or DeepSeek's names, a prompt that leaves the cached tokens out
// (it is then smaller than they are), and reasoning that is not part of the
// completion (the total says so).
func OpenAIUsage(raw jsontext.Value) (*chat.Usage, error) {
	if raw.Kind() != '{' {
		return nil, wrongType(raw, "a usage object")
	}
	f := fields{}
	var prompt, completion, total, cached, written, thought int
	for k, v := range Members(raw) {
		switch k {
		case "prompt_tokens":
			prompt = f.int(k, v)
		case "completion_tokens":
			completion = f.int(k, v)
		case "total_tokens":
			total = f.int(k, v)
		case "prompt_cache_hit_tokens", "cache_read_input_tokens":
			cached = max(cached, f.int(k, v))
		case "cache_creation_input_tokens":
			written = max(written, f.int(k, v))
		case "prompt_tokens_details":
			for k, v := range Members(v) {
				switch k {
				case "cached_tokens":
					cached = max(cached, f.int(k, v))
				case "cache_write_tokens", "cache_creation_tokens":
					written = max(written, f.int(k, v))
				}
			}
		case "completion_tokens_details":
			thought = f.int("reasoning_tokens", Member(v, "reasoning_tokens"))
		}
	}
	if thought > 0 && total == prompt+completion+thought {
		completion += thought
	}
	return withCache(prompt, cached, written, completion, thought), f.err
}

// ResponsesUsage reads the usage of OpenAI's responses API, and the token counts
// in Codex's logs. The input that is reported includes what came from the cache.
func ResponsesUsage(raw jsontext.Value) (*chat.Usage, error) {
	if raw.Kind() != '{' {
		return nil, wrongType(raw, "a usage object")
	}
	f := fields{}
	var input, output, cached, written, thought int
	for k, v := range Members(raw) {
		switch k {
		case "input_tokens":
			input = f.int(k, v)
		case "output_tokens":
			output = f.int(k, v)
		case "cached_input_tokens":
			cached = f.int(k, v)
		case "reasoning_output_tokens":
			thought = f.int(k, v)
		case "input_tokens_details":
			cached = max(cached, f.int("cached_tokens", Member(v, "cached_tokens")))
			written = f.int("cache_write_tokens", Member(v, "cache_write_tokens"))
		case "output_tokens_details":
			thought = max(thought, f.int("reasoning_tokens", Member(v, "reasoning_tokens")))
		}
	}
	return withCache(input, cached, written, output, thought), f.err
}

// withCache takes the cached tokens out of a prompt that includes them.
func withCache(prompt, cached, written, output, thought int) *chat.Usage {
	u := &chat.Usage{Input: prompt, CacheRead: cached, CacheWrite: written, Output: output, Thinking: thought}
	if in := prompt - cached - written; in >= 0 {
		u.Input = in
	}
	return u
}

// AnthropicUsage reads the usage of Anthropic's messages API: input, cache reads
// and cache writes are three separate numbers. What the provider spent on its
// own compaction (in iterations) was never part of the conversation and is left out.
func AnthropicUsage(raw jsontext.Value) (*chat.Usage, error) {
	if raw.Kind() != '{' {
		return nil, wrongType(raw, "a usage object")
	}
	f := fields{}
	u := new(chat.Usage)
	byLifetime := 0
	for k, v := range Members(raw) {
		switch k {
		case "input_tokens":
			u.Input = f.int(k, v)
		case "output_tokens":
			u.Output = f.int(k, v)
		case "cache_read_input_tokens":
			u.CacheRead = f.int(k, v)
		case "cache_creation_input_tokens":
			u.CacheWrite = f.int(k, v)
		case "cache_creation":
			for k, v := range Members(v) {
				n := f.int(k, v)
				byLifetime += n
				if k == "ephemeral_1h_input_tokens" {
					u.CacheWriteLong = n
				}
			}
		case "output_tokens_details":
			u.Thinking = f.int("thinking_tokens", Member(v, "thinking_tokens"))
		}
	}
	u.CacheWrite = max(u.CacheWrite, byLifetime)
	return u, f.err
}

// GeminiUsage reads Gemini's usageMetadata. The prompt there includes what came
// from the cache but not the results of the provider's own tools, and the
// candidates do not include the thoughts.
func GeminiUsage(raw jsontext.Value) (*chat.Usage, error) {
	if raw.Kind() != '{' {
		return nil, wrongType(raw, "a usage object")
	}
	f := fields{}
	var prompt, cached, tools, candidates, thoughts int
	for k, v := range Members(raw) {
		switch k {
		case "promptTokenCount":
			prompt = f.int(k, v)
		case "cachedContentTokenCount":
			cached = f.int(k, v)
		case "toolUsePromptTokenCount":
			tools = f.int(k, v)
		case "candidatesTokenCount":
			candidates = f.int(k, v)
		case "thoughtsTokenCount":
			thoughts = f.int(k, v)
		}
	}
	u := withCache(prompt, cached, 0, candidates+thoughts, thoughts)
	u.Input += tools
	return u, f.err
}
