package replay

import (
	"strings"
	"unicode"
)

// A text that is to be read has sentences, or lines of what happened. A bare list
// is neither: words in a row that nothing joins.

// bareRun is how many words in a row, or short items, make a bare list.
const bareRun = 8

// functionWords join other words. A text without them is a list.
var functionWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the this that these those it its he she they them we us you your i my our their his her
		and or but nor so yet if then else when while because since as than though although unless until whether
		to of in on at by for with from into onto over under about after before between through during against without within
		is are was were be been being am has have had do does did can could will would shall should may might must
		not no yes there here what which who whom whose how why where all any each every some such only also just still more most`) {
		m[w] = true
	}
	return m
}()

// bareWords counts the words of a text, and of those the ones that stand in bare
// lists: in a run of eight or more words without a function word, or of eight or
// more items of one or two words, whatever separates them. Lines that stood in
// the history are quotes and are counted among the words only.
func bareWords(text string, history map[string]bool) Tally {
	var t Tally
	var items []int // words of each short item in a row, over lines
	flush := func() {
		if len(items) >= bareRun {
			for _, n := range items {
				t.Hit += n
			}
		}
		items = items[:0]
	}
	for l := range strings.SplitSeq(text, "\n") {
		words := plainWords(l)
		t.Of += len(words)
		if len(words) == 0 {
			continue
		}
		if q := quotedLine(l); q != "" && history[q] {
			flush()
			continue
		}
		// Items that follow each other line by line are a list as well.
		short := shortItems(l)
		if len(short) == 1 && len(words) <= 2 {
			items = append(items, short[0])
			continue
		}
		flush()
		t.Hit += max(longRuns(words), countListedWords(short))
	}
	flush()
	return t
}

// quotedLine returns a line as it is found again in a list, behind a number or behind a
// mark of quoting or of a patch.
func quotedLine(l string) string {
	l = strings.TrimLeft(l, " \t-+*>")
	if n, ok := numberOf(l); ok && n.mark != 0 { // a line that is a number is itself
		l = n.rest
	}
	return strings.TrimSpace(l)
}

// quotableLines returns the lines of the session.
func (x *nextIndex) quotableLines() map[string]bool {
	out := map[string]bool{}
	for _, m := range x.session.History.All() {
		eachText(m, func(text string) {
			for l := range strings.SplitSeq(text, "\n") {
				out[quotedLine(l)] = true
			}
		})
	}
	return out
}

// plainWords returns what stands between blanks and has a letter or a digit.
func plainWords(l string) []string {
	var out []string
	for f := range strings.FieldsSeq(l) {
		if strings.IndexFunc(f, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			out = append(out, strings.ToLower(strings.TrimFunc(f, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })))
		}
	}
	return out
}

// longRuns counts the words in runs without a function word.
func longRuns(words []string) int {
	hit, run := 0, 0
	for i := 0; i <= len(words); i++ {
		if i < len(words) && !functionWords[words[i]] {
			run++
			continue
		}
		if run >= bareRun {
			hit += run
		}
		run = 0
	}
	return hit
}

// shortItems returns how many words each item of a line has, where marks
// separate items.
func shortItems(l string) []int {
	var out []int
	for _, item := range strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune(",;|·•/\t", r) }) {
		if n := len(plainWords(item)); n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// countListedWords counts the words in rows of items of one or two words.
func countListedWords(items []int) int {
	hit, row, n := 0, 0, 0
	for i := 0; i <= len(items); i++ {
		if i < len(items) && items[i] <= 2 {
			row++
			n += items[i]
			continue
		}
		if row >= bareRun {
			hit += n
		}
		row, n = 0, 0
	}
	return hit
}
