package classify

import (
	"slices"
	"strings"
)

var (
	// overflowNames are codes and class names that mean an overflow and
	// nothing else, without their marks (see joined).
	overflowNames = []string{
		"contextlengthexceeded", "contextwindowexceeded", "contextlengtherror", "contextsizeerror", "maxprompttokensexceeded", "tokenslimitreached", "prompttoolong", "inputtoolong", "prompttokenstoolong", "tokenstoolong",
		"contentlengthexceedsthreshold", "outofcontexterror", "maxtokensperrequest", "contextoverflow", "contexttoolong",
	}
	// What holds tokens and has an end.
	holders = []string{
		"context length", "context window", "context size", "context limit", "context budget", "context capacity", "max context", "maximum context", "model context", "model's context", "available context", "the context", "context overflow", "context the", "input context", "prompt context", "context length's", "context is", "context too", "context exceed",
		"token limit", "tokens limit", "token count limit", "model length", "sequence length", "max length", "maximum length", "input limit", "prompt limit", "maximum input length", "max input length", "max prompt length", "maximum prompt length", "n ctx", "num ctx", "max model len", "max seq len", "max num tokens", "max prompt tokens", "kv cache", "total tokens limit", "content length", "max tokens of the model", "max tokens allowed", "max tokens of", "max message tokens", "maximum number of tokens", "max number of tokens", "token window", "token size", "conversation limit",
	}
	// What can be too much.
	loads = []string{"prompt", "prompts", "input", "inputs", "messages", "message", "conversation", "chat history", "history", "sequence", "token", "tokens", "transcript", "question"}
	// Words for too much.
	strong = []string{"exceed", "exceeds", "exceeded", "exceeding", "too long", "too large", "too many", "too big", "longer than", "larger than", "overflow", "surpass", "beyond the", "beyond its", "beyond what", "over the limit", "over the maximum", "over the model", "is above", "above the limit", "above the maximum", "not fit", "no longer fit", "doesn't fit", "cannot fit", "unable to fit", "could not fit", "couldn't fit", "can't fit", "won't fit", "outside the", "ran out of", "run out of"}
	// Words for too much only where a limit stands beside them.
	weak = []string{"greater than", "more than", "reached", "is full", "not enough", "insufficient", "out of range", "out of", "only supports", "supports up to", "can only", "at most", "no more than", "less than", "must be <=", "<=", ">=", "up to", "should be [", "must be between", "should be between", "cannot be greater", "not be greater", "hit the", "hits the", "is set to", "only has", "too small", "cannot truncate"}
)

// limitNames are the names of limits that stand alone where they are met.
var limitNames = []string{"token limit", "tokens limit", "context limit", "maximum number of tokens"}

// wrapping are words that stand around every error and say nothing about it.
var wrapping = strings.NewReplacer(
	"input validation error", "", "invalid input", "", "malformed input request", "input", "bad request", "", "invalid request", "",
	"message:", "", "message :", "", "context deadline", "", "deadline exceeded", "",
	"stack overflow", "", "integer overflow", "", "buffer overflow", "", "out of memory", "", "tokenizer", "",
	"session token", "", "access token", "", "refresh token", "", "auth token", "", "prompt cache key", "", "prompt cache retention", "", "request id", "",
)

// outputNames are the names of output limits, which do not count the input.
var outputNames = strings.NewReplacer("max new tokens", "", "max tokens", "", "max completion tokens", "", "max output tokens", "")

// forModel: too large for the model, not for the server.
var forModel = []string{"for model", "for the model", "for this model"}

// foreignOver are the words for "too long" in other languages, beside a word
// for what is too long.
var foreignOver = []struct{ what, over []string }{
	{[]string{"输入", "上下文", "提示", "prompt", "token", "对话", "会话", "文本", "内容", "长度", "消息", "请求"}, []string{"超长", "过长", "超过", "超出", "超限", "太长", "过大"}},
	{[]string{"輸入", "上下文", "提示", "token", "對話", "長度", "訊息"}, []string{"超長", "過長", "超過", "超出", "太長"}},
	{[]string{"プロンプト", "入力", "コンテキスト", "トークン"}, []string{"長すぎ", "超え", "超過", "大きすぎ"}},
	{[]string{"프롬프트", "입력", "컨텍스트", "토큰"}, []string{"초과", "너무 길", "너무 깁"}},
	{[]string{"prompt", "eingabe", "kontext", "token"}, []string{"zu lang", "überschreite", "überschritten", "zu groß"}},
	{[]string{"requête", "prompt", "contexte", "entrée", "tokens", "jetons"}, []string{"dépasse", "trop long"}},
	{[]string{"prompt", "contexto", "entrada", "tokens"}, []string{"excede", "demasiado larg", "muito long", "supera"}},
	{[]string{"промпт", "запрос", "контекст", "токен"}, []string{"превыша", "превышен", "слишком длин"}},
}

// A file or a picture that is too large does not count as an overflow, unless the
// text with it is meant.
var (
	foreignMedia = []string{"文件", "图片", "图像", "视频", "音频", "附件", "檔案", "圖片", "影片", "ファイル", "画像", "파일", "이미지", "datei", "bilder", "fichier", "archivo", "imagen", "файл", "изображени"}
	foreignText  = []string{"token", "上下文", "提示", "トークン", "コンテキスト", "プロンプト", "토큰", "컨텍스트", "kontext", "contexte", "contexto", "токен", "контекст"}
)

// namesOverflow: a code or a class says it in one word.
func (f *facts) namesOverflow() bool {
	return slices.ContainsFunc(overflowNames, func(n string) bool { return strings.Contains(f.joined, n) })
}

// leastWindow is smaller than any model's window: what has a smaller limit is
// another list of tokens.
const leastWindow = 128

// countsOverflow: both numbers are told, and there is more than allowed.
func (f *facts) countsOverflow() bool {
	limit, actual, output := f.readNumbers()
	return limit > 0 && (actual > limit || output > 0 && actual >= limit)
}

// saysOverflow: something that holds tokens is said to be too small for what it
// should hold.
func (f *facts) saysOverflow() bool {
	if f.namesOverflow() || containsPhrase(f.text, "(no body)", "no body") && (f.status == 400 || f.status == 413) {
		return true
	}
	for _, s := range f.sentences {
		s = wrapping.Replace(s)
		if containsPhrase(s, "minimum") && !containsPhrase(s, "exceed", "maximum") {
			continue
		}
		if t := strings.Trim(s, " :,."); slices.Contains(limitNames, t) {
			return true // the text is only the name of the limit
		}
		holder, load := containsPhrase(s, holders...), containsPhrase(s, loads...)
		switch {
		case holder && containsPhrase(s, strong...), holder && containsPhrase(s, weak...) && (load || containsPhrase(s, "request", "requested", "model", "n ctx")):
			return true
		case load && containsPhrase(s, strong...) && containsPhrase(s, "token", "tokens", "length", "long", "context", "limit", "model", "maximum", "max", "size"):
			return true
		case containsPhrase(s, "prompt", "input", "inputs", "conversation", "messages", "chat history") && containsPhrase(s, "too long", "too large", "too big"):
			return true
		case containsPhrase(s, "prompt", "input", "inputs", "text", "messages", "number of tokens", "total tokens") && containsPhrase(s, weak...) && containsPhrase(s, "tokens", "input length", "prompt length", "length of prompt", "length of the prompt", "length of input", "length of the input") && !containsPhrase(s, "thinking", "cache"):
			return true
		case containsPhrase(s, "content is too long", "content too long"), containsPhrase(s, "exceeds the model's maximum"), f.status != 429 && strings.HasPrefix(strings.Trim(s, " :,"), "this model's maximum context length is") && len(f.sentences) == 1:
			return true
		case containsPhrase(s, "out of context", "out of room"), containsPhrase(s, loads...) && containsPhrase(s, "of this length", "of that length", "this long"):
			return true
		case containsPhrase(s, "max context", "maximum context", "context limit", "context length", "context window", "context size") && containsPhrase(s, "reached", "is full", "exhausted"), containsPhrase(s, "context full", "context is full", "context window full"):
			return true
		case containsPhrase(s, "expected maxlength", "expected max length") && containsPhrase(s, "actual"):
			return true
		case containsPhrase(s, "reduce", "shorten", "decrease", "trim", "shorter", "smaller", "truncate") && containsPhrase(s, "length of the messages", "length of the message", "length of the prompt", "length of the input", "prompt length", "your prompt", "your message", "your input", "input length", "the prompt", "shorter prompt", "shorter input", "smaller prompt", "smaller input", "number of tokens", "length of messages", "length of your", "size of the prompt", "context"):
			return true
		case containsPhrase(s, "request") && containsPhrase(s, "too large", "too big", "too long") && containsPhrase(s, forModel...):
			return true
		case containsPhrase(s, "kv cache", "kv slot") && containsPhrase(s, "is full", "could not find", "failed to find", "no free"):
			return true
		case foreignOverflow(s):
			return true
		}
	}
	// A limit in one sentence and the count in the next.
	t := outputNames.Replace(f.text)
	if containsPhrase(t, holders...) || containsPhrase(t, "token", "tokens") && containsPhrase(t, "limit", "maximum", "max", "only", "allow", "window", "the most", "at most", "accepts", "最多", "最大", "上限", "限制", ">") || strings.Contains(t, "上下文") {
		if limit, _, _ := f.readNumbers(); limit >= leastWindow && f.countsOverflow() {
			return true
		}
	}
	return f.hasComparison()
}

// foreignOverflow: the same in other languages.
func foreignOverflow(s string) bool {
	has := func(of []string) bool {
		return slices.ContainsFunc(of, func(w string) bool { return strings.Contains(s, w) })
	}
	if has(foreignMedia) && !has(foreignText) {
		return false
	}
	for _, l := range foreignOver {
		if has(l.over) && has(l.what) {
			return true
		}
	}
	return false
}
