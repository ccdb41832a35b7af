package ladder

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/workset"
)

// An outline shows the lines of a file that say what it holds, each with its
// number, so that a range can be read again. Go is read by its own parser, other
// languages by rules on lines, which stand in a table; a caller may bring a
// parser. Beside them stand the lines that the agent edited, quoted or searched
// for, and comments that somebody will look for. Where not all of them fit, what is
// defined has its name and number first, several on a line: half of what the heading
// left. Then every rank has at most half of what the ranks before it left, values and
// signatures seven eighths, and short lines come first. A second round takes what still
// fits.
//
// An example: a file has the lines below and its outline 36 tokens.
//
//	line  text                                           rank       tokens, of its name
//	   1  package queue                                  heading     5
//	   4  "errors"; "time"                               imported    9
//	   8  const limit = 64                               value       8
//	  10  var errFull = errors.New("the queue is full")  signature  15
//	  12  func Push(j Job, wait time.Duration) error     signature  14, 4
//	  20  func Pop() (Job, bool)                         signature  11, 4
//
// The heading is taken (at most 18), then both names (at most 16), the value (at most
// 21) and Pop whole for 7 more (at most 14). Of the 8 left, Push would need 10. Lines 1,
// 8 and 20 are shown, and `12: Push`. (errFull counts as a signature, because something
// computes it.)

// rank says what a line tells. A lower one comes first.
type rank uint8

const (
	heading   rank = iota // the package or module, a title
	wanted                // edited, quoted or searched for
	value                 // a constant, a top-level value
	signature             // what is defined, with its parameters and defaults
	remark                // a comment with a fact
	imported              // an import
	ranks
)

// outlineLine is a line of a file that its outline shows.
type outlineLine struct {
	region *workset.Region
	line   int    // of the region
	text   string // the line, or the name in it
	name   string // of what it defines; "" where the line has no shorter form
	rank   rank
	named  bool               // the text is the name
	costs  [wholeLine + 1]int // tokens of its forms
}

// The forms of an outline's line.
const (
	noLine = iota
	nameOnly
	wholeLine
)

// outline is what could be shown of a file, as long as the file stays as it is
// and nothing else was asked for.
type outline struct {
	touched, asked int
	lines          []outlineLine
}

// The tokens and the lines below which an outline says nothing.
const (
	leastOutline  = 60
	leastOutlined = 3
)

// Lengths of an outline's lines, in bytes. Longer lines are data.
const (
	outlineWidth = 240
	importsWidth = 400
)

// outlineOf returns the lines of a file's outline that have at most that many
// tokens, in order.
func (f *filler) outlineOf(file *workset.File, most int) (lines []outlineLine, tokens int) {
	all := slices.DeleteFunc(slices.Clone(f.wholeOutline(file)), func(l outlineLine) bool {
		return f.isShown(l.region.Lines[l.line].Touched) // in a message
	})
	forms := make([]int, len(all))
	bySize := make([]int, len(all)) // short ones first: more of them fit
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(all[a].costs[wholeLine], all[b].costs[wholeLine]) })
	raise := func(form, limit int, wanted func(*outlineLine) bool) {
		for _, i := range bySize {
			cost := all[i].costs[form] - all[i].costs[forms[i]]
			if forms[i] < form && cost <= limit && wanted(&all[i]) {
				forms[i] = form
				tokens += cost
				limit -= cost
			}
		}
	}
	for _, kept := range [...]int{1, 0} { // what a rank leaves to others; the second round takes what fits
		for r := range ranks {
			share := 2
			if r == value || r == signature {
				share = 8
			}
			raise(wholeLine, (most-tokens)-kept*(most-tokens)/share, func(l *outlineLine) bool { return l.rank == r })
			if r == heading {
				raise(nameOnly, (most-tokens)-kept*(most-tokens)/2, func(l *outlineLine) bool { return l.name != "" })
			}
		}
	}
	for i, l := range all {
		if l.named = forms[i] == nameOnly; l.named {
			l.text = l.name
		}
		if forms[i] != noLine {
			lines = append(lines, l)
		}
	}
	return lines, tokens
}

// wholeOutline returns all lines of a file's outline, which are found once.
func (f *filler) wholeOutline(file *workset.File) []outlineLine {
	o := outline{touched: file.Touched, asked: len(f.sought)}
	if old, ok := f.outlines[file]; ok && old.touched == o.touched && old.asked == o.asked {
		return old.lines
	}
	lang := languageOf(file.Path)
	hits := f.sought.countHits(file)
	for k := range file.Regions {
		g := &file.Regions[k]
		for _, m := range f.markLines(file.Path, g, hits) {
			l := outlineLine{region: g, line: m.line, text: m.text, rank: lang.rankByLiteral(m)}
			l.costs[wholeLine] = f.countTokens(m.text) + 3
			if m.rank == signature {
				l.name = lang.nameIn(m.text)
				l.costs[nameOnly] = f.countTokens(l.name) + 3
			}
			o.lines = append(o.lines, l)
		}
	}
	f.outlines[file] = o
	return o.lines
}

// rankByLiteral returns the rank of a mark with a look at what it gives: a parameter with a
// number or a text as its default is a value, and a value that something computes
// tells no more than a signature does.
func (l *language) rankByLiteral(m mark) rank {
	gives := givesLiteral.MatchString(m.text)
	switch {
	case m.rank == signature && gives:
		return value
	case m.rank == value && !l.data && !gives && strings.Contains(m.text, "=") && l.commentIn(strings.TrimSpace(m.text)) < 0:
		return signature
	}
	return m.rank
}

var givesLiteral = regexp.MustCompile(`[\w\])] ?= ?-?[\d"'` + "`" + `]`)

// mark is a line of a region that belongs into an outline.
type mark struct {
	line, last int // of what the text is put together from
	rank       rank
	text       string
}

// markLines finds the lines of a region that belong into the outline.
func (f *filler) markLines(path string, g *workset.Region, hits map[string]int) []mark {
	lines := make([]string, len(g.Lines))
	edited := 0
	for i := range g.Lines {
		lines[i] = strings.TrimRight(g.Lines[i].Text, " \t\r")
		if g.Lines[i].Edited {
			edited++
		}
	}
	lang := languageOf(path)
	marks := f.findDefinitions(path, lang, lines)
	has := make(map[int]bool, len(marks))
	for _, m := range marks {
		for i := m.line; i <= m.last; i++ {
			has[i] = true
		}
	}
	for i, l := range lines {
		code := strings.TrimSpace(l)
		if has[i] || len(code) < 3 || len(l) > outlineWidth {
			continue
		}
		switch {
		case g.Lines[i].Edited && 2*edited <= len(lines) && len(code) >= leastEdited || f.sought.matchesLine(code, hits): // edited lines tell nothing of a file that was mostly rewritten
			marks = append(marks, mark{i, i, wanted, l})
		case lang.hasTellingComment(code):
			marks = append(marks, mark{i, i, remark, l})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.line, b.line) })
	return joinImports(marks)
}

// findDefinitions finds what the lines define: by the caller's parser, by Go's, or by
// the rules of the language.
func (f *filler) findDefinitions(path string, lang *language, lines []string) []mark {
	if f.Outline != nil {
		var marks []mark
		left := guard.Do("outline", func() {
			for _, i := range f.Outline(path, lines) {
				if i >= 0 && i < len(lines) && len(lines[i]) <= outlineWidth {
					marks = append(marks, mark{i, i, signature, lines[i]})
				}
			}
		})
		if left == nil && len(marks) > 0 {
			return marks
		}
	}
	if lang.parse != nil {
		return lang.parse(lang, lines)
	}
	return lang.markDefinitions(lines, 0)
}

// joinImports puts all imports onto the line of the first.
func joinImports(marks []mark) []mark {
	first := -1
	out := marks[:0]
	for _, m := range marks {
		switch {
		case m.rank != imported:
		case first < 0:
			first = len(out)
		default:
			if all := &out[first]; len(all.text)+len(m.text) < importsWidth {
				all.text = strings.TrimSuffix(all.text, ";") + "; " + strings.TrimSpace(m.text)
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// writeOutline writes the outline of a file, without the lines that are shown.
func writeOutline(b *strings.Builder, v *fileView) {
	var text strings.Builder
	lines, names := 0, false // what stands there last is a name
	for _, l := range v.outline {
		if marks := v.lines[l.region]; marks != nil && marks[l.line] {
			continue
		}
		switch {
		case names && l.named:
			text.WriteString(", ")
		case text.Len() > 0:
			text.WriteByte('\n')
		}
		names = l.named
		fmt.Fprintf(&text, "%d: %s", l.region.From+l.line, l.text)
		if l.rank != imported {
			lines++
		}
	}
	if lines >= leastOutlined {
		writeFenced(b, "outline, with line numbers; read a range for its text", text.String())
	}
}

// sought is what the agent searched for and quoted.
type sought map[string]bool

// Bounds of what is looked for in outlines.
const (
	leastSought = 4
	leastQuoted = 12
	leastEdited = 16 // a return or a brace tells nothing
	mostSought  = 4000
	mostHits    = 3 // lines of a file
)

// keywords of languages pick lines that nobody searched for.
const keywords = " await async break case catch class const continue default elif else enum error except export extends false final finally for from func function " +
	"impl import interface lambda match module package private protected public raise range return self static string struct switch then this throw true type while with yield "

// addQuery notes the names in a query.
func (s sought) addQuery(query string) {
	for w := range namesIn(quote.Clip(query, 400)) {
		if len(w) >= leastSought && !strings.Contains(keywords, " "+w+" ") {
			s.add(w)
		}
	}
}

// addQuoted notes the code that the agent quotes between backticks.
func (s sought) addQuoted(text string) {
	for k, piece := range strings.Split(text, "`") {
		if k%2 == 1 && len(piece) >= leastQuoted && len(piece) <= outlineWidth && !strings.Contains(piece, "\n") {
			s.add(piece)
		}
	}
}

func (s sought) add(w string) {
	if !s[w] && len(s) < mostSought {
		s[strings.Clone(w)] = true
	}
}

// countHits counts the lines of a file in which each name stands that was searched for, and
// how often each line does that was quoted.
func (s sought) countHits(file *workset.File) map[string]int {
	if len(s) == 0 {
		return nil
	}
	hits := map[string]int{}
	for k := range file.Regions {
		for i := range file.Regions[k].Lines {
			code := strings.TrimSpace(file.Regions[k].Lines[i].Text)
			if s[code] {
				hits[code]++
			}
			for w := range namesIn(code) {
				if s[w] && w != code {
					hits[w]++
				}
			}
		}
	}
	return hits
}

// matchesLine reports whether a line was quoted, or has a name that was searched for, where that
// stands in few lines of its file: a word of the language picks any line.
func (s sought) matchesLine(code string, hits map[string]int) bool {
	few := func(what string) bool { return hits[what] > 0 && hits[what] <= mostHits }
	if len(hits) == 0 || few(code) {
		return len(hits) > 0
	}
	for w := range namesIn(code) {
		if few(w) {
			return true
		}
	}
	return false
}

// namesIn yields the names in a text.
func namesIn(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(s, func(r rune) bool { return r < utf8.RuneSelf && !isWord(byte(r)) })
}

func isWord(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80
}
