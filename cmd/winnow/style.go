package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// style paints text for terminals.
type style struct{ color bool }

func (s style) paint(code, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string  { return s.paint("1", t) }
func (s style) dim(t string) string   { return s.paint("2", t) }
func (s style) red(t string) string   { return s.paint("31", t) }
func (s style) green(t string) string { return s.paint("32", t) }
func (s style) warm(t string) string  { return s.paint("33", t) }

// number writes an integer with separators, for people.
func number(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// percent writes a share.
func percent(part, whole int) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

// brief returns the first words of a text on one line, at most that many
// characters, safe to print.
func brief(text string, most int) string {
	var b strings.Builder
	n, space := 0, false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 || r == '\u2028' || r == '\u2029' {
			space = n > 0
			continue
		}
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			r = '?'
		}
		if n+2 > most && i < len(text) {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
