package decode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// usageOf makes a usage of the numbers in an object, which it hands out by their paths.
// A number that is not there is 0.
func usageOf(raw jsontext.Value, read func(n func(path ...string) int) *chat.Usage) (*chat.Usage, error) {
	if raw.Kind() != '{' {
		return nil, wrongType(raw, "a usage object")
	}
	f := fields{}
	u := read(func(path ...string) int {
		n, err := Int(Path(raw, path...))
		f.err = firstError(f.err, errorAt(err, strings.Join(path, "/")))
		return n
	})
	return u, f.err
}

// OpenAIUsage reads the usage of a chat completion. The prompt that is reported
// there includes what came from the cache.
//
// Three habits of compatible servers are understood: cached tokens under
// Anthropic's or DeepSeek's names, a prompt that leaves the cached tokens out
// (it is then smaller than they are), and reasoning that is not part of the
// completion (the total says so).
func OpenAIUsage(raw jsontext.Value) (*chat.Usage, error) {
	return usageOf(raw, func(n func(...string) int) *chat.Usage {
		const in, out = "prompt_tokens_details", "completion_tokens_details"
		prompt, completion, thought := n("prompt_tokens"), n("completion_tokens"), n(out, "reasoning_tokens")
		cached := max(n("prompt_cache_hit_tokens"), n("cache_read_input_tokens"), n(in, "cached_tokens"))
		written := max(n("cache_creation_input_tokens"), n(in, "cache_write_tokens"), n(in, "cache_creation_tokens"))
		if thought > 0 && n("total_tokens") == prompt+completion+thought {
			completion += thought
		}
		return withCache(prompt, cached, written, completion, thought)
	})
}

// ResponsesUsage reads the usage of OpenAI's responses API, and the token counts
// in Codex's logs. The input that is reported includes what came from the cache.
func ResponsesUsage(raw jsontext.Value) (*chat.Usage, error) {
	return usageOf(raw, func(n func(...string) int) *chat.Usage {
		cached := max(n("cached_input_tokens"), n("input_tokens_details", "cached_tokens"))
		thought := max(n("reasoning_output_tokens"), n("output_tokens_details", "reasoning_tokens"))
		return withCache(n("input_tokens"), cached, n("input_tokens_details", "cache_write_tokens"), n("output_tokens"), thought)
	})
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
	return usageOf(raw, func(n func(...string) int) *chat.Usage {
		byLifetime := 0
		for k := range Members(Member(raw, "cache_creation")) {
			byLifetime += n("cache_creation", k)
		}
		return &chat.Usage{
			Input: n("input_tokens"), Output: n("output_tokens"), CacheRead: n("cache_read_input_tokens"),
			CacheWrite:     max(n("cache_creation_input_tokens"), byLifetime),
			CacheWriteLong: n("cache_creation", "ephemeral_1h_input_tokens"),
			Thinking:       n("output_tokens_details", "thinking_tokens"),
		}
	})
}

// GeminiUsage reads Gemini's usageMetadata. The prompt there includes what came
// from the cache but not the results of the provider's own tools, and the
// candidates do not include the thoughts.
func GeminiUsage(raw jsontext.Value) (*chat.Usage, error) {
	return usageOf(raw, func(n func(...string) int) *chat.Usage {
		thoughts := n("thoughtsTokenCount")
		u := withCache(n("promptTokenCount"), n("cachedContentTokenCount"), 0, n("candidatesTokenCount")+thoughts, thoughts)
		u.Input += n("toolUsePromptTokenCount")
		return u
	})
}
