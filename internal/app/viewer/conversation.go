package viewer

// conversation is a pane with messages: a list of blocks of which only those on
// the screen are looked at.
type conversation struct {
	blocks

	width, height int

	cursor    int // block
	top, line int // the block and its line at the pane's top

	full     map[int]bool // blocks that are shown whole, by message or view
	recalled map[int]bool // messages of the view whose original is shown

	flows map[flowKey]*flow
}

type flowKey struct {
	block
	recalled bool
}

// mostFlows is how many wrapped messages are remembered.
const mostFlows = 400

func (c *conversation) reset(sn *snapshot) {
	same := c.sn != nil && c.sn.view.Key() == sn.view.Key() && c.sn.history.Len() == sn.history.Len() && c.sn.leaf == sn.leaf
	same = same || c.sn != nil && sn.history.StartsWith(c.sn.history.Len(), c.sn.history.Chain(c.sn.history.Len())) && c.sn.view.Key() == sn.view.Key()
	c.sn = sn
	c.flows = nil
	if !same {
		c.opened, c.full, c.recalled = nil, nil, nil
	}
	c.cursor = min(c.cursor, max(c.len()-1, 0))
	c.clamp()
}

func (c *conversation) resize(width, height int) {
	if width != c.width {
		c.flows = nil
	}
	c.width, c.height = width, max(height, 1)
	c.clamp()
	c.reveal()
}

// inset is what stands before the content of every line: the cursor's bar, the
// sign and a space.
const inset = 3

func (c *conversation) contentWidth(b block) int {
	w := c.width - inset - 1
	if b.inside {
		w -= 2
	}
	return max(w, 8)
}

func (c *conversation) flow(k int) (block, *flow) {
	b := c.at(k)
	key := flowKey{b, b.view >= 0 && c.recalled[b.view]}
	if f := c.flows[key]; f != nil {
		return b, f
	}
	if c.flows == nil || len(c.flows) >= mostFlows {
		c.flows = make(map[flowKey]*flow)
	}
	f := newFlow(c.content(b, key.recalled), c.contentWidth(b))
	c.flows[key] = f
	return b, f
}

// key names a block among those that are shown whole.
func (b block) key() int {
	switch {
	case b.system:
		return -1
	case b.view >= 0:
		return b.view << 1
	}
	return b.msg<<1 | 1
}

// clip is how many lines of a message are shown before it is opened.
func (c *conversation) clip() int { return max(6, min(14, c.height/3)) }

func (c *conversation) whole(b block) bool {
	return c.full[b.key()] || b.view >= 0 && c.recalled[b.view]
}

// shape of a block: a heading, lines of content, perhaps a line that says that
// there is more, and an empty line.
type shape struct {
	lines int // of content
	more  bool
}

func (s shape) height() int {
	if s.more {
		return s.lines + 3
	}
	return s.lines + 2
}

func (c *conversation) shape(k int) shape {
	b, f := c.flow(k)
	if c.whole(b) {
		return shape{lines: f.height(1 << 40)}
	}
	n := c.clip()
	if f.reach(n + 2) {
		return shape{lines: n, more: true}
	}
	return shape{lines: f.height(n + 2)}
}

// tall returns a block's height, or some number that is no less than most,
// without wrapping more than that takes.
func (c *conversation) tall(k, most int) int {
	if b, f := c.flow(k); c.whole(b) && f.reach(most) {
		return most
	}
	return c.shape(k).height()
}

// hasLine reports whether a block has a line, without wrapping all of it.
func (c *conversation) hasLine(k, n int) bool {
	b, f := c.flow(k)
	if c.whole(b) {
		return f.reach(n-1) || n < f.height(1<<40)+2
	}
	return n < c.shape(k).height()
}

// bottom returns the last place that can be at the pane's top.
func (c *conversation) bottom() (top, line int) {
	left := c.height
	for k := c.len() - 1; k >= 0; k-- {
		h := c.shape(k).height()
		if k == c.len()-1 {
			h-- // the empty line at the end is not needed
		}
		if h >= left {
			return k, h - left
		}
		left -= h
	}
	return 0, 0
}

func (c *conversation) clamp() {
	if c.sn == nil || c.len() == 0 {
		c.top, c.line = 0, 0
		return
	}
	c.cursor = min(max(c.cursor, 0), c.len()-1)
	c.top = min(max(c.top, 0), c.len()-1)
	for c.line > 0 && !c.hasLine(c.top, c.line) {
		c.line = c.shape(c.top).height() - 1
	}
	if t, l := c.bottom(); c.top > t || c.top == t && c.line > l {
		c.top, c.line = t, l
	}
}

// scroll moves what is shown by lines.
func (c *conversation) scroll(n int) {
	if c.sn == nil || c.len() == 0 {
		return
	}
	for ; n > 0; n-- {
		if c.hasLine(c.top, c.line+1) {
			c.line++
		} else if c.top+1 < c.len() {
			c.top, c.line = c.top+1, 0
		}
	}
	for ; n < 0; n++ {
		if c.line > 0 {
			c.line--
		} else if c.top > 0 {
			c.top--
			c.line = c.shape(c.top).height() - 1
		}
	}
	c.clamp()
}

// where returns the line of the pane on which a block starts, which may be
// above it (negative) or at or below its end; then the exact number means
// nothing.
func (c *conversation) where(k int) int {
	if k < c.top {
		return -1 - c.height
	}
	at := -c.line
	for i := c.top; i < k; i++ {
		if at >= c.height {
			return at
		}
		at += c.tall(i, c.height-at)
	}
	return at
}

// endsBelow reports whether a block goes on below the pane.
func (c *conversation) endsBelow(k int) bool {
	at := c.where(k)
	return at >= c.height || c.hasLine(k, c.height-at+1)
}

// reveal scrolls so that the cursor's block can be read: all of it, or its
// beginning.
func (c *conversation) reveal() {
	if c.sn == nil || c.len() == 0 {
		return
	}
	at := c.where(c.cursor)
	if at < 0 && c.cursor == c.top {
		return // it is being read
	}
	if at < 0 || at >= c.height {
		c.top, c.line = c.cursor, 0
		if at >= c.height {
			h := min(c.tall(c.cursor, c.height), c.height)
			c.scroll(-(c.height - h))
		}
		c.clamp()
		return
	}
	for c.endsBelow(c.cursor) && c.where(c.cursor) > 0 {
		top, line := c.top, c.line
		c.scroll(1)
		if top == c.top && line == c.line {
			break
		}
	}
}

// align moves the cursor to a block and shows its first line on a line of the
// pane, as far as that is possible.
func (c *conversation) align(k, row int) {
	if c.sn == nil || c.len() == 0 || k < 0 {
		return
	}
	c.cursor = min(k, c.len()-1)
	c.top, c.line = c.cursor, 0
	c.scroll(-max(0, min(row, c.height-1)))
	c.clamp()
}

// step moves the cursor by a message, or reads on in one that is longer than
// the pane.
func (c *conversation) step(n int) {
	if c.sn == nil || c.len() == 0 {
		return
	}
	if n > 0 {
		if c.endsBelow(c.cursor) && c.where(c.cursor) <= 0 {
			c.scroll(1)
			return
		}
		if c.cursor+1 < c.len() {
			c.cursor++
			c.reveal()
		}
		return
	}
	if c.where(c.cursor) < 0 {
		c.scroll(-1)
		return
	}
	if c.cursor == 0 {
		return
	}
	c.cursor--
	if at := c.where(c.cursor); at < 0 {
		h := c.shape(c.cursor).height()
		c.top, c.line = c.cursor, max(0, h-c.height)
		c.clamp()
	}
}

// page moves by what the pane shows.
func (c *conversation) page(n int) {
	if c.sn == nil || c.len() == 0 {
		return
	}
	top, line := c.top, c.line
	c.scroll(n * max(c.height-2, 1))
	if top == c.top && line == c.line {
		c.cursor = c.len() - 1
		if n < 0 {
			c.cursor = 0
		}
		return
	}
	c.cursor = c.top
	if c.line > 0 && c.top+1 < c.len() && c.where(c.top+1) < c.height/2 {
		c.cursor = c.top + 1
	}
}

// ends moves to the first or last message.
func (c *conversation) ends(last bool) {
	if c.sn == nil || c.len() == 0 {
		return
	}
	c.cursor, c.top, c.line = 0, 0, 0
	if last {
		c.cursor = c.len() - 1
		c.top, c.line = c.bottom()
	}
}

// open shows what is behind the block at the cursor: the originals of a fold or
// drop, the original of a changed message, or all of a long one. It returns
// what it did, for people.
func (c *conversation) open() string {
	b, f := c.flow(c.cursor)
	e := c.editOf(b)
	switch {
	case b.edit >= 0 && e.To > e.From && e.Kind != "answer" && b.view >= 0:
		was := c.isOpen(b.view)
		c.toggle(b.view, e)
		c.clamp()
		c.reveal()
		if was {
			return "the originals are hidden again"
		}
		return "the " + plural(e.To-e.From-len(e.Keep), "original") + " behind this " + string(e.Kind) + " follow it; enter hides them"
	case b.view >= 0 && b.msg >= 0 && c.state(b) != kept:
		c.recalled = flip(c.recalled, b.view)
		c.clamp()
		c.reveal()
		if c.recalled[b.view] {
			return "the original is below; enter hides it"
		}
		return "the original is hidden again"
	}
	if !c.whole(b) && !f.reach(c.clip()+2) {
		return "this is all there is"
	}
	c.showAll()
	return ""
}

// showAll shows the block at the cursor whole, or only its beginning again.
func (c *conversation) showAll() {
	b := c.at(c.cursor)
	c.full = flip(c.full, b.key())
	if !c.full[b.key()] && c.top == c.cursor {
		c.line = 0
	}
	c.clamp()
	c.reveal()
}

func flip(set map[int]bool, k int) map[int]bool {
	if set == nil {
		set = make(map[int]bool)
	}
	if set[k] {
		delete(set, k)
	} else {
		set[k] = true
	}
	return set
}
