package token

import "github.com/winnow-llm/winnow/token/internal/boundary"

// Letters in no natural order. A table has learned from Russian, Chinese,
// Japanese and Korean how many tokens a character of theirs begins on average.
// Words are that short only where they are words: of syllables in a random order
// each is a token, and the table counted 40 % less.
//
// So the order is checked. [boundary.Joins] knows which neighbours o200k has
// together in any token; between all others a token starts. That gives a number
// of tokens that the text has at the least. In natural texts it is 0.5 to 0.97 of
// what o200k's table says for the same characters; where it is more, the order is
// not natural, and the table's sum is raised by the same factor, whatever its family.
//
// Reading pairs costs more than the table: of the runs of such characters only one in
// checkEvery is read once checkFirst are.

const checkFirst, checkEvery = 256, 16

// order collects what a text's known characters have at the least.
type order struct {
	s        string
	table    *boundary.Table // of the family
	standard *boundary.Table // of o200k

	runs, bytes, read int     // runs so far, and how many bytes they have and were read
	least, told, mine float64 // of the bytes read: at the least, and by both tables
}

// readRun reads a run of known characters.
func (o *order) readRun(from, to int) {
	o.runs++
	o.bytes += to - from
	if o.runs > checkFirst && o.runs%checkEvery != 0 {
		return
	}
	o.read += to - from
	o.least += joins().Least(o.s, from, to)
	from, to = boundary.Around(o.s, from, to)
	first := 0.0
	if from == 0 {
		first = 1 // a token always starts here, which no entry says
	}
	told := first + o.standard.Part(o.s, from, to)
	o.told += told
	if o.table == o.standard {
		o.mine += told
	} else {
		o.mine += first + o.table.Part(o.s, from, to)
	}
}

// missingTokens returns what the family's table lacks.
func (o *order) missingTokens() float64 {
	return max(0, o.least/max(o.told, 1)-1) * o.mine * float64(o.bytes) / float64(max(o.read, 1))
}
