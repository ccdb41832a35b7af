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
	if find != nil {
		s = find.ReplaceAllStringFunc(s, func(match string) string { return hit.Styled(match) + look.String() })
	}
	return look.Styled(s)
}

// paragraph is a piece of a text that starts on a line of its own. Its text
// is as it came and is cleaned as it is wrapped.
type paragraph struct {
	ink  ansi.Style
	text string
	hang int // how far all lines but the first are indented
}

type line struct {
	ink  ansi.Style
	text string
}

// mostShown is how many bytes of a paragraph are shown.
const mostShown = 256 << 10

// wrapParagraphs wraps a text to a width.
func wrapParagraphs(pars []paragraph, width int) []line {
	var out []line
	width = max(width, 8)
	for _, p := range pars {
		clean := strings.TrimSuffix(termsafe.Plain(text.Head(p.text, mostShown)), "\n")
		lead := text.Runes(clean, p.hang) // it has no wide ones: it is a sign, spaces or a name of ours
		for _, l := range wrapLines(clean[len(lead):], width-p.hang) {
			out = append(out, line{p.ink, lead + l})
			lead = spaces(p.hang)
		}
		if len(p.text) > mostShown {
			out = append(out, line{quiet, "⋯ winnow tree SESSION ENTRY prints all " + show.Size(int64(len(p.text)))})
		}
	}
	return out
}
