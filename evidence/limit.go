package evidence

import (
	"fmt"
	"strings"
)

// Limit shortens a tool's output to at most that many bytes and lines, notice
// included, and reports whether it had to. What is left is the head, the tail
// and, between them, the lines that say what went wrong; a notice says how
// much there was. Cuts are made at the ends of lines where lines are not huge,
// and never inside a rune. A limit of 0 or less is no limit.
func Limit(text string, bytes, lines int) (string, bool) {
	total := strings.Count(text, "\n") + 1
	if strings.HasSuffix(text, "\n") {
		total--
	}
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
	if bytes < 2*room || lines < 8 {
		return smallLimit(text, bytes, lines), true
	}
	errs := min(12, lines/8)
	left, leftLines := bytes-room, lines-2-errs
	errBytes := left / 8
	head := headOf(text, (left-errBytes)*3/5, leftLines*3/5)
	tail := tailOf(text[len(head):], left-errBytes-len(head), leftLines-strings.Count(head, "\n"))
	middle := text[len(head) : len(text)-len(tail)]
	var b strings.Builder
	b.Grow(bytes)
	b.WriteString(head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[… %d of %d lines, %d of %d bytes left out", countLines(middle), total, len(middle), len(text))
	var kept []string
	size := 0
	for _, l := range ErrorLines(middle, errs) {
		if size+len(l)+1 > errBytes {
			break
		}
		kept = append(kept, l)
		size += len(l) + 1
	}
	if len(kept) > 0 {
		b.WriteString("; errors among them:]\n")
		for _, l := range kept {
			b.WriteString(l)
			b.WriteByte('\n')
		}
		b.WriteString("[…]\n")
	} else {
		b.WriteString("]\n")
	}
	b.WriteString(tail)
	out := b.String()
	if len(out) > bytes || len(out) >= len(text) && total <= lines {
		return smallLimit(text, bytes, lines), true
	}
	return out, true
}

// The ends of an output that [LimitTo] keeps.
const (
	KeepBoth = "both" // head, tail and the lines between that report errors
	KeepHead = "head"
	KeepTail = "tail"
)

// LimitTo is [Limit] where somebody chose what is left: one end, with a notice
// where the other one was. Anything but [KeepHead] and [KeepTail] is Limit itself.
func LimitTo(keep, text string, bytes, lines int) (string, bool) {
	total := countLines(text)
	if keep != KeepHead && keep != KeepTail || (bytes <= 0 || len(text) <= bytes) && (lines <= 0 || total <= lines) {
		return Limit(text, bytes, lines)
	}
	if bytes <= 0 {
		bytes = len(text)
	}
	if lines <= 0 {
		lines = total + 8
	}
	const room = 120 // for the notice
	if bytes < 2*room || lines < 3 {
		if keep == KeepTail {
			return tailOf(text, bytes, lines), true
		}
		return smallLimit(text, bytes, lines), true
	}
	left := headOf(text, bytes-room, lines-1)
	if keep == KeepTail {
		left = tailOf(text, bytes-room, lines-1)
	}
	notice := fmt.Sprintf("[output shortened from %d bytes to %d, from %d lines to %d]", len(text), len(left), total, countLines(left))
	if keep == KeepTail {
		return notice + "\n" + left, true
	}
	return strings.TrimSuffix(left, "\n") + "\n" + notice, true
}

// smallLimit is for limits that have no room for a notice: the start alone.
func smallLimit(text string, bytes, lines int) string {
	s := headOf(text, bytes, lines)
	return strings.TrimRight(s, "\n")
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// headOf returns the start of s, whole lines where that loses less than half.
func headOf(s string, bytes, lines int) string {
	if bytes <= 0 || lines <= 0 {
		return ""
	}
	end := min(len(s), bytes)
	at := 0
	for range lines {
		i := strings.IndexByte(s[at:end], '\n')
		if i < 0 {
			at = -1
			break
		}
		at += i + 1
	}
	if at >= 0 {
		return s[:at]
	}
	if end == len(s) {
		return s
	}
	if i := strings.LastIndexByte(s[:end], '\n'); i > end/2 {
		return s[:i+1]
	}
	return s[:runeFloor(s, end)]
}

// tailOf returns the end of s, whole lines where that loses less than half.
func tailOf(s string, bytes, lines int) string {
	if bytes <= 0 || lines <= 0 {
		return ""
	}
	start := max(0, len(s)-bytes)
	at := len(s)
	if strings.HasSuffix(s, "\n") {
		at--
	}
	for n := 0; ; {
		i := strings.LastIndexByte(s[start:at], '\n')
		if i < 0 {
			break
		}
		n++
		if n == lines {
			return s[start+i+1:]
		}
		at = start + i
	}
	if start == 0 {
		return s
	}
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 && i < (len(s)-start)/2 {
		return s[start+i+1:]
	}
	return s[runeCeil(s, start):]
}
