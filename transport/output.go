package transport

import "github.com/winnow-llm/winnow/wire"

// How much output a request asks for. Clients ask for the most that their model can
// write, and planning keeps free what answers really have. Providers that count the
// wanted output into the window refuse a request whose prompt and output together do
// not fit, so less is asked for then: before it is sent where the window is known,
// and after a refusal otherwise. It is halved until it fits and then stays until the
// next rewrite: a limit that changed with every request, and a thinking budget with
// it, would cost the provider's cache.

// leastOutput is the least output that is asked for where there is no room for
// more.
const leastOutput = 256

// sharesWindow reports whether the provider counts the wanted output into the
// window, and the request can be asked for less.
func (c *call) sharesWindow() bool {
	return c.end.Dialect == wire.Anthropic || c.end.Dialect == wire.OpenAI
}

// lowerAhead asks for less output where what is wanted cannot fit beside the
// prompt, or could not since the last rewrite.
func (c *call) lowerAhead() {
	c.asked = 0
	wanted := c.body.MaxTokens()
	if c.end.Counting || wanted == 0 || !c.sharesWindow() {
		return // the others do not count the output into the window
	}
	if known := c.t.engines.known(c.whose); known.Context == 0 && known.Input == 0 && c.engine.Guessed() {
		return
	}
	l, prompt := c.sent.status.Limits, c.sent.status.Count.Upper()
	if prompt == 0 {
		return
	}
	most := halve(wanted, l.Context-prompt, l.Reserve)
	if last := c.last; last != nil && last.output > 0 && last.outputPlan == c.base.ID() && last.body.MaxTokens() == wanted {
		most = min(most, last.output)
	}
	if most < min(wanted, leastOutput) || most >= wanted {
		return
	}
	if c.ask(most) {
		c.t.count.loweredAhead.Add(1)
	}
}

// halve halves an output until the room holds it. It takes no less than the reserve,
// where the room holds that: answers have been as long.
func halve(wanted, room, reserve int) int {
	n := wanted
	for n > max(room, 0) {
		n /= 2
	}
	if n < wanted {
		n = min(max(n, reserve), room)
	}
	return n
}

// lower asks for less output where that is all that is too much, and no less
// than least.
func (c *call) lower(v wire.Verdict, prompt, least int) bool {
	room := v.Limit - prompt
	if v.Limit <= 0 || v.Output <= 0 || room < max(1, min(v.Output, least)) || room >= v.Output || !c.ask(halve(v.Output, room, c.sent.status.Limits.Reserve)) {
		return false
	}
	c.t.count.lowered.Add(1)
	c.hear(v)
	return true
}

// ask writes the request with another limit of the output.
func (c *call) ask(output int) bool {
	// The body that is remembered stays as it came.
	body, err := c.body.Next(c.raw)
	if err != nil || body.SetMaxTokens(output) != nil {
		return false
	}
	out, err := body.Encode(c.sent.view)
	if err != nil {
		return false
	}
	c.out, c.asked = out, output
	if c.last == nil || c.last.output != output {
		c.t.opts.Log.Info("less output is asked for, which fits beside the prompt", "wanted", c.body.MaxTokens(), "max_tokens", output, "dialect", string(c.end.Dialect), "model", c.model)
	}
	return true
}
