package app

import (
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/text"
)

// What reports are made of; see package show.
type (
	style     = show.Style
	checked   = show.Checked
	compacted = show.Compacted
)

// number writes an integer with separators, for people.
func number(n int) string { return text.Number(n) }

// plural writes a count with its noun.
func plural(n int, noun string) string { return text.Plural(n, noun) }

// pluralWithVerb writes a count with its noun and the verb that goes with it.
func pluralWithVerb(n int, noun, one, many string) string {
	if n == 1 {
		many = one
	}
	return plural(n, noun) + " " + many
}

// brief returns the first words of a text on one line, safe to print.
func brief(s string, most int) string { return show.Brief(s, most) }

// sizeText writes a number of bytes.
func sizeText(n int64) string { return show.Size(n) }
