// Package classify says what an error of a language model's provider means,
// above all whether the request was too long and by how much. Package wire
// offers it as wire.Classify.
//
// # The method
//
// There are hundreds of servers, each with words of its own, and tomorrow there
// will be others. The rules therefore know no server's sentence as a whole. They
// look for meanings: something that holds tokens ("context window", "n_ctx")
// beside a word for too much ("exceeds", "does not fit"). Take this answer with
// status 400, from a gateway that repeats the error of the server behind it:
//
//	{"error":{"message":"Provider returned error","metadata":{"raw":
//	  "{\"code\":\"invalid_request_error\",\"message\":\"The prompt exceeds the context
//	  window of 8,192 tokens. You requested 9,001 tokens (8,001 in the messages,
//	  1,000 in the completion).\"}"}}}
//
// Classify reads it in four steps.
//
// 1. Unwrap (facts.go). JSON is walked, JSON inside a string is parsed again,
// and what Python or a log has quoted is unquoted. The result is a list of codes
// (invalid_request_error) and a list of texts (both messages). Codes and texts
// are then written as plain words, in lower case, with identifiers taken apart
// and quotes removed, and are split into sentences:
//
//	invalid request error
//	provider returned error
//	the prompt exceeds the context window of 8,192 tokens
//	you requested 9,001 tokens (8,001 in the messages, 1,000 in the completion)
//
// 2. Decide the kind (kind.go, overflow.go). Many errors use the words of an
// overflow and mean something else: "too many tokens per minute", "max_tokens
// exceeds the limit", "tool name too long". So decideKind asks for those first, in
// an order that matters: credentials, money, rate, time, capacity, a broken
// history, one field, the wanted output. Here none of them matches. Then
// saysOverflow looks at each sentence: the third one has a holder ("context
// window") and a strong word ("exceeds"). The kind is Overflow.
//
// 3. Read the numbers (numbers.go, roles.go). Each number becomes a mention
// with the words before and after it, and these words give it a role:
//
//	8192  after "context window of"           limit
//	9001  after "you requested"               actual
//	8001  before "in the messages"            input
//	1000  before "in the completion"          output
//
// Numbers that count no tokens (bytes, statuses, dates, ids) are left out. Then
// readNumbers settles contradictions: the actual count is the stated 9001, because
// it is more than the limit. A stated count within the limit would be taken for
// the input alone, where the limit is only exceeded together with the output.
//
// 4. Name the provider (provider.go) by its headers, codes and favourite words.
// "Provider returned error" gives openrouter away. The name decides nothing.
//
// The verdict is an overflow of 9001 tokens for 8192, 1000 of them output. It
// is not worth a retry: the same request would be refused again.
//
// To teach the classifier something new, add the words to the list that names
// their meaning, not a rule for one server; the tables in the tests say which
// errors must keep their verdicts.
package classify

import (
	"strconv"
	"strings"
	"time"
)

// Kind says what an error means for the caller.
type Kind string

// The kinds of errors.
const (
	Overflow    Kind = "overflow"          // the request is too long: shorten it
	RateLimit   Kind = "rate_limit"        // too much in too short a time: wait
	Quota       Kind = "quota"             // the account has no more to spend
	Overloaded  Kind = "overloaded"        // the provider has no capacity now: wait
	Auth        Kind = "auth"              // the credentials are refused
	OutputLimit Kind = "output_limit"      // more output was asked for than the model can give
	Malformed   Kind = "malformed_history" // the messages break a rule of the dialect
	BadRequest  Kind = "bad_request"       // something else about the request
	Timeout     Kind = "timeout"           // it took too long
	Other       Kind = "other"
)

// Verdict is what an error means. Package wire documents its fields.
type Verdict struct {
	Kind                         Kind
	Provider                     string
	Limit, Actual, Output, Bytes int
	Retryable                    bool
	RetryAfter                   time.Duration
	Status                       int
	Message                      string
}

// Classify says what an error answer means. A status of 0 is unknown; the
// header may be nil.
func Classify(status int, header map[string][]string, body []byte) Verdict {
	f := readFacts(status, body)
	v := Verdict{Kind: f.decideKind(), Status: f.status, Message: f.innermostWords()}
	v.Provider = f.nameProvider(header)
	v.Retryable = v.Kind == RateLimit || v.Kind == Overloaded || v.Kind == Timeout || v.Kind == Other && f.isPassing()
	switch v.Kind {
	case Overflow:
		if f.aboutBytes() {
			v.Bytes = f.byteLimit()
		} else {
			v.Limit, v.Actual, v.Output = f.readNumbers()
		}
	case OutputLimit:
		v.Output, _, _ = f.readNumbers()
	}
	v.RetryAfter = retryAfter(header)
	if s := headerValue(header, "x-should-retry"); s != "" {
		v.Retryable = s == "true" && v.Kind != Overflow
	}
	return v
}

func headerValue(h map[string][]string, name string) string {
	for k, v := range h {
		if strings.EqualFold(k, name) && len(v) > 0 {
			return strings.TrimSpace(v[0])
		}
	}
	return ""
}

// retryAfter reads how long to wait. A date would need a clock and is left out.
func retryAfter(h map[string][]string) time.Duration {
	if ms, err := strconv.ParseFloat(headerValue(h, "retry-after-ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if s, err := strconv.ParseFloat(headerValue(h, "retry-after"), 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	return 0
}
