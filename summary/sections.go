package summary

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
)

// The sections of a summariser's prose that something is asked of.
const (
	sectionGoal      = "Goal"
	sectionDecisions = "Decisions"
	sectionDeadEnds  = "Dead ends"
	sectionOpen      = "Open tasks"
	sectionState     = "Current state"
)

// sections are those of a summary's prose, in their order, with what belongs into
// each.
var sections = [...]struct{ name, help string }{
	{sectionGoal, "what the user wants in the end, and how that changed; the newest wish counts"},
	{"Constraints", "what the user demands or forbids, and limits found in the environment"},
	{sectionDecisions, "what was decided, with the reason, and what was turned down"},
	{sectionDeadEnds, "what was tried and did not work, and why, so that nobody tries it again"},
	{"Knowledge", "facts learned about the system, its tools and its conventions that the work depends on"},
	{"Files", "files that matter, with what is in them or what was changed and why"},
	{"Problems and fixes", "errors and obstacles, their causes, what solved them or did not"},
	{"Done", "what is finished and how that was verified"},
	{sectionOpen, "what was asked for and is not finished"},
	{sectionState, "what was being done when the transcript ends, and in which condition it is"},
	{"Next step", "the one thing to do next, if it follows from the user's latest request"},
}

// Sections returns the names of the sections of a prose that stands alone, in
// order: nine, and the user's constraints.
func Sections() []string {
	var names []string
	for _, s := range sections {
		if s.name != sectionDeadEnds {
			names = append(names, s.name)
		}
	}
	return names
}

// asksFor reports whether a model is asked for a section.
func (in *Input) asksFor(name string) bool {
	if in.Open {
		return name != sectionDeadEnds
	}
	return name == sectionGoal || name == sectionDecisions || name == sectionDeadEnds
}

// splitSections reads the sections of a prose, the lines of each by its name.
// Headings are recognised whatever their level, case and numbering. Words before
// the first heading belong to no section and are left out.
func splitSections(prose string) map[string][]string {
	found, name := map[string][]string{}, ""
	for line := range strings.SplitSeq(prose, "\n") {
		if next := sectionName(line); next != "" {
			name, line = next, ""
		}
		if name != "" {
			found[name] = append(found[name], line)
		}
	}
	return found
}

// sectionName returns the section that a heading line opens, or "".
func sectionName(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > 80 || !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "**") {
		return ""
	}
	name := strings.TrimLeft(strings.Trim(line, "#*_: \t"), "0123456789.)( ")
	for _, s := range sections {
		if strings.EqualFold(name, s.name) {
			return s.name
		}
	}
	return ""
}

// joinSections writes sections down under their fixed names, in the fixed
// order. Bodies are quoted, so that they cannot forge a heading. Empty ones are left out.
func joinSections(found map[string][]string) string {
	var b strings.Builder
	for _, s := range sections {
		if body := bodyOf(found[s.name]); body != "" {
			b.WriteString("## " + s.name + "\n" + body + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// emptyBodies are what a section says where there is nothing to say.
var emptyBodies = []string{"", "none", "nothing", "n/a", "na", "not applicable", "none stated", "none so far", "none yet", "keine", "aucun", "无", "なし"}

// bodyOf returns what a section says, "" where that is nothing.
func bodyOf(lines []string) string {
	body := strings.TrimSpace(strings.Join(lines, "\n"))
	if slices.Contains(emptyBodies, strings.ToLower(strings.Trim(body, " \n\t-*.()[]_"))) {
		return ""
	}
	return strings.TrimSpace(quote.Text(body))
}
