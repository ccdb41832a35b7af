package token

import (
	"math"

	"github.com/winnow-llm/winnow/token/o200k"
)

// byVocabulary returns the function that counts text with the o200k vocabulary.
// For another family the exact count is multiplied by what that family's table
// says in relation to o200k's: both tables err on the same words in the same
// way, so their quotient is far better than either. Weights per kind of piece
// were tried and are about half again as far off.
func byVocabulary(f Family, p *profile) func(string) int {
	base := profiles[O200K]
	switch {
	case f == O200K:
		return o200k.Count
	case p.table == base.table:
		return func(s string) int { return int(math.Round(float64(o200k.Count(s)) * p.scale)) }
	}
	estimate, standard := estimator(p), estimator(base)
	return func(s string) int {
		ratio := min(max(estimate(s)/standard(s), leastRatio), mostRatio)
		return max(1, int(math.Round(float64(o200k.Count(s))*ratio)))
	}
}

// No two vocabularies are further apart than this on real text; on a megabyte
// of one character the tables alone might say so.
const leastRatio, mostRatio = 0.5, 4
