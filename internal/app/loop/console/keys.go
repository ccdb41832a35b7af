package console

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// key is a key that was pressed, or a paste.
type key struct {
	name string // of keys that are no text
	text string // of text and pastes
}

// Names of keys.
const (
	keyText      = ""
	keyPaste     = "paste"
	keyEnter     = "enter"
	keyNewline   = "newline"
	keyTab       = "tab"
	keyBackspace = "backspace"
	keyDelete    = "delete"
	keyLeft      = "left"
	keyRight     = "right"
	keyUp        = "up"
	keyDown      = "down"
	keyHome      = "home"
	keyEnd       = "end"
	keyWordLeft  = "word-left"
	keyWordRight = "word-right"
	keyKillWord  = "kill-word"
	keyKillRight = "kill-right"
	keyKillLeft  = "kill-left"
	keyYank      = "yank"
	keyInterrupt = "interrupt"
	keyEOF       = "eof"
	keyRedraw    = "redraw"
	keySuspend   = "suspend"
	keyOther     = "other"
)

var controls = map[byte]string{
	1: keyHome, 2: keyLeft, 3: keyInterrupt, 4: keyEOF, 5: keyEnd, 6: keyRight, 8: keyBackspace, 9: keyTab,
	10: keyNewline, 11: keyKillRight, 12: keyRedraw, 13: keyEnter, 14: keyDown, 16: keyUp, 21: keyKillLeft,
	23: keyKillWord, 25: keyYank, 26: keySuspend, 127: keyBackspace,
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	maxPaste   = 64 << 20
)

// decoder turns the bytes of a terminal into keys. A slow link cuts sequences
// anywhere and lets any time pass between the pieces: whatever it does, a paste
// stays a paste.
type decoder struct {
	rest  []byte
	alone bool // the escape that rest begins with was by itself for a while
	typed bool // what follows on it comes one by one
	paste bool
	body  []byte
}

// feed takes bytes and returns the keys that are complete.
func (d *decoder) feed(p []byte) []key {
	var keys []key
	if !d.paste {
		d.rest = append(d.rest, p...)
	}
	for {
		if d.paste {
			rest, done := d.pasting(p)
			if !done {
				return keys
			}
			keys = append(keys, key{keyPaste, pasted(d.body)})
			d.paste, d.body = false, nil
			d.rest, p = rest, nil
			continue
		}
		k, n := d.next()
		if n == 0 {
			return keys
		}
		d.rest, d.alone, d.typed = d.rest[n:], false, false
		if d.paste { // what follows belongs to it
			p = d.rest
			d.rest = nil
			continue
		}
		keys = append(keys, k)
	}
}

// pasting takes bytes of a paste and reports whether it is over, with what
// follows it.
func (d *decoder) pasting(p []byte) (rest []byte, done bool) {
	from := max(0, len(d.body)-len(pasteEnd))
	d.body = append(d.body, p...)
	i := bytes.Index(d.body[from:], []byte(pasteEnd))
	if i < 0 {
		if len(d.body) > maxPaste { // nobody means that
			d.body = append(d.body[:0], d.body[len(d.body)-len(pasteEnd):]...)
		}
		return nil, false
	}
	rest = append(rest, d.body[from+i+len(pasteEnd):]...)
	d.body = d.body[:from+i]
	return rest, true
}

// pasted is a paste as text: lines end with \n, and nothing in it is a control
// character but these and tabs.
func pasted(b []byte) string {
	s := strings.ReplaceAll(string(bytes.ToValidUTF8(b, []byte("\uFFFD"))), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, s)
}

// late says that nothing has followed for a while. An escape by itself is the
// escape key then: what comes next is typed, unless it completes a sequence.
// Sequences that have gone further are waited for: nobody types them.
func (d *decoder) late() {
	if d.waiting() {
		d.alone = true
	}
}

// waiting reports whether an escape has come that may be a key or the beginning
// of a sequence.
func (d *decoder) waiting() bool {
	return !d.paste && !d.alone && len(d.rest) == 1 && d.rest[0] == 0x1b
}

// next decodes the first key; 0 bytes when it is not there whole.
func (d *decoder) next() (key, int) {
	b := d.rest
	switch {
	case len(b) == 0:
		return key{}, 0
	case b[0] == 0x1b && d.alone:
		return d.afterEscape()
	case b[0] == 0x1b:
		return d.escape()
	case b[0] < ' ' || b[0] == 0x7f:
		if name, ok := controls[b[0]]; ok {
			return key{name: name}, 1
		}
		return key{name: keyOther}, 1
	case !utf8.FullRune(b):
		return key{}, 0
	}
	n := 0 // all the text there is, in one piece
	for n < len(b) && b[n] >= ' ' && b[n] != 0x7f && utf8.FullRune(b[n:]) {
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return key{text: pasted(b[:n])}, n
}

// afterEscape decodes what follows on an escape that was by itself for a while.
// The beginning of a paste is one at any pace; another sequence is one if its
// rest comes at once; all else was typed after the escape key.
func (d *decoder) afterEscape() (key, int) {
	switch {
	case len(d.rest) < len(pasteStart) && strings.HasPrefix(pasteStart, string(d.rest)):
		d.typed = len(d.rest) > 1
		return key{}, 0
	case bytes.HasPrefix(d.rest, []byte(pasteStart)):
		return d.escape()
	case !d.typed && (d.rest[1] == '[' || d.rest[1] == 'O'):
		if k, n := d.escape(); n > 0 && k.name != keyOther {
			return k, n
		}
	}
	return key{name: keyOther}, 1
}

// escape decodes what begins with an escape.
func (d *decoder) escape() (key, int) {
	b := d.rest
	if len(b) < 2 {
		return key{}, 0
	}
	switch b[1] {
	case '[':
		return d.sequence()
	case 'O':
		switch {
		case len(b) < 3:
			return key{}, 0
		case b[2] < ' ' || b[2] >= 0x7f: // it was Alt-O
			return key{name: keyOther}, 2
		}
		return control("", b[2]), 3
	case '\r', '\n':
		return key{name: keyNewline}, 2
	case 'b':
		return key{name: keyWordLeft}, 2
	case 'f':
		return key{name: keyWordRight}, 2
	case 0x7f, 8:
		return key{name: keyKillWord}, 2
	case 0x1b:
		return key{name: keyOther}, 1
	}
	if !utf8.FullRune(b[1:]) {
		return key{}, 0
	}
	_, n := utf8.DecodeRune(b[1:])
	return key{name: keyOther}, 1 + n
}

// sequence decodes a control sequence. What cannot be in one ends it, so that a
// paste or an Enter behind half a sequence is found.
func (d *decoder) sequence() (key, int) {
	const most = 64
	b := d.rest
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0x40 && c <= 0x7e:
			if string(b[:i+1]) == pasteStart {
				d.paste = true
				return key{}, i + 1
			}
			return control(string(b[2:i]), c), i + 1
		case c < ' ' || c >= 0x7f || i > most:
			return key{name: keyOther}, i
		}
	}
	return key{}, 0
}

// control names a control sequence.
func control(params string, final byte) key {
	first, mod, _ := strings.Cut(params, ";")
	n, _ := strconv.Atoi(mod)
	word := n == 3 || n == 5 // with Alt or Ctrl
	name := keyOther
	switch final {
	case 'A':
		name = keyUp
	case 'B':
		name = keyDown
	case 'C':
		name = keyRight
		if word {
			name = keyWordRight
		}
	case 'D':
		name = keyLeft
		if word {
			name = keyWordLeft
		}
	case 'H':
		name = keyHome
	case 'F':
		name = keyEnd
	case 'M': // of the keypad
		name = keyEnter
	case 'u':
		if first == "13" {
			name = keyEnter
			if n > 1 {
				name = keyNewline
			}
		}
	case '~':
		switch first {
		case "1", "7":
			name = keyHome
		case "4", "8":
			name = keyEnd
		case "3":
			name = keyDelete
		}
	}
	return key{name: name}
}
