package wire

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind says what an error means for the caller.
type Kind string

// The kinds of errors.
const (
	KindOverflow    Kind = "overflow"          // the request is too long: shorten it
	KindRateLimit   Kind = "rate_limit"        // too much in too short a time: wait
	KindQuota       Kind = "quota"             // the account has no more to spend
	KindOverloaded  Kind = "overloaded"        // the provider has no capacity now: wait
	KindAuth        Kind = "auth"              // the credentials do not do
	KindOutputLimit Kind = "output_limit"      // more output was asked for than the model can give
	KindMalformed   Kind = "malformed_history" // the messages break a rule of the dialect
	KindBadRequest  Kind = "bad_request"       // something else about the request
	KindTimeout     Kind = "timeout"           // it took too long
	KindOther       Kind = "other"
)

// Verdict is what an error means.
type Verdict struct {
	Kind Kind `json:"kind"`

	// Provider is the server that wrote the error, as far as it can be told
	// from its words; "" is unknown. Many servers copy OpenAI's.
	Provider string `json:"provider"`

	// Limit and Actual are the tokens that are allowed and that were counted,
	// as an overflow tells them; 0 is unknown. Actual includes Output, where the
	// server counts the output that was asked for.
	Limit  int `json:"limit,omitempty"`
	Actual int `json:"actual,omitempty"`

	// Output is the tokens of output that were asked for; of an output limit,
	// those that are allowed.
	Output int `json:"output,omitempty"`

	// Bytes is the limit of an overflow that is about the body's size and not
	// about tokens; -1 when it is not told.
	Bytes int `json:"bytes,omitempty"`

	// Retryable says that the same request may succeed later, RetryAfter how
	// long the server asks to wait.
	Retryable  bool          `json:"retryable"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`

	// Status is the HTTP status, 0 when unknown.
	Status int `json:"status,omitempty"`

	// Message is the server's innermost words.
	Message string `json:"message"`
}

// Error returns kind and message, so that a verdict can be an error's cause.
func (v *Verdict) Error() string {
	return string(v.Kind) + ": " + v.Message
}

// Classify says what an error answer means. Status may be 0 when it is not
// known; the header, in the form of [net/http.Header], may be nil. The body may
// be the provider's JSON, JSON inside a string inside JSON, Python's way of
// writing it, or plain words.
//
// The rules go by meaning (something that holds tokens, and a word for too
// much), so that servers which nobody has seen yet are understood too. Errors
// that resemble an overflow and are none are looked for first.
func Classify(status int, header map[string][]string, body []byte) Verdict {
	f := readFacts(status, body)
	v := Verdict{Kind: f.kind(), Status: f.status, Message: f.message()}
	v.Provider = f.provider(header)
	v.Retryable = v.Kind == KindRateLimit || v.Kind == KindOverloaded || v.Kind == KindTimeout || v.Kind == KindOther && f.passing()
	switch v.Kind {
	case KindOverflow:
		if f.aboutBytes() {
			v.Bytes = f.byteLimit()
		} else {
			v.Limit, v.Actual, v.Output = f.numbers()
		}
	case KindOutputLimit:
		v.Output, _, _ = f.numbers()
	}
	v.RetryAfter = retryAfter(header)
	if s := headerValue(header, "x-should-retry"); s != "" {
		v.Retryable = s == "true" && v.Kind != KindOverflow
	}
	return v
}

// Overflow tells whether a successful answer hides an overflow: the provider
// counted more than the window, it stopped because the window was full, or it
// stopped for length before it wrote anything. Estimate is what the caller
// believes the prompt to be (0 if it does not know): a server that counted far
// less has dropped the beginning of the conversation in silence.
func (a *Answer) Overflow(window, estimate int) (Verdict, bool) {
	v := Verdict{Kind: KindOverflow, Limit: window, Actual: a.Usage.Prompt()}
	switch {
	case a.Failure != nil:
		return *a.Failure, a.Failure.Kind == KindOverflow
	case a.Stop == StopOverflow:
		v.Message = "the model stopped because its window was full"
	case window > 0 && a.Usage.Prompt() > window:
		v.Message = fmt.Sprintf("the provider accepted %d tokens for a window of %d", a.Usage.Prompt(), window)
	case a.Stop == StopLength && a.Usage.Output == 0 && len(a.Message.Parts) == 0:
		v.Message = "the model stopped for length before it wrote anything"
	case window > 0 && estimate > window && a.Usage.Prompt() > 0 && a.Usage.Prompt()*2 < estimate:
		v.Message = fmt.Sprintf("the provider counted %d tokens of about %d: it dropped the beginning", a.Usage.Prompt(), estimate)
		v.Actual = estimate
	default:
		return Verdict{}, false
	}
	return v, true
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
