package viewer

// pane is a list with a cursor. Items are as many lines high as they are, and only
// those on the screen are looked at: a bubbles viewport wants all lines at once, and
// a bubbles list wants items of one height, but a session may have a hundred
// thousand messages, some of them megabytes long.
type pane struct {
	items interface {
		len() int
		has(k, n int) bool // whether item k has a line n
	}
	width, height int
	cursor        int
	top, line     int // the item and its line at the pane's top
}

func (p *pane) resize(width, height int) {
	p.width, p.height = width, max(height, 1)
	p.clamp()
	p.reveal()
}

// drawRows draws what is on the screen.
func (p *pane) drawRows(draw func(k, n int) string) []string {
	var out []string
	k, n := p.top, p.line
	for len(out) < p.height && k < p.items.len() {
		if !p.items.has(k, n) {
			k, n = k+1, 0
			continue
		}
		out = append(out, fitWidth(draw(k, n), p.width))
		n++
	}
	if len(out) == 0 {
		out = append(out, fitWidth(quiet.Styled("   nothing yet"), p.width))
	}
	for len(out) < p.height {
		out = append(out, spaces(p.width))
	}
	return out
}

// lineCount returns how many lines an item has, at most most.
func (p *pane) lineCount(k, most int) int {
	n := 0
	for n < most && p.items.has(k, n) {
		n++
	}
	return n
}

const all = 1 << 40

// scroll moves what is shown by lines.
func (p *pane) scroll(n int) {
	for ; n > 0; n-- {
		if p.items.has(p.top, p.line+1) {
			p.line++
		} else if p.top+1 < p.items.len() {
			p.top, p.line = p.top+1, 0
		}
	}
	for ; n < 0 && (p.top > 0 || p.line > 0); n++ {
		if p.line--; p.line < 0 {
			p.top--
			p.line = p.lineCount(p.top, all) - 1
		}
	}
}

// clamp keeps the cursor in the list, and the last line from leaving the bottom.
func (p *pane) clamp() {
	n := p.items.len()
	if n == 0 {
		p.cursor, p.top, p.line = 0, 0, 0
		return
	}
	p.cursor, p.top = min(max(p.cursor, 0), n-1), min(max(p.top, 0), n-1)
	p.line = min(p.line, p.lineCount(p.top, p.line+1)-1)
	shown := -p.line
	for k := p.top; k < n && shown < p.height; k++ {
		shown += p.lineCount(k, p.height-shown)
	}
	p.scroll(min(shown-p.height, 0))
}

// rowOf returns the line of the pane on which an item starts. Above the pane
// that is negative, below it the exact number means nothing.
func (p *pane) rowOf(k int) int {
	if k < p.top {
		return -p.height
	}
	at := -p.line
	for i := p.top; i < k && at < p.height; i++ {
		at += p.lineCount(i, p.height-at)
	}
	return at
}

// reveal scrolls so that the item at the cursor can be read: all of it, or its
// beginning.
func (p *pane) reveal() {
	at := p.rowOf(p.cursor)
	switch {
	case p.cursor == p.top:
	case at < 0:
		p.top, p.line = p.cursor, 0
	case at >= p.height:
		p.top, p.line = p.cursor, 0
		p.scroll(min(p.lineCount(p.cursor, p.height)-p.height, 0))
	default:
		p.scroll(min(at, max(at+p.lineCount(p.cursor, p.height)-p.height, 0)))
	}
	p.clamp()
}

// align moves the cursor to an item and shows its first line on a line of the
// pane, as far as that is possible.
func (p *pane) align(k, row int) {
	if k < 0 || p.items.len() == 0 {
		return
	}
	p.cursor, p.top, p.line = k, k, 0
	p.clamp()
	if p.top == p.cursor && p.line == 0 {
		p.scroll(-max(0, min(row, p.height-1)))
	}
	p.clamp()
}

// step moves the cursor by an item, or reads on in one that is longer than the
// pane.
func (p *pane) step(n int) {
	at := p.rowOf(p.cursor)
	if n > 0 && at <= 0 && p.items.has(p.cursor, p.height-at+1) || n < 0 && at < 0 {
		p.scroll(n)
		return
	}
	p.cursor = max(min(p.cursor+n, p.items.len()-1), 0)
	if n < 0 && p.cursor < p.top {
		p.top, p.line = p.cursor, max(p.lineCount(p.cursor, all)-p.height, 0)
	}
	p.reveal()
}

// page moves by what the pane shows. The cursor stays on its line of the pane.
func (p *pane) page(n int) {
	top, line, row := p.top, p.line, max(p.rowOf(p.cursor), 0)
	p.scroll(n * max(p.height-1, 1))
	p.clamp()
	if top == p.top && line == p.line {
		p.jumpToEnd(n > 0)
		return
	}
	p.cursor = p.top
	for p.cursor+1 < p.items.len() && p.rowOf(p.cursor+1) <= row {
		p.cursor++
	}
}

// jumpToEnd moves to the first item, or the last.
func (p *pane) jumpToEnd(last bool) {
	p.cursor = 0
	if last {
		p.cursor = p.items.len() - 1
	}
	p.top, p.line = max(p.cursor, 0), 0
	p.clamp()
}
