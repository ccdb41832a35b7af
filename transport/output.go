package transport

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// How much output a request asks for. Providers that count the wanted output
// into the window refuse a request whose prompt and output together do not fit,
// though the answer would hardly ever be that long. Less is asked for then:
// before it is sent where the window is known, and after a refusal otherwise.

// leastOutput is the least output that is asked for where there is no room for
// more.
const leastOutput = 256

// kept is how much of the output that a request wants planning keeps free: at most
// half of what the agent's own prompt and tools leave of the window. An agent that
// asks for 32,000 tokens of 60,000 beside a prompt of 29,000 wants no history
// of nothing, in which not even its newest result has room; it asks for the most
// that its model can write. What is asked for beyond that is lowered before it is
// sent.
func (c *call) kept(r *chat.Request) int {
	wanted := r.Output
	if wanted <= 0 || !c.sharesWindow() {
		return wanted
	}
	window := c.engine.With(c.t.engines.known(c.whose)).Window(wanted)
	system, tools := c.engine.Meter().Fixed(r)
	half := max(window-system.Add(tools).Tokens, window/4) / 2
	if wanted > half && wanted < window {
		return half
	}
	return wanted
}

// sharesWindow reports whether the provider counts the wanted output into the
// window, and the request can be asked for less.
func (c *call) sharesWindow() bool {
	return c.end.Dialect == wire.Anthropic || c.end.Dialect == wire.OpenAI
}

// lowerAhead asks for less output where what is wanted cannot fit beside the
// prompt. It asks for what planning keeps free, which stays the same from
// request to request: a thinking budget that changed each time would cost the
// provider's cache.
func (c *call) lowerAhead() {
	wanted := c.body.MaxTokens()
	if c.end.Counting || wanted == 0 || !c.sharesWindow() {
		return // the others do not count the output into the window
	}
	if known := c.t.engines.known(c.whose); known.Context == 0 && known.Input == 0 && c.engine.Guessed() {
		return
	}
	l, prompt := c.sent.status.Limits, c.sent.status.Count.Upper()
	if prompt == 0 || prompt+wanted <= l.Context {
		return
	}
	most := l.Reserve
	if prompt > l.Context-most {
		most = l.Context - prompt
	}
	if most < min(wanted, leastOutput) || most >= wanted {
		return
	}
	if c.ask(most) {
		c.t.count.loweredAhead.Add(1)
	}
}

// lower asks for less output where that is all that is too much, and no less
// than least.
func (c *call) lower(v wire.Verdict, prompt, least int) bool {
	room := v.Limit - prompt
	if v.Limit <= 0 || v.Output <= 0 || room < max(1, min(v.Output, least)) || room >= v.Output || !c.ask(room) {
		return false
	}
	c.t.count.lowered.Add(1)
	c.t.engines.learn(c.whose, v)
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
	c.out = out
	return true
}
