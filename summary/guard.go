package summary

import (
	"context"
	"fmt"
	"strings"
	"time"
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
	out, err := g.try(ctx, in)
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	why := ""
	if err != nil {
		why = err.Error()
	} else if ps := Check(out.Text, in, Meta{}); len(ps) > 0 {
		why = "refused: " + ps[0].String()
		for _, p := range ps {
			out.Problems = append(out.Problems, p.String())
		}
	}
	if why == "" {
		return out, nil
	}
	own := Output{Used: "builtin after summarizer: " + clipLine(why, 300), Problems: append(out.Problems, why), Calls: out.Calls, Usage: out.Usage}
	own.Text, own.Prose = in.without()
	return own, nil
}

// guardGrace is how long a summariser is waited for once it was told to stop.
const guardGrace = time.Second

// try runs the summariser by itself. One that does not return when it is told to
// is left behind: what it writes later reaches nobody.
func (g guarded) try(ctx context.Context, in Input) (Output, error) {
	ctx, stop := context.WithTimeout(ctx, g.timeout)
	defer stop()
	type answer struct {
		out Output
		err error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: fmt.Errorf("it panicked: %v", p)}
			}
			done <- a
		}()
		a.out, a.err = g.s.Summarize(ctx, in)
	}()
	select {
	case a := <-done:
		return a.out, a.err
	case <-ctx.Done():
	}
	late, enough := context.WithTimeout(context.WithoutCancel(ctx), guardGrace)
	defer enough()
	select {
	case <-done:
	case <-late.Done():
	}
	return Output{}, fmt.Errorf("it did not answer within %s", g.timeout)
}

// InPlaceOfAnother reports whether a text was written by the built-in summariser
// in place of another one, and why.
func (o *Output) InPlaceOfAnother() (why string, ok bool) {
	rest, ok := strings.CutPrefix(o.Used, "builtin after ")
	return rest, ok
}
