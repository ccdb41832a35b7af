package token

import (
	"unicode/utf8"

	"github.com/winnow-llm/winnow/token/internal/boundary"
)

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
// Reading pairs costs more than the table, so only a part of a long text is read,
// and all of it where that looks odd.

// In texts of more bytes than checkAll, a window is read of every checkEvery bytes:
// as long as it takes for checked bytes of such characters, and window bytes at
// the most.
const (
	checkAll   = 256
	checked    = 128
	window     = 8 * checked
	checkEvery = 40 * checked
)

// order collects what a text's known characters have at the least.
type order struct {
	s        string
	table    *boundary.Table // of the family
	standard *boundary.Table // of o200k
	all      bool            // of the text is read

	from, until, left int     // the window, and how many bytes of it are still to be read
	least, told, mine float64 // of the bytes read: at the least, and by both tables
}

func newOrder(t *boundary.Table, s string) *order {
	return &order{s: s, table: t, standard: tables[profiles[O200K].table](), all: len(s) <= checkAll}
}

// takeRun takes a run of known characters. It returns the place up to which it
// needs no further ones.
func (o *order) takeRun(from, to int) int {
	if o.all {
		o.readRange(from, to)
		return 0
	}
	for from < to {
		if from >= o.until || o.left <= 0 {
			if o.until > 0 {
				o.from += checkEvery
			}
			o.from = max(o.from, from)
			o.until, o.left = o.from+window, checked
		}
		from = o.runeAt(max(from, o.from), to)
		end := o.runeAt(min(from+o.left, o.until), to)
		if from < end {
			o.readRange(from, end)
			o.left -= end - from
		}
		from = end
	}
	if o.left <= 0 {
		return o.from + checkEvery
	}
	return o.from
}

// runeAt returns the place of the first character from i on, to at the most.
func (o *order) runeAt(i, to int) int {
	for i < to && !utf8.RuneStart(o.s[i]) {
		i++
	}
	return min(i, to)
}

// readRange reads the characters between two places.
func (o *order) readRange(from, to int) {
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
	if o.least <= o.told {
		return 0
	}
	if !o.all {
		again := newOrder(o.table, o.s)
		again.all = true
		runes().Each(o.s, func(int, int) {}, again.takeRun)
		return again.missingTokens()
	}
	return (o.least/max(o.told, 1) - 1) * o.mine
}
