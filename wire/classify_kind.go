package wire

import "strings"

// kind decides. The order matters: what resembles an overflow comes first.
func (f *facts) kind() Kind {
	t := f.text
	over := f.overflows()
	switch {
	case f.status == 401, contains(t, "api key provided", "invalid api key", "incorrect api key", "api key not valid", "invalid x api key", "authentication", "unauthorized", "unauthenticated", "permission denied", "access denied", "not authorized", "invalid credentials", "security token", "expired token", "missing api key", "no api key"):
		return KindAuth
	case f.status == 402, contains(t, "insufficient quota", "current quota", "billing", "credit balance", "out of credit", "insufficient credit", "insufficient balance", "insufficient funds", "payment required", "spending limit", "spend limit", "usage limit", "balance is", "more credits", "monthly"):
		return KindQuota
	case f.rateLimited(over):
		return KindRateLimit
	case contains(t, "quota"):
		return KindQuota
	case contains(t, "deadline exceeded", "timed out", "time out", "timeout", "etimedout"):
		return KindTimeout
	case f.status == 529, contains(t, "overloaded", "server is busy", "server busy", "over capacity", "at capacity", "no capacity", "temporarily unavailable", "service unavailable", "currently unavailable", "high demand"):
		return KindOverloaded
	case f.malformed():
		return KindMalformed
	case f.oneField():
		return KindBadRequest
	case f.outputLimit():
		return KindOutputLimit
	case over, f.aboutBytes() && (f.status == 413 || f.status == 400 || f.status == 0):
		return KindOverflow
	case f.empty && (f.status == 400 || f.status == 413):
		return KindOverflow // a server that cuts the connection rather than explain
	}
	return f.byStatus()
}

func (f *facts) byStatus() Kind {
	switch s := f.status; {
	case s == 403:
		return KindAuth
	case s == 408 || s == 504 || s == 522 || s == 524:
		return KindTimeout
	case s == 413:
		return KindOverflow
	case s == 429:
		return KindRateLimit
	case s == 502 || s == 503:
		return KindOverloaded
	case s >= 400 && s < 500:
		return KindBadRequest
	case s == 0 && contains(f.text, "invalid request", "bad request", "invalid argument", "validation"):
		return KindBadRequest
	}
	return KindOther
}

// rateLimited: so much per time, or a request to wait.
func (f *facts) rateLimited(over bool) bool {
	t := f.text
	if contains(t, "rate limit", "ratelimit", "too many requests", "throttl", "tokens per min", "requests per min", "per minute", "tokens per day", "requests per day", "tokens per second", "requests per second", "per hour", "tpm", "rpm", "please wait before", "resource exhausted", "resourceexhausted", "request limit reached", "concurrency limit", "concurrent requests", "slow down") {
		return true
	}
	if contains(t, "daily", "hourly", "weekly") && contains(t, "limit") {
		return true
	}
	if contains(t, "try again in", "retry after", "please wait", "try again later") && !over {
		return f.status == 429 || f.status == 0
	}
	return f.status == 429 && !over && !contains(t, "quota")
}

// malformed: a call without its result, roles out of order, reasoning that
// does not verify.
func (f *facts) malformed() bool {
	wrong := []string{"must", "missing", "without", "unexpected", "expected", "not found", "found for", "invalid", "corresponding", "could not be verified", "ensure", "should", "not supported", "required", "does not match", "did not have"}
	for _, s := range f.sentences {
		if !contains(s, wrong...) {
			continue
		}
		if contains(s, "tool use", "tool result", "tool call", "tool output", "tool message", "tool id", "toolresult", "tooluse", "function call", "function response", "thinking block", "in thinking", "expected thinking", "redacted thinking", "thought signature", "reasoning item", "type reasoning", "encrypted content", "compaction block", "compaction trigger") && !contains(s, "tokens") {
			return true
		}
		if contains(s, "role", "roles") && contains(s, "alternate", "user role", "role user", "first message", "last message", "final message", "multiturn") {
			return true
		}
		if contains(s, "content block", "content blocks", "non empty content", "contents parts", "cache control") && contains(s, "empty", "non whitespace", "must set one", "non-empty", "provided") {
			return true
		}
	}
	return contains(f.text, "invalid encrypted content", "maximum of 4 blocks", "compaction block")
}

// oneField: one value of the request is wrong, whatever the length of the whole.
func (f *facts) oneField() bool {
	t := f.text
	switch {
	case contains(t, "string too long", "string above max length", "array too long", "array above max length", "string does not match"):
		return true
	case contains(t, "cached content") && contains(t, "minimum"):
		return true
	case contains(t, "budget tokens", "thinking budget"):
		return !contains(t, "context")
	case contains(t, "image", "images", "pixels", "media", "pdf", "attachment", "file size", "document pages", "audio", "video"):
		return contains(t, "image exceeds", "image dimensions", "images exceed", "image size", "image too large", "image is too large", "file too large", "file size", "pixels", "too much media", "too many images", "document pages", "pdf pages", "maximum of 100 pdf", "mb maximum", "attachment too large") && !contains(t, "context", "token", "tokens")
	case contains(t, "function name", "tool name", "description", "metadata", "stop sequence", "vocab", "logit bias", "identifier", "schema", "user id", "header"):
		return contains(t, strong...) && !contains(t, "context", "prompt", "messages")
	case contains(t, "tools") && contains(t, "too many tools", "maximum number of tools", "tools exceed"):
		return true
	}
	return false
}

// outputLimit: the wanted output alone is more than the model can write.
func (f *facts) outputLimit() bool {
	for _, s := range f.sentences {
		if !contains(s, "max tokens", "maximum tokens", "max output tokens", "max completion tokens", "completion tokens", "output tokens", "max outputtokens", "max output", "max new tokens") {
			continue
		}
		if contains(s, "context", "prompt", "input", "inputs", "messages") && !contains(s, "input validation error") {
			continue
		}
		if contains(s, "exceeds the model limit", "exceeds the maximum", "exceeds model", "too large", "too high", "at most", "maximum allowed", "supported range", "range of", "maximum value", "greater than the maximum", "exceed the limit", "exceeds the limit", "larger than", "lower than", "limited to", "exceeds limit", "exceed limit", "exceeds max", "exceeded") &&
			!contains(f.text, "context length", "context window", "context limit", "input tokens", "prompt contains") {
			return true
		}
	}
	return false
}

var (
	// What holds tokens and has an end.
	holders = []string{
		"context length", "context window", "context size", "context limit", "context budget", "context capacity", "max context", "maximum context", "model context", "model's context", "available context", "the context", "context overflow", "context the", "input context", "prompt context", "context length's", "context is", "context too", "context exceed",
		"token limit", "tokens limit", "token count limit", "model length", "sequence length", "max length", "maximum length", "input limit", "prompt limit", "maximum input length", "max input length", "max prompt length", "maximum prompt length", "n ctx", "num ctx", "max model len", "max seq len", "kv cache", "total tokens limit", "content length", "max tokens of the model", "maximum number of tokens", "max number of tokens",
	}
	// What can be too much.
	loads = []string{"prompt", "prompts", "input", "inputs", "messages", "message", "conversation", "chat history", "history", "sequence", "token", "tokens", "transcript"}
	// Words for too much.
	strong = []string{"exceed", "exceeds", "exceeded", "exceeding", "too long", "too large", "too many", "too big", "longer than", "larger than", "overflow", "surpass", "beyond the", "beyond its", "over the limit", "over the maximum", "above the limit", "above the maximum", "does not fit", "doesn't fit", "do not fit", "cannot fit", "can't fit", "won't fit", "outside the"}
	// Words for too much only where a limit stands beside them.
	weak = []string{"greater than", "more than", "reached", "is full", "not enough", "insufficient", "out of range", "out of", "only supports", "supports up to", "can only", "at most", "no more than", "less than", "must be <=", "<=", "up to", "should be [", "must be between", "hit the", "hits the"}
)

// wrapping are words that stand around every error and say nothing about it.
var wrapping = strings.NewReplacer(
	"input validation error", "", "invalid input", "", "malformed input request", "input", "bad request", "", "invalid request", "",
	"message:", "", "message :", "", "context deadline", "", "deadline exceeded", "",
)

// outputNames are the names of output limits, which are no count of the input.
var outputNames = strings.NewReplacer("max new tokens", "", "max tokens", "", "max completion tokens", "", "max output tokens", "")

// overflows: something that holds tokens is said to be too small for what it
// should hold.
func (f *facts) overflows() bool {
	if contains(f.text, "(no body)", "no body") && (f.status == 400 || f.status == 413) {
		return true
	}
	for _, s := range f.sentences {
		s = wrapping.Replace(s)
		if contains(s, "minimum") && !contains(s, "exceed", "maximum") {
			continue
		}
		holder, load := contains(s, holders...), contains(s, loads...)
		switch {
		case holder && contains(s, strong...), holder && contains(s, weak...) && (load || contains(s, "request", "requested", "model")):
			return true
		case load && contains(s, strong...) && contains(s, "token", "tokens", "length", "long", "context", "limit", "model", "maximum", "max", "size"):
			return true
		case contains(s, "input length", "prompt length", "input tokens", "prompt tokens", "inputs tokens", "input token count", "inputs", "prompt token count", "number of tokens") && contains(s, weak...) && contains(s, "token", "tokens", "length"):
			return true
		case contains(s, "expected maxlength", "expected max length") && contains(s, "actual"):
			return true
		case contains(s, "reduce", "shorten", "decrease", "trim", "shorter", "truncate") && contains(s, "length of the messages", "length of the message", "length of the prompt", "length of the input", "prompt length", "your prompt", "input length", "the prompt", "shorter prompt", "shorter input", "number of tokens", "length of messages", "length of your", "size of the prompt", "context"):
			return true
		case chineseOverflow(s):
			return true
		}
	}
	// A limit in one sentence and the count in the next.
	t := outputNames.Replace(f.text)
	if contains(t, holders...) || contains(t, "token", "tokens") && contains(t, "limit", "maximum", "max", "only", ">") {
		limit, actual, output := f.numbers()
		if limit > 0 && (actual > limit || output > 0 && actual >= limit) {
			return true
		}
	}
	return f.comparison()
}

// chineseOverflow: the same in the words of Chinese providers.
func chineseOverflow(s string) bool {
	has := func(of ...string) bool {
		for _, w := range of {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	return has("输入", "上下文", "提示", "prompt", "token", "对话", "文本", "长度", "消息") && has("超长", "过长", "超过", "超出", "超限", "太长") && !has("频率", "并发", "每分钟", "次数", "余额")
}

// aboutBytes: the body is too large, whatever the tokens.
func (f *facts) aboutBytes() bool {
	t := f.text
	if contains(t, "token", "tokens") || contains(t, holders...) {
		return false
	}
	if contains(t, "payload too large", "entity too large", "request too large", "body too large", "content too large", "request body is too large", "length limit exceeded", "maximum request size", "body size limit") {
		return true
	}
	for _, s := range f.sentences {
		s = wrapping.Replace(s)
		if contains(s, "payload", "request", "body") && contains(s, "exceed", "exceeds", "exceeded", "too large", "larger than", "too big") && contains(s, "size", "bytes", "mb", "payload", "body") {
			return true
		}
	}
	return false
}
