package workset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// shown is a run of a file's lines in a tool's result.
type shown struct {
	path  string
	from  int
	lines []string
	end   ending
	whole bool // none of the lines was shortened
}

func endIf(end bool) ending {
	if end {
		return fileEnd
	}
	return unknownEnd
}

// readNumbered reads lines that carry consecutive numbers, up to the first one that
// does not. Rest is what follows.
func readNumbered(s string) (first int, lines []string, rest string, ok bool) {
	sep := ""
	n := 0
	for s != "" {
		line, after, _ := strings.Cut(s, "\n")
		k, mark, text, is := work.NumberAt(strings.TrimSuffix(line, "\r"))
		switch {
		case !is, mark == sep:
		case sep == "":
			first, n, sep = k, k-1, mark
		case sep == mark[:1]: // the text begins with a blank
			text = " " + text
		case mark != sep[:1]:
			is = false
		case text != "": // so do the texts of those before it
			sep = mark
			for i := range lines {
				if lines[i] != "" {
					lines[i] = " " + lines[i]
				}
			}
		}
		if !is || k != n+1 {
			break
		}
		n = k
		lines = append(lines, text)
		s = after
	}
	if first == 0 { // counted from 0 because that was asked for
		first = 1
	}
	return first, lines, s, sep != ""
}

// cutHeader removes the lines that a tool puts before a file's text, and reports
// whether there were any.
func cutHeader(s string) (rest string, had bool) {
	if i := strings.Index(s[:min(len(s), 400)], "Here's the result of running `cat -n`"); i > 0 && strings.HasPrefix(s, "NOTE: ") {
		s = s[i:]
	}
	for range 16 {
		line, after, _ := strings.Cut(s, "\n")
		switch {
		case strings.HasPrefix(line, "<path>"), strings.HasPrefix(line, "<type>"), line == "<content>", strings.HasPrefix(line, "<file"),
			strings.HasPrefix(line, "Here's the result of running"), strings.HasPrefix(line, "[File: "),
			strings.HasPrefix(line, "(") && strings.HasSuffix(line, " more lines above)"), had && line == "```":
			s, had = after, true
			continue
		}
		break
	}
	return s, had
}

// cutShort reports whether a shown line was shortened by the tool.
func cutShort(line string) bool {
	return len(line) >= longLine && (strings.HasSuffix(line, "...") || strings.HasSuffix(line, "… [truncated]") ||
		strings.HasSuffix(line, "[truncated]") || strings.HasSuffix(line, "…") || strings.HasSuffix(line, "chars)") || strings.HasSuffix(line, "characters)")) || truncation.In(line)
}

// firstCut returns the first of a text's lines that was shortened, or -1.
func firstCut(text string, lines []string) int {
	said := truncation.In(text)
	return slices.IndexFunc(lines, func(l string) bool { return (said || len(l) >= longLine) && cutShort(l) })
}

// longLine is the length from which a line that ends in dots was shortened.
const longLine = 400

// truncation is what tools write where they left output out.
var truncation = find.Words(
	" tokens truncated…", " chars truncated…", " lines truncated] ...", "<response clipped>", " characters truncated", " bytes truncated",
	"[... Observation truncated", "lines omitted", "<elided_chars>",
)

// readResult finds the lines of a file in the result of a tool that reads. From
// and to are the range that was asked for, 0 where none was. Bare says that the
// tool is known to show lines without numbers.
func readResult(s string, from, to int, bare bool) (first int, lines []string, end ending, ok bool) {
	if s = stripReminder(s); strings.TrimSpace(s) == "" {
		return 0, nil, unknownEnd, false
	}
	body, had := cutHeader(s)
	if first, lines, rest, ok := readNumbered(body); ok && !bare && (had || ownNumbers(s) && (first == max(from, 1) || first == from+1)) {
		n := len(lines)
		last := first + n - 1
		if m := endNote.FindStringSubmatch(rest[:min(len(rest), 400)]); m != nil && m[1] == strconv.Itoa(last) {
			return first, lines, fileEnd, true
		}
		end := endIf((from == 0 && to == 0 && first == 1 || to > 0 && last < to) && n < 2000 && !goesOn(rest))
		if lines[n-1] == "" {
			// Some tools count what stands behind the last newline as a line.
			if end != unknownEnd {
				end = vagueEnd
			}
			return first, lines[:n-1], end, true
		}
		return first, lines, end, true
	}
	if had && body != s && !strings.Contains(s[:len(s)-len(body)], "<content>") || work.Undone(s) {
		return 0, nil, unknownEnd, false
	}
	return bareResult(s, from, to)
}

// ownNumbers reports whether a text begins with a number that is certain to be a
// tool's by what stands behind it. Numbers with colons or bars follow a header.
func ownNumbers(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	_, sep, _, ok := work.NumberAt(line)
	return ok && (sep == "→" || sep == "\t")
}

// goesOn reports whether what stands behind the lines of a file says that there
// are more, or is something else than the end of a result.
func goesOn(rest string) bool {
	rest = strings.TrimSpace(rest)
	return rest != "" && !strings.HasPrefix(rest, "</") && !strings.HasPrefix(rest, "<system-reminder>")
}

// What tools write behind the last line of a file, and before a part of one.
var (
	endNote  = regexp.MustCompile(`\(End of file - total ([0-9]+) lines\)`)
	partNote = regexp.MustCompile(`Showing lines ([0-9]{1,9})-`)
)

// bareResult reads a file's text without numbers.
func bareResult(s string, from, to int) (int, []string, ending, bool) {
	from = max(from, 1)
	end := fileEnd
	if strings.HasSuffix(s, "\n") {
		end = closedEnd
	}
	if strings.HasPrefix(s, "IMPORTANT: The file content has been truncated") {
		const mark = "--- FILE CONTENT (truncated) ---\n"
		i := strings.Index(s, mark)
		m := partNote.FindStringSubmatch(s[:max(i, 0)])
		if m == nil {
			return 0, nil, unknownEnd, false
		}
		from, _ = strconv.Atoi(m[1])
		s, end = s[i+len(mark):], unknownEnd
	}
	if strings.HasPrefix(s, "<") && strings.Contains(s[:min(len(s), 200)], "<content>\n") {
		_, s, _ = strings.Cut(s, "<content>\n")
		s, _, _ = strings.Cut(s, "\n</content>")
	}
	if strings.TrimSpace(s) == "" || strings.Contains(s, "(End of file - total 0 lines)") {
		return 0, nil, unknownEnd, false
	}
	lines := work.SplitLines(plainNewlines(s))
	if n := len(lines); n > 0 && moreNote(lines[n-1]) {
		lines, end = lines[:n-1], unknownEnd
		if n > 1 && lines[n-2] == "" {
			lines = lines[:n-2]
		}
	}
	if to > 0 && len(lines) > to-from+1 {
		return 0, nil, unknownEnd, false // not the lines that were asked for
	}
	if to > 0 && len(lines) == to-from+1 {
		end = unknownEnd
	}
	if i := firstCut(s, lines); i >= 0 {
		return from, lines[:i], unknownEnd, i > 0
	}
	return from, lines, end, len(lines) > 0
}

// moreNote reports whether a line is a tool's note that a file goes on.
func moreNote(line string) bool {
	if line == "" || line[0] != '[' && !strings.HasPrefix(line, "... (") && !strings.HasPrefix(line, "(") {
		return false
	}
	return strings.Contains(line, "more lines") || strings.Contains(line, "Use offset") || strings.Contains(line, "Showing lines")
}

// stripReminder removes the reminders that an agent puts around a result.
func stripReminder(s string) string {
	for strings.HasPrefix(s, "<system-reminder>") {
		_, rest, ok := strings.Cut(s, "</system-reminder>")
		if !ok {
			return s
		}
		s = strings.TrimPrefix(rest, "\n")
	}
	for strings.HasSuffix(strings.TrimRight(s, "\n "), "</system-reminder>") {
		i := strings.LastIndex(s, "<system-reminder>")
		if i < 0 {
			return s
		}
		s = strings.TrimRight(s[:i], "\n")
	}
	return s
}
