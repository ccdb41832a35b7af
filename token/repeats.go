package token

import "unicode/utf8"

// Text that repeats itself. A table says how likely a token starts at a byte, on
// the average of all texts. In prose and code the errors of its hundreds of
// different places cancel each other. In a text that has few different places they
// do not: a thousand backticks are five hundred tokens, of which a table saw
// twenty-five, and one line that is printed a hundred times may be a third larger
// than its estimate. Such stretches are rare and are counted with the vocabulary.
//
// A text is looked at in windows of a kilobyte. Of each, every few bytes three
// bytes in a row are taken, about 250 of them, and how many different
// ones there are tells prose (80 % of them are different), code (75 %) and tables
// of numbers (60 %) from a line that is repeated, which has no more of them than it
// has bytes.

const (
	repeatWindow  = 1024
	repeatSamples = 256

	// repeatShare is the share of different samples below which a stretch repeats
	// itself. Of windows of real code and prose about one in a thousand does.
	repeatShare = 0.5

	// leastRepeat is the length below which nothing can be told.
	leastRepeat = 48
)

// eachRepeat calls f for the stretches of a text that repeat themselves, in order.
func eachRepeat(s string, f func(from, to int)) {
	if len(s) < leastRepeat {
		return
	}
	start := -1
	for from := 0; from < len(s); {
		to := from + repeatWindow
		if len(s)-to < repeatWindow/2 { // a short rest goes with the window before it
			to = len(s)
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		switch repeats := repeatsItself(s[from:to]); {
		case repeats && start < 0:
			start = from
		case !repeats && start >= 0:
			f(start, from)
			start = -1
		}
		from = to
	}
	if start >= 0 {
		f(start, len(s))
	}
}

// repeatsItself reports whether a window has few different places.
func repeatsItself(s string) bool {
	var seen [64]uint64 // a set of hashes
	step := max(1, len(s)/repeatSamples)
	samples, different := 0, 0
	for i := 0; i+2 < len(s); i += step {
		h := (uint32(s[i])<<16 | uint32(s[i+1])<<8 | uint32(s[i+2])) * 2654435761 >> 20
		if bit := uint64(1) << (h & 63); seen[h>>6]&bit == 0 {
			seen[h>>6] |= bit
			different++
		}
		samples++
	}
	return float64(different) < repeatShare*float64(samples)
}
