package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// Who asks for a summary with a focus wants to read about that. The built-in
// summariser understands no sentence, but it finds the lines that name what the
// focus names, and quotes the best of them under a heading of their own.
//
// For example "what we know about the parser" looks for know and parse (the end of
// a word is not looked at, so that "parsing" counts too), and a line with a word
// that few lines have comes before one with a word that many have.

// focusShare is the most of a text's room that the focus may have.
const focusShare = 0.3

// focusLine is the most characters of a line that is quoted.
const focusLine = 240

// focused is a line that names what the focus names.
type focused struct {
	message int
	who     string
	text    string
	words   []int // of the focus
	score   float64
}

// focus returns the section about the focus in at most that many tokens; "" where
// no focus is set.
func (c *composer) focus(room float64) string {
	wanted := focusWords(c.in.Focus)
	if strings.TrimSpace(c.in.Focus) == "" {
		return ""
	}
	head := fmt.Sprintf("## About %s\n", quoted(c.in.Focus))
	lines := c.focusLines(wanted)
	if len(lines) == 0 {
		head += "- (no line of these messages names it)\n"
		if float64(c.count(head)) > room {
			return ""
		}
		return head
	}
	room -= float64(c.count(head))
	var taken []focused
	for _, l := range lines {
		if n := float64(c.count(l.String())); n <= room {
			room -= n
			taken = append(taken, l)
		}
	}
	if len(taken) == 0 {
		return ""
	}
	slices.SortStableFunc(taken, func(a, b focused) int { return a.message - b.message })
	var b strings.Builder
	b.WriteString(head)
	for _, l := range taken {
		b.WriteString(l.String())
	}
	return b.String()
}

// String is the line as it is quoted.
func (l focused) String() string {
	return fmt.Sprintf("- message %d, %s: %s\n", l.message+1, l.who, l.text)
}

// focusLines returns the lines that name something of the focus, the best first.
func (c *composer) focusLines(wanted []string) []focused {
	var all []focused
	seen := make(map[string]bool)
	have := make([]int, len(wanted)) // how many lines have each word
	add := func(i int, who, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			words := namesOf(line, wanted)
			if len(words) == 0 {
				continue
			}
			line = shortLine(line)
			if seen[line] {
				continue
			}
			seen[line] = true
			for _, w := range words {
				have[w]++
			}
			all = append(all, focused{message: i, who: who, text: line, words: words})
		}
	}
	for i := c.in.From; i < c.in.To; i++ {
		m := c.in.History.At(i)
		if slices.Contains(c.in.Keep, i) || m.StartsTurn() { // the user's words stand elsewhere
			continue
		}
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.Text:
				add(i, string(m.Role), p.Text)
			case chat.ToolCall:
				add(i, "call", evidence.Headline(p, focusLine))
			case chat.ToolResult:
				add(i, cmp.Or(p.Name, "result"), p.Text)
			}
		}
	}
	for i := range all {
		for _, w := range all[i].words {
			all[i].score += 1 / float64(have[w])
		}
		if all[i].who == string(chat.Assistant) {
			all[i].score *= 2 // a conclusion says more than what it was drawn from
		}
	}
	slices.SortStableFunc(all, func(a, b focused) int {
		return cmp.Or(len(b.words)-len(a.words), cmp.Compare(b.score, a.score), b.message-a.message)
	})
	return all
}

// focusWords returns the words of a focus that name something, without their ends.
func focusWords(focus string) []string {
	var words []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(focus), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
	}) {
		w = strings.Trim(w, "./-_")
		if utf8.RuneCountInString(w) < 3 && !strings.ContainsAny(w, "0123456789") || slices.Contains(idle, w) {
			continue
		}
		if n := utf8.RuneCountInString(w); n > 5 && !strings.ContainsAny(w, "./_") {
			w = string([]rune(w)[:n-2])
		}
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// idle are words that a focus has and that name nothing.
var idle = []string{
	"the", "and", "for", "with", "about", "what", "which", "that", "this", "are", "was", "were", "has", "have", "from", "into", "our", "all",
	"keep", "focus", "summary", "summarise", "summarize", "please", "everything", "only", "how", "why", "not", "you", "your",
}

// namesOf returns which of the words a line has.
func namesOf(line string, wanted []string) []int {
	var found []int
	lower := strings.ToLower(line)
	for i, w := range wanted {
		for at := 0; ; {
			k := strings.Index(lower[at:], w)
			if k < 0 {
				break
			}
			if at += k; startsWord(lower, at) {
				found = append(found, i)
				break
			}
			at += len(w)
		}
	}
	return found
}

// startsWord reports whether a word starts at that place of a text.
func startsWord(s string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return at == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// shortLine is a line as it is quoted: on one line, and not too long.
func shortLine(line string) string {
	line = strings.TrimSpace(quoteLine(line))
	if utf8.RuneCountInString(line) > focusLine {
		line = string([]rune(line)[:focusLine]) + "…"
	}
	return line
}

// quoted is a person's focus on one line, between quotation marks.
func quoted(focus string) string {
	return `"` + shortLine(strings.Join(strings.Fields(focus), " ")) + `"`
}
