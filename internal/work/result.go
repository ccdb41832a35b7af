package work

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
)

// Status tells how a call ended, from its result: whether it failed, and the
// exit status where one is known. Agents write exit statuses in a dozen ways,
// in the first lines of a result, in the last ones, or as a member of a JSON
// object; the middle is not looked at, since a file that is shown there may
// speak of exit codes of its own.
func Status(result *chat.Part) (failed bool, exit int, known bool) {
	s := strings.TrimSpace(result.Text)
	failed = result.Failed
	if strings.HasPrefix(s, "{") {
		var f bool
		f, exit, known = jsonStatus(s)
		failed = failed || f
	}
	if !known {
		exit, known = exitIn(s)
	}
	return failed || exit != 0 || !known && refusal.MatchString(s[:min(len(s), 100)]), exit, known
}

// Interrupted reports whether a result is that of a command that was killed or
// ran out of time: what it printed is not how things ended.
func Interrupted(result *chat.Part) bool {
	if _, exit, known := Status(result); known && slices.Contains([]int{124, 130, 137, 143}, exit) {
		return true
	}
	s := strings.TrimSpace(result.Text)
	head, tail := s[:min(len(s), 400)], s[max(0, len(s)-400):]
	return interruptions.In(head) || interruptions.In(tail)
}

// refusalWidth bounds what is told of a refusal, in bytes.
const refusalWidth = 400

// Refusal says who refused a call and in which words, from the start of its result; ""
// where nobody did. Where a person or the client refused it, nothing was done of it:
// a system may have refused only a part.
func Refusal(text string) (words string, undone bool) {
	head := quote.Clip(text, 2*refusalWidth)
	if !refusing.In(head) {
		return "", false
	}
	if refusedByUser.MatchString(head) {
		if _, said, ok := strings.Cut(head, "the user said:"); ok {
			return "refused by the user, who said: " + quote.ClipLine(said, refusalWidth), true
		}
		return "refused by the user", true
	}
	for _, l := range append(strings.SplitN(head, "\n", 2)[:1], ErrorLines(head, 1)...) {
		undone = refusedByClient.MatchString(l)
		if undone || refusedBySystem.MatchString(l) {
			return "refused: " + quote.ClipLine(l, refusalWidth), undone
		}
	}
	return "", false
}

// NotRun reports whether a call was not carried out: somebody refused it, or the client
// says so.
func NotRun(text string) bool {
	_, undone := Refusal(text[:min(len(text), 200)])
	return undone || strings.HasPrefix(text, "<tool_use_error>")
}

// refusing are words of which every refusal has one: expressions take long.
var refusing = find.Folded("user", "denied", "granted", "prevents", "blocked", "approval", "rejected", "protected", "not permitted")

// The words of a result with which a user, a client or a system refuses a call.
var (
	refusedByUser   = regexp.MustCompile(`(?i)\buser (?:doesn't want to|does not want to|rejected|denied|declined|refused|cancelled)|\b(?:rejected|denied|declined|refused) by (?:the )?user\b`)
	refusedByClient = regexp.MustCompile(`(?i)\bpermission to (?:use|run|read|write|edit)\b.*\bdenied|\bhaven't granted\b|\bnot granted\b|\brule\b.*\bprevents you\b|^\W*blocked(?:: | by )|\bdenied by your permission settings\b|\brequires approval\b|\bhook (?:blocked|denied)\b|\brejected permission\b`)
	refusedBySystem = regexp.MustCompile(`(?i)\bprotected (?:folder|directory|file|path)|\bpermission denied\b|\boperation not permitted\b`)
)

// Undone reports whether a tool says that it did not do what it should: it refused, or
// found no file or no place for it. Behind the words of success, or a line's number, the
// text is that of the file.
func Undone(text string) bool {
	head := text[:min(len(text), 400)]
	if find.AnyStart(strings.TrimLeft(head, " \n"), "Error", "ERROR", "error:") {
		return true
	}
	if !undone.In(head) {
		return false
	}
	if at := quotesFile.FindStringIndex(head); at != nil {
		head = head[:at[0]]
	}
	return undone.In(head)
}

// quotesFile is how a result goes on with the text of a file.
var quotesFile = regexp.MustCompile(`(?m)\bhas been (?:updated|edited|created)\b|\bSuccessfully |^Success\b|^[ \t]*\d+(?:→|\t|: |\|)|^<content>`)

// undone are what tools write near the start of a result when they did not do what
// they should.
var undone = find.Words(
	"<tool_use_error>", "doesn't want to proceed", "verification failed", "No replacement was performed",
	"String to replace not found", "Could not find", "could not find", "oldString not found", "has not been read yet", "modified since read",
	"was rejected", "No such file", "does not exist", "ENOENT", "Operation aborted", "User denied", "Permission denied", "permission denied",
	"Invalid patch", "Failed to ", "failed to apply", "No changes", "must be unique", "no occurrences", "0 occurrences", "Unable to",
	"File not found", "EISDIR", "Invalid `",
)

// interruptions are what tools write about commands that did not come to their end.
var interruptions = find.Folded(
	"timed out after", "command timed out", "request interrupted by user", "command was aborted", "command aborted", "process killed",
	"killed by signal", "interrupted by the user", "timeout: sending signal", "command killed", "execution timed out",
)

// jsonStatus reads the members that say how a command ended, also those of an object
// inside.
func jsonStatus(s string) (failed bool, exit int, known bool) {
	inside := false
	var read func(key, raw string) bool
	read = func(key, raw string) bool {
		switch key {
		case "exitcode", "returncode", "exitstatus", "exit":
			exit, known = Number(raw)
		case "iserror", "failed":
			failed = failed || raw == "true"
		case "success", "ok":
			failed = failed || raw == "false"
		case "error":
			failed = failed || strings.HasPrefix(raw, "{") || IsString(raw) && len(raw) > 2
		case "status":
			failed = failed || slices.Contains([]string{"error", "failed", "failure"}, strings.ToLower(Text(raw)))
		case "metadata", "result", "state":
			if !inside {
				inside = true
				Members(raw, read)
				inside = false
			}
		}
		return !known
	}
	Members(s, read)
	return failed, exit, known
}

// exitIn looks for an exit status in the first eight and the last four lines.
func exitIn(s string) (n int, ok bool) {
	for range 8 {
		var line string
		if line, s, _ = strings.Cut(s, "\n"); s == "" {
			return ExitOf(line)
		}
		if n, ok = ExitOf(line); ok {
			return n, true
		}
	}
	for range 4 {
		i := strings.LastIndexByte(s, '\n')
		if n, ok = ExitOf(s[i+1:]); ok || i < 0 {
			break
		}
		s = s[:i]
	}
	return n, ok
}

// ExitOf reads a line that does nothing but report an exit status. The word exit
// alone is not enough: scripts hold it too.
func ExitOf(line string) (int, bool) {
	line = strings.TrimLeft(line, " \t[<({*#\"`=-")
	if len(line) < 6 || len(line) > 300 || strings.IndexByte("cefprst", line[0]|0x20) < 0 || !reportStart.MatchString(line) {
		return 0, false
	}
	m := exitStatus.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// How a line about a process starts, and the status in it. Between the words and
// the number stand only blanks and marks.
var (
	reportStart = regexp.MustCompile(`(?i)^(exit|process|command|the command|return|shell|program|error: (command|process)|script|task|finished|completed)`)
	exitStatus  = regexp.MustCompile(`(?i)(?:exit[ _]?code|exit status|return ?code|exited with(?: code| status)?|exit[:=])[ \t:=>("'` + "`" + `]*(-?[0-9]{1,10})(?:[^0-9a-z_]|$)`)
)

// refusal is how a result starts where a tool refuses rather than tells what it
// found.
var refusal = regexp.MustCompile(`(?i)^[<\[*# "]*(error[: \n]|tool_use_error|tool_error|fatal:|failed to |traceback \(most|exception:)`)

// Body returns the words of a result that some agents wrap in JSON, as in
// {"output": "…"}. Any other result is returned as it is.
func Body(s string) string {
	longest := ""
	RawMembers(s, func(_, raw string) bool {
		if IsString(raw) && len(raw) > len(longest) {
			longest = raw
		}
		return true
	})
	if longest == "" || len(longest) < len(s)/2 {
		return s
	}
	return strings.TrimSpace(Text(longest))
}
