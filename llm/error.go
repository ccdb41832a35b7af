package llm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/wire"
)

// Error is a call that failed. Where the request was too long, it comes inside
// an [*OverflowError].
type Error struct {
	Provider, Model string

	// Verdict says what the failure means, whether the same call may succeed later, and
	// how long the provider asks to wait. A request that is too long or wrong (HTTP 400)
	// may not, whatever else the answer says.
	Verdict wire.Verdict

	// Status is the HTTP status, 0 when there was no answer. It is 200 when the
	// failure came inside a success.
	Status int

	// Tries is how often the call was made.
	Tries int

	// RequestID is the provider's name for the call, for its support; "" if it gave none.
	RequestID string

	cause  error
	source string
}

// Error says what failed, how often it was tried and what to do. It shows no
// key and no part of the request.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "llm: %s/%s: %s", e.Provider, text.Clip(e.Model, 80), e.Verdict.Kind)
	if e.Status != 0 && e.Status != 200 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Tries > 1 {
		fmt.Fprintf(&b, " after %d tries", e.Tries)
	}
	if m := text.Clip(oneLine(e.Verdict.Message), 300); m != "" {
		b.WriteString(": " + m)
	}
	if h := e.hint(); h != "" {
		b.WriteString("; " + h)
	}
	if e.RequestID != "" {
		b.WriteString(" [" + e.RequestID + "]")
	}
	return b.String()
}

func (e *Error) hint() string {
	switch e.Verdict.Kind {
	case wire.KindOverflow:
		return "shorten the request"
	case wire.KindAuth:
		if errors.As(e.cause, new(*SetupError)) {
			return "" // it says what to do
		}
		if e.source != "" {
			return "check the key in " + e.source
		}
		return "check the credentials"
	case wire.KindQuota:
		return "check the balance and limits of the account"
	case wire.KindRateLimit, wire.KindOverloaded:
		if d := e.Verdict.RetryAfter; d > 0 {
			return fmt.Sprintf("try again in %v", d.Round(time.Second))
		}
		return "try again later"
	case wire.KindTimeout:
		return "try again, or raise the timeout"
	case wire.KindOutputLimit:
		return "ask for less output"
	}
	return ""
}

// Unwrap returns the cause, such as [context.Canceled]; nil when the provider
// itself answered with the failure.
func (e *Error) Unwrap() error { return e.cause }

// asTypedError returns the error as callers get it.
func (e *Error) asTypedError() error {
	if e.Verdict.Kind == wire.KindOverflow {
		return &OverflowError{e}
	}
	return e
}

// OverflowError is a request that was too long for the model.
type OverflowError struct{ Err *Error }

// Error returns the call's error.
func (e *OverflowError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the call.
func (e *OverflowError) Unwrap() error { return e.Err }

// ContextLimit returns the limit in tokens that the provider named; 0 if it
// named none.
func (e *OverflowError) ContextLimit() int { return e.Err.Verdict.Limit }

// tokenShapes are the shapes of keys and tokens, for those that this package
// never held: a server may repeat the header that a round-tripper added.
var tokenShapes = regexp.MustCompile(`(?i)\bbearer\s+[\w.~+/=-]{8,}|\b(sk|pk|rk|gsk|xai|hf|key|ghp|r8|csk|nvapi)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bya29\.[\w.-]+|\beyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?|\b(AKIA|ASIA)[A-Z0-9]{12,}|\bx-amz-security-token["':\s=]+[\w/+=-]+|\b(credential|signature)=[\w/%+=-]+|://[^/"'<>]*@`)

const hidden = "[hidden]"

// hideCredentials takes everything that looks like a key or a token out of a text.
func hideCredentials(s string) string { return tokenShapes.ReplaceAllString(s, hidden) }

// newRedactor returns a function that takes secrets out of texts. They live in
// its closure, so that printing a client does not show them.
func newRedactor(secrets []string) func(string) string {
	var pairs []string
	for _, s := range secrets {
		// What is shorter is a word ("none", "ollama"), and hiding it garbles messages.
		if s = strings.TrimSpace(s); len(s) < 8 {
			continue
		}
		pairs = append(pairs, s, hidden)
		for _, form := range []string{url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s))} {
			if form != s {
				pairs = append(pairs, form, hidden)
			}
		}
	}
	r := strings.NewReplacer(pairs...)
	return func(s string) string { return hideCredentials(r.Replace(s)) }
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || unicode.IsSpace(r) }), " ")
}
