package transport

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// finding is what an answer shows that another try could mend; its zero value
// is nothing.
type finding struct {
	kind    wire.Kind
	verdict wire.Verdict

	// thinking says that signed thinking was refused, bound that it was because
	// of what stands before it.
	thinking, bound bool
}

// Bounds of what is read of an answer before it is passed on.
const (
	maxError  = 1 << 20
	maxWhole  = 64 << 20
	maxHeld   = 256 << 10
	maxListen = 16 << 20
)

// inspectAnswer reads as much of an answer as is needed to know whether the request must
// be sent again, and sees to it that the rest is listened to. The caller of the
// transport gets every byte.
func (r *result) inspectAnswer(resp *http.Response) finding {
	if resp.Body == nil || resp.Header.Get("Content-Encoding") != "" {
		return finding{}
	}
	if r.d.kind == passedOn {
		r.listenToAnswer(resp)
		return finding{}
	}
	if resp.StatusCode >= 400 {
		raw, err := peekBody(resp, maxError)
		if err != nil {
			return finding{}
		}
		return findRemedy(wire.Classify(resp.StatusCode, resp.Header, raw))
	}
	end := r.c.end
	if end.Counting || resp.StatusCode != http.StatusOK {
		return finding{}
	}
	switch {
	case isEventStream(resp):
		return r.holdStream(resp)
	case end.Stream: // a list of chunks, one after the other
		resp.Body = &listener{r: r, d: r.d, in: resp.Body}
		return finding{}
	}
	raw, err := peekBody(resp, maxWhole)
	if err != nil || len(raw) > maxWhole {
		return finding{}
	}
	a, err := wire.ParseAnswer(end.Dialect, raw)
	if err != nil {
		return finding{}
	}
	if len(a.Message.Parts) == 0 || a.Failure != nil {
		if f := r.findOverflow(a); f.kind != "" {
			return f
		}
	}
	r.learnFromAnswer(r.d, a)
	return finding{}
}

// isEventStream reports whether an answer comes as server-sent events.
func isEventStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// listenToAnswer hears what the answer to a request that passes untouched has cost.
// Nothing of it is held back.
func (r *result) listenToAnswer(resp *http.Response) {
	switch {
	case r.c.end.Counting || resp.StatusCode != http.StatusOK:
	case isEventStream(resp):
		t := newTap(r, resp.Body)
		t.let = true
		close(t.free)
		resp.Body = t
	default:
		resp.Body = &listener{r: r, d: r.d, in: resp.Body}
	}
}

// findOverflow looks for an overflow inside a success.
func (r *result) findOverflow(a *wire.Answer) finding {
	v, over := a.Overflow(r.c.largestPrompt(), r.d.sent.tokens())
	if !over {
		return finding{}
	}
	if a.Failure == nil {
		v.Limit = 0 // that is what we believed, not what it said
	}
	return finding{kind: wire.KindOverflow, verdict: v}
}

// largestPrompt returns the largest prompt that the model takes, as far as it is known.
func (in *incoming) largestPrompt() int {
	m := in.engine.With(in.t.engines.learnedLimits(in.whose))
	if m.Input > 0 {
		return min(m.Input, max(m.Context, m.Input))
	}
	return m.Context
}

// peekBody reads a body up to a limit and puts it back, an error included.
func peekBody(resp *http.Response, limit int64) ([]byte, error) {
	in := resp.Body
	raw, err := readAll(in, limit, resp.ContentLength)
	rest := []io.Reader{bytes.NewReader(raw)}
	switch err {
	case nil:
	case errTooLarge:
		rest, err = append(rest, in), nil
	default:
		rest = append(rest, broken{err})
	}
	resp.Body = both{io.MultiReader(rest...), in}
	return raw, err
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// findRemedy tells what can be done about an error.
func findRemedy(v wire.Verdict) finding {
	switch {
	case v.Kind == wire.KindOverflow:
		return finding{kind: v.Kind, verdict: v}
	case v.Status != 0 && v.Status != http.StatusBadRequest || v.Kind != wire.KindMalformed && v.Kind != wire.KindBadRequest:
	case strings.Contains(v.Message, "signature") && strings.Contains(v.Message, "thinking"),
		strings.Contains(v.Message, "bound to a different conversation"),
		strings.Contains(v.Message, "encrypted content") && strings.Contains(v.Message, "could not be verified"),
		// Codex sends this after a stream that broke off behind the reasoning.
		strings.Contains(v.Message, "'reasoning'") && strings.Contains(v.Message, "without its required following item"):
		return finding{kind: v.Kind, verdict: v, thinking: true, bound: strings.Contains(v.Message, "bound to a different conversation")}
	}
	return finding{}
}

// learnFromAnswer learns from the usage in the answer to a decision's request.
func (r *result) learnFromAnswer(d *decision, a *wire.Answer) {
	c := r.c
	c.t.tally(func(s *Stats) {
		for _, u := range [...]chat.Usage{a.Usage, a.Extra} {
			s.Input += int64(u.Input)
			s.CacheRead += int64(u.CacheRead)
			s.CacheWrite += int64(u.CacheWrite)
			s.Output += int64(u.Output)
		}
	})
	r.told.Lock()
	r.heard.Answered, r.heard.ID, r.heard.Reason, r.heard.Usage, r.heard.Extra = a.Model, a.ID, a.Reason, a.Usage, a.Extra
	r.told.Unlock()
	if d.sent.view.Len() == 0 || c.end.Compacting {
		return
	}
	if a.Stop == wire.StopOverflow && a.Usage.Context() >= leastLearned && a.Usage.Output > 0 {
		// It read all and wrote until its window was full, which tells how large that is.
		c.learnFromOverflow(wire.Verdict{Limit: a.Usage.Context(), Output: a.Usage.Output})
	} else if _, over := a.Overflow(c.largestPrompt(), d.sent.tokens()); over && a.Usage.Prompt() <= c.largestPrompt() {
		return // the provider has not read it all
	}
	if reported := a.Usage.Prompt(); reported > 0 && c.wasCutInSilence(&d.sent, reported) {
		c.warnOfCut(&d.sent, reported)
		return
	}
	c.updateLesson(func(l *lesson) {
		l.Guess.take(d.sent.tokens(), a.Usage.Prompt(), r.heard.Overflows > 0, c.engine.Settings().Threshold)
	})
	if a.Usage.Prompt() <= 0 {
		return
	}
	c.addStep(&d.sent, a.Usage, c.engine.Meter().Counter().Message(&a.Message), a.Stop == wire.StopLength || a.Stop == wire.StopOverflow)
	c.markProgress(d.asked)
}

// overflowedLate learns from an overflow that came when the answer had begun. The
// caller has that answer and can only send its request again, which must not fail
// the same way.
func (r *result) overflowedLate(d *decision, v wire.Verdict) {
	if v.Kind != wire.KindOverflow || v.Bytes != 0 || d.kind == passedOn {
		return
	}
	c := r.c
	c.t.tally(func(s *Stats) { s.Overflows++ })
	r.told.Lock()
	r.heard.Overflows++
	r.told.Unlock()
	if c.t.opts.Observe || d.sent.tokens() == 0 {
		return
	}
	c.learnLimit(&d.sent, v, true)
	if prompt := v.Actual - v.Output; v.Actual > 0 && prompt > 0 {
		c.addStep(&d.sent, chat.Usage{Input: prompt}, 0, false)
		c.markProgress(d.asked)
	}
}

// markProgress remembers the usage reported up to here, and has the store keep it.
func (c *conversation) markProgress(output int) {
	before, h := c.point, c.history()
	c.point = h.Chain(h.Len())
	c.rememberRequest(output)
	ctx := context.WithoutCancel(c.ctx())
	if err := c.t.opts.Store.Mark(ctx, c.key, planstore.Mark{Len: h.Len(), Chain: c.point, Steps: c.steps, NotLasted: c.track.State().NotLasted}, before); err != nil {
		c.storeFailed(err)
	}
}

// addStep adds the usage reported for a request, the estimate of its answer, and
// whether that was cut off.
func (c *conversation) addStep(sent *projection, u chat.Usage, answer int, cut bool) {
	s := sent.step
	s.Usage, s.Answer, s.Model, s.Cut = u, answer, c.whose.model, cut
	c.steps = token.Keep(c.steps, s)
	c.resumeTrack()
}
