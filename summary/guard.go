package summary

import (
	"context"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/internal/quote"
)

// guardTimeout is how long a guarded summariser may take. It is longer than
// [NewLLM] allows itself.
const guardTimeout = 6 * time.Minute

// Guard returns a summariser that holds another to its contract, so that no fold
// depends on it: where s fails, panics, takes more than six minutes or writes a text
// that the gate refuses, the built-in text is used and Output.After says why. Summarize
// then fails only when its own context is done or the input makes no sense.
func Guard(s Summarizer) Summarizer { return guarded{s, guardTimeout} }

type guarded struct {
	s       Summarizer
	timeout time.Duration
}

func (g guarded) Summarize(ctx context.Context, in Input) (Output, error) {
	in, err := in.withDefaults()
	if err != nil {
		return Output{}, err
	}
	out, err := attemptWithin(ctx, g.timeout, func(ctx context.Context) (Output, error) { return g.s.Summarize(ctx, in) })
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	why := ""
	if err != nil {
		why = err.Error()
	} else if problems := checkSummary(out.Text, in, asks{prose: out.Prose}); len(problems) > 0 {
		why = "refused: " + problems[0]
		out.Problems = append(out.Problems, problems...)
	}
	if why == "" {
		return out, nil
	}
	own := Output{Used: "builtin", After: "summarizer: " + quote.ClipLine(why, 300), Problems: append(out.Problems, why), Calls: out.Calls, Usage: out.Usage}
	own.Text, own.Prose = in.builtinText()
	return own, nil
}

// attemptWithin runs f by itself for at most that long. A panic is an error. An f that
// does not return when it is told to is left behind: what it gives later reaches
// nobody.
func attemptWithin[T any](ctx context.Context, most time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	var out T
	err := error(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("it panicked: %v", p)
			}
		}()
		out, err = f(ctx)
	}()
	select {
	case <-done:
		if err == nil || ctx.Err() == nil {
			return out, err
		}
	case <-ctx.Done():
	}
	var none T
	return none, fmt.Errorf("no answer within %v: %w", most, ctx.Err())
}
