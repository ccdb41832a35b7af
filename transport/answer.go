package transport

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/wire"
)

// finding is what an answer shows that another try could mend; its zero value
// is nothing.
type finding struct {
	kind    wire.Kind
	verdict wire.Verdict

	// thinking says that signed thinking was refused.
	thinking bool
}

// Bounds of what is read of an answer before it is passed on.
const (
	maxError  = 1 << 20
	maxWhole  = 64 << 20
	maxHeld   = 256 << 10
	maxListen = 16 << 20
)

// look reads as much of an answer as is needed to know whether the request must
// be sent again, and sees to it that the rest is listened to. The caller of the
// transport gets every byte.
func (c *call) look(resp *http.Response) finding {
	if c.body == nil || resp.Body == nil || resp.Header.Get("Content-Encoding") != "" {
		return finding{}
	}
	if resp.StatusCode >= 400 {
		return c.refused(resp)
	}
	if c.end.Counting || resp.StatusCode != http.StatusOK {
		return finding{}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		return c.held(resp)
	case c.end.Stream: // a list of chunks, one after the other
		resp.Body = &listener{c: c, in: resp.Body}
		return finding{}
	}
	raw, err := peek(resp, maxWhole)
	if err != nil || len(raw) > maxWhole {
		return finding{}
	}
	a, err := wire.ParseAnswer(c.end.Dialect, raw)
	if err != nil {
		return finding{}
	}
	if len(a.Message.Parts) == 0 || a.Failure != nil {
		if f := c.hidden(a); f.kind != "" {
			return f
		}
	}
	c.answered(a)
	return finding{}
}

// hidden looks for an overflow inside a success.
func (c *call) hidden(a *wire.Answer) finding {
	v, over := a.Overflow(c.window(), c.sent.tokens)
	if !over {
		return finding{}
	}
	if a.Failure == nil {
		v.Limit = 0 // that is what we believed, not what it said
	}
	return finding{kind: wire.KindOverflow, verdict: v}
}

// window is the largest prompt that the model takes, as far as it is known.
func (c *call) window() int {
	m := c.engine.Model()
	if m.Input > 0 {
		return min(m.Input, max(m.Context, m.Input))
	}
	return m.Context
}

// peek reads a body up to a limit and puts it back, an error included.
func peek(resp *http.Response, limit int64) ([]byte, error) {
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

// refused looks at an error answer.
func (c *call) refused(resp *http.Response) finding {
	raw, err := peek(resp, maxError)
	if err != nil {
		return finding{}
	}
	return sort(wire.Classify(resp.StatusCode, resp.Header, raw))
}

// sort tells what can be done about an error.
func sort(v wire.Verdict) finding {
	switch {
	case v.Kind == wire.KindOverflow:
		return finding{kind: v.Kind, verdict: v}
	case v.Status != 0 && v.Status != http.StatusBadRequest || v.Kind != wire.KindMalformed && v.Kind != wire.KindBadRequest:
	case strings.Contains(v.Message, "signature") && strings.Contains(v.Message, "thinking"),
		strings.Contains(v.Message, "bound to a different conversation"),
		strings.Contains(v.Message, "encrypted content") && strings.Contains(v.Message, "could not be verified"):
		return finding{kind: v.Kind, verdict: v, thinking: true}
	}
	return finding{}
}

// keepSteps is how many calls of a conversation are remembered: enough to know
// how its counts compare with the provider's.
const keepSteps = 6

// answered learns from the usage that came with an answer.
func (c *call) answered(a *wire.Answer) {
	n := &c.t.count
	n.input.Add(int64(a.Usage.Input))
	n.cacheRead.Add(int64(a.Usage.CacheRead))
	n.cacheWrite.Add(int64(a.Usage.CacheWrite))
	n.output.Add(int64(a.Usage.Output))
	c.told.Lock()
	c.heard.Answered, c.heard.ID, c.heard.Reason, c.heard.Usage = a.Model, a.ID, a.Reason, a.Usage
	c.told.Unlock()
	if a.Usage.Prompt() <= 0 || c.sent.view.Len() == 0 {
		return
	}
	if _, over := a.Overflow(c.window(), c.sent.tokens); over && a.Usage.Prompt() <= c.window() {
		return // the provider has not read it all
	}
	c.step(a.Usage, c.engine.Meter().Counter().Message(&a.Message))
	before := c.point
	h := c.sent.view.History()
	c.point = h.Chain(h.Len())
	c.remember(c.steps)
	ctx := context.WithoutCancel(c.ctx())
	if err := c.t.opts.Store.Mark(ctx, c.key, planstore.Mark{Len: h.Len(), Chain: c.point, Steps: c.steps}, before); err != nil {
		n.storeFails.Add(1)
	}
}

// step adds what was reported for what was sent.
func (c *call) step(u chat.Usage, answer int) {
	steps := c.steps[max(0, len(c.steps)-keepSteps+1):]
	c.steps = append(slices.Clone(steps), token.Step{
		Messages: c.sent.view.Len(), Estimate: c.sent.estimate, Usage: u, Answer: answer,
		Model: c.model, Plan: string(c.sent.view.Plan().ID()),
	})
}
