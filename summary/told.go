package summary

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Words with which an agent says what it decided or found out.
var decisionMarks = []string{
	"because", "root cause", "the problem is", "the issue is", "the issue was", "the problem was", "decided", "decision", "instead of", "the fix",
	"turns out", "it seems", "this means", "caused by", "due to", "found that", "confirmed", "the reason", "rather than", "should use",
	"will use", "conclusion", "therefore", "fails because", "works because", "verified", "important", "note that",
	"entscheid", "ursache", "weil ", "porque", "parce que", "потому", "因为", "原因", "决定", "なので", "ため",
}

// isDecision reports whether a line holds one of those words.
func isDecision(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf { // small letters are more than one bit away
			low := strings.ToLower(s)
			return slices.ContainsFunc(decisionMarks, func(m string) bool { return strings.Contains(low, m) })
		}
	}
	for i := 0; i+4 <= len(s); i++ {
		k := decisionSlot(s[i:])
		if decisionPieces[k/64]>>(k%64)&1 == 0 {
			continue
		}
		for _, m := range decisionMarks {
			if hasFold(s[i:], m) {
				return true
			}
		}
	}
	return false
}

// decisionPieces is a bitmap of what the marks start with.
var decisionPieces = func() (t [1 << decisionBits / 64]uint64) {
	for _, m := range decisionMarks {
		k := decisionSlot(m)
		t[k/64] |= 1 << (k % 64)
	}
	return t
}()

const decisionBits = 12

// decisionSlot returns the place of the first four bytes of s, in lower case.
func decisionSlot(s string) uint32 {
	v := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	return (v | 0x20202020) * 0x9E3779B1 >> (32 - decisionBits)
}

// verdict is what is known of a line: whether it tells of a decision.
type verdict uint8

const (
	unjudged verdict = iota
	tellsNone
	tellsDecision
)

// tells is isDecision, found out once.
func (l *line) tells() bool {
	if l.decision == unjudged {
		l.decision = tellsNone
		if isDecision(l.text) {
			l.decision = tellsDecision
		}
	}
	return l.decision == tellsDecision
}
