package console

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// screen is what is known of the terminal: where the output ended and where
// the cursor is in the live rows below it.
type screen struct {
	column int    // of the output's end in its row; 0 at the start of a row
	word   string // the unfinished word that ends there, if it is not too long for one
	at     int    // the column that it starts in
	drawn  bool   // the live rows are there
	cursor int    // the live row that the cursor is in
}

// send writes to the terminal. A terminal that is gone is noticed by reading.
func (c *Console) send(s string) { _, _ = c.out.WriteString(s) }

// erase takes the live rows away and puts the cursor where the first was.
func (c *Console) erase() {
	if s := c.erasing(); s != "" {
		c.send(s)
	}
}

func (c *Console) erasing() string {
	if !c.drawn {
		return ""
	}
	c.drawn = false
	return up(c.cursor) + "\r\x1b[J"
}

// draw shows the live rows. The cursor is at the start of a row.
func (c *Console) draw() { c.send(c.drawing()) }

func (c *Console) drawing() string {
	rows, row, col := c.live()
	c.drawn, c.cursor = true, row
	return strings.Join(rows, "\r\n") + up(len(rows)-1-row) + "\r" + right(col)
}

// redraw shows the live rows again.
func (c *Console) redraw() {
	if c.paused {
		return
	}
	c.send(c.erasing() + c.drawing())
}

// apart ends the output's row: what comes next starts a new one.
func (c *Console) apart() { c.column, c.word, c.at = 0, "", 0 }

// show adds text to the output.
func (c *Console) show(text string) {
	if text == "" {
		return
	}
	text = termsafe.Text(text)
	if c.paused { // another program has the terminal: nothing is lost, only late
		c.send(strings.ReplaceAll(text, "\n", "\r\n"))
		return
	}
	var b strings.Builder
	b.WriteString(c.erasing())
	if c.column > 0 { // back to the end of the unfinished line
		b.WriteString("\x1b[A\r" + right(c.column))
	}
	c.lay(&b, text)
	if c.column > 0 {
		b.WriteString("\r\n")
	}
	b.WriteString(c.drawing())
	c.send(b.String())
}

// lay writes text and follows where the cursor goes. A word that does not fit
// into its row any more moves to the next, also when its beginning has been
// shown already.
func (c *Console) lay(b *strings.Builder, text string) {
	for text != "" {
		switch text[0] {
		case '\n':
			b.WriteString("\r\n")
			c.apart()
			text = text[1:]
			continue
		case '\t':
			text = strings.Repeat(" ", 8-c.column%8) + text[1:]
			continue
		case 0x1b: // a colour: termsafe leaves no other sequence
			if n := strings.IndexByte(text, 'm'); n > 0 {
				b.WriteString(text[:n+1])
				text = text[n+1:]
				continue
			}
		}
		cell, rest, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		text = rest
		c.put(b, cell, ansi.StringWidth(cell))
	}
}

// put writes one character.
func (c *Console) put(b *strings.Builder, cell string, width int) {
	blank := cell == " "
	if c.column+width > c.cols {
		word := c.word
		switch {
		case blank: // the end of the row stands for it
			word = ""
		case c.at == 0 || c.column-c.at > c.cols/2: // it has a row of its own, or is no word
			word = ""
		case word != "":
			b.WriteString("\r" + right(c.at) + "\x1b[K")
		}
		b.WriteString("\r\n" + word)
		c.word, c.at, c.column = word, 0, ansi.StringWidth(word)
		if blank {
			return
		}
	}
	b.WriteString(cell)
	c.column += width
	switch {
	case blank:
		c.word, c.at = "", c.column
	case c.column-c.at <= c.cols/2+2:
		c.word += cell
	}
}

func up(n int) string {
	if n <= 0 {
		return ""
	}
	return "\x1b[" + strconv.Itoa(n) + "A"
}

func right(n int) string {
	if n <= 0 {
		return ""
	}
	return "\x1b[" + strconv.Itoa(n) + "C"
}
