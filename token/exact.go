package token

import (
	"math"

	"github.com/winnow-llm/winnow/internal/o200k"
)

// byVocabulary returns the function that counts text with the o200k vocabulary.
// For another family the exact count is multiplied by what that family's table
// says in relation to o200k's: both tables err on the same words in the same
// way, so their quotient is far better than either. Weights per kind of piece
// were tried and are about half again as far off.
func byVocabulary(f Family, p *profile) func(string) int {
	if f == O200K {
		return o200k.Count
	}
	estimate, standard := tableEstimator(p), tableEstimator(profiles[O200K])
	return func(s string) int {
		mine := estimate(s)
		ratio := min(max(mine.total/standard(s).total, leastRatio), mostRatio)
		n := float64(o200k.Count(s)) * ratio
		if mine.others > manyOthers*mine.total {
			n = max(n, mine.total) // it says how much must be spelled; a quotient does not
		}
		return max(1, int(math.Round(n)))
	}
}

// manyOthers is the share of characters that no table knows from which on the
// quotient of two tables says little.
const manyOthers = 0.125

// No two vocabularies are further apart than this on real text; on a megabyte
// of one character the tables alone might say so.
const leastRatio, mostRatio = 0.5, 4
