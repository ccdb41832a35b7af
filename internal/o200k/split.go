package o200k

import "math/bits"

// The published pattern, one alternative a line, the first that matches wins:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// pieceEnd is that pattern for any text; nextPieceEnd is pieceEnd for the usual ASCII cases.

// pieceEnd returns where the piece that starts at i < len(s) ends. s is valid
// UTF-8.
func (t *classes) pieceEnd(s string, i int) int {
	c, size := t.classAt(s, i)
	word := i
	if c.leads() {
		word = i + size
	}
	switch end, lower := t.matchWord(s, word); {
	case lower:
		return t.matchSuffix(s, end)
	case c&(inUpper|inLower) != 0 && c.leads():
		// A mark. The first alternative gives it up as a leading character
		// and takes it as the word before the second alternative has a say.
		return t.matchSuffix(s, i+size)
	case end > word:
		return t.matchSuffix(s, end)
	}
	if c&inNumber != 0 {
		end := i + size
		for range 2 {
			if end == len(s) {
				break
			}
			c, size := t.classAt(s, end)
			if c&inNumber == 0 {
				break
			}
			end += size
		}
		return end
	}
	if c.isPunct() {
		return t.matchPunctuation(s, i+size)
	}
	if s[i] == ' ' && i+1 < len(s) {
		if c, size := t.classAt(s, i+1); c.isPunct() {
			return t.matchPunctuation(s, i+1+size)
		}
	}
	return t.matchSpace(s, i)
}

// matchWord matches capitals* small+ at s[i:], or else capitals+ (lower is then
// false and end may be i). Characters without case are in both sets, so small+
// takes the last of them back when no small letter follows the capitals.
func (t *classes) matchWord(s string, i int) (end int, lower bool) {
	last := -1
	for i < len(s) {
		c, size := t.classAt(s, i)
		if c&inUpper == 0 {
			if c&inLower == 0 {
				break
			}
			for i += size; i < len(s); i += size {
				if c, size = t.classAt(s, i); c&inLower == 0 {
					break
				}
			}
			return i, true
		}
		i += size
		if c&inLower != 0 {
			last = i
		}
	}
	if last >= 0 {
		return last, true
	}
	return i, false
}

// matchSuffix matches (?i:'s|'t|'re|'ve|'m|'ll|'d)? at s[i:].
func (t *classes) matchSuffix(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	var after byte
	if i+2 < len(s) {
		after = s[i+2] | 0x20
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if after == 'e' {
			return i + 3
		}
	case 'l':
		if after == 'l' {
			return i + 3
		}
	}
	// The long s, U+017F, is a small s to a pattern that ignores case.
	if i+2 < len(s) && s[i+1] == 0xC5 && s[i+2] == 0xBF {
		return i + 3
	}
	return i
}

// matchPunctuation matches [^\s\p{L}\p{N}]*[\r\n/]* at s[i:].
func (t *classes) matchPunctuation(s string, i int) int {
	for i < len(s) {
		c, size := t.classAt(s, i)
		if !c.isPunct() {
			break
		}
		i += size
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	return i
}

// matchSpace matches the last three alternatives at s[i:], which starts with white
// space: up to the last line break of a run; or all of a run that ends the
// text; or all but its last character, which may lead the next piece; or one.
func (t *classes) matchSpace(s string, i int) int {
	end, last, afterBreak := i, i, -1
	for end < len(s) {
		c, size := t.classAt(s, end)
		if c&inSpace == 0 {
			break
		}
		last = end
		end += size
		if c&inBreak != 0 {
			afterBreak = end
		}
	}
	switch {
	case afterBreak >= 0:
		return afterBreak
	case end == len(s) || last == i:
		return end
	}
	return last
}

// nextPieceEnd returns what pieceEnd does. It reads words eight bytes at a time, so that
// their length costs no mispredicted branch.
func (t *classes) nextPieceEnd(s string, i int) int {
	if len(s)-i < 24 {
		return t.pieceEnd(s, i)
	}
	c := s[i]
	if c >= 0x80 {
		return t.pieceEnd(s, i)
	}
	word := i
	switch k := t[c]; {
	case k&inWord == 0:
		n := s[i+1]
		if n >= 0x80 {
			return t.pieceEnd(s, i)
		}
		switch kn := t[n]; {
		case kn&(inUpper|inLower) != 0 && k&inBreak == 0:
			word = i + 1
		case k&inSpace == 0:
			return t.nextPunctuation(s, i, i+1)
		case c == ' ' && kn.isPunct():
			return t.nextPunctuation(s, i, i+2)
		case k&inBreak == 0 && kn&inSpace == 0:
			return i + 1
		default:
			return t.matchSpace(s, i)
		}
	case k&inNumber != 0:
		for end := i + 1; ; end++ {
			if s[end] >= 0x80 {
				return t.pieceEnd(s, i)
			}
			if end == i+3 || t[s[end]]&inNumber == 0 {
				return end
			}
		}
	}
	end := word
	for end < len(s) && s[end]-'A' < 26 {
		end++
	}
	for {
		if len(s)-end < 8 {
			return t.pieceEnd(s, i)
		}
		m := notLower(load64(s, end))
		end += bits.TrailingZeros64(m) >> 3
		if m != 0 {
			break
		}
	}
	switch c := s[end]; {
	case c >= 0x80:
		return t.pieceEnd(s, i)
	case c == '\'':
		return t.matchSuffix(s, end)
	}
	return end
}

// nextPunctuation is matchPunctuation for a piece that starts at start and is known
// to be punctuation up to i.
func (t *classes) nextPunctuation(s string, start, i int) int {
	for i < len(s) && s[i] < 0x80 && t[s[i]].isPunct() {
		i++
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	if i < len(s) && s[i] >= 0x80 {
		return t.pieceEnd(s, start)
	}
	return i
}

// notLower returns a word whose lowest set bit is the top bit of the first of
// x's eight bytes that is not in a-z.
func notLower(x uint64) uint64 {
	const ones = 0x0101010101010101
	low := x &^ (0x80 * ones)
	atLeastA := low + (0x80-'a')*ones
	aboveZ := low + (0x80-'z'-1)*ones
	return (^atLeastA | aboveZ | x) & (0x80 * ones)
}

// load64 returns the eight bytes at s[i:], the first one lowest.
func load64[T string | []byte](s T, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
