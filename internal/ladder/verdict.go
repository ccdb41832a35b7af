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
func (r *Reading) verdictOf(s *step, a *action) string {
	switch {
	case s.result == nil && a.step < r.typed: // the user went on without it
		return ", no result: stopped, or lost"
	case s.result != nil && work.Interrupted(s.result):
		if why := withoutFrame(s.result.Text); len(why) <= verdictWidth {
			return strings.TrimSuffix(stopped+": "+quote.Line(why), ": ")
		}
		return stopped
	case s.result == nil:
		return ", no result yet"
	case a.refused:
		return ", " + quote.Line(refusalIn(s, true))
	}
	failed, exit, known := work.Status(s.result)
	text := ""
	switch {
	case s.access.Command != "" && work.NotRun(s.result.Text):
		text = ", not run"
	case s.access.Kind == work.ToolSearch && exit < 2 && foundNothing.MatchString(withoutFrame(s.result.Text)):
		return ": nothing found"
	case a.mended && (failed || !known):
		text = ", failed, later passed"
	case known && (exit != 0 || s.access.Kind == work.ToolShell && !strings.Contains(cosmetics.FindString(s.access.Rest), "|")): // else it is that of head
		text = fmt.Sprintf(", exit %d", exit)
	case failed:
		text = ", failed"
	case s.access.Command != "" && runningID(s.result.Text) != "":
		text = ", still ran then"
	case s.access.Command != "" && foundNothing.MatchString(withoutFrame(s.result.Text)) && !(a.times > 1 && a.looks): // the others did
		return ", printed nothing"
	}
	why := quote.Line(quote.ClipLine(pathsBelow(r.folder, withoutFrame(r.whatItSaid(s, a, failed))), verdictWidth))
	if why = strings.TrimSpace(why + " " + mediaOf(s.result)); why == "" {
		return text
	}
	return text + ": " + why
}

const stopped = ", stopped before its end"

// whatItSaid returns what a result says of how the call went: why it failed, what it
// counts, what it names, or the result where that is short.
func (r *Reading) whatItSaid(s *step, a *action, failed bool) string {
	text, tally := s.result.Text, ""
	changes := s.access.Kind == work.ToolEdit || s.access.Kind == work.ToolWrite
	shell := s.access.Kind == work.ToolShell || changes && s.access.Command != ""
	if shell && !standsInFiles(s) {
		tally = strings.TrimSuffix(tallyLine(text), ":")
		if n := len(passedPackage.FindAllStringIndex(text, -1)); n > 1 && strings.HasPrefix(tally, "ok ") {
			tally = fmt.Sprintf("ok, %d packages", n)
		}
	}
	switch {
	case failed || a.shows != "" && !a.once:
		why := whyFailed(s, a)
		if someFailed.MatchString(tally) || failedTest.MatchString(why) {
			if all := distinctTests(failedTest.FindAllString(quote.Clean(text), -1)); len(all) > 0 {
				why, all = all[0], all[1:]
				for len(all) > 0 && len(why)+len(all[0]) < verdictWidth/2 {
					why, all = why+"; "+all[0], all[1:]
				}
				if len(all) > 0 {
					why += fmt.Sprintf(" (and %d more)", len(all))
				}
			}
		}
		if tally != "" && !strings.Contains(why, tally) {
			why = quote.ClipLine(pathsBelow(r.folder, why), verdictWidth*2/3) + "; " + tally
		}
		return why
	case a.once:
		why := cmp.Or(jsonValues(withoutFrame(text), "", verdictWidth), bestLine(text, made), outcomeLine(text, s.access.Command))
		if why == "" && len(text) <= verdictWidth {
			return text
		}
		return why
	case tally != "":
		return tally
	case s.access.Kind == work.ToolSearch && len(text) > verdictWidth && foundMany.MatchString(text):
		return foundMany.FindString(text)
	case s.access.Kind == work.ToolSearch && standsInFiles(s): // which show few of its hits
		if m := allLines.FindStringSubmatch(text); m != nil {
			return m[1] + " lines"
		}
		return plural(work.CountLines(withoutFrame(text)), "line")
	case s.lines > 0 && s.access.Kind != work.ToolSearch || a.looks && s.access.Kind != work.ToolSearch || changes && !shell || work.StartsAgent(s.call.Name):
		return ""
	case len(text) <= verdictWidth:
		return text
	case shell:
		why := cmp.Or(jsonValues(withoutFrame(text), "", verdictWidth), bestLine(text, ticked))
		if why != "" {
			return why
		}
		if l := outcomeLine(text, s.access.Command); sumsUp(s, l) {
			return l
		}
		return ""
	}
	return ""
}

// distinctTests returns the tests that lines name: one that a run names again at its end
// stands once.
func distinctTests(lines []string) (names []string) {
	seen := map[string]bool{}
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if key := cmp.Or(testNumber.FindString(l), l); !seen[key] {
			seen[key] = true
			names = append(names, quote.ClipLine(l, verdictWidth/2))
		}
	}
	return names
}

// testNumber is what a test that failed begins with where its runner numbers them.
var testNumber = regexp.MustCompile(`^\d+\) `)

// standsInFiles reports whether what a call returned is told as lines of files: nearly
// all of it was placed there. Of a search files show few hits, so that a few are told.
func standsInFiles(s *step) bool {
	switch n := work.CountLines(withoutFrame(s.result.Text)); s.access.Kind {
	case work.ToolShell:
		return s.lines > 0 && s.lines*10 >= n*9
	case work.ToolSearch:
		return s.lines > 0 && n > 3
	}
	return s.lines > 0
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

// pathsBelow returns a text with its paths as seen from a folder. Those at the beginnings
// of lines may be seen from one above it, if all of them are below the folder.
func pathsBelow(root, text string) string {
	if root == "" {
		return text
	}
	short := strings.ReplaceAll(text, root+"/", "")
	for below := root[1:]; strings.Contains(below, "/"); _, below, _ = strings.Cut(below, "/") {
		if strings.HasPrefix(short, below+"/") || strings.Contains(short, "\n"+below+"/") {
			if slices.ContainsFunc(lineOfFile.FindAllString(text, -1), func(l string) bool { return !strings.HasPrefix(l, below+"/") }) {
				break
			}
			return strings.ReplaceAll("\n"+short, "\n"+below+"/", "\n")[1:]
		}
	}
	return short
}

// lineOfFile begins with the path of a file, as those of searches and listings do.
var lineOfFile = regexp.MustCompile(`(?m)^[\w.@-]*\w(?:/[\w.@+-]+)*\.\w+(?:$|[:-]\d+[:-])`)

// foundMany is how the result of a search says how much it found.
var foundMany = regexp.MustCompile(`(?i)^found \d+ (?:match|file|result|line)\w*`)

// allLines is how a harness that cuts an output says how long it was.
var allLines = regexp.MustCompile(`(?m)^Total output lines: (\d+)$`)

// foundNothing is the result of a search without a hit.
var foundNothing = regexp.MustCompile(`(?i)^(?:$|\(?no (?:files|match|result|output)|(?:found )?0 (?:match|file|result)|\(?\w+ completed with no output)`)

// whyFailed returns the line of a result that says why a call failed. An edit that found
// no place says so first, and then quotes the code that it looked for.
func whyFailed(s *step, a *action) string {
	if a.failed && s.access.Kind == work.ToolEdit {
		first, _, _ := strings.Cut(withoutFrame(s.result.Text), "\n")
		return first
	}
	if why := cmp.Or(jsonValues(withoutFrame(s.result.Text), "", verdictWidth), a.shows, clearestError(s.result.Text)); why != "" || len(s.result.Text) > verdictWidth {
		return cmp.Or(why, lastLine(s.result.Text))
	}
	return withoutFrame(s.result.Text) // such as what a command found of several things
}

// clearestError returns the line of a result that says most clearly what failed; ""
// where there is none.
func clearestError(text string) string {
	if l := strings.Join(work.ErrorLines(text, 1), ""); len(l) > len("Error: ") {
		return l
	}
	return ""
}

// The lines in which programs say how things went, those first that tell most.
var (
	// tallies are the lines with which test runners, compilers and linters end: with a
	// failure, with the word for one alone, with something that passed, with neither.
	tallies = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b[1-9]\d* (?:tests? |suites? )?(?:fail(?:ed|ing|ures?)?\b|errors?\b|problems?\b|issues?[.:]?$)|(?-i:^FAIL\t)`),
		regexp.MustCompile(`^FAIL$`),
		regexp.MustCompile(`(?i)\b[1-9]\d* (?:tests? |suites? )?(?:pass(?:ed|ing)?|skipped|ok)\b|(?-i:^(?:ok  ?\t[^\[]*$|BUILD |test result:))`),
		regexp.MustCompile(`(?i)\b0 (?:tests? |suites? )?(?:pass(?:ed|ing)?\b|fail(?:ed|ing|ures?)?\b|errors?\b|problems?\b|skipped\b|issues?[.:]?$)|(?-i:^(?:ok  ?\t|PASS$))`),
	}

	// tallyWords stand in all such lines but those with an ok.
	tallyWords = find.Folded("fail", "error", "problem", "issue", "pass", "skipped", "build ", "test result:")

	// made name a result: a commit, an address.
	made = []*regexp.Regexp{
		regexp.MustCompile(`/(?:pull|issues|merge_requests|releases)/\S*\d`),
		regexp.MustCompile(`^\[[^\]]* [0-9a-f]{7,40}\] |(?i)^\W*(?:created|updated|closed|successfully rebased|published|deployed|sent|merged)\b.*\w[-_./:#]?\w`),
		regexp.MustCompile(` -> |://`),
	}

	// ticked say that something is done.
	ticked = []*regexp.Regexp{
		regexp.MustCompile(`^(?:[✓✔√✅]\s+[A-Z][a-z]+ed|(?:[✓✔√✅]\s+)?Successfully) .*`),
		regexp.MustCompile(`(?i)^(?:\S+\s+){0,3}\[?success(?:ful|fully)?\b`),
	}

	// failedTest names a test that failed.
	failedTest = regexp.MustCompile(`(?m)^\s*(?:\[[^\]]+\] )?(?:--- FAIL: |FAILED |✗ |✖ |✘ |× |● |\(fail\) |\d\) )\S.*`)

	// ofPage begin the lines of a page, such as a text of a pull request.
	ofPage = []string{"- ", ">", "|", "*"}

	// passedPackage says that the tests of a package passed.
	passedPackage = regexp.MustCompile(`(?m)^ok  ?\t[^\[\n]*$`)

	// someFailed are the words of a tally in which not everything passed.
	someFailed = regexp.MustCompile(`(?i:\b[1-9]\d* (?:tests? |suites? )?(?:fail|error|problem|issue))|\bFAIL`)

	// summing are words of a last line that says how something went.
	summing = regexp.MustCompile(`(?i)\d|\b(?:done|success|successful|successfully|complete|completed|finished|built|created|updated|installed|clean|nothing|passed|ok|fail|failed|error|warning|no)\b`)

	// aside ends a line with words in brackets, which no call of code has.
	aside = regexp.MustCompile(` \([^()]*\)$|\([+-]\)$`)

	// progress is how programs say what they are at.
	progress = regexp.MustCompile(`(?i)^\W*(?:\S+[:\]] +){0,2}(?:(?:down|up)loading|fetching|resolving|extracting|installing|compiling|unpacking|collecting|requirement already)\b|\[\d+/\d+\]|━`)

	// lineNumber is how tools number the lines of a file.
	lineNumber = regexp.MustCompile(`^\s*\d+(?:→|\t|:|\s*\||\s\s)`)
)

// bestLine returns the line of a text's end that tells most, by the first form that it has;
// of like lines the last, but of ticked ones the first. A line that reports an error is
// none, but in a tally.
func bestLine(text string, forms []*regexp.Regexp) (best string) {
	tally, later := &forms[0] == &tallies[0], 1
	if &forms[0] == &ticked[0] {
		later = 0
	}
	for l := range strings.Lines(text[max(0, len(text)-8000):]) {
		if l = strings.TrimSpace(l); tally && !tallyWords.In(l) && !find.Any(l, "ok", "OK") {
			continue // an expression takes long for what few lines have
		}
		for i, form := range forms {
			if form.MatchString(l) {
				if tally && len(l) <= verdictWidth && !find.AnyStart(l, ofPage...) || // else a page speaks of it
					!tally && work.Clearness(l) == 0 {
					best, forms = l, forms[:i+later]
				}
				break
			}
		}
	}
	return best
}

// tallyLine returns the line of an output's end that counts what passed and failed; ""
// where none does.
func tallyLine(text string) string {
	return bestLine(quote.Clean(text[max(0, len(text)-2000):]), tallies)
}

// besideLines returns the lines of a result that have no number, where those of a
// file have one; "" where none has.
func besideLines(text string) string {
	if rest := withoutLines(text, lineNumber.MatchString); len(rest) < len(text) {
		return rest
	}
	return ""
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

// allPassed reports whether a tally says that nothing failed.
func allPassed(tally string) bool {
	return tally != "" && !someFailed.MatchString(tally)
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
