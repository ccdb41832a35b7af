package work

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/quote"
)

// The ends of an output that [LimitTo] keeps.
const (
	KeepBoth = "both" // head, tail and the lines between that report errors
	KeepHead = "head"
	KeepTail = "tail"
)

// Limit shortens a tool's output to at most that many bytes and lines, notice
// included, and reports whether it had to. What is left is the head, the tail
// and, between them, the lines that say what went wrong; a notice says how
// much there was. Cuts are made at the ends of lines where lines are not huge,
// and never inside a rune. A limit of 0 or less does not limit.
func Limit(text string, bytes, lines int) (string, bool) {
	return LimitTo(KeepBoth, text, bytes, lines)
}

// LimitTo is [Limit] where somebody chose what is left: one end, with a notice
// where the other one was. Anything but [KeepHead] and [KeepTail] is Limit itself.
func LimitTo(keep, text string, bytes, lines int) (string, bool) {
	total := CountLines(text)
	if (bytes <= 0 || len(text) <= bytes) && (lines <= 0 || total <= lines) {
		return text, false
	}
	if bytes <= 0 {
		bytes = len(text)
	}
	if lines <= 0 {
		lines = total + 8
	}
	const room = 160 // for the notice
	if bytes >= 2*room && lines >= 8 {
		out, head, tail := "", headOf(text, bytes-room, lines-1), tailOf(text, bytes-room, lines-1)
		switch keep {
		case KeepHead:
			out = strings.TrimSuffix(head, "\n") + "\n" + shortenedNotice(text, head)
		case KeepTail:
			out = shortenedNotice(text, tail) + "\n" + tail
		default:
			out = limitBoth(text, bytes-room, lines-2)
		}
		if len(out) <= bytes && (len(out) < len(text) || total > lines) {
			return out, true
		}
	}
	if keep == KeepTail { // a notice does not fit
		return tailOf(text, bytes, lines), true
	}
	return strings.TrimRight(headOf(text, bytes, lines), "\n"), true
}

// shortenedNotice returns the notice of what an output was.
func shortenedNotice(text, left string) string {
	return fmt.Sprintf("[output shortened from %d bytes to %d, from %d lines to %d]", len(text), len(left), CountLines(text), CountLines(left))
}

// limitBoth keeps head, tail and errors in that many bytes and lines beside the
// notice.
func limitBoth(text string, bytes, lines int) string {
	errs, errBytes := min(12, lines/8), bytes/8
	bytes, lines = bytes-errBytes, lines-errs
	head := headOf(text, bytes*3/5, lines*3/5)
	tail := tailOf(text[len(head):], bytes-len(head), lines-strings.Count(head, "\n"))
	middle := text[len(head) : len(text)-len(tail)]
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	notice := fmt.Sprintf("(… %d of %d lines, %d of %d bytes left out", CountLines(middle), CountLines(text), len(middle), len(text))
	kept := ""
	if !hasNumbers(middle) { // the lines of a file may speak of errors
		for _, l := range ErrorLines(middle, errs) {
			if len(kept)+len(l)+1 > errBytes {
				break
			}
			kept += l + "\n"
		}
	}
	if kept != "" {
		return head + notice + "; errors among them:)\n" + kept + "(…)\n" + tail
	}
	return head + notice + ")\n" + tail
}

// hasNumbers reports whether the first lines of a text count on, as tools number those
// of a file.
func hasNumbers(text string) bool {
	text = quote.Clip(text, 2000)
	last := 0
	for l := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		n, _, _, ok := NumberAt(l)
		if !ok || last > 0 && n != last+1 {
			return false
		}
		last = n
	}
	return last > 1
}

// NumberAt reads a line that carries its number: "  12→text", "12\ttext",
// "12: text", "00012| text", "12:text". It returns the separator that it found.
func NumberAt(line string) (n int, sep, text string, ok bool) {
	line = strings.TrimLeft(line, " ")
	end := 0
	for end < min(len(line), 9) && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(line[:end])
	if err != nil {
		return 0, "", "", false
	}
	rest := line[end:]
	for _, s := range [...]string{"→", "\t", ": ", ":", "| ", "|"} {
		if strings.HasPrefix(rest, s) {
			return n, s, rest[len(s):], true
		}
	}
	return 0, "", "", false
}

// CountLines returns how many lines a text has, with a last one that has no newline.
func CountLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// mostCompared bounds the lines on each side that are compared with all of the other.
const mostCompared = 400

// CountChanges counts the lines that an edit puts in and takes out: those that stand in
// both texts, in one order, stay.
func CountChanges(old, now string) (plus, minus int) {
	a, b := SplitLines(old), SplitLines(now)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if max(len(a), len(b)) > mostCompared {
		return len(b), len(a)
	}
	stay := make([]int, len(b)+1) // how many of the lines so far stay among the first of b
	for _, l := range a {
		before := 0
		for k := range b {
			up := stay[k+1]
			if l == b[k] {
				stay[k+1] = before + 1
			} else {
				stay[k+1] = max(up, stay[k])
			}
			before = up
		}
	}
	return len(b) - stay[len(b)], len(a) - stay[len(b)]
}

// SplitLines cuts a text into its lines; a last newline ends one.
func SplitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// headOf returns the start of s, whole lines where that loses less than half.
func headOf(s string, bytes, lines int) string {
	end := 0
	for range lines {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			end = len(s)
			break
		}
		end += i + 1
	}
	if bytes = max(bytes, 0); end <= bytes {
		return s[:end]
	}
	if i := strings.LastIndexByte(s[:bytes], '\n'); i > bytes/2 {
		return s[:i+1]
	}
	return quote.Clip(s, bytes)
}

// tailOf returns the end of s, whole lines where that loses less than half.
func tailOf(s string, bytes, lines int) string {
	if bytes <= 0 || lines <= 0 {
		return ""
	}
	start := len(strings.TrimSuffix(s, "\n")) + 1
	for range lines {
		if start = strings.LastIndexByte(s[:start-1], '\n') + 1; start == 0 {
			break
		}
	}
	if len(s)-start <= bytes {
		return s[start:]
	}
	start = len(s) - bytes
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 && i < bytes/2 {
		return s[start+i+1:]
	}
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return s[start:]
}
