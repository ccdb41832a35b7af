package providersim

import "net/http"

// answerOverflow checks the prompt against the window and answers if it does not fit.
// What overflows is not billed, whatever the shape.
// It returns whether the request is done with.
func (s *Server) answerOverflow(c *call, out *writer) bool {
	n := c.prompt.tokens
	sum := false
	if n <= c.window {
		sum = c.sumCounts && n+c.maxOutput > c.window
		if !sum {
			return false
		}
	}
	shape := s.opts.Overflow[c.d.traits().name]
	if h := c.http.Header.Get("Sim-Overflow"); h != "" {
		shape = Overflow(h)
	}
	if shape == OverflowSilent || sum && shape == OverflowFinish {
		// A model that may stop at the window's end has no reason to refuse.
		return false
	}
	c.rec.Reason = ruleOverflow
	if sum {
		c.rec.Reason = "overflow_with_output"
	}
	switch shape {
	case OverflowTooLarge:
		r := tooManyBytes(c.d.traits().name, 20<<20)
		r.status = http.StatusRequestEntityTooLarge
		out.sendRefusal(c, r)
	case OverflowEmpty:
		out.writeHead(http.StatusBadRequest, "")
	case OverflowFinish:
		c.usage = usage{input: n}
		c.stopped = stopWindow
		events, body := c.d.answerEvents(c), encodeJSON(c.d.answerBody(c))
		c.usage = usage{}
		if c.stream {
			out.sendStream(c, events)
		} else {
			out.sendWhole(http.StatusOK, body)
		}
	case OverflowStream, OverflowLate:
		if !c.stream {
			out.sendRefusal(c, c.d.tooLong(c, OverflowDefault, sum))
			break
		}
		s.breakOff(c, out, shape == OverflowLate, sum)
	case OverflowDefault:
		if c.stream && c.d.traits().name == Responses {
			s.breakOff(c, out, false, sum)
			break
		}
		fallthrough
	default:
		out.sendRefusal(c, c.d.tooLong(c, shape, sum))
	}
	return true
}

// breakOff streams the start of an answer and then the refusal as an event.
func (s *Server) breakOff(c *call, out *writer, late, sum bool) {
	c.usage = usage{input: c.prompt.tokens}
	c.letAgentAnswer(0)
	all := c.d.answerEvents(c)
	n := c.d.traits().leading
	if late {
		n += (len(all) - n) / 2
	}
	events := append(all[:n:n], c.failedEvent(c.d.tooLong(c, OverflowDefault, sum), n))
	c.usage = usage{}
	out.sendStream(c, events)
}
