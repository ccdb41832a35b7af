package summary

import (
	"cmp"
	"context"
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
)

// askModel asks the model once for a piece, and records what it cost.
func (r *run) askModel(ctx context.Context, p Prompt, x *piece) error {
	r.mu.Lock()
	r.calls++
	r.mu.Unlock()
	c, err := attemptWithin(ctx, r.o.Timeout, func(ctx context.Context) (Completion, error) { return r.o.Model.Complete(ctx, p) })
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Input += c.Usage.Input
	r.usage.CacheRead += c.Usage.CacheRead
	r.usage.CacheWrite += c.Usage.CacheWrite
	r.usage.Output += c.Usage.Output
	r.usage.Thinking += c.Usage.Thinking
	r.name = cmp.Or(c.Model, r.name)
	x.text, x.asks = stripAnswer(c.Text, r.most), asks{stop: c.Stop, toolCalls: c.ToolCalls, sections: r.in.requiredSections(x.turn)}
	return nil
}

// stripAnswer strips what models put around the text they were asked for. An answer
// far beyond its room is cut, so that the gate judges a bounded text; it is still
// too large for it.
func stripAnswer(s string, most int) string {
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
