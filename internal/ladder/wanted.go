package ladder

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/work"
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
	if c := file.CopyOf; c != nil && !c.Deleted && len(c.Regions) > 0 {
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

// isTrial reports whether a file was a try: one command wrote it and ran it, and neither
// the user nor a call named it again.
func (r *Reading) isTrial(file *workset.File) bool {
	name := baseName(file.Path)
	if !file.Made || file.Edits != 1 || file.Read > file.Edited || len(name) < 5 || len(r.steps) > mostKept {
		return false
	}
	ran := false
	for k := range r.steps {
		s := &r.steps[k]
		text := ""
		switch s.kind {
		case asked:
			text = s.text
		case did:
			text = s.call.Args
		}
		if n := strings.Count(text, name); n > 0 {
			if ran || n == 1 || s.kind == asked || s.access.Command == "" {
				return false
			}
			ran = true
		}
	}
	return ran
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

// triedSteps is how many of the newest steps may have changes that failed and that
// nobody made since; leastTried is the length of their text, in bytes.
const triedSteps, leastTried = 64, 400

// triedRuns returns the texts of such changes: they may have been all that there was of
// the work.
func (f *filler) triedRuns() (all []run) {
	f.tried = map[*workset.Piece]bool{}
	later := map[string]bool{} // files that were tried again
	for k := len(f.steps) - 1; k >= max(0, len(f.steps)-triedSteps); k-- {
		s := &f.steps[k]
		if s.kind != did || s.result == nil || s.access.Kind != work.ToolEdit && s.access.Kind != work.ToolWrite {
			continue
		}
		a := f.newAction(k)
		texts := map[string]string{}
		for _, e := range work.Edits(s.call, f.kinds, "") {
			if texts[e.Path] != "" {
				texts[e.Path] += "\n…\n"
			}
			texts[e.Path] += strings.TrimSuffix(e.New, "\n")
		}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			stem := strings.TrimSuffix(baseName(name), path.Ext(name))
			file, text, again := f.set.File(name), texts[name], later[stem]
			later[stem] = true // the path may have been what was wrong
			if again || !a.failed || !f.isFolded(int(s.msg)) || a.refused || len(text) < leastTried || file != nil && file.Edited > int(s.msg) {
				continue
			}
			if file == nil {
				file = &workset.File{Path: name, Touched: int(s.msg)}
			}
			piece := &workset.Piece{Text: text, Touched: int(s.msg)}
			f.tried[piece] = true
			tokens := f.countTokens(text) + runFrame
			all = append(all, run{file: file, piece: piece, tokens: tokens, worth: f.worthPerToken(weights.Called, piece.Touched, tokens)})
		}
	}
	return all
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
