package o200k

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// The reference is slow and follows the published description word by word:
// the pattern is run by package regexp, whose alternatives and repetitions
// prefer what a backtracking engine prefers, and merging looks byte strings up
// by rank. It shares nothing with the engine but the list of tokens, which
// the test of tools/vocab holds against the published file.

// space is \s with Unicode's White_Space, which package regexp cannot name.
const space = `\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`

var published = sync.OnceValue(func() *regexp.Regexp {
	pattern := strings.Join([]string{
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`\p{N}{1,3}`,
		` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
		`\s*[\r\n]+`,
	}, "|")
	pattern = strings.ReplaceAll(pattern, `[^\s`, `[^`+space)
	pattern = strings.ReplaceAll(pattern, `\s`, `[`+space+`]`)
	return regexp.MustCompile(`^(?:` + pattern + `)`)
})

var spaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[` + space + `]+`) })

// referencePieces splits valid UTF-8.
func referencePieces(s string) (pieces []string) {
	for s != "" {
		p := published().FindString(s)
		if p == "" {
			// \s+(?!\S) is greedy and gives back until the next character is
			// white space or missing; \s+ takes what is left.
			p = spaces().FindString(s)
			if _, last := utf8.DecodeLastRuneInString(p); len(p) < len(s) && last < len(p) {
				p = p[:len(p)-last]
			}
		}
		pieces = append(pieces, p)
		s = s[len(p):]
	}
	return pieces
}

var referenceRanks = sync.OnceValue(func() map[string]int {
	ranks := make(map[string]int, size)
	for id := range size {
		ranks[tokenText(uint32(id))] = id
	}
	return ranks
})

func tokenText(id uint32) string {
	var buf [8]byte
	return string(load().tokenBytes(id, &buf))
}

func referenceCount(piece string) int {
	ranks := referenceRanks()
	if _, ok := ranks[piece]; ok {
		return 1
	}
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		best, at := size, -1
		for i := range len(parts) - 1 {
			if r, ok := ranks[parts[i]+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return len(parts)
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}
