package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// quotable reports whether a line may stand under its step. The title of a step
// that looks for something says all that its call does.
func (s *scan) quotable(l *line) bool {
	if l.step < 0 || l.from == fromCall || s.steps[l.step].keepsList() {
		return false
	}
	st := &s.steps[l.step]
	switch {
	case l.from != fromBody:
		return l.from != fromResult || !passes(l.text) && !saysNothing(l.text) && !strings.HasPrefix(l.text, "Wall time: ") && (st.access.Kind != evidence.Search || hitFile(l.text) == "")
	case st.changes():
		return !strings.HasPrefix(l.text, "-") // what a patch took out is gone
	}
	return st.access.Kind != evidence.Read && st.access.Kind != evidence.Search
}

// saysNothing reports whether a line of a result is nothing but tags, such as agents
// put around parts of an output, or a piece of a long record of data: cut out of it,
// neither says anything.
func saysNothing(l string) bool {
	if len(l) > lineWidth && strings.Count(l, `":`) >= 4 {
		return true
	}
	for l != "" {
		end := strings.IndexByte(l, '>')
		if l[0] != '<' || end < 2 || strings.ContainsAny(l[1:end], " <=") {
			return false
		}
		l = l[end+1:]
	}
	return true
}

// passes reports whether a line says of one test that it passed: how a run ended
// stands in its title, and what failed under it.
func passes(l string) bool {
	for _, mark := range [...]string{"✔", "✓", "√", "--- PASS", "PASS ", "ok "} {
		if strings.HasPrefix(l, mark) {
			return true
		}
	}
	return strings.HasSuffix(l, " PASSED") || strings.HasSuffix(l, " ... ok")
}

// announces reports whether a line does nothing but announce the call that
// follows it: "Let me check the tests:".
func announces(l *line) bool { return l.from == fromAssistant && strings.HasSuffix(l.text, ":") }

// lookedAt reports whether a line was only looked at or is part of a large change,
// and stands in the files as they are now, beside this text. A report of a failure
// is more.
func (s *scan) lookedAt(l *line) bool {
	st := &s.steps[l.step]
	return !s.in.Open && !l.fails && (l.from == fromResult && st.access.Kind == evidence.Read || l.from == fromBody && st.changes() && st.body > smallChange)
}

// smallChange is the most lines of a change, old and new ones, that say by
// themselves what was done.
const smallChange = 8
