package work

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
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
		f, e, k := jsonStatus(s, 0)
		if k {
			return failed || e != 0, e, true
		}
		failed = failed || f
	}
	if e, ok := exitIn(s); ok {
		return failed || e != 0, e, true
	}
	return failed || refusal.MatchString(s[:min(len(s), 100)]), 0, false
}

// Interrupted reports whether a result is that of a command that was killed or
// ran out of time: what it printed is not how things ended.
func Interrupted(result *chat.Part) bool {
	if _, exit, known := Status(result); known && (exit == 124 || exit == 130 || exit == 137 || exit == 143) {
		return true
	}
	s := strings.TrimSpace(result.Text)
	head, tail := s[:min(len(s), 400)], s[max(0, len(s)-400):]
	return interruptions.In(head) || interruptions.In(tail)
}

// Refused reports whether a result says that the user or the harness did not let the
// call be done: nothing went wrong, and nothing happened.
func Refused(result *chat.Part) bool {
	const longest = 2000 // a file may speak of permissions too
	return len(result.Text) < longest && notAllowed.In(result.Text[:min(len(result.Text), 200)])
}

// notAllowed is what clients write where a person or a rule of theirs said no.
var notAllowed = find.Folded(
	"doesn't want to proceed", "doesn't want to take this action", "user rejected", "user denied", "rejected by user", "rejected by the user",
	"denied by the user", "user cancelled", "permission to use", "haven't granted it yet", "denied by your permission settings",
	"requires approval", "blocked: command", "blocked by hook", "hook blocked", "hook denied", "rejected permission",
)

// interruptions are what tools write about commands that did not come to their end.
var interruptions = find.Folded(
	"timed out after", "command timed out", "request interrupted by user", "command was aborted", "process killed",
	"killed by signal", "interrupted by the user", "timeout: sending signal", "command killed", "execution timed out",
)

// jsonStatus reads the members that say how a command ended.
func jsonStatus(s string, depth int) (failed bool, exit int, known bool) {
	Members(s, func(key, raw string) bool {
		switch key {
		case "exitcode", "returncode", "exitstatus", "exit":
			if n, ok := Number(raw); ok {
				exit, known = n, true
			}
		case "iserror", "failed":
			failed = failed || raw == "true"
		case "success", "ok":
			failed = failed || raw == "false"
		case "error":
			failed = failed || IsString(raw) && len(raw) > 2 || raw != "" && raw[0] == '{'
		case "status":
			switch v := strings.ToLower(Text(raw)); v {
			case "error", "failed", "failure":
				failed = true
			}
		case "metadata", "result", "state":
			if depth == 0 && len(raw) > 1 && raw[0] == '{' {
				f, e, k := jsonStatus(raw, 1)
				failed = failed || f
				if k && !known {
					exit, known = e, true
				}
			}
		}
		return !known
	})
	return failed, exit, known
}

// exitIn looks for an exit status in the first eight and the last four lines.
func exitIn(s string) (int, bool) {
	rest := s
	for range 8 {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if n, ok := ExitOf(line); ok {
			return n, true
		}
		if rest == "" {
			return 0, false
		}
	}
	for range 4 {
		i := strings.LastIndexByte(rest, '\n')
		if n, ok := ExitOf(rest[i+1:]); ok {
			return n, true
		}
		if i < 0 {
			break
		}
		rest = rest[:i]
	}
	return 0, false
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
	Members(s, func(key, raw string) bool {
		if isWrapper(key) && IsString(raw) && len(raw) > len(longest) {
			longest = raw
		}
		return true
	})
	if longest == "" || len(longest) < len(s)/2 {
		return s
	}
	return strings.TrimSpace(Text(longest))
}

// isWrapper reports whether a member of that name holds what a tool said.
func isWrapper(key string) bool {
	switch key {
	case "output", "stdout", "stderr", "content", "contents", "text", "result", "response", "aggregatedoutput", "formattedoutput", "functionresponse", "body", "llmcontent":
		return true
	}
	return false
}
