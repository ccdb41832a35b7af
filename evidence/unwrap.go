package evidence

import (
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// unwrap returns the words inside results that some agents hand over as JSON:
// {"output": "…"}, [{"type": "text", "text": "…"}]. Other JSON stays as it is.
func unwrap(s string, depth int) string {
	if depth > 3 || len(s) < 2 || s[0] != '{' && s[0] != '[' {
		return s
	}
	longest := ""
	pick := func(raw string) {
		if len(raw) > len(longest) {
			longest = raw
		}
	}
	if s[0] == '{' {
		members(s, func(key, raw string) bool {
			if isWrapper(key) {
				pick(raw)
			}
			return true
		})
	} else {
		elements(s, func(raw string) bool { pick(raw); return true })
	}
	if len(longest) < len(s)/2 {
		return s
	}
	inner := text(longest)
	if !isString(longest) {
		if inner = unwrap(longest, depth+1); inner == longest {
			return s // objects and lists that are data
		}
		return inner
	}
	return unwrap(strings.TrimSpace(inner), depth+1)
}

// isWrapper reports whether a member of that name holds what a tool said.
func isWrapper(key string) bool {
	switch work.Plain(key) {
	case "output", "stdout", "stderr", "content", "contents", "text", "result", "response", "aggregatedoutput", "formattedoutput", "functionresponse", "body", "llmcontent":
		return true
	}
	return false
}

// body returns a result without the lines that an agent's harness puts around
// a command's output.
func body(s string) string {
	rest := s
	for range 8 {
		var line string
		line, rest = cutLine(rest)
		switch strings.TrimSpace(line) {
		case "Output:", "<output>", "<stdout>", "Stdout:", "stdout:":
			rest = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(rest), "</output>"), "</stdout>")
			return strings.TrimSpace(rest)
		}
		if rest == "" {
			break
		}
	}
	return s
}
