// Package text writes things as people read them.
package text

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Head returns the first n bytes of a text, or fewer where a character would be
// cut in two.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip is [Head] with "…" after a text that was cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n) + "…"
}

// Runes returns the first n characters of a text.
func Runes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Common returns the length of the common beginning of two texts.
func Common(a, b []byte) int {
	const block = 4096
	n := min(len(a), len(b))
	at := 0
	for at+block <= n && bytes.Equal(a[at:at+block], b[at:at+block]) {
		at += block
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}

// Plural writes a count with its noun: "1 entry", "1,200 entries".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if last := len(noun) - 1; last >= 0 && noun[last] == 'y' {
		noun = noun[:last] + "ie"
	}
	return Number(n) + " " + noun + "s"
}

// Times says how often something happened: "once", "twice", "1,200 times".
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Plural(n, "time")
}

// Brief returns the first n characters of a text on one line.
func Brief(s string, n int) string {
	out := make([]rune, 0, n)
	space := false
	for _, r := range s {
		if r <= ' ' {
			space = len(out) > 0
			continue
		}
		if space {
			out, space = append(out, ' '), false
		}
		if len(out) >= n {
			return string(out[:n-1]) + "…"
		}
		out = append(out, r)
	}
	return string(out)
}

// Number writes an integer with separators: 258,400.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
