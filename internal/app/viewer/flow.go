package viewer

import (
	"sort"
	"strings"
)

// paragraph is a piece of a message that starts on a line of its own. Its text
// is as it came and is cleaned as it is wrapped.
type paragraph struct {
	ink  ink
	lead string // clean, before the first line
	hang string // clean, before the others
	text string
	rule bool // a line across, with the text in it
}

// mark is a place in a flow: a paragraph and an offset in its text.
type mark struct {
	par int32
	off int
}

// flow is text wrapped to a width, line by line as far as it is asked for.
type flow struct {
	pars   []paragraph
	width  int
	starts []mark // of the lines that were found
	at     mark   // where the next line starts
	done   bool
}

func newFlow(pars []paragraph, width int) *flow {
	f := &flow{pars: pars, width: max(width, 4)}
	f.skip()
	return f
}

// skip moves over paragraphs that have nothing more to say.
func (f *flow) skip() {
	for int(f.at.par) < len(f.pars) && f.at.off >= len(f.pars[f.at.par].text) {
		p := &f.pars[f.at.par]
		if f.at.off == 0 && (p.rule || p.lead != "") {
			return // a line without text
		}
		f.at = mark{f.at.par + 1, 0}
	}
	f.done = int(f.at.par) >= len(f.pars)
}

// reach finds lines until there are n, and reports whether there are.
func (f *flow) reach(n int) bool {
	for len(f.starts) < n && !f.done {
		f.starts = append(f.starts, f.at)
		_, l := f.lineAt(f.at)
		if p := &f.pars[f.at.par]; p.text == "" || p.rule {
			f.at = mark{f.at.par + 1, 0}
		} else {
			f.at.off = l.next
		}
		f.skip()
	}
	return len(f.starts) >= n
}

// lineAt wraps the line that starts at a mark.
func (f *flow) lineAt(m mark) (*paragraph, line) {
	p := &f.pars[m.par]
	lead := p.hang
	if m.off == 0 {
		lead = p.lead
	}
	return p, wrap(p.text, m.off, f.width-width(lead))
}

// line returns line n in pieces; false after the last. Words that are looked
// for are marked.
func (f *flow) line(n int, find string) ([]piece, bool) {
	if n < 0 || !f.reach(n+1) {
		return nil, false
	}
	m := f.starts[n]
	p, l := f.lineAt(m)
	if p.rule {
		text := short(p.text, f.width-6)
		rest := f.width - 4 - width(text)
		return []piece{{p.ink, "── " + text + " " + strings.Repeat("─", max(rest, 0))}}, true
	}
	lead := p.hang
	if m.off == 0 {
		lead = p.lead
	}
	out := []piece{{p.ink, lead}}
	return append(out, marked(l.text, p.ink, find)...), true
}

// height returns how many lines there are, at most most.
func (f *flow) height(most int) int {
	f.reach(most)
	return min(len(f.starts), most)
}

// find returns the line that holds an offset of a paragraph's text.
func (f *flow) find(par, off int) int {
	for !f.done && (int(f.at.par) < par || int(f.at.par) == par && f.at.off <= off) {
		f.reach(len(f.starts) + 64)
	}
	n := sort.Search(len(f.starts), func(i int) bool {
		s := f.starts[i]
		return int(s.par) > par || int(s.par) == par && s.off > off
	})
	return max(n-1, 0)
}

// marked splits a text into pieces, with what is looked for in another ink.
func marked(text string, in ink, find string) []piece {
	if find == "" {
		return []piece{{in, text}}
	}
	var out []piece
	for {
		i := indexFold(text, find)
		if i < 0 {
			break
		}
		n := len(find)
		out = append(out, piece{in, text[:i]}, piece{hit, text[i : i+n]})
		text = text[i+n:]
	}
	return append(out, piece{in, text})
}

func width(s string) int {
	_, n := cut(s, 1<<30)
	return n
}
