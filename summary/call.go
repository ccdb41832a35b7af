package summary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/quote"
)

// complete makes one call, with its retries, and records what it cost.
func (r *run) complete(ctx context.Context, p Prompt, required []string) (part, error) {
	wait := r.o.Backoff
	for try := 0; ; try++ {
		c, err := r.call(ctx, p)
		if err == nil {
			return part{text: answer(c.Text, r.most), asks: asks{stop: c.Stop, toolCalls: c.ToolCalls, sections: required}}, nil
		}
		if ctx.Err() != nil {
			return part{}, fmt.Errorf("no answer within %v: %w", r.o.Timeout, ctx.Err())
		}
		var long interface{ ContextLimit() int }
		var hint interface{ Retryable() bool }
		if try >= r.o.Retries || errors.As(err, &long) || errors.As(err, &hint) && !hint.Retryable() {
			return part{}, err
		}
		pause := wait
		var after interface{ RetryAfter() time.Duration }
		if errors.As(err, &after) && after.RetryAfter() > 0 {
			pause = after.RetryAfter()
		}
		wait = min(2*wait, time.Minute)
		if err := r.o.Sleep(ctx, pause); err != nil {
			return part{}, fmt.Errorf("no answer within %v: %w", r.o.Timeout, err)
		}
	}
}

// call asks the model once.
func (r *run) call(ctx context.Context, p Prompt) (Completion, error) {
	r.mu.Lock()
	r.calls++
	r.mu.Unlock()
	c, err := attempt(ctx, r.o.CallTimeout, func(ctx context.Context) (Completion, error) { return r.o.Model.Complete(ctx, p) })
	if err != nil {
		return c, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Input += c.Usage.Input
	r.usage.CacheRead += c.Usage.CacheRead
	r.usage.CacheWrite += c.Usage.CacheWrite
	r.usage.Output += c.Usage.Output
	r.usage.Thinking += c.Usage.Thinking
	if c.Model != "" {
		r.name = c.Model
	}
	return c, nil
}

// answer strips what models put around what was asked for. An answer far
// beyond its room is cut, so that the gate judges a bounded text; it is still too large for it.
func answer(s string, most int) string {
	if room := 64*most + 1<<16; len(s) > room {
		s = s[:room]
	}
	s = quote.Clean(s)
	for _, tag := range [...]string{"think", "thinking", "analysis"} {
		if from := strings.Index(s, "<"+tag+">"); from >= 0 {
			if to := strings.Index(s[from:], "</"+tag+">"); to >= 0 {
				s = s[:from] + s[from+to+len(tag)+3:]
			}
		}
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "```") && strings.HasSuffix(s, "```") && len(s) > 6 {
		if _, body, ok := strings.Cut(s, "\n"); ok {
			s = strings.TrimSpace(strings.TrimSuffix(body, "```"))
		}
	}
	return s
}
