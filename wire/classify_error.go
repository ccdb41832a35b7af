package wire

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
)

// Errors of clients carry their facts under different names.
type (
	statusError     interface{ StatusCode() int }
	httpStatusError interface{ HTTPStatusCode() int }
	codeError       interface{ ErrorCode() string }
	rawError        interface{ RawJSON() string }
	timeoutError    interface{ Timeout() bool }
)

// ClassifyError says what an error of a client means, looking through
// everything it wraps: statuses and codes, bodies, and words. A nil error gives
// the zero verdict.
func ClassifyError(err error) Verdict {
	if err == nil {
		return Verdict{}
	}
	var known *Verdict
	if errors.As(err, &known) {
		return *known
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Verdict{Kind: KindTimeout, Retryable: true, Message: err.Error()}
	case errors.Is(err, context.Canceled):
		return Verdict{Kind: KindOther, Message: err.Error()}
	}
	c := collected{}
	c.add(err, 0)
	v := Classify(c.status, nil, []byte(strings.Join(append(c.raw, c.words...), "\n")))
	if v.Kind == KindOther || v.Kind == KindBadRequest && c.status == 0 {
		var t timeoutError
		switch {
		case errors.As(err, &t) && t.Timeout():
			v.Kind, v.Retryable = KindTimeout, true
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EPIPE):
			v.Retryable = true
		}
	}
	v.Message = err.Error()
	return v
}

// collected is what the errors of a tree say.
type collected struct {
	status int
	raw    []string // bodies and codes
	words  []string
	n      int
}

func (c *collected) add(err error, depth int) {
	if err == nil || depth > 32 || c.n > 100 {
		return
	}
	c.n++
	if e, ok := err.(statusError); ok && c.status == 0 {
		c.status = e.StatusCode()
	}
	if e, ok := err.(httpStatusError); ok && c.status == 0 {
		c.status = e.HTTPStatusCode()
	}
	if e, ok := err.(codeError); ok {
		c.raw = append(c.raw, e.ErrorCode())
	}
	if e, ok := err.(rawError); ok {
		c.raw = append(c.raw, e.RawJSON())
	}
	// An error usually repeats the words of what it wraps.
	text := err.Error()
	repeated := false
	for _, w := range c.words {
		repeated = repeated || strings.Contains(w, text)
	}
	if !repeated {
		c.words = append(c.words, text)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		c.add(e.Unwrap(), depth+1)
	case interface{ Unwrap() []error }:
		for _, in := range e.Unwrap() {
			c.add(in, depth+1)
		}
	}
}
