package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// hitsBack is how many lines above a hit its file is looked for.
const hitsBack = 200

// hit returns a line that a search found with the file that it stands in, seen from
// the folder that paths are below. Some tools name each file once, above what they
// found there: a line number alone says nothing to one who does not see the rest.
func (s *scan) hit(at int32) string {
	l := &s.lines[at]
	if l.from != fromResult || s.steps[l.step].access.Kind != evidence.Search {
		return l.text
	}
	number, found, ok := numberedHit(l.text)
	if !ok {
		return below(s.root, l.text)
	}
	for i := at - 1; i >= max(0, at-hitsBack) && s.lines[i].step == l.step && s.lines[i].from == fromResult; i-- {
		if file := hitFile(s.lines[i].text); file != "" {
			return below(s.root, file) + ":" + number + ": " + found
		}
	}
	return l.text
}

// numberedHit splits "Line 12: text", "L12: text" and "12: text".
func numberedHit(l string) (number, text string, ok bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(l, "Line "), "L")
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 || n == len(rest) || rest[n] != ':' && rest[n] != '-' {
		return "", "", false
	}
	return rest[:n], strings.TrimSpace(rest[n+1:]), true
}

// hitFile returns the file that a line announces hits of, "" where it does not.
func hitFile(l string) string {
	name, file := strings.CutPrefix(l, "File: ")
	name, colon := strings.CutSuffix(strings.TrimSpace(name), ":")
	if !file && !colon || strings.ContainsAny(name, " \t") || !strings.ContainsAny(name, "./") {
		return ""
	}
	return name
}
