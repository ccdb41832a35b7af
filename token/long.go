package token

import (
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// longest is the length up to which a row of letters and digits may be a name or
// a hash, which tables know, and longestCapitals that of one without small letters.
const longest, longestCapitals = 40, 16

// longRowCorrection returns what a table lacks, or has too much, on rows of letters
// and digits that make no words: base64 and base32, sequences, keys. Tables have
// learned capitals from constants and count only 60 % of random ones. The rows are
// counted with the vocabulary of o200k, and the difference to its table holds for
// every family in proportion.
func longRowCorrection(t *boundary.Table, s string, threes bool) float64 {
	standard := tables[profiles[O200K].table]()
	lacks := 0.0
	add := func(from, to int) {
		row := s[from:to]
		told, _ := standard.Estimate(row, true)
		mine, _ := t.Estimate(row, threes)
		lacks += mine * (float64(o200k.Count(row))/told - 1)
	}
	eachRow(s, &base64Byte, longest, add)
	eachRow(s, &capitalByte, longestCapitals, func(from, to int) {
		inside := from > 0 && base64Byte[s[from-1]] || to < len(s) && base64Byte[s[to]]
		if !inside && to-from <= longest {
			add(from, to)
		}
	})
	return lacks
}

// eachRow calls f for every row of more than longer bytes of a set. It looks at few
// others: a row that long reaches over a place that is a multiple of longer.
func eachRow(s string, set *[256]bool, longer int, f func(from, to int)) {
	for i := longer; i < len(s); i += longer {
		if !set[s[i]] {
			continue
		}
		from, to := i, i+1
		for from > 0 && set[s[from-1]] {
			from--
		}
		for to < len(s) && set[s[to]] {
			to++
		}
		if to-from > longer {
			f(from, to)
		}
		i = max(i, (to-1)/longer*longer)
	}
}

var capitalByte = func() (t [256]bool) {
	for b := range t {
		t[b] = 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
	}
	return t
}()
