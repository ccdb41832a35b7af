package ladder

import (
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/workset"
)

// weightOf returns how much more than others a file is wanted: the newest request
// names it, or the newest calls do.
func (f *filler) weightOf(file *workset.File) float64 {
	w := 1.0
	if !f.isOurs(file) {
		w = weights.Scratch
	}
	name := baseName(file.Path)
	if len(name) < 5 {
		return w
	}
	if strings.Contains(f.newest, name) {
		w *= weights.Named
	}
	if strings.Contains(f.calling, name) {
		w *= weights.Called
	}
	return w
}

// copiedFrom returns the file that another one is a copy of, nil where it has a text
// of its own.
func copiedFrom(file *workset.File) *workset.File {
	if c := file.CopyOf; c != nil && !c.Deleted && c.Edited <= file.Edited && len(c.Regions) > 0 {
		return c
	}
	return nil
}

// isSpent reports whether a file has served: it was written once in a folder for files
// that nobody keeps, and the newest request and calls do not name it. Its outline is
// enough.
func (f *filler) isSpent(file *workset.File) bool {
	return file.Edits == 1 && file.Read < file.Edited && f.weightOf(file) == weights.Scratch
}

// instructs reports whether a file says what is to be done: it holds instructions for
// agents, or a list of things to do that the agent read for the newest request.
func (f *filler) instructs(file *workset.File) bool {
	if !f.isOurs(file) {
		return false
	}
	if typed.IsInstructions(file.Path) {
		return true
	}
	if f.typed < 0 || file.Read <= int(f.steps[f.typed].msg) {
		return false
	}
	open := 0
	for k := range file.Regions {
		for _, l := range file.Regions[k].Lines {
			if box := checkbox.FindStringSubmatch(l.Text); box != nil && box[1] == " " {
				open++
			}
		}
	}
	return open > 1
}

// isOurs reports whether a file may belong to the project: what was fetched to be looked
// at neither stays nor instructs.
func (f *filler) isOurs(file *workset.File) bool {
	return !inScratch(file.Path) || inScratch(f.folder)
}

// inScratch reports whether a path is in a folder for files that nobody keeps.
func inScratch(p string) bool {
	p = slashedPath(p)
	return strings.HasPrefix(p, "/tmp/") || strings.HasPrefix(p, "/private/tmp/") || strings.HasPrefix(p, "/var/folders/") || strings.Contains(p, "/AppData/Local/Temp/")
}

func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

// newestWords returns the newest request, and the arguments of the calls among
// the newest parts.
func (r *Reading) newestWords() (request, calls string) {
	if r.typed >= 0 {
		request = r.steps[r.typed].text
	}
	var b strings.Builder
	left := 16
	for i := r.history.Len() - 1; i >= 0 && left > 0; i-- {
		m := r.history.At(i)
		for k := len(m.Parts) - 1; k >= 0 && left > 0; k-- {
			left--
			if p := &m.Parts[k]; p.Kind == chat.ToolCall {
				b.WriteString(quote.Clip(p.Args, 4<<10))
				b.WriteByte('\n')
			}
		}
	}
	return request, b.String()
}

// madeEnds are the ends of such files' names.
var madeEnds = []string{".lock", ".lockb", ".map", "go.sum", "npm-shrinkwrap.json", ".snap", ".pb.go", "_pb2.py"}

// isMade reports whether a file was made by a program for programs: it has its
// line in the list of files and is not shown.
func isMade(file *workset.File) bool {
	base := baseName(file.Path)
	if strings.Contains(base, ".min.") || strings.Contains(base, "-lock.") {
		return true
	}
	if slices.ContainsFunc(madeEnds, func(end string) bool { return strings.HasSuffix(base, end) }) {
		return true
	}
	for k := range file.Regions {
		lines := file.Regions[k].Lines
		bytes := 0
		for i := range lines {
			t := lines[i].Text
			bytes += len(t)
			if i < 5 && (strings.Contains(t, "DO NOT EDIT") && strings.Contains(t, "enerated") || strings.Contains(t, "@generated")) {
				return true // it says so
			}
			if i < 5 && file.Regions[k].From == 1 && find.AnyStart(t, "diff --git ", "@@ -") {
				return true // a stored diff: what it says stands in the files
			}
		}
		if bytes > 1000*max(1, len(lines)) {
			return true
		}
	}
	return false
}
