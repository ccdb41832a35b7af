package summary

import (
	"context"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/quote"
)

// GuardTimeout is how long a guarded summariser may take. It is longer than
// [NewLLM] allows itself.
const GuardTimeout = 6 * time.Minute

// Guard returns a summariser that holds another to its contract, so that no fold
// depends on it: where s fails, panics, hangs past the time-out or writes a text
// that the gate refuses, the built-in text is used and Output.Used says why. A
// time-out of 0 is [GuardTimeout]. Summarize then fails only when its own context
// is done or the input makes no sense.
func Guard(s Summarizer, timeout time.Duration) Summarizer {
	if timeout <= 0 {
		timeout = GuardTimeout
	}
	return guarded{s, timeout}
}

type guarded struct {
	s       Summarizer
	timeout time.Duration
}

func (g guarded) Summarize(ctx context.Context, in Input) (Output, error) {
	in, err := in.normal()
	if err != nil {
		return Output{}, err
	}
	out, err := attempt(ctx, g.timeout, func(ctx context.Context) (Output, error) { return g.s.Summarize(ctx, in) })
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	why := ""
	if err != nil {
		why = err.Error()
	} else if problems := check(out.Text, in, asks{prose: out.Prose}); len(problems) > 0 {
		why = "refused: " + problems[0]
		out.Problems = append(out.Problems, problems...)
	}
	if why == "" {
		return out, nil
	}
	own := Output{Used: "builtin after summarizer: " + quote.ClipLine(why, 300), Problems: append(out.Problems, why), Calls: out.Calls, Usage: out.Usage}
	own.Text, own.Prose = in.without()
	return own, nil
}

// InPlaceOfAnother reports whether a text was written by the built-in summariser
// in place of another one, and why.
func (o *Output) InPlaceOfAnother() (why string, ok bool) {
	return strings.CutPrefix(o.Used, "builtin after ")
}
