package console

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// atom is what the cursor steps over at once: a character as people see it, or
// a paste that is shown by its size.
type atom struct {
	text  string
	label string // shown instead; "" shows the text
}

// A paste that is longer than this is shown by its size.
const (
	shownBytes = 2000
	shownLines = 20
)

// editor holds the line that is typed.
type editor struct {
	atoms  []atom
	pos    int
	killed []atom

	history []string
	at      int    // in history; len(history) is the line that is typed
	draft   []atom // the line that is typed while history is looked at
}

func (e *editor) text() string {
	var b strings.Builder
	for _, a := range e.atoms {
		b.WriteString(a.text)
	}
	return b.String()
}

func (e *editor) empty() bool { return len(e.atoms) == 0 }

func (e *editor) clear() {
	e.atoms, e.pos, e.at, e.draft = nil, 0, len(e.history), nil
}

// set makes a text the line.
func (e *editor) set(text string) {
	e.atoms, e.pos = nil, 0
	e.paste(text)
}

func (e *editor) insert(add ...atom) {
	next := make([]atom, 0, len(e.atoms)+len(add))
	next = append(append(append(next, e.atoms[:e.pos]...), add...), e.atoms[e.pos:]...)
	e.atoms, e.pos = next, e.pos+len(add)
}

// paste inserts a text; a long one as one atom.
func (e *editor) paste(text string) {
	if text == "" {
		return
	}
	lines := strings.Count(text, "\n") + 1
	if len(text) > shownBytes || lines > shownLines {
		e.insert(atom{text, fmt.Sprintf("[pasted: %d lines, %d bytes]", lines, len(text))})
		return
	}
	var add []atom
	state := -1
	for rest := text; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		add = append(add, atom{text: c})
	}
	e.insert(add...)
}

// remove takes atoms away.
func (e *editor) remove(from, to int) []atom {
	from, to = max(from, 0), min(to, len(e.atoms))
	if from >= to {
		return nil
	}
	gone := append([]atom(nil), e.atoms[from:to]...)
	e.atoms = append(e.atoms[:from:from], e.atoms[to:]...)
	switch {
	case e.pos >= to:
		e.pos -= to - from
	case e.pos > from:
		e.pos = from
	}
	return gone
}

func (e *editor) isBlank(i int) bool { return strings.TrimSpace(e.atoms[i].text) == "" }

func (e *editor) wordLeft() int {
	i := e.pos
	for i > 0 && e.isBlank(i-1) {
		i--
	}
	for i > 0 && !e.isBlank(i-1) {
		i--
	}
	return i
}

func (e *editor) wordRight() int {
	i := e.pos
	for i < len(e.atoms) && e.isBlank(i) {
		i++
	}
	for i < len(e.atoms) && !e.isBlank(i) {
		i++
	}
	return i
}

// lineStart and lineEnd are the ends of the line that the cursor is in, where
// there are several.
func (e *editor) lineStart() int {
	i := e.pos
	for i > 0 && e.atoms[i-1].text != "\n" {
		i--
	}
	return i
}

func (e *editor) lineEnd() int {
	i := e.pos
	for i < len(e.atoms) && e.atoms[i].text != "\n" {
		i++
	}
	return i
}

// press edits the line as a key asks; other keys do nothing here.
func (e *editor) press(k key) {
	switch k.name {
	case keyText, keyPaste:
		e.paste(k.text)
	case keyNewline:
		e.insert(atom{text: "\n"})
	case keyBackspace:
		e.remove(e.pos-1, e.pos)
	case keyDelete:
		e.remove(e.pos, e.pos+1)
	case keyLeft:
		e.pos = max(0, e.pos-1)
	case keyRight:
		e.pos = min(len(e.atoms), e.pos+1)
	case keyHome:
		e.pos = e.lineStart()
	case keyEnd:
		e.pos = e.lineEnd()
	case keyWordLeft:
		e.pos = e.wordLeft()
	case keyWordRight:
		e.pos = e.wordRight()
	case keyKillWord:
		e.killed = e.remove(e.wordLeft(), e.pos)
	case keyKillRight:
		e.killed = e.remove(e.pos, e.lineEnd())
	case keyKillLeft:
		e.killed = e.remove(e.lineStart(), e.pos)
	case keyYank:
		e.insert(e.killed...)
	case keyUp:
		e.up()
	case keyDown:
		e.down()
	}
}

// up goes to the line above, or back in history from the first one.
func (e *editor) up() {
	start := e.lineStart()
	if start > 0 {
		col := e.pos - start
		e.pos = start - 1
		e.pos = min(e.lineStart()+col, e.pos)
		return
	}
	if e.at == 0 {
		return
	}
	if e.at >= len(e.history) {
		e.draft = e.atoms
	}
	e.at--
	e.set(e.history[e.at])
}

// down goes to the line below, or forward in history from the last one.
func (e *editor) down() {
	start, end := e.lineStart(), e.lineEnd()
	if end < len(e.atoms) {
		col := e.pos - start
		e.pos = end + 1
		e.pos = min(e.pos+col, e.lineEnd())
		return
	}
	if e.at >= len(e.history) {
		return
	}
	e.at++
	if e.at == len(e.history) {
		e.atoms, e.pos = e.draft, len(e.draft)
		return
	}
	e.set(e.history[e.at])
}

// maxHistory is how many lines are remembered.
const maxHistory = 500

// enter takes the line.
func (e *editor) enter() string {
	text := e.text()
	if strings.TrimSpace(text) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != text) {
		e.history = append(e.history, text)
		if len(e.history) > maxHistory {
			e.history = e.history[1:]
		}
	}
	e.clear()
	return text
}

// continues reports whether the line ends with a backslash, which Enter turns
// into a new line, and takes it away.
func (e *editor) continues() bool {
	if e.pos == 0 || e.pos != len(e.atoms) || e.atoms[e.pos-1].text != `\` {
		return false
	}
	e.remove(e.pos-1, e.pos)
	return true
}

// layout draws the line in rows of at most width cells, at most most of them
// around the cursor, and says where the cursor is.
func (e *editor) layout(prompt string, width, most int) (rows []string, row, col int) {
	indent := ansi.StringWidth(prompt)
	pad := strings.Repeat(" ", indent)
	if width <= indent+1 { // hopelessly narrow
		prompt, pad, indent = "", "", 0
		width = max(width, 2)
	}
	var b strings.Builder
	b.WriteString(prompt)
	at := indent
	breakRow := func() {
		rows = append(rows, b.String())
		b.Reset()
		b.WriteString(pad)
		at = indent
	}
	put := func(cell string) {
		w := ansi.StringWidth(cell)
		if at+w > width {
			breakRow()
		}
		b.WriteString(cell)
		at += w
	}
	for i, a := range e.atoms {
		if i == e.pos {
			if at >= width {
				breakRow()
			}
			row, col = len(rows), at
		}
		switch {
		case a.label != "":
			for _, r := range a.label {
				put(string(r))
			}
		case a.text == "\n" || a.text == "\r\n":
			breakRow()
		case a.text == "\t":
			put("    ")
		case strings.ContainsFunc(a.text, termsafe.Hidden): // of a session's history, or of a paste
			for _, r := range termsafe.Text(a.text) {
				put(string(r))
			}
		default:
			put(a.text)
		}
	}
	if e.pos >= len(e.atoms) {
		if at >= width {
			breakRow()
		}
		row, col = len(rows), at
	}
	rows = append(rows, b.String())
	if len(rows) > most {
		from := min(max(0, row-most/2), len(rows)-most)
		rows, row = rows[from:from+most], row-from
	}
	return rows, row, col
}
