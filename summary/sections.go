package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
)

// The sections that a summariser's prose consists of, in their order.
const (
	SectionGoal        = "Goal"
	SectionConstraints = "Constraints"
	SectionDecisions   = "Decisions"
	SectionKnowledge   = "Knowledge"
	SectionFiles       = "Files"
	SectionProblems    = "Problems and fixes"
	SectionDone        = "Done"
	SectionOpen        = "Open tasks"
	SectionState       = "Current state"
	SectionNext        = "Next step"
	SectionDeadEnds    = "Dead ends"
)

// Sections returns the names of the sections of a prose that stands alone, in
// order: nine, and the user's constraints.
func Sections() []string {
	return []string{
		SectionGoal, SectionConstraints, SectionDecisions, SectionKnowledge, SectionFiles,
		SectionProblems, SectionDone, SectionOpen, SectionState, SectionNext,
	}
}

// sections are those that a model is asked for.
func (in *Input) sections() []string {
	if in.Open {
		return Sections()
	}
	return []string{SectionGoal, SectionDecisions, SectionDeadEnds}
}

// section is one part of a prose.
type section struct{ name, body string }

// splitSections reads the sections of a prose. Headings are recognised whatever
// their level, case and numbering. Words before the first heading belong to no
// section and are left out.
func splitSections(prose string) []section {
	var out []section
	for rest := prose; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if name := sectionName(line); name != "" {
			out = append(out, section{name: name})
			continue
		}
		if len(out) > 0 {
			last := &out[len(out)-1]
			last.body += line + "\n"
		}
	}
	merged := out[:0]
	for _, s := range out {
		s.body = strings.Trim(s.body, "\n")
		at := -1
		for i := range merged {
			if merged[i].name == s.name {
				at = i
			}
		}
		switch {
		case at < 0:
			merged = append(merged, s)
		case merged[at].body == "":
			merged[at].body = s.body
		case s.body != "":
			merged[at].body += "\n" + s.body
		}
	}
	return merged
}

// sectionName returns the section that a heading line opens, or "".
func sectionName(line string) string {
	line = strings.TrimSpace(line)
	marked := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**")
	if !marked || len(line) > 80 {
		return ""
	}
	name := strings.Trim(line, "#*_: \t")
	name = strings.TrimLeft(name, "0123456789.)( ")
	for _, s := range append(Sections(), SectionDeadEnds) {
		if strings.EqualFold(name, s) {
			return s
		}
	}
	return ""
}

// joinSections writes sections down under their fixed names, in the fixed
// order. Bodies are quoted, so that they cannot forge a heading. Empty ones are left out.
func joinSections(list []section) string {
	var b strings.Builder
	for _, name := range append(Sections(), SectionDeadEnds) {
		for _, s := range list {
			if s.name != name || isEmptyBody(s.body) {
				continue
			}
			b.WriteString("## ")
			b.WriteString(name)
			b.WriteByte('\n')
			b.WriteString(strings.TrimSpace(quote.Text(s.body)))
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// isEmptyBody reports whether a section says that there is nothing to say.
func isEmptyBody(s string) bool {
	s = strings.ToLower(strings.Trim(s, " \n\t-*.()[]_"))
	switch s {
	case "", "none", "nothing", "n/a", "na", "not applicable", "none stated", "none so far", "none yet", "keine", "aucun", "无", "なし":
		return true
	}
	return false
}
