package evidence

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
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
	return failed || saysError(s), 0, false
}

// jsonStatus reads the members that say how a command ended.
func jsonStatus(s string, depth int) (failed bool, exit int, known bool) {
	work.Members(s, func(key, raw string) bool {
		switch key {
		case "exitcode", "returncode", "exitstatus", "exit":
			if n, ok := work.Number(raw); ok {
				exit, known = n, true
			}
		case "iserror", "failed":
			failed = failed || raw == "true"
		case "success", "ok":
			failed = failed || raw == "false"
		case "error":
			failed = failed || isString(raw) && len(raw) > 2 || raw != "" && raw[0] == '{'
		case "status":
			switch v := strings.ToLower(text(raw)); v {
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
		line, rest = cutLine(rest)
		if n, ok := exitOf(line); ok {
			return n, true
		}
		if rest == "" {
			return 0, false
		}
	}
	for range 4 {
		i := strings.LastIndexByte(rest, '\n')
		if n, ok := exitOf(rest[i+1:]); ok {
			return n, true
		}
		if i < 0 {
			break
		}
		rest = rest[:i]
	}
	return 0, false
}

// exitOf reads a line that does nothing but report an exit status. The word exit
// alone is not enough: scripts hold it too.
func exitOf(line string) (int, bool) {
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

// saysError reports whether a result starts with the words that tools use to
// refuse, rather than with what they found.
func saysError(s string) bool {
	s = strings.TrimLeft(s, "<[*# \"")
	for _, w := range [...]string{"error:", "error ", "error\n", "tool_use_error", "tool_error", "fatal:", "failed to ", "traceback (most", "exception:"} {
		if hasPrefixFold(s, w) {
			return true
		}
	}
	return false
}

func hasPrefixFold(s, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := range len(lower) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func indexFold(s, lower string) int {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i]|0x20 == lower[0] && hasPrefixFold(s[i:], lower) {
			return i
		}
	}
	return -1
}
