package viewer

// nextEdit goes to the next thing that the plan changed, or the one before, in
// the pane of messages that was used last.
func (m *Model) nextEdit(step int) {
	pane := m.focus
	if pane == paneTree {
		pane = m.talk
	}
	if m.sn.plan == nil || len(m.sn.plan.Edits) == 0 {
		m.wrongSay("nothing is changed: no plan is in force; c compacts")
		return
	}
	c := m.conv[pane]
	for k := c.cursor + step; k >= 0 && k < c.len(); k += step {
		// A run that is shown as it was is one edit.
		if c.state(c.at(k)) == kept || c.sameRun(k, k-step) {
			continue
		}
		if step < 0 {
			for k > 0 && c.sameRun(k, k-1) {
				k-- // its beginning
			}
		}
		m.point(pane)
		c.align(k, c.height/3)
		m.follow(pane)
		return
	}
	if step > 0 {
		m.say("this is the last edit")
	} else {
		m.say("this is the first edit")
	}
}

// sameRun reports whether two blocks are originals of one fold or drop.
func (c *conversation) sameRun(a, b int) bool {
	if b < 0 || b >= c.len() {
		return false
	}
	x, y := c.at(a), c.at(b)
	if x.view >= 0 || y.view >= 0 || x.msg < 0 || y.msg < 0 {
		return x.inside && c.editOf(x) == c.editOf(y) && c.editOf(x) != nil
	}
	e := c.editOf(x)
	return e != nil && e.To-e.From > 1 && e == c.editOf(y)
}

// firstPicture is what is shown first: the last fold beside its originals, where
// there is one, because that is what people come to see.
func (m *Model) firstPicture() bool {
	if m.sn.plan == nil {
		return false
	}
	for v := m.sn.view.Len() - 1; v >= 0; v-- {
		o := m.sn.view.Origin(v)
		if o.Edit < 0 {
			continue
		}
		if e := &m.sn.plan.Edits[o.Edit]; e.From == e.To || stateOf(e) != folded {
			continue
		}
		c := m.conv[paneView]
		m.point(paneView)
		m.layout() // a narrow screen has given it no lines so far
		c.align(c.ofView(v), 0)
		m.follow(paneView)
		return true
	}
	return false
}
