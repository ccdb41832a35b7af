package winnow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// TestFitPropertiesOnTheWire checks the guarantee on what is sent. Random
// histories come as bodies of every dialect, Anthropic's with thinking switched
// on or not, as different clients write them; with pins, some of them inside an open
// tool loop; with limits in tokens, bytes and images. What is said to fit is
// encoded: the provider's own rules hold for the bytes, they are within the
// limit, pinned messages stand in them byte for byte, and the exact count of the
// vocabulary is within the limit in tokens.
func TestFitPropertiesOnTheWire(t *testing.T) {
	n := histories(t) / 10
	var planned, cannot, inLoop, next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				seed := uint64(next.Add(1) - 1)
				if seed >= uint64(n) || t.Failed() {
					return
				}
				c, err := newWireCase(seed)
				if err == nil {
					err = c.check()
				}
				if err != nil {
					t.Errorf("seed %d: %s: %v", seed, c, err)
					return
				}
				if c.planned {
					planned.Add(1)
				}
				if c.cannot {
					cannot.Add(1)
				}
				if c.pinInLoop && c.planned {
					inLoop.Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d bodies: %d planned, %d of them with a pin in an open loop, %d cannot fit", n, planned.Load(), inLoop.Load(), cannot.Load())
	if !t.Failed() && (planned.Load() < int64(n/5) || inLoop.Load() < int64(n/100)) {
		t.Error("the bodies no longer reach what is checked")
	}
}

type wireCase struct {
	d                          wire.Dialect
	body                       *wire.Body
	set                        winnow.Settings
	pins                       []winnow.Pin
	wrong                      map[string]bool // rules that the body breaks as it comes
	pinInLoop, planned, cannot bool
}

func (c *wireCase) String() string {
	if c.body == nil {
		return string(c.d)
	}
	return fmt.Sprintf("%s, %d messages, window %d, %d of %d bytes, pins %v", c.d, c.body.Request().History.Len(), c.set.Window, len(c.body.Raw()), c.set.MaxBytes, c.pins)
}

func newWireCase(seed uint64) (*wireCase, error) {
	r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 99))
	c := &wireCase{d: []wire.Dialect{wire.OpenAI, wire.Responses, wire.Anthropic, wire.Gemini, wire.Anthropic}[seed%5]}
	thinks := c.d == wire.Anthropic && r.IntN(3) > 0
	msgs := randhist.Messages(r, randhist.Options{Healthy: true, Style: randhist.UserRole, Messages: 4 + r.IntN(50), MaxText: 3000, Wide: true, Thinks: thinks})
	if r.IntN(2) == 0 { // an open loop
		msgs = append(msgs, user("Find out why the lease is lost."))
		for i := range 1 + r.IntN(12) {
			msgs = append(msgs, looking(1000+i, thinks)...)
		}
	} else if len(msgs) > 0 && msgs[len(msgs)-1].Role == chat.Assistant {
		msgs = append(msgs, user("Go on."))
	}
	req := chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: "Be careful."}},
		Tools:   []chat.ToolDef{{Name: "bash", Description: "Runs a command.", Schema: `{"type":"object"}`}},
		History: chat.NewHistory(msgs...), Output: 1100,
	}
	raw, err := wire.Render(c.d, "gpt-4o", req, nil)
	if err != nil {
		return c, err
	}
	if thinks {
		raw = bytes.Replace(raw, []byte(`"messages"`), []byte(`"thinking":{"type":"enabled","budget_tokens":1024},"messages"`), 1)
	}
	if r.IntN(4) == 0 {
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return c, err
		}
		raw = b.Bytes()
	}
	if c.body, err = wire.Parse(c.d, raw); err != nil {
		return c, err
	}
	c.wrong = map[string]bool{}
	for _, p := range wire.Validate(c.d, raw) {
		c.wrong[p.Rule] = true // Gemini's signatures, which random calls lack
	}
	c.set = winnow.Settings{Model: "gpt-4o", Window: 3000 << r.IntN(5), OutputReserve: 1100}
	if r.IntN(2) == 0 {
		c.set.MaxBytes = len(raw)/4 + r.IntN(len(raw))
	}
	if r.IntN(4) == 0 {
		c.set.MaxImages = 1 + r.IntN(3)
	}
	h := c.body.Request().History
	loop := chat.OpenLoop(h)
	for range r.IntN(4) {
		m := r.IntN(h.Len())
		if loop >= 0 && r.IntN(2) == 0 {
			m = loop + r.IntN(h.Len()-loop)
		}
		c.pins = append(c.pins, winnow.Pin{Message: m, Part: -1})
		c.pinInLoop = c.pinInLoop || loop >= 0 && m >= loop
	}
	return c, nil
}

func (c *wireCase) check() error {
	w := mustNew(c.set)
	req := c.body.Request()
	r, err := w.Fit(context.Background(), req, winnow.State{Pins: c.pins, Ask: winnow.Ask{Encoded: c.body.Size}})
	var e *winnow.CannotFitError
	if errors.As(err, &e) {
		c.cannot = true
		return nil
	}
	if err != nil {
		return err
	}
	c.planned = r.Changed
	out, err := c.body.Encode(r.View)
	if err != nil {
		return err
	}
	for _, p := range wire.Validate(c.d, out) {
		if !c.wrong[p.Rule] {
			return fmt.Errorf("the provider refuses the body: %s", p)
		}
	}
	if !r.After.Fits && !(r.Waited && r.Before.Fits) {
		return fmt.Errorf("does not fit: %v", r.After.Over)
	}
	if r.After.Fits && c.set.MaxBytes > 0 && len(out) > c.set.MaxBytes {
		return fmt.Errorf("%d bytes are sent, the limit is %d", len(out), c.set.MaxBytes)
	}
	if err := c.checkPins(r, out); err != nil {
		return err
	}
	sent, err := wire.Parse(c.d, out)
	if err != nil {
		return err
	}
	exact := sent.Request()
	if n := exactly.Request(&exact); r.After.Fits && n > r.After.Limits.Available {
		return fmt.Errorf("exactly %d tokens, at most %d by the estimate, %d are available", n, r.After.Count.Upper(), r.After.Limits.Available)
	}
	return nil
}

var exactly = token.New(token.O200K, &token.Options{Exact: true})

// checkPins looks for pinned messages in what is sent. Signed thinking is removed
// where something before it changed, so where there is some the parts are compared.
func (c *wireCase) checkPins(r winnow.Result, out []byte) error {
	sent, err := wire.Parse(c.d, out)
	if err != nil {
		return err
	}
	h := c.body.Request().History
	for _, p := range c.pins {
		want, found := h.At(p.Message), false
		for _, m := range sent.Request().History.All() {
			found = found || keeps(m, want, true)
		}
		if !found {
			return fmt.Errorf("pinned message %d is not sent as it was", p.Message)
		}
	}
	return nil
}
