package evidence

import "strings"

// # Lines that stand out
//
// Much of what programs print has one form, line after line: a test run, a
// download, a check of many files. What such an output is about is often the one
// line that has another form:
//
//	ok   internal/store/lease_58.go:1172 checksum 678320476 took 1.476s, header read
//	ok   internal/store/lease_62.go:6 checksum 1689041856 took 5.856s, lock held
//	…    (100 lines like these)
//	retry_limit_002 = 804213411
//	…    (100 lines like these)
//	part 2 of 60 is done, code 80213
//
// The form of a line is its first three words, where a word with a digit or a
// slash in it counts as any other such word. Above, all lines but two have
// the form "ok * checksum". An output is uniform where three quarters of its lines
// have forms that are common in it; in a uniform output a line stands out if at
// most one other has its form.
//
// Prose is uniform in another way: hardly a line has a digit, a slash or an
// underscore in it. Where three quarters have none, the others stand out:
//
//	The lease waits for a batch, and the cursor keeps that lock.
//	Its header is kept in var/cache/4711/index.db.
//
// In other outputs, such as source code, no line stands out: there a new form is
// nothing special.
//
// No word has a meaning here, so it works for any program and language. What it
// cannot know is whether a line that stands out matters: a progress line does
// not. There are few of them, though, and the alternative is one line in two
// hundred that looks like all the others.

const (
	uniformLines = 12 // fewer lines are not enough to know a form by
	commonForm   = 4  // lines that have a common form
	formWords    = 3
	formBytes    = 120 // of a line that are looked at
)

// Forms finds the lines of a text that stand out. The zero value is ready;
// [Forms.Read] may be called for one text after another.
type Forms struct {
	lines   []uint32 // the form of each line; 0 for a blank one, plainForm is added
	counts  map[uint32]int
	uniform bool // most lines have common forms
	plain   bool // most lines are plain words
}

// plainForm marks the form of a line of plain words.
const plainForm = 1

// Read looks at a text.
func (f *Forms) Read(text string) {
	f.lines, f.uniform, f.plain = f.lines[:0], false, false
	if strings.Count(text, "\n") < uniformLines-1 {
		return
	}
	if f.counts == nil {
		f.counts = make(map[uint32]int)
	}
	clear(f.counts)
	said, plain := 0, 0
	for l := range strings.SplitSeq(text, "\n") {
		form := formOf(l)
		f.lines = append(f.lines, form)
		if form != 0 {
			f.counts[form]++
			plain += int(form & plainForm)
			said++
		}
	}
	common := 0
	for _, n := range f.counts {
		if n >= commonForm {
			common += n
		}
	}
	f.uniform = said >= uniformLines && common*4 >= said*3
	f.plain = said >= uniformLines && plain*4 >= said*3
}

// StandsOut reports whether line i of the text, counted from 0, stands out.
func (f *Forms) StandsOut(i int) bool {
	if i >= len(f.lines) || f.lines[i] == 0 {
		return false
	}
	return f.uniform && f.counts[f.lines[i]] <= 2 || f.plain && f.lines[i]&plainForm == 0
}

// formOf returns a hash of a line's form, 0 for a line without words. Its lowest
// bit tells whether the line is one of plain words.
func formOf(l string) uint32 {
	const offset, prime = 2166136261, 16777619
	l = l[:min(len(l), formBytes)]
	h, words, said, plain := uint32(offset), 0, false, true
	for i := 0; i < len(l); words++ {
		for i < len(l) && isBlank(l[i]) {
			i++
		}
		word, kinds := h, uint16(0)
		for ; i < len(l) && !isBlank(l[i]); i++ {
			kinds |= class[l[i]]
			word = (word ^ uint32(l[i])) * prime
		}
		said = said || kinds&(cLetters|cDigit|cHigh) != 0
		plain = plain && kinds&(cDigit|cSlash|cUnder) == 0
		if kinds&(cDigit|cSlash) != 0 {
			word = (h ^ '*') * prime
		}
		if words < formWords {
			h = (word ^ ' ') * prime
		}
	}
	switch {
	case !said:
		return 0
	case plain:
		return h | plainForm
	}
	return max(h&^plainForm, 2)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
