package summary

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/workset"
)

// renamedNames is the most names that a step's title has of what an edit put in,
// and of what it took out.
const renamedNames = 4

// renamed says in a few words what an edit did to a file's definitions: which it
// put in, which it took out, or, where it did neither, which it worked on.
func (s *step) renamed() string {
	if s.access.Kind != evidence.Edit {
		return ""
	}
	var before, after []string
	for _, e := range workset.Edits(s.call, nil, "") {
		before = append(before, defined(e.Old)...)
		after = append(after, defined(e.New)...)
	}
	adds := without(after, before)
	removes := without(before, after)
	var did []string
	if len(adds) > 0 {
		did = append(did, "adds "+listing(clipNames(adds)))
	}
	if len(removes) > 0 {
		did = append(did, "removes "+listing(clipNames(removes)))
	}
	if len(did) == 0 && len(after) > 0 {
		did = append(did, "in "+listing(clipNames(after)))
	}
	if len(did) == 0 {
		return ""
	}
	return " (" + strings.Join(did, ", ") + ")"
}

// defined returns the names that lines of code define, each once.
func defined(text string) []string {
	var names []string
	for l := range strings.Lines(text) {
		if local(l) {
			continue
		}
		if n := evidence.Defined(strings.TrimRight(l, "\r\n")); n != "" && !slices.Contains(names, n) {
			names = append(names, quoteLine(n))
		}
	}
	return names
}

// local reports whether a line defines something for the lines around it only.
func local(l string) bool {
	code := strings.TrimLeft(l, " \t")
	word, _, _ := strings.Cut(code, " ")
	switch word {
	case "const", "let", "var", "val", "auto", "final":
		return len(code) < len(l)
	}
	return false
}

func without(names, others []string) []string {
	var left []string
	for _, n := range names {
		if !slices.Contains(others, n) && !slices.Contains(left, n) {
			left = append(left, n)
		}
	}
	return left
}

func clipNames(names []string) []string { return names[:min(len(names), renamedNames)] }
