package ladder

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// verdictOf says how a call ended: with what it reports first where it failed,
// with what a short result says otherwise.
func (r *Reading) verdictOf(s *step, a *action, root string) string {
	if s.result == nil {
		if a.step < r.typed { // the user went on without it
			return ", stopped before its end"
		}
		return ", no result yet"
	}
	if work.Interrupted(s.result) {
		return ", stopped before its end"
	}
	if a.refused {
		return ", " + quote.Line(refusalIn(s, true))
	}
	failed, exit, known := work.Status(s.result)
	text := ""
	switch {
	case known && (exit != 0 || s.access.Kind == work.ToolShell):
		text = fmt.Sprintf(", exit %d", exit)
	case failed:
		text = ", failed"
	case s.access.Command != "" && runningID(s.result.Text) != "":
		text = ", still running when last asked"
	}
	if a.mended {
		text = ", failed, later passed"
	}
	if s.access.Kind == work.ToolSearch && exit < 2 && foundNothing.MatchString(withoutFrame(s.result.Text)) {
		return ": nothing found"
	}
	why, tally := "", ""
	if s.access.Kind == work.ToolShell && s.lines == 0 {
		tally = strings.TrimSuffix(tallyLine(s.result.Text), ":")
		if strings.HasPrefix(tally, "ok ") {
			if n := len(passedPackage.FindAllStringIndex(s.result.Text, -1)); n > 1 {
				tally = fmt.Sprintf("ok, all %d packages", n)
			}
		}
	}
	switch {
	case failed || a.shows != "" && !a.once:
		why = whyFailed(s, a)
		if someFailed.MatchString(tally) {
			why = cmp.Or(strings.TrimSpace(failedTest.FindString(quote.Clean(s.result.Text))), why)
		}
		if tally != "" && !strings.Contains(why, tally) {
			why = quote.ClipLine(pathsBelow(root, why), verdictWidth*2/3) + "; " + tally
		}
	case a.once:
		why = cmp.Or(jsonValues(withoutFrame(s.result.Text), "", verdictWidth), lastTelling(s.result.Text))
	case tally != "":
		why = tally
	case a.looks && s.access.Kind == work.ToolSearch && s.lines == 0 && len(s.result.Text) <= verdictWidth:
		why = s.result.Text
	case work.StartsAgent(s.call.Name) || a.looks || s.lines > 0 || s.access.Kind == work.ToolEdit || s.access.Kind == work.ToolWrite:
	case len(s.result.Text) <= verdictWidth:
		why = s.result.Text
	case s.access.Kind == work.ToolShell:
		why = cmp.Or(jsonValues(withoutFrame(s.result.Text), "", verdictWidth), strings.TrimSpace(ticked.FindString(s.result.Text)))
		if l := lastLine(s.result.Text); why == "" && sumsUp(l) {
			why = l
		}
	}
	why = quote.Line(quote.ClipLine(pathsBelow(root, withoutFrame(why)), verdictWidth))
	if shown := mediaOf(s.result); shown != "" {
		why = strings.TrimSpace(why + " " + shown)
	}
	if why == "" {
		return text
	}
	return text + ": " + why
}

// refusalIn says who refused a call and in which words; "" where nobody did.
func refusalIn(s *step, failed bool) string {
	const shortText = 200 // a longer one may speak of a refusal
	head := withoutFrame(quote.Clip(s.result.Text, 8*shortText))
	if !failed && (s.lines > 0 || len(head) > shortText) {
		return ""
	}
	words, _ := work.Refusal(head)
	return words
}

// pathsBelow returns a text with its paths as seen from a folder.
func pathsBelow(root, text string) string {
	if root == "" {
		return text
	}
	return strings.ReplaceAll(text, root+"/", "")
}

// foundNothing is the result of a search without a hit.
var foundNothing = regexp.MustCompile(`(?i)^(?:$|\(?no (?:files|match|result|output)|(?:found )?0 (?:match|file|result)|\(?\w+ completed with no output)`)

// whyFailed returns the line of a result that says why a call failed. An edit that found
// no place says so first, and then quotes the code that it looked for.
func whyFailed(s *step, a *action) string {
	if a.failed && s.access.Kind == work.ToolEdit {
		first, _, _ := strings.Cut(withoutFrame(s.result.Text), "\n")
		return first
	}
	if why := cmp.Or(a.shows, clearestError(s.result.Text)); why != "" || len(s.result.Text) > verdictWidth {
		return cmp.Or(why, lastLine(s.result.Text))
	}
	return withoutFrame(s.result.Text) // such as what a command found of several things
}

// clearestError returns the line of a result that says most clearly what failed; ""
// where there is none.
func clearestError(text string) string {
	for _, l := range work.ErrorLines(text, 1) {
		if len(l) > len("Error: ") {
			return l
		}
	}
	return ""
}

// failedTest is how test runners name a test that failed.
var failedTest = regexp.MustCompile(`(?m)^\s*(?:\[[^\]]+\] )?(?:--- FAIL: |FAILED |✗ |✖ |✘ |× |● |\(fail\) |1\) )\S.*`)

// besideLines returns the lines of a result that have no number, where those of a
// file have one; "" where none has.
func besideLines(text string) string {
	if rest := withoutLines(text, lineNumber.MatchString); len(rest) < len(text) {
		return rest
	}
	return ""
}

// lineNumber is how tools number the lines of a file.
var lineNumber = regexp.MustCompile(`^\s*\d+(?:→|\t|:|\s*\||\s\s)`)

// tallied are the lines with which test runners, compilers and linters end.
var tallied = regexp.MustCompile(`(?i)\b\d+ (?:tests? |suites? )?(?:pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?|problems?|skipped|ok)\b|\b\d+ issues?[.:]?$|(?-i:^(?:ok  ?\t|PASS$|FAIL$|FAIL\t|BUILD |test result:))`)

// passedPackage is how go test says that the tests of a package passed.
var passedPackage = regexp.MustCompile(`(?m)^ok  ?\t[^\[\n]*$`)

// talliesNone are tallies that say less than others.
var talliesNone = regexp.MustCompile(`^(?:0 |PASS$|FAIL$)|\[no test`)

// tallyLine returns the last line of an output that counts what passed and failed; ""
// where none does. A count of none is not told while there is another.
func tallyLine(text string) (tally string) {
	text = quote.Clean(text[max(0, len(text)-2000):])
	for _, l := range slices.Backward(strings.Split(text, "\n")) {
		switch l = strings.TrimSpace(l); {
		case l == "" || len(l) > verdictWidth || !tallied.MatchString(l):
		case talliesNone.MatchString(l):
			tally = cmp.Or(tally, l)
		case tally != "FAIL" || someFailed.MatchString(l): // else of another package
			return l
		}
	}
	return tally
}

// withoutPassed leaves off the lines of a run about tests that passed. Where nothing
// failed it leaves off all: the tally says so.
func withoutPassed(text string, failed bool) string {
	if tallyLine(text) == "" {
		return text
	}
	text = quote.Clean(text)
	if !failed && allPassed(text) {
		return ""
	}
	return withoutLines(text, work.PassesTest)
}

// progress is how programs say what they are at.
var progress = regexp.MustCompile(`(?i)^\W*(?:\S+[:\]] +){0,2}(?:(?:down|up)loading|fetching|resolving|extracting|installing|compiling|unpacking|collecting|requirement already)\b|\[\d+/\d+\]|━`)

// saysProgress reports whether a line says no more than what a program is at.
// An expression takes long for what few lines say.
func saysProgress(l string) bool {
	return find.Any(l, "ing ", "]", "━", "equirement ") && progress.MatchString(l) && work.Clearness(l) == 0
}

// withoutLines leaves off the lines of a text of which something is true.
func withoutLines(text string, off func(line string) bool) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if !off(l) {
			b.WriteString(l)
		}
	}
	return b.String()
}

// someFailed are the words of a tally in which not everything passed.
var someFailed = regexp.MustCompile(`(?i:\b[1-9]\d* (?:tests? |suites? )?(?:fail|error|problem|issue))|\bFAIL`)

// allPassed reports whether a tally says that nothing failed.
func allPassed(tally string) bool {
	return tally != "" && !someFailed.MatchString(tally)
}

// ticked is a line in which a program says that something is done.
var ticked = regexp.MustCompile(`(?m)^\s*(?:[✓✔√✅]\s+[A-Z][a-z]+ed|(?:[✓✔√✅]\s+)?Successfully) .*`)

// summing are words of a line that says how something went.
var summing = regexp.MustCompile(`(?i)\d|\b(?:done|success|successful|successfully|complete|completed|finished|built|created|updated|installed|clean|nothing|passed|ok|fail|failed|error|warning|no)\b`)

// sumsUp reports whether the last line of a long output says how it went.
func sumsUp(l string) bool {
	return summing.MatchString(l) && work.Clearness(l) == 0 && !strings.ContainsAny(l[len(l)-1:], "{}();,")
}

// withoutFrame leaves off the lines and tags with which a harness frames an
// output.
func withoutFrame(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for len(lines) > 0 && isFrame(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && isFrame(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 1 {
		return strings.TrimSpace(frameTag.ReplaceAllString(lines[0], ""))
	}
	return strings.Join(lines, "\n")
}

// isFrame reports whether a line belongs to the frame of an output.
func isFrame(l string) bool {
	plain := strings.TrimSpace(frameTag.ReplaceAllString(l, ""))
	return plain == "" || isHarnessFrame(plain) || len(plain) < 4 && strings.Contains(l, "code>")
}

// frameTag is a tag that tools put around their output; others are part of it.
var frameTag = regexp.MustCompile(`</?(?:stdout|stderr|output|results?|error|tool_use_error|system|returncode|exit_?code|exited|file|path|type|content|entries|bash_metadata|shell_metadata|retrieval_status|task_id|task_type|status|duration_ms|warning|output_head|output_tail|elided_chars|observation)>`)

// lastLine returns the last line of a text that says something.
func lastLine(text string) string {
	for _, line := range slices.Backward(strings.Split(text[max(0, len(text)-2000):], "\n")) {
		l := strings.TrimSpace(frameTag.ReplaceAllString(line, ""))
		if len(l) > 2 && !isFrame(line) && l[0] != '<' && l[0] != '`' && strings.Trim(l, "-=#*_ |+.") != "" {
			return l
		}
	}
	return ""
}

// made are the forms of lines that name a result, such as a commit or an address,
// by how much they tell.
var made = [...]*regexp.Regexp{
	regexp.MustCompile(`/(?:pull|issues|merge_requests|releases)/\S*\d`),
	regexp.MustCompile(`^\[[^\]]* [0-9a-f]{7,40}\] |(?i)^\W*(?:created|updated|closed|successfully rebased|published|deployed|sent|merged)\b.*\w[-_./:#]?\w`),
	regexp.MustCompile(` -> |://`),
}

// lastTelling returns the line of a text that names a result: with a hash, an
// address or an arrow; else the last line. Of like lines it takes the last.
func lastTelling(text string) string {
	best, rank := "", len(made)
	for l := range strings.Lines(text[max(0, len(text)-8000):]) {
		l = strings.TrimSpace(l)
		for i := range made[:min(rank+1, len(made))] {
			if made[i].MatchString(l) && work.Clearness(l) == 0 {
				best, rank = l, i
				break
			}
		}
	}
	return cmp.Or(best, lastLine(text))
}
