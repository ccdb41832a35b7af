package viewer

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/internal/text"
)

// How text looks. Colours are those of the terminal's own palette, so that they
// suit its background; what a colour says is always said by a sign or a word too.
var (
	plain  = ansi.Style{}
	strong = ansi.Style{"1"}
	quiet  = ansi.Style{"38;5;245"}
	aside  = ansi.Style{"3;38;5;245"}
	accent = ansi.Style{"1;34"}
	hit    = ansi.Style{"30;43"}
	cursor = ansi.Style{"7"}

	inkCall  = ansi.Style{"38;5;109"}
	inkMask  = ansi.Style{"33"}
	inkFold  = ansi.Style{"36"}
	inkPin   = ansi.Style{"35"}
	inkWrong = ansi.Style{"31"}
	inkGood  = ansi.Style{"32"}
)

// shortenTo returns the beginning of a text on one line, clean, at most width columns
// wide, also on terminals that take the characters of a cluster one by one.
func shortenTo(s string, width int) string {
	for most := width; most > 0; most-- {
		if s = show.Brief(s, most); ansi.StringWidthWc(s) <= width {
			return s
		}
	}
	return ""
}

// fitWidth cuts or pads a line to a width. The spaces keep TruncateWc from measuring
// clusters, which it does where a line seems to fit.
func fitWidth(line string, width int) string {
	line = ansi.TruncateWc(line+spaces(width+1), max(width, 0), "")
	return line + spaces(width-ansi.StringWidthWc(line))
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// wrapLines breaks a clean text into lines. What is left too wide after breaking
// between words, as rows of dashes are, is cut.
func wrapLines(s string, width int) []string {
	width = max(width, 2)
	return strings.Split(ansi.HardwrapWc(ansi.WrapWc(s, width, ""), width, true), "\n")
}

// drawRule draws a line across with words in it.
func drawRule(words string, width int) string {
	words = shortenTo(words, width-6)
	return "── " + words + " " + strings.Repeat("─", max(width-4-ansi.StringWidthWc(words), 0))
}

// markMatches paints a clean text, and what is looked for in it in another colour.
func markMatches(s string, look ansi.Style, find *regexp.Regexp) string {
	if find == nil {
		return look.Styled(s)
	}
	var b strings.Builder
	at := 0
	for _, x := range find.FindAllStringIndex(s, -1) {
		b.WriteString(look.Styled(s[at:x[0]]) + hit.Styled(s[x[0]:x[1]]))
		at = x[1]
	}
	return b.String() + look.Styled(s[at:])
}

// paragraph is a piece of a message that starts on a line of its own. Its text
// is as it came and is cleaned as it is wrapped.
type paragraph struct {
	ink  ansi.Style
	text string
	hang int  // how far all lines but the first are indented
	rule bool // a line across, with the text in it
}

// flow is text wrapped to a width, line by line as far as it is asked for.
type flow struct {
	pars  []paragraph // those that are not wrapped yet
	off   int         // how much of the first of them is
	bytes int         // of all of them together
	width int
	lines []line
}

type line struct {
	ink  ansi.Style
	text string
}

func newFlow(pars []paragraph, width int) *flow {
	f := &flow{pars: pars, width: max(width, 8)}
	for i := range pars {
		f.bytes += len(pars[i].text)
	}
	return f
}

// stride is how much of a text is wrapped at once.
const stride = 8 << 10

// reach finds lines until there are n, and reports whether there are.
func (f *flow) reach(n int) bool {
	for len(f.lines) < n && len(f.pars) > 0 {
		p := &f.pars[0]
		if p.rule {
			f.lines = append(f.lines, line{p.ink, drawRule(p.text, f.width)})
			f.pars = f.pars[1:]
			continue
		}
		next := text.Head(p.text[f.off:], stride)
		if i := strings.LastIndexAny(next, "\n "); i >= 0 && len(p.text)-f.off > stride {
			next = next[:i+1]
		}
		clean, lead := strings.TrimSuffix(termsafe.Plain(next), "\n"), spaces(p.hang)
		if f.off == 0 {
			lead = text.Runes(clean, p.hang) // it has no wide ones: it is a sign, spaces or a name of ours
			clean = clean[len(lead):]
		}
		for _, l := range wrapLines(clean, f.width-p.hang) {
			f.lines = append(f.lines, line{p.ink, lead + l})
			lead = spaces(p.hang)
		}
		if f.off += len(next); f.off >= len(p.text) {
			f.pars, f.off = f.pars[1:], 0
		}
	}
	return len(f.lines) >= n
}

// find returns the line in which words stand, perhaps with the next one, or -1.
func (f *flow) find(words *regexp.Regexp) int {
	for n := 0; f.reach(n + 1); n++ {
		s := f.lines[n].text
		if f.reach(n + 2) {
			s += " " + strings.TrimLeft(f.lines[n+1].text, " ")
		}
		if words.MatchString(s) {
			return n
		}
	}
	return -1
}
