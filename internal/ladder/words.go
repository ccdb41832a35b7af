package ladder

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/work"
)

// reportText returns what a notification reports, without the tags around it.
func reportText(text string) string {
	if _, inner, ok := strings.Cut(text, "<result>"); ok {
		if end := strings.LastIndex(inner, "</result>"); end >= 0 {
			inner = inner[:end]
		}
		return strings.TrimSpace(inner)
	}
	return strings.TrimSpace(anyTag.ReplaceAllString(text, " "))
}

// anyTag is a tag of a notification.
var anyTag = regexp.MustCompile(`</?[a-z][a-z_-]*>`)

// A paste is a run of many lines in a request, or a long one, that nobody typed
// on the way: a log, a file, a page.
const (
	pasteLines = 40
	pasteBytes = 8000
)

// shortenPastes returns a request whose pastes have only their first and last
// lines.
func shortenPastes(text string) string {
	var out []string
	fence := -1 // where an open fence began in out
	for b := range strings.SplitSeq(text, "\n\n") {
		out = append(out, b)
		switch odd := strings.Count(b, "```")%2 == 1; {
		case odd && fence < 0:
			fence = len(out) - 1
		case odd:
			whole := strings.Join(out[fence:], "\n\n")
			out, fence = append(out[:fence], shortenPaste(whole, 8)), -1
		case fence < 0:
			out[len(out)-1] = shortenPaste(b, pasteLines)
		}
	}
	// What is long in spite of its blank lines is a paste as a whole.
	return shortenPaste(strings.Join(out, "\n\n"), 4*pasteLines)
}

// shortenPaste shortens a text of more than that many lines in its middle.
func shortenPaste(text string, most int) string {
	if n := work.CountLines(text); n <= most && len(text) < pasteBytes || len(text) < pasteBytes/4 {
		return text
	}
	head, tail := headOf(text, 900, textEnds), tailOf(text, 450, textEnds)
	return head + "\n(… " + plural(work.CountLines(text[len(head):len(text)-len(tail)]), "line") + " left out …)\n" + tail
}

// textEnds are where a text may be cut, the best first: behind a paragraph, a line, a
// sentence, a word.
var textEnds = []string{"\n\n", "\n", ". ", " "}

// headOf returns the beginning of a text, up to n bytes, cut at one of some ends near its
// end.
func headOf(text string, n int, ends []string) string {
	head := quote.Clip(text, n)
	for i, end := range ends {
		if at := strings.LastIndex(head, end); at > n*4/5 || at > n*2/3 && i == len(ends)-1 {
			return strings.TrimRight(head[:at+len(end)], " \n")
		}
	}
	return head
}

// tailOf returns the end of a text, of at most n bytes, from one of some ends near its
// beginning.
func tailOf(text string, n int, ends []string) string {
	tail := strings.ToValidUTF8(text[max(0, len(text)-n):], "")
	for _, end := range ends {
		if at := strings.Index(tail, end); at >= 0 && at < n*2/3 {
			return strings.TrimLeft(strings.TrimPrefix(tail[at:], ". "), " \n")
		}
	}
	return tail
}

// firstLines returns the beginning of a text, up to about n bytes.
func firstLines(text string, n int) string {
	if len(text) <= n+n/4 {
		return text
	}
	head := headOf(text, n, textEnds)
	for headingLine.MatchString(head[strings.LastIndexByte(head, '\n')+1:]) {
		at := strings.LastIndexByte(head, '\n')
		if at < 0 && n < 1000 {
			return firstLines(text, 2*n)
		} else if at < 0 {
			break
		}
		head = strings.TrimRight(head[:at], "\n")
	}
	if strings.Count(head, "```")%2 > 0 { // else what follows is code
		return head + " …\n```"
	}
	return head + " …"
}

// headingLine is a line with which no form ends.
var headingLine = regexp.MustCompile(`^(?:#|\*\*.*\*\*$|-{3,}$)`)

// withoutMiddle returns the beginning of a text, up to about most bytes, and its last n:
// what the reader is asked or offered stands at the end.
func withoutMiddle(text string, most, n int) string {
	head := firstLines(text, most)
	if len(text)-len(head) < n {
		return text
	}
	tail := tailOf(text, n, textEnds[:3])
	if len(tail) == n { // it begins inside a sentence
		tail = "… " + tailOf(text, n, textEnds)
	}
	if head, ok := strings.CutSuffix(head, " …"); ok {
		return head + "\n…\n" + strings.TrimPrefix(tail, "… ")
	}
	return head + "\n" + tail
}

// clipMiddle returns a command of at most about n bytes, cut between words or parts of a path:
// its end tells as much of what it was for as its beginning, and tells it from its like.
func clipMiddle(command string, n int) string {
	command = strings.Join(strings.Fields(command), " ")
	if len(command) <= n {
		return command
	}
	tail := strings.ToValidUTF8(command[len(command)-n*2/5:], "")
	if at := strings.IndexAny(tail, " /"); at >= 0 && at < len(tail)*2/3 {
		tail = strings.TrimSpace(tail[at:])
	}
	return headOf(command, n*3/5, []string{" "}) + " … " + tail
}

// withBinding adds the sentences of a request that bind to a form that lacks them. It
// returns the request where that is not longer.
func withBinding(short, text string) string {
	for _, s := range typed.BindingSentences(text) {
		if !strings.Contains(short, s) {
			short += "\n  … " + s
		}
	}
	if len(short) >= len(text) {
		return text
	}
	return short
}

// bindingSections returns the sections of instructions that have a sentence that binds,
// and the first one. A heading above another belongs to that one's section.
func bindingSections(text string) string {
	var out []string
	add := func(section string) {
		switch section = strings.TrimSpace(section); {
		case len(out) == 0 || len(typed.BindingSentences(section)) > 0:
			out = append(out, section)
		case out[len(out)-1] != "…":
			out = append(out, "…")
		}
	}
	start, at, fenced := 0, 0, false
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "#") && !fenced && strings.Contains(strings.TrimSpace(text[start:at]), "\n") {
			add(text[start:at])
			start = at
		}
		fenced = fenced != strings.HasPrefix(strings.TrimSpace(l), "```")
		at += len(l)
	}
	add(text[start:])
	return strings.Join(out, "\n\n")
}

// decisionSentences returns the sentences of a remark that tell a decision or a find, up to n
// bytes; "" where there are none. What stands before words that take it back is left out.
func decisionSentences(text string, n int) string {
	if all := refutes.FindAllStringIndex(text, -1); all != nil {
		text = text[all[len(all)-1][1]:]
	}
	var b strings.Builder
	gap := "" // between the last sentence that is told and this one
	for l := range strings.Lines(text) {
		number := listNumber.FindString(l)
		for s := range typed.Sentences(strings.TrimSpace(l[len(number):]), remarkMarks) {
			if len(s) < leastRemark || announcesNext(s) || !tellsDecision(s) || b.Len()+len(s) > n {
				gap = " … "
				continue
			}
			if b.Len() > 0 {
				b.WriteString(cmp.Or(gap, " "))
			}
			b.WriteString(strings.TrimLeft(number, " ") + s)
			gap, number = "", ""
		}
	}
	if b.Len() > 0 && gap != "" {
		b.WriteString(" …")
	}
	return b.String()
}

// listNumber begins an item that others may speak of by its number.
var listNumber = regexp.MustCompile(`^\s*\d{1,2}[.)]\s+`)

// refutes are the words with which an agent takes back what it has just said.
var refutes = regexp.MustCompile(`(?im)(?:^|[.!?…] )\W*(?:(?:but |no, )?(?:that|this|it) (?:doesn['’]t|does not|can['’]t|cannot) (?:make sense|be right|work)|no, (?:that|this|it)\b|(?:(?:actually|hmm|but|no),? )?wait\b)`)

// remarkMarks end the sentences of a remark.
const remarkMarks = ".!?。！？"

// announcesNext reports whether a sentence only says what comes next.
func announcesNext(s string) bool {
	return announces.MatchString(strings.ReplaceAll(s, "’", "'")) && !find.Any(s, "because", " but ", "instead", "rather than", " without ", " keep", " only ")
}

// announces are the words with which an agent says what it does next, or that it waits.
var announces = regexp.MustCompile(`(?i)^(?:(?:now|next|first|then|so|also),? )?(?:let(?: me|'s) |i(?:'ll| will|'m going to) |i (?:need to|should|want to) (?:check|see|look|read|find|verify|run|understand)|` +
	`(?:i'm (?:now )?)?(?:check|look|runn|read|wait|open|inspect|verify|search|load|continu|do|push|pull|committ|rerunn)ing )|^(?:now|next)\b|^still (?:active|running|waiting|in progress)`)

// withoutPlans returns a remark without the sentences at its end that say what comes
// next, which the actions tell; "" where it says nothing else.
func withoutPlans(text string) string {
	for {
		text = strings.TrimSpace(text)
		last := ""
		for s := range typed.Sentences(text[strings.LastIndexByte(text, '\n')+1:], remarkMarks) {
			last = s
		}
		if short := strings.TrimSuffix(text, last); last == "" || len(short) == len(text) || !announcesNext(last) {
			return text
		} else if text = short; len(text) < leastRemark {
			return ""
		}
	}
}

// leastRemark is the length of a sentence in bytes below which it says nothing.
const leastRemark = 24

// tellsWords are those with which an agent says what it decided or found out.
var tellsWords = []string{
	"because", "root cause", "the problem", "the issue", "decided", "decision", "instead of", "the fix", "turns out", "means that", "this means",
	"caused by", "due to", "found that", "confirmed", "the reason", "rather than", "should use", "will use", "conclusion", "therefore", "verified",
	"important", "note that", "not needed", "already ", "missing", "is wrong", "the bug", "fails", "failed", "works", "must ", "never ", "default",
	"entscheid", "ursache", "weil ", "porque", "parce que", "потому", "因为", "原因", "决定", "なので", "ため",
}

// tellsDecision reports whether a sentence tells a decision, a find, a number or a name
// in code.
func tellsDecision(s string) bool {
	return strings.ContainsAny(s, "`0123456789") || find.Any(strings.ToLower(s), tellsWords...)
}

// isManual reports whether a text is a page to read: it begins with a heading, with
// fields between lines of dashes, or with how a program is used.
func isManual(text string) bool {
	return len(text) > 800 && manual.MatchString(text[:800])
}

var manual = regexp.MustCompile(`^\s*(?:---\n[a-z]+:|# \S|NAME\n)|(?mi)^usage:`)

// keyLines returns the lines of a result that say most, up to n bytes, without what
// is told already: those that report errors and those that give names their values, in
// their order, else the last ones.
// Of a search, a list or a manual it returns the first lines, and how many follow.
func keyLines(text, told string, n int, found bool) string {
	if values := jsonValues(text, told, n); values != "" || jsonValues(text, "", n) != "" { // or all of them are told
		return values
	}
	var lines []string
	places := map[string]int{}
	put := func(l string) (fits bool) {
		at := strings.Index(text, strings.Trim(l, "…"))
		if l = quote.ClipLine(l, 160); strings.Contains(told, " "+l) || !found && (strings.Contains(told, l) || slices.Contains(lines, l)) || isHarnessFrame(l) || !hasWord.MatchString(l) {
			return true
		}
		if n -= len(l) + 1; n >= 0 {
			lines, places[l] = append(lines, l), at
		}
		return n >= 0
	}
	if found {
		if len(text) <= n+n/8 { // a note of what is left out is no shorter
			n = len(text) + 1
		}
		said := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return !hasWord.MatchString(l) })
		for i, l := range said {
			if !put(strings.TrimSpace(l)) {
				lines = append(lines, "(… "+plural(len(said)-i, "more line")+")")
				break
			}
		}
		return strings.Join(lines, "\n")
	}
	for _, l := range work.ErrorLines(text, 3) {
		put(l)
	}
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); (work.GivesValue(l) || work.MarksTest(l)) && !put(l) {
			break
		}
	}
	if len(lines) > 0 {
		slices.SortStableFunc(lines, func(a, b string) int { return places[a] - places[b] })
		return strings.Join(lines, "\n")
	}
	for _, l := range slices.Backward(strings.Split(text, "\n")) {
		if !put(strings.TrimSpace(l)) {
			break
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// hasWord tells a line with a word or a number from brackets and rules.
var hasWord = regexp.MustCompile(`[\pL\pN]`)

// isHarnessFrame reports whether a line is one with which a harness frames an output.
func isHarnessFrame(l string) bool {
	_, exit := work.ExitOf(l)
	return exit || quote.HasFold(l, "exit code", "wall time", "output:", "chunk id", "process running", "original token count", "total output lines", "process group")
}
