package token

// calibration learns two numbers from the growth of reported prompts:
//
//	growth = visible output + kept * reasoning + factor * estimate of the rest
//
// by least squares in which a step weighs as much as it has tokens. Both
// numbers are drawn towards 1 as if that had been seen on some thousand tokens,
// so a few odd steps change little. The zero value has seen nothing.
type calibration struct {
	aa, ah, hh float64 // products of estimate (a) and reasoning (h)
	ay, hy     float64 // with the growth they explain
}

const (
	priorFactor = 4000.0  // tokens for which factor = 1 is believed
	priorKept   = 1000.0  // the same for kept = 1
	memory      = 60000.0 // tokens after which older steps fade
)

// add learns from two consecutive steps under one plan. Steps that something
// else explains are left out: the prompt shrank, or it grew by several times the
// tokens added, so the client must have changed what it sent; and so are steps that
// added images or documents, whose price says nothing of text.
func (c *calibration) add(prev, next *Step) {
	if prev.Media != next.Media {
		return
	}
	visible, h, counted := prev.reportedAnswer()
	y := float64(next.Usage.Prompt()-prev.Usage.Prompt()) - visible
	a := next.textEstimate() - prev.textEstimate() - counted
	const slack = 100
	if a < 0 || a+h <= 0 || y < 0.3*a-slack || y > 3*a+h+slack {
		return
	}
	w := 1 / (a + h)
	c.aa += w * a * a
	c.ah += w * a * h
	c.hh += w * h * h
	c.ay += w * a * y
	c.hy += w * h * y
	if n := c.weight(); n > memory {
		for _, v := range []*float64{&c.aa, &c.ah, &c.hh, &c.ay, &c.hy} {
			*v *= memory / n
		}
	}
}

// weight returns the number of estimated tokens that were learned from.
func (c *calibration) weight() float64 { return c.aa + c.ah }

// solve returns the two numbers.
func (c *calibration) solve() (factor, kept float64) {
	aa, hh := c.aa+priorFactor, c.hh+priorKept
	ay, hy := c.ay+priorFactor, c.hy+priorKept
	kept = (hy*aa - ay*c.ah) / (aa*hh - c.ah*c.ah)
	kept = min(max(kept, 0), 1)
	factor = (ay - kept*c.ah) / aa
	return min(max(factor, 0.5), 2.5), kept
}
