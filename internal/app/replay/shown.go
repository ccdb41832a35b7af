package replay

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// An edit is ready when its whole old text stands in one place. Every tool shows a
// file in a form of its own, so every text is compared in up to three forms:
//
//	as it stands          "  12→\tif err != nil {  "
//	lines end where their words end, and no line has a carriage return
//	without line numbers  "\tif err != nil {"
//	without the blank that some tools put behind a number
//
// The indentation behind a number is never touched. Escapes are undone in the
// arguments of calls, which are JSON, and nowhere else.

// comparedForms returns the texts in which a text is compared.
func comparedForms(s string) []string {
	s = trimLines(s)
	bare, spaced := stripNumbers(s)
	out := []string{s}
	if bare != "" {
		out = append(out, bare)
	}
	if spaced != "" {
		out = append(out, spaced)
	}
	return out
}

// trimLines removes the blanks at the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r")
	}
	return strings.Join(lines, "\n")
}

// numbered is one line with a number in front of it.
type numbered struct {
	n    int
	mark byte // what separates the number from the line
	rest string
}

// numberOf reads the number in front of a line: blanks, digits, and an arrow, a
// tab, a bar, a colon or, in the output of a search, a dash.
func numberOf(line string) (numbered, bool) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	start, n := i, 0
	for i < len(line) && i-start < 7 && '0' <= line[i] && line[i] <= '9' {
		n = n*10 + int(line[i]-'0')
		i++
	}
	if i == start {
		return numbered{}, false
	}
	rest := line[i:]
	for _, arrow := range [...]string{"→", " | ", "|", "\t", ":", "-", " │ ", "│"} {
		if strings.HasPrefix(rest, arrow) {
			mark := arrow[0]
			if mark == '-' {
				mark = ':' // searches mark the lines around a hit with dashes
			}
			return numbered{n, mark, rest[len(arrow):]}, true
		}
	}
	if rest == "" { // an empty line whose tab was trimmed
		return numbered{n, 0, ""}, true
	}
	return numbered{}, false
}

// gap stands where numbered lines are missing.
const gap = "\n\x00"

// stripNumbers returns the text without the numbers in front of lines that are
// counted one after the other, and without the blank behind each number where all
// of them have one. Both are "" where that changes nothing.
func stripNumbers(s string) (bare, spaced string) {
	lines := strings.Split(s, "\n")
	var runs [][2]int
	for i := 0; i < len(lines); {
		first, ok := numberOf(lines[i])
		if !ok || first.mark == 0 {
			i++
			continue
		}
		k := i + 1
		for k < len(lines) {
			next, ok := numberOf(lines[k])
			if !ok || next.n != first.n+k-i || next.mark != first.mark && next.mark != 0 {
				break
			}
			k++
		}
		if k-i > 1 || first.mark == "→"[0] {
			runs = append(runs, [2]int{i, k})
		}
		i = k
	}
	if len(runs) == 0 {
		return "", ""
	}
	out := append([]string{}, lines...)
	blank := append([]string{}, lines...)
	all := false
	for _, r := range runs {
		takes := true // every line has a blank behind its number
		for i := r[0]; i < r[1]; i++ {
			l, _ := numberOf(lines[i])
			out[i] = l.rest
			takes = takes && (l.rest == "" || l.rest[0] == ' ')
		}
		for i := r[0]; i < r[1]; i++ {
			blank[i] = out[i]
			if takes {
				blank[i] = strings.TrimPrefix(out[i], " ")
			}
		}
		if r[1] < len(lines) {
			if _, ok := numberOf(lines[r[1]]); ok { // lines are missing here: nothing runs on
				out[r[1]-1] += gap
				blank[r[1]-1] += gap
			}
		}
		all = all || takes
	}
	bare = strings.Join(out, "\n")
	if all {
		spaced = strings.Join(blank, "\n")
	}
	return bare, spaced
}

// argTexts returns what the arguments of a call say, escapes undone: each string
// by itself. Arguments that are not JSON count as one text.
func argTexts(args string) []string {
	var out []string
	eachScalar(args, func(_ string, value jsontext.Token) {
		if value.Kind() == '"' {
			out = append(out, value.String())
		}
	})
	if len(out) == 0 {
		return []string{args}
	}
	return out
}

// partTexts returns the texts of a part as they are compared, thinking aside:
// nobody sees that again.
func partTexts(p *chat.Part) []string {
	var out []string
	switch p.Kind {
	case chat.Text, chat.Document:
		out = comparedForms(p.Text)
	case chat.ToolCall:
		for _, a := range argTexts(p.Args) {
			out = append(out, comparedForms(a)...)
		}
	case chat.ToolResult:
		out = comparedForms(p.Text)
		for i := range p.Content {
			out = append(out, partTexts(&p.Content[i])...)
		}
	}
	return out
}

// oldText returns an edit's old text as it is compared: "" where it has too little.
func oldText(old string) string {
	old = strings.Trim(trimLines(old), "\n")
	if utf8.RuneCountInString(strings.TrimSpace(old)) < shortestOld {
		return ""
	}
	return old
}

// shortestOld is how many characters an old text has at least.
const shortestOld = 12

// anyContains reports whether one of the texts has the old text.
func anyContains(texts []string, old string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, old) })
}

// partChars returns the characters of a part's text.
func partChars(p *chat.Part) int {
	n := utf8.RuneCountInString(p.Text) + utf8.RuneCountInString(p.Args)
	for i := range p.Content {
		n += partChars(&p.Content[i])
	}
	return n
}

// viewSize returns the size of messages in tokens of four characters.
func viewSize(msgs []*chat.Message) int {
	n := 0
	for _, m := range msgs {
		for i := range m.Parts {
			n += partChars(&m.Parts[i])
		}
	}
	return n / 4
}
