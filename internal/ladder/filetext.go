package ladder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/workset"
)

// writeFile writes what is shown of a file.
func (f *filler) writeFile(b *strings.Builder, v *fileView) {
	about := ""
	switch n := v.file.Edits; {
	case v.file.Made && n == 1:
		about = " (written here)"
	case v.file.Made:
		about = " (written here, " + changed(n-1) + " since)"
	case n > 0:
		about = " (" + changed(n) + ")"
	}
	type part struct {
		where, text string
		doubt       workset.Cause
	}
	var parts []part
	newer, more := false, 0 // lines are left out that a message shows; how many are
	for k := range v.file.Regions {
		g := &v.file.Regions[k]
		marks := v.lines[g]
		newer = newer || f.leavesShown(g, marks)
		if len(g.Lines) >= leastRun { // else hits of a search
			more += len(g.Lines)
		}
		for i := 0; i < len(marks); i++ {
			if !marks[i] {
				continue
			}
			p, from := part{}, i
			var text strings.Builder
			for ; i < len(marks) && marks[i]; i++ {
				p.doubt = max(p.doubt, g.Lines[i].Doubt)
				text.WriteString(g.Lines[i].Text + "\n")
			}
			p.text = text.String()
			p.where = fmt.Sprintf("lines %d-%d", g.From+from, g.From+i-1)
			if from == i-1 {
				p.where = fmt.Sprintf("line %d", g.From+from)
			}
			if total := v.file.Total(); total > 0 {
				p.where += fmt.Sprintf(" of %d", total)
			}
			if from == 0 && i == len(marks) && v.file.Complete {
				p.where = "the whole file"
			}
			if len(g.Lines) >= leastRun {
				more -= i - from
			}
			parts = append(parts, p)
		}
	}
	same := workset.Certain // what is doubted alike is said once
	if len(parts) > 0 && !slices.ContainsFunc(parts, func(p part) bool { return p.doubt != parts[0].doubt }) {
		same = parts[0].doubt
	}
	fmt.Fprintf(b, "### %s%s%s\n", f.fullPath(v.file.Path), about, f.doubtNote(v.file, same))
	for _, p := range parts {
		if p.doubt == same {
			p.doubt = workset.Certain
		}
		writeFenced(b, strings.TrimPrefix(p.where+f.doubtNote(v.file, p.doubt), ", "), p.text)
	}
	for _, p := range v.pieces {
		where := "somewhere in it"
		if p.Touched > v.file.Read && len(parts) > 0 {
			where += ", newer than what else is shown"
		}
		if p.Doubt != workset.Differs { // that another edit has no place changes nothing of this one
			where += f.doubtNote(v.file, p.Doubt)
		}
		writeFenced(b, where, p.Text)
	}
	switch {
	case newer:
		b.WriteString("More of it stands in the newest messages; where two of them differ, the later one holds.\n")
	case more >= leastRun && v.file.Total() == 0:
		what := "more line"
		if len(parts) == 0 {
			what = "line"
		}
		fmt.Fprintf(b, "(%s of it seen, left out here)\n", plural(more, what))
	}
	writeOutline(b, v)
}

// changed says how often a file was changed.
func changed(times int) string {
	if times == 1 {
		return "changed once"
	}
	return fmt.Sprintf("changed %d times", times)
}

// leavesShown reports whether lines of a region are left out because a message that the
// view shows has them.
func (f *filler) leavesShown(g *workset.Region, marks []bool) bool {
	for i := range g.Lines {
		if (marks == nil || !marks[i]) && f.isShown(g.Lines[i].Touched) {
			return true
		}
	}
	return false
}

// doubtNote says why lines of a file may have changed since they were seen, where a
// reason can be named.
func (f *filler) doubtNote(file *workset.File, doubt workset.Cause) string {
	why := ""
	switch doubt {
	case workset.Command:
		command := file.DoubtedBy()
		if command == "" {
			return ", may have changed since"
		}
		why = "`" + quote.Line(clipMiddle(trimCommand(command), 60)) + "` ran"
	case workset.Reported:
		why = "the report of another agent names it"
	case workset.Person:
		why = "other files were changed between requests"
	case workset.ReadUnlike:
		why = "what was read of it later does not fit"
	case workset.Differs:
		return ", may have changed since"
	default:
		return ""
	}
	return ", may have changed since: " + why
}

// writeFenced writes text between fences that do not occur in it, and what it is, where
// that can be said.
func writeFenced(b *strings.Builder, what, text string) {
	if what != "" {
		what += ":\n"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	b.WriteString(what + fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n")
}
