package transport

import "github.com/winnow-llm/winnow/wire"

// How much output a request asks for. Clients ask for the most that their model can
// write, and planning keeps free what answers really have. Providers that count the
// wanted output into the window refuse a request whose prompt and output together do
// not fit, so less is asked for then: before it is sent where the window is known,
// and after a refusal otherwise. It is halved until it fits and then stays until the
// next rewrite: a limit that changed with every request, and a thinking budget with
// it, would cost the provider's cache.

// leastOutput is the least output to ask for, however little room is left.
const leastOutput = 256

// lowerAhead asks for less output where what is wanted cannot fit beside the
// prompt, or could not since the last rewrite.
func (c *conversation) lowerAhead(d decision) decision {
	d.asked = 0
	wanted := c.body.MaxTokens()
	if c.end.Counting || wanted == 0 || c.end.Dialect != wire.Anthropic && c.end.Dialect != wire.OpenAI {
		return d // the other dialects' providers do not count the output into the window
	}
	if known := c.t.engines.learnedLimits(c.whose); known.Context == 0 && known.Input == 0 && c.engine.Guessed() {
		return d
	}
	l, prompt := d.sent.status.Limits, d.sent.status.Count.Upper()
	if prompt == 0 {
		return d
	}
	most := halveOutput(wanted, l.Context-prompt, l.Reserve)
	if last := c.last; last != nil && last.output > 0 && last.outputPlan == c.base.ID() && last.body.MaxTokens() == wanted {
		most = min(most, last.output)
	}
	if most < min(wanted, leastOutput) || most >= wanted {
		return d
	}
	lower, ok := c.askFor(d, most)
	if ok {
		c.t.tally(func(s *Stats) { s.Ahead++ })
	}
	return lower
}

// halveOutput halves an output until the room holds it. It takes no less than the reserve,
// where the room holds that: answers have been as long.
func halveOutput(wanted, room, reserve int) int {
	n := wanted
	for n > max(room, 0) {
		n /= 2
	}
	if n < wanted {
		n = min(max(n, reserve), room)
	}
	return n
}

// lowerOutput asks for less output where that is all that is too much, and no less
// than least.
func (c *conversation) lowerOutput(d decision, v wire.Verdict, prompt, least int) (decision, bool) {
	room := v.Limit - prompt
	if v.Limit <= 0 || v.Output <= 0 || room < max(1, min(v.Output, least)) || room >= v.Output {
		return d, false
	}
	d, ok := c.askFor(d, halveOutput(v.Output, room, d.sent.status.Limits.Reserve))
	if ok {
		c.t.tally(func(s *Stats) { s.Lowered++ })
		c.learnFromOverflow(v)
	}
	return d, ok
}

// askFor writes the request with another limit of the output.
func (c *conversation) askFor(d decision, output int) (decision, bool) {
	// The body that is remembered stays as it came.
	body, err := c.body.Next(c.raw)
	if err != nil || body.SetMaxTokens(output) != nil {
		return d, false
	}
	out, err := body.Encode(d.sent.view)
	if err != nil {
		return d, false
	}
	d.out, d.asked = out, output
	if c.last == nil || c.last.output != output {
		c.t.opts.Log.Info("less output is asked for, which fits beside the prompt", "wanted", c.body.MaxTokens(), "max_tokens", output, "dialect", string(c.end.Dialect), "model", c.whose.model)
	}
	return d, true
}
