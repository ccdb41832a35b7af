package classify

import (
	"slices"
	"strings"
)

// The words of the other kinds than overflow. Each list names one meaning; a phrase
// matches at the beginning of a word, in words that are taken apart and in lower
// case (see plainWords).
var (
	// the credentials do not do
	authWords = []string{
		"api key provided", "invalid api key", "incorrect api key", "api key not valid", "invalid x api key", "missing api key", "no api key", "your api key was", "your api key is", "your api key does not", "your api key has",
		"authentication", "unauthorized", "login fail", "unauthenticated", "permission denied", "permission error", "access denied", "not authorized", "forbidden", "don't have access to the model", "does not have access to",
		"invalid credentials", "auth credentials", "no credentials", "bad credentials", "security token", "session token", "expired token", "token expired", "token has expired", "token is expired", "token is invalid", "invalid token", "invalid api token", "invalid auth", "invalid subscription key", "bearer token", "required scopes", "insufficient scope",
	}
	// the account has no more to spend
	quotaWords = []string{
		"insufficient quota", "current quota", "billing", "credit balance", "out of credit", "insufficient credit", "insufficient balance", "insufficient account balance", "insufficient funds", "insufficient user quota",
		"payment required", "spending", "spend limit", "usage limit", "api usage limits", "balance is", "more credits", "any credits", "your credits", "enough credits", "allowance", "of your subscription", "prepaid credits", "all of your credits", "usage credits", "purchase credits", "monthly", "this month", "in arrears", "arrearage", "recharge", "top up", "free quota", "extra usage is required", "usage not included", "no remaining", "in your plan", "max budget", "over budget", "current cost", "current spend",
	}
	// so much in a stretch of time
	rateWords = []string{
		"rate limit", "ratelimit", "request rate", "too many requests", "throttl", "tokens per min", "requests per min", "per minute", "this minute", "last minute", "last hour", "token rate", "tokens/min", "tokens / min", "/ minute", "/minute", "/ min.", "/min.", "tokens per day", "requests per day", "per second", "per hour", "qps", "tpm", "rpm", "tpd",
		"please wait before", "resource exhausted", "resourceexhausted", "resource has been exhausted", "request limit reached", "concurrency", "concurrent requests", "concurrent request", "slow down", "per model limit", "high frequency", "reached max request",
	}
	timeWords = []string{"daily", "hourly", "weekly"}
	// a request to come back
	laterWords   = []string{"try again in", "try again after", "retry after", "please wait", "try again later"}
	timeoutWords = []string{"deadline exceeded", "deadline expired", "timed out", "time out", "timeout", "etimedout"}
	// no capacity now
	busyWords = []string{
		"overloaded", "server is busy", "server busy", "too busy", "over capacity", "at capacity", "no capacity", "capacity exceeded", "temporarily unavailable", "service unavailable", "currently unavailable",
		"high demand", "high traffic", "high load", "currently loading", "loading model", "no healthy upstream", "pending requests exceeded", "queue is full",
	}
)

// foreignKinds are the same meanings in Chinese, where providers use it.
var foreignKinds = []struct {
	kind  Kind
	words []string
}{
	{Quota, []string{"余额", "额度不足", "额度已", "用量上限", "欠费", "充值", "套餐", "资源包"}},
	{Auth, []string{"身份验证", "鉴权", "认证失败", "未授权", "无权限", "令牌已过期", "令牌无效", "无效的令牌", "密钥无效", "无效的密钥", "验证不正确"}},
	{RateLimit, []string{"频率", "频繁", "并发", "每分钟", "每秒", "每天", "次数", "限流", "速率", "请求过多"}},
	{Overloaded, []string{"访问量过大", "繁忙", "过载", "负载已饱和", "负载过高"}},
	{Timeout, []string{"超时"}},
}

// chineseKind returns the kind that Chinese words name, "" for none.
func (f *facts) chineseKind() Kind {
	for _, k := range foreignKinds {
		for _, w := range k.words {
			if strings.Contains(f.plain, w) {
				return k.kind
			}
		}
	}
	return ""
}

// decideKind decides. The order matters: what resembles an overflow comes first.
func (f *facts) decideKind() Kind {
	t := f.text
	over := f.saysOverflow()
	// Nothing that a client adds around it (a timeout it had set, say) makes
	// something else of an overflow that is named or counted out.
	sure := f.namesOverflow() || over && f.countsOverflow()
	rate := f.rateLimited(over)
	switch foreign := f.chineseKind(); {
	case f.status == 401:
		return Auth
	case f.namesOverflow() && !rate:
		return Overflow
	case containsPhrase(t, authWords...) && !over:
		return Auth
	case f.status == 402, containsPhrase(t, quotaWords...):
		return Quota
	case foreign != "":
		return foreign
	case rate:
		return RateLimit
	case containsPhrase(t, "quota"):
		return Quota
	case containsPhrase(t, timeoutWords...) && !sure:
		return Timeout
	case f.status == 529, (containsPhrase(t, busyWords...) || f.status == 503 && containsPhrase(t, laterWords...)) && !sure:
		return Overloaded
	case f.isMalformed():
		return Malformed
	case f.oneField():
		return BadRequest
	case f.outputLimit():
		return OutputLimit
	case over, f.aboutBytes():
		return Overflow
	case f.empty && (f.status == 400 || f.status == 413):
		return Overflow // a server that cuts the connection rather than explain
	}
	return f.byStatus()
}

func (f *facts) byStatus() Kind {
	switch s := f.status; {
	case s == 403:
		return Auth
	case s == 408 || s == 504 || s == 522 || s == 524:
		return Timeout
	case s == 413:
		return Overflow
	case s == 429:
		return RateLimit
	case s == 502 || s == 503:
		return Overloaded
	case s >= 400 && s < 500:
		return BadRequest
	case s == 0 && containsPhrase(f.text, "invalid request", "bad request", "invalid argument", "validation"):
		return BadRequest
	}
	return Other
}

// isPassing: words of an error without a kind that may be gone at the next try.
func (f *facts) isPassing() bool {
	return f.status >= 500 || f.status == 0 && containsPhrase(f.text, "internal server error", "internal error", "server had an error", "unexpected error has occurred", "connection reset", "connection refused", "connection error", "connection closed", "econnreset", "econnrefused", "socket hang up", "fetch failed", "network error", "stream disconnected", "premature close", "unexpected eof")
}

// rateLimited: so much per time, or a request to wait.
func (f *facts) rateLimited(over bool) bool {
	t := f.text
	if containsPhrase(t, rateWords...) || containsPhrase(t, timeWords...) && containsPhrase(t, "limit") {
		return true
	}
	if containsPhrase(t, laterWords...) && !over && !containsPhrase(t, busyWords...) {
		return f.status == 429 || f.status == 0
	}
	// Too many tokens are too many per time there, unless a window is named.
	return f.status == 429 && !(over && containsPhrase(t, "context", "sequence length", "prompt is too long", "prompt too long")) && !containsPhrase(t, "quota", "overloaded", "high traffic")
}

// What a history is made of beside text, and how it can be wrong.
var (
	historyParts = []string{
		"tool use", "tool result", "tool call", "tool output", "tool message", "tool id", "role tool", "toolresult", "tooluse", "function call", "function response", "functions calls",
		"thinking block", "thinking or redacted thinking", "in thinking", "expected thinking", "redacted thinking", "thought signature", "reasoning item", "type reasoning", "reasoning content", "encrypted content", "compaction block", "compaction trigger",
	}
	historyWrong = []string{
		"must", "missing", "without", "unexpected", "expected", "not found", "found for", "no tool call found", "invalid", "corresponding", "could not be verified", "ensure", "should", "not supported", "required", "does not match", "did not have",
		"cannot be", "same number", "exceeds the number", "unique", "duplicate", "needs a", "unmatched", "no matching", "orphan", "follow", "preceding", "preceeding",
	}
	// the order of turns
	turnParts = []string{
		"alternate", "successive user", "successive assistant", "consecutive user", "consecutive assistant", "interleave", "user role", "role user", "after role", "last role", "valid role", "invalid role", "invalid message role", "first message", "last message", "final message", "multiturn",
		"start with a user", "starts with a user", "end with a user", "end with a tool", "system message must be", "final assistant", "message prefill",
	}
	// parts that hold nothing
	emptyParts = []string{"content block", "content blocks", "contentblock", "non empty content", "contents parts", "cache control", "text field", "final assistant content"}
	emptyWrong = []string{"empty", "non whitespace", "must set one", "non-empty", "provided", "is blank", "trailing whitespace"}
)

// isMalformed: a call without its result, roles out of order, reasoning that
// does not verify.
func (f *facts) isMalformed() bool {
	for _, s := range f.sentences {
		switch {
		case containsPhrase(s, historyParts...) && containsPhrase(s, historyWrong...) && !containsPhrase(s, "tokens"):
			return true
		case containsPhrase(s, turnParts...) && containsPhrase(s, "must", "should", "expected", "unexpected", "invalid", "ensure", "use a", "does not support", "but found", "cannot", "got"):
			return true
		case containsPhrase(s, emptyParts...) && containsPhrase(s, emptyWrong...), containsPhrase(s, "message", "messages") && containsPhrase(s, "content") && containsPhrase(s, "empty", "blank", "minimum item count"):
			return true
		}
	}
	return containsPhrase(f.text, "invalid encrypted content", "maximum of 4 blocks", "compaction block")
}

// Values of a request that have limits of their own.
var (
	mediaWords  = []string{"image", "images", "picture", "pixels", "media", "pdf", "attachment", "file", "document", "audio", "video"}
	mediaLimits = []string{"pixel", "pixels", "px", "dimension", "dimensions", "resolution", "mb maximum", "mb", "bytes", "pages", "pdf pages", "media", "too many images", "number of images", "image size", "file size", "too large", "minutes", "hours", "seconds", "frames"}
	fieldWords  = []string{"function name", "tool name", "description", "metadata", "stop sequence", "vocab", "logit bias", "identifier", "schema", "user id", "header", "cache key"}
)

// oneField: one value of the request is wrong, whatever the length of the whole.
func (f *facts) oneField() bool {
	t := f.text
	switch {
	case containsPhrase(t, "string too long", "string above max length", "array too long", "array above max length", "string does not match"):
		return true
	case containsPhrase(t, "cached content") && containsPhrase(t, "minimum", "too small"):
		return true
	case containsPhrase(t, "budget tokens", "thinking budget"):
		return !containsPhrase(t, "context")
	case containsPhrase(t, fieldWords...):
		return containsPhrase(t, strong...) && !containsPhrase(wrapping.Replace(t), "context", "prompt", "messages")
	case containsPhrase(t, "too many messages", "number of messages"):
		return !containsPhrase(t, "token", "tokens", "context")
	case containsPhrase(t, "toxicity", "moderation", "severity", "harm category"):
		return !containsPhrase(t, "token", "tokens", "context")
	case containsPhrase(t, "too many tools", "maximum number of tools", "tools exceed"):
		return true
	}
	return slices.ContainsFunc(f.sentences, func(s string) bool {
		return containsPhrase(s, mediaWords...) && containsPhrase(s, mediaLimits...) && (containsPhrase(s, strong...) || containsPhrase(s, "maximum", "at most", "supported")) && !containsPhrase(s, "token", "tokens", "context", "request too large", "request body")
	})
}

// Names of the wanted output, and what says that it is too much.
var (
	outputWords = []string{"max tokens", "maximum tokens", "max output tokens", "max completion tokens", "completion tokens", "output tokens", "max outputtokens", "max output", "max new tokens", "num predict", "output limit", "output length", "completion length"}
	outputOver  = []string{
		"exceeds", "exceed", "too large", "too high", "too big", "at most", "maximum allowed", "supported range", "valid range", "range of", "maximum value", "maximum is", "limit is", "greater than the maximum", "more than", "larger than", "lower than", "less than or equal", "limited to", "is limited", "output limit", "less or equal", "less than", "above the", "in the range", "is above", "number of output tokens is", "output tokens limit", "allowed maximum", "be between 1", "for this model is", "cannot be greater", "must not exceed", "fewer output tokens", "the most", "范围", "超过", "超出", ">",
	}
	// words that make it a matter of the whole, or of a minimum
	notOutput = []string{"context", "prompt", "input", "inputs", "messages", "max tokens of", "max tokens allowed", "max tokens per request", "requested tokens", "total tokens", "tokens in request", "tokens exceeded", "minimum", "at least", "budget", "sum of", "+", "min tokens", "no less than", "not less than", "输入", "上下文", "提示"}
)

// outputWrapping are words for the request as such, not for the input's tokens.
var outputWrapping = strings.NewReplacer("input validation error", "", "malformed input request", "", "reformat your input", "", "input should be", "should be", "input :", "")

// outputLimit: the wanted output alone is more than the model can write. The
// name and the limit may stand in two sentences.
func (f *facts) outputLimit() bool {
	if containsPhrase(f.text, "context length", "context window", "context limit", "input tokens", "prompt contains", "shorter prompt") {
		return false
	}
	before := ""
	for _, s := range f.sentences {
		s = outputWrapping.Replace(s)
		if containsPhrase(s, outputWords...) && containsPhrase(s, outputOver...) && !containsPhrase(s, notOutput...) {
			return true
		}
		if containsPhrase(before, outputWords...) && containsPhrase(s, "maximum is", "limit is", "supports up to", "supports at most", "less than or equal", "at most") && !containsPhrase(before, notOutput...) && !containsPhrase(s, notOutput...) {
			return true
		}
		before = s
	}
	return false
}

// aboutBytes: the body is too large, whatever the tokens.
func (f *facts) aboutBytes() bool {
	t := f.text
	if containsPhrase(t, "token", "tokens") || containsPhrase(t, holders...) || containsPhrase(t, forModel...) {
		return false
	}
	if containsPhrase(t, "payload too large", "entity too large", "request too large", "request is too large", "body too large", "content too large", "request body is too large", "length limit exceeded", "maximum request size", "body size limit", "too many total text bytes", "请求体过大", "请求体超", "请求大小超") {
		return true
	}
	if f.status == 413 && f.byteLimit() > 0 {
		return true
	}
	for _, s := range f.sentences {
		s = wrapping.Replace(s)
		if containsPhrase(s, "payload", "request", "body", "content size") && containsPhrase(s, "exceed", "exceeds", "exceeded", "too large", "larger than", "too big") && containsPhrase(s, "size", "bytes", "mb", "payload", "body") {
			return true
		}
	}
	return false
}
