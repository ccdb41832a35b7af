// Package termsafe keeps what stands in files from steering the terminal on
// which it is shown.
//
// A conversation, a model's name or a file's name may hold escape sequences that
// fill the clipboard, set the window's title, clear the screen or hide text. A
// filter alone cannot tell the colours of such a text from the program's own.
// So the program marks its own: [Paint] writes colours with a mark that is
// chosen at random for each process, so that no file can know it. [Text] and [Writer] turn
// marked colours into real ones, and everything else that would steer the
// terminal into visible text:
//
//	w := termsafe.NewWriter(os.Stdout)
//	fmt.Fprintf(w, "%s %s\n", termsafe.Paint("1", "model"), nameFromFile)
//
// A character that must not reach the terminal is written as JSON writes it:
// \u001b for an escape. A JSON document that passes the filter stays valid and
// says the same. [Plain] does so for text that is laid out before it is painted.
package termsafe

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// mark starts the program's own sequences until they are written. It has the form
// of a terminal's sequence, with parameters that nobody can guess, so that code
// which measures lines takes it for one.
var mark = "\x1b[" + strings.Map(func(r rune) rune { return '0' + r&15 }, rand.Text())

// Paint returns a text between the marks that switch a look on, such as "1" or
// "38;5;245", and off. The result is meant for [Text] or a [Writer]; nothing else
// may write it to a terminal.
func Paint(code, text string) string { return mark + code + "m" + text + mark + "0m" }

// Hidden reports whether a terminal would obey a character instead of showing
// it, or would show the characters around it in another order or way than they are
// written:
// control characters except line ends and tabs, the controls that reverse the
// direction of text, and tags, which nobody sees.
func Hidden(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 ||
		r == 0x061c || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// Text returns a text as it may be written to a terminal.
func Text(s string) string { return string(appendSafe(make([]byte, 0, len(s)), s)) }

// tabStop is how far apart the tab stops of [Plain] are, and maxMarks how many marks
// it leaves on one letter: hundreds would run over the lines above and below.
const (
	tabStop  = 4
	maxMarks = 3
)

// Plain returns a text for programs that lay it out in columns. Escape sequences, as
// other programs print them into logs, are left out. Tabs are spaces up to the next
// stop, and a lone carriage return, which draws progress, starts a line. What else
// would steer the terminal is visible, as in [Text]. Terminals disagree about the
// width of joiners, variation selectors and shades of skin, so these are left out
// too, and the text is as wide as it is measured.
func Plain(s string) string {
	out := make([]byte, 0, len(s))
	column, marks := 0, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= ' ' && r < 0x7f:
			out = append(out, s[i])
			column, marks = column+1, 0
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			if strings.HasPrefix(s[i:], "\r\n") {
				n = 2
			}
			out = append(out, '\n')
			column = 0
		case r == '\t':
			out = append(out, "    "[column%tabStop:]...)
			column += tabStop - column%tabStop
		case r == 0x1b && escapeLen(s[i:]) > 0:
			n = escapeLen(s[i:])
		case Hidden(r):
			before := len(out)
			out = appendVisible(out, r)
			column += len(out) - before
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector), r >= 0x1f3fb && r <= 0x1f3ff:
		case unicode.Is(unicode.Zs, r):
			out = append(out, ' ')
			column++
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks <= maxMarks && column > 0 {
				out = append(out, s[i:i+n]...)
			}
		case r == utf8.RuneError && n == 1, !unicode.IsGraphic(r):
			out = append(out, "\ufffd"...)
			column++
		default:
			out = append(out, s[i:i+n]...)
			column, marks = column+ansi.StringWidthWc(s[i:i+n]), 0
		}
		i += n
	}
	return string(out)
}

// longestEscape is how long an escape sequence may be. What is longer is none.
const longestEscape = 4096

// escapeLen returns the length of the escape sequence that a text starts with,
// 0 when it is not a whole one on one line.
func escapeLen(s string) int {
	_, _, n, state := ansi.DecodeSequence(s[:min(len(s), longestEscape)], ansi.NormalState, nil)
	if n < 2 || state != ansi.NormalState || strings.Contains(s[:n], "\n") {
		return 0
	}
	return n
}

// longestOwn is how long the parameters of an own sequence may be.
const longestOwn = 24

// appendSafe appends a text as it may be written.
func appendSafe(out []byte, s string) []byte {
	for {
		before, after, marked := strings.Cut(s, mark)
		for i, r := range before {
			switch {
			case Hidden(r):
				out = appendVisible(out, r)
			case r == utf8.RuneError: // also for bytes that are no text
				out = append(out, "\ufffd"...)
			default:
				out = append(out, before[i:i+utf8.RuneLen(r)]...)
			}
		}
		if !marked {
			return out
		}
		s = after
		if n := len(s) - len(strings.TrimLeft(s, "0123456789;")); n < longestOwn && n < len(s) && s[n] == 'm' {
			out = append(append(out, "\x1b["...), s[:n+1]...)
			s = s[n+1:]
		} else {
			out = append(appendVisible(out, rune(mark[0])), mark[1:]...)
		}
	}
}

// unfinished returns where the beginning of a character or of an own sequence stands at
// the end of a text, of which the rest may follow.
func unfinished(s string) int {
	if at := strings.LastIndexByte(s, mark[0]); at >= 0 && len(s)-at < len(mark)+longestOwn {
		if start := s[at:min(at+len(mark), len(s))]; strings.HasPrefix(mark, start) && strings.Trim(s[at+len(start):], "0123456789;") == "" {
			return at
		}
	}
	for at := len(s) - 1; at >= max(0, len(s)-utf8.UTFMax); at-- {
		if utf8.RuneStart(s[at]) {
			if !utf8.FullRuneInString(s[at:]) {
				return at
			}
			break
		}
	}
	return len(s)
}

// appendVisible appends a character as JSON escapes it.
func appendVisible(out []byte, r rune) []byte {
	if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// Writer passes on what [Text] makes of what is written to it. Several
// goroutines may use it.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	rest string // the beginning of a character or of a mark
	buf  []byte
}

// NewWriter returns a writer in front of another.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Unwrap returns the writer behind this one, for bytes that are not to be
// changed.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Write writes all of p, or returns the error of the writer behind.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.rest + string(p)
	at := unfinished(text)
	w.buf, w.rest = appendSafe(w.buf[:0], text[:at]), text[at:]
	if len(w.buf) == 0 {
		return len(p), nil
	}
	if _, err := w.w.Write(w.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the rest that was held back because more could have followed.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rest == "" {
		return nil
	}
	_, err := w.w.Write(appendSafe(nil, w.rest))
	w.rest = ""
	return err
}
