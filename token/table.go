package token

import (
	"bytes"
	"compress/flate"
	"embed"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token/internal/boundary"
)

//go:generate go run ./internal/tablefit

//go:embed tables/*.flate
var tableFiles embed.FS

// tables holds a loader per table: reading one takes a few milliseconds, and
// only what is used is read.
var tables = func() map[string]func() *boundary.Table {
	m := make(map[string]func() *boundary.Table)
	for _, p := range profiles {
		m[p.table] = sync.OnceValue(func() *boundary.Table { return readTable(p.table) })
	}
	return m
}()

func readTable(name string) *boundary.Table {
	t := new(boundary.Table)
	readFile(name, t[:])
	return t
}

// readFile unpacks a file of the tables' folder.
func readFile(name string, to []byte) {
	packed, err := tableFiles.ReadFile("tables/" + name + ".flate")
	if err != nil {
		panic(fmt.Sprintf("token: the table %s is not in the binary: %v", name, err))
	}
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(packed)), to); err != nil {
		panic(fmt.Sprintf("token: the table %s is damaged: %v", name, err))
	}
}

// estimate is an estimate of a text.
type estimate struct {
	total  float64
	others float64 // tokens of characters that the table does not know, part of total
}

// tableEstimator returns the function that estimates text with a family's table.
func tableEstimator(p *profile) func(string) estimate {
	load, threes := tables[p.table], boundary.DigitsInThrees(p.table)
	return func(s string) estimate {
		t := load()
		n, kind := t.Estimate(s, threes)
		if kind.Long {
			n += longRowCorrection(t, s, threes)
		}
		n *= p.scale
		if kind.ASCII {
			return estimate{total: n}
		}
		b := measureNonASCII(t, s, p)
		return estimate{max(n-b.instead+b.tokens+b.random, 1), b.tokens}
	}
}

// byTable returns the function that counts text with a family's table, in whole
// tokens, and stretches that repeat themselves with the vocabulary. Of another
// family than o200k these have at least what its table says.
func byTable(f Family, p *profile) func(string) int {
	count, exact := tableEstimator(p), byVocabulary(f, p)
	return func(s string) int {
		total, from := 0.0, 0
		eachRepeat(s, func(a, b int) {
			if a > from {
				total += count(s[from:a]).total
			}
			n := float64(exact(s[a:b]))
			if f != O200K {
				n = max(n, count(s[a:b]).total)
			}
			total, from = total+n, b
		})
		if from < len(s) {
			total += count(s[from:]).total
		}
		return int(math.Round(total))
	}
}

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
