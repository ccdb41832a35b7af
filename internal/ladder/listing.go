package ladder

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// listForms are how the lines of lists begin: with a commit, a number, the state of a
// file, its mode, a path; or each is a name alone, or the row of a table.
var listForms = []*regexp.Regexp{
	regexp.MustCompile(`^[0-9a-f]{7,40}\s`), regexp.MustCompile(`^[MADRCU?!]{1,2}\s`), regexp.MustCompile(`^#?\d+\t`),
	regexp.MustCompile(`^[-dlcbps][-rwxsStT]{9}`), regexp.MustCompile(`^\S*/\S*\s`), regexp.MustCompile(`^[\w./~@][\w./~@:+-]*$`),
	regexp.MustCompile(`^\S+(?: \S+)*(?:(?: {2,}|\t)\S+(?: \S+)*){2,}$`),
}

// listForm returns the form that a line has in common with others of a list; -1 where it
// has none. The first are those of a commit and of a file's state.
func listForm(l string) int {
	if l = strings.TrimLeft(l, " \t*"); work.PassesTest(l) {
		return -1
	}
	return slices.IndexFunc(listForms, func(form *regexp.Regexp) bool { return form.MatchString(l) })
}

// isList reports whether nearly all lines of a text, of its first ones, have one form.
func isList(text string) bool {
	counts, all := make([]int, len(listForms)), 0
	for l := range strings.Lines(quote.Clip(text, 2000)) {
		if l = strings.TrimSpace(l); l != "" {
			all++
			if form := listForm(l); form >= 0 {
				counts[form]++
			}
		}
	}
	return all > 2 && slices.Max(counts)*4 >= all*3
}

// outcomeLine returns the last line of an output that the command did not echo, unless
// it is one of a list: of commits the newest stands first, other lists have no outcome.
func outcomeLine(text, command string) (best string) {
	if len(text) > 8000 {
		_, text, _ = strings.Cut(text[len(text)-8000:], "\n")
	}
	form := -1
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		l := lastLine(line)
		echoed := l != "" && strings.Contains(command, "echo ") && strings.Contains(command, l)
		switch {
		case best == "" && echoed || l == "":
		case best == "":
			if best, form = l, listForm(l); form == 1 || l[0] == '"' && strings.Contains(l, `": `) { // or a member of an object
				return ""
			}
		case echoed || form < 0 || listForm(l) != form:
			return best
		case form == 0:
			best = l
		default:
			return ""
		}
	}
	return best
}

// sumsUp reports whether the last line of an output says how the command went.
func sumsUp(s *step, l string) bool {
	if l == "" || !summing.MatchString(l) || work.Clearness(l) > 0 || find.AnyStart(l, ofPage...) {
		return false
	}
	if listForm(l) != 0 && tellsHistory.MatchString(s.access.Rest) { // it is of the oldest commit
		return false
	}
	return !strings.ContainsAny(l[len(l)-1:], "{}();,") || aside.MatchString(l)
}
