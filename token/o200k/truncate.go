package o200k

import "unicode/utf8"

// Truncate returns the length in bytes of a prefix of s that ends between two
// characters and has at most limit tokens: Count(s[:n]) <= limit. It is len(s)
// where all of s fits. Otherwise the cut is made in the first piece that does
// not fit: as far into it as possible or, where that piece is long, after one
// of its tokens.
func Truncate(s string, limit int) int {
	if limit <= 0 {
		return 0
	}
	v := load()
	if utf8.ValidString(s) {
		return v.truncate(s, limit)
	}
	n := 0
	for want := v.truncate(valid(s), limit); want > 0; {
		r, size := utf8.DecodeRuneInString(s[n:])
		want -= utf8.RuneLen(r)
		n += size
	}
	return n
}

// truncate is Truncate for valid UTF-8.
func (v *vocab) truncate(s string, limit int) int {
	// Cutting a text changes how it splits before the cut in one way only: the
	// blanks that now end it become one piece, where their last one was apart.
	// Pieces before stable, which is the start of the blanks before i, or i,
	// stay as they are.
	i, sum := 0, 0
	stable, before := 0, 0
	for i < len(s) {
		end := v.next(s, i)
		c := v.count(s, i, end)
		if sum+c > limit {
			return v.cut(s, i, end, limit-sum, stable, limit-before)
		}
		sum += c
		if !v.blank(s, i, end) {
			stable, before = end, sum
		}
		i = end
	}
	return len(s)
}

// blank tells whether the piece s[i:end] is white space that does not end in
// a line break.
func (v *vocab) blank(s string, i, end int) bool {
	c, size := v.at(s, i)
	if c&inSpace == 0 || s[end-1] == '\n' || s[end-1] == '\r' {
		return false
	}
	if i += size; i == end {
		return true
	}
	c, _ = v.at(s, i)
	return c&inSpace != 0
}

// closely is the length of the longest piece in which every place for a cut is
// tried.
const closely = 64

// cut returns where to cut s: in the piece s[i:end], which has more than free
// tokens, or before it. s[stable:] may have up to room tokens.
func (v *vocab) cut(s string, i, end, free, stable, room int) int {
	// Behind its first character the piece is no longer blanks before a cut.
	_, first := v.at(s, i)
	if !v.blank(s, i, end) && end-i <= closely {
		for n := end - 1; n > i+first; n-- {
			if utf8.RuneStart(s[n]) && v.sum(s[i:n]) <= free {
				return n
			}
		}
	} else if free > 0 {
		// The first tokens of a piece are the tokens of the text they cover,
		// if that text is still one piece.
		n, at, left := i, i, free
		v.tokens(s[i:end], func(length int) {
			at += length
			if left--; left >= 0 && utf8.RuneStart(s[at]) {
				n = at
			}
		})
		if n > i+first && v.sum(s[stable:n]) <= room {
			return n
		}
	}
	n := i
	if i+first < end {
		n = i + first
	}
	for ; n > stable; n-- {
		if utf8.RuneStart(s[n]) && v.sum(s[stable:n]) <= room {
			return n
		}
	}
	return stable
}
