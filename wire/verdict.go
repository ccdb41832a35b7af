package wire

import (
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/wire/internal/classify"
)

// Kind says what an error means for the caller.
type Kind = classify.Kind

// The kinds of errors.
const (
	KindOverflow    = classify.Overflow    // the request is too long: shorten it
	KindRateLimit   = classify.RateLimit   // too much in too short a time: wait
	KindQuota       = classify.Quota       // the account has no more to spend
	KindOverloaded  = classify.Overloaded  // the provider has no capacity now: wait
	KindAuth        = classify.Auth        // the credentials are refused
	KindOutputLimit = classify.OutputLimit // more output was asked for than the model can give
	KindMalformed   = classify.Malformed   // the messages break a rule of the dialect
	KindBadRequest  = classify.BadRequest  // something else about the request
	KindTimeout     = classify.Timeout     // it took too long
	KindOther       = classify.Other
)

// Verdict is what an error means. A *Verdict is an error.
type Verdict struct {
	Kind Kind `json:"kind"`

	// Provider is the server that wrote the error, as far as its words tell; ""
	// is unknown. Many servers copy OpenAI's words.
	Provider string `json:"provider"`

	// Limit and Actual are the tokens that are allowed and that were counted,
	// where an overflow names them; 0 is unknown. Actual includes Output, where
	// the server counts the output that was asked for.
	Limit  int `json:"limit,omitempty"`
	Actual int `json:"actual,omitempty"`

	// Output is the tokens of output that were asked for; of an output limit,
	// those that are allowed.
	Output int `json:"output,omitempty"`

	// Bytes is the limit of an overflow that is about the body's size and not
	// about tokens; -1 when the server does not name it.
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
// be the provider's JSON, JSON inside a string inside JSON, JSON as Python
// prints it, or plain words.
//
// The rules go by meaning (something that holds tokens, and a word for too
// much), so that they also understand servers that nobody has seen yet.
func Classify(status int, header map[string][]string, body []byte) Verdict {
	return Verdict(classify.Classify(status, header, body))
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
		v.Message = "the model reached its length limit before it wrote anything"
	case window > 0 && estimate > window && a.Usage.Prompt() > 0 && a.Usage.Prompt()*2 < estimate:
		v.Message = fmt.Sprintf("the provider counted only %d of about %d tokens: it dropped the beginning", a.Usage.Prompt(), estimate)
		v.Actual = estimate
	default:
		return Verdict{}, false
	}
	return v, true
}
