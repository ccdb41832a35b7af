package model

import (
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

func splitWords(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, "-")
}

// splitDigits parts a word into its leading letters and what follows: qwen3 is qwen, 3.
func splitDigits(word string) (letters, rest string) {
	i := 0
	for i < len(word) && !fold.Digit(word[i]) {
		i++
	}
	return word[:i], word[i:]
}

// isSmallNumber reports whether a word is a number of one or two digits, as the parts
// of versions are; dates and sizes are longer or carry letters.
func isSmallNumber(word string) bool {
	if len(word) == 0 || len(word) > 2 {
		return false
	}
	return fold.Digit(word[0]) && fold.Digit(word[len(word)-1])
}

// parsed is a key taken apart at its version: gpt-5-6-sol is gpt-, 5.6, sol.
type parsed struct {
	head    string // everything before the version, as it stands in the key
	version []int  // parts after the first in hundredths: 4.20 comes before 4.3
	rest    []string
}

// parseVersion finds the version in a key: the first word that is a small number or
// ends in one, and the small numbers after it.
func parseVersion(ws []string) (p parsed, ok bool) {
	n := 0
	for i, w := range ws {
		letters, num := splitDigits(w)
		if !isSmallNumber(num) {
			n += len(w) + 1
			continue
		}
		p.head = strings.Join(ws, "-")[:n+len(letters)]
		p.version = append(p.version, atoi(num))
		for i++; i < len(ws) && isSmallNumber(ws[i]); i++ {
			p.version = append(p.version, atoi((ws[i] + "0")[:2]))
		}
		p.rest = ws[i:]
		return p, true
	}
	return parsed{}, false
}

// versionOf returns the version in words, dates aside; nil when there is none.
// Two digits written without a separator are taken apart: 35 is 3.5, as in
// gpt-35-turbo.
func versionOf(ws []string) []int {
	p, ok := parseVersion(withoutDates(ws))
	if !ok {
		return nil
	}
	if v := p.version[0]; v >= 20 {
		return []int{v / 10, v % 10 * 10}
	}
	return p.version
}

// isBareLine reports whether words name a line and no model: gpt, claude. They say
// too little to choose one of the line's builds.
func isBareLine(ws []string) bool {
	return len(withoutDates(ws)) == 1 && versionOf(ws) == nil
}

// statedWindow returns the window that a name ends with, as some makers and
// Bedrock's throughput write it: my-model-32k. 0 is none.
func statedWindow(key string) int {
	ws := splitWords(key)
	if len(ws) < 2 {
		return 0
	}
	digits, ok := strings.CutSuffix(ws[len(ws)-1], "k")
	if !ok || len(digits) == 0 || len(digits) > 4 || strings.Trim(digits, "0123456789") != "" {
		return 0
	}
	if n := atoi(digits); n >= 2 {
		return n * 1000
	}
	return 0
}

// atoi returns the number that a few digits are.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// cutDate takes one date, or another word that says which build of a model is
// meant, from the end of a key.
func cutDate(ws []string) ([]string, bool) {
	n := len(ws)
	number := func(i, length int) bool {
		return i >= 0 && len(ws[i]) == length && strings.Trim(ws[i], "0123456789") == ""
	}
	year := func(i int) bool { return number(i, 4) && strings.HasPrefix(ws[i], "20") }
	cut := 0
	switch {
	case n < 2:
	case ws[n-1] == "latest", ws[n-1] == "default":
		cut = 1
	case number(n-1, 8), number(n-1, 6): // 20250929, 250929
		cut = 1
	case n > 3 && year(n-3) && number(n-2, 2) && number(n-1, 2): // 2024-08-06
		cut = 3
	case n > 2 && number(n-2, 2) && year(n-1): // 08-2025
		cut = 2
	case number(n-1, 4), number(n-1, 3): // 0613, 2411, 001
		cut = 1
	case n > 2 && number(n-2, 2) && number(n-1, 2): // 05-06
		cut = 2
	case isRevision(ws[n-1]): // v2
		cut = 1
	case n > 2 && isRevision(ws[n-2]) && isSmallNumber(ws[n-1]): // v1:0
		cut = 2
	}
	return ws[:n-cut], cut > 0
}

func withoutDates(ws []string) []string {
	for {
		rest, ok := cutDate(ws)
		if !ok {
			return ws
		}
		ws = rest
	}
}

func isRevision(word string) bool {
	letters, num := splitDigits(word)
	return letters == "v" && isSmallNumber(num)
}
