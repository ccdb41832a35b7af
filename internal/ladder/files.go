package ladder

import (
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/internal/workset"
)

// run is a piece of a file that is shown or left out as a whole: the lines that
// one read or edit touched, with some around those of a small one, or a text
// whose place in its file is not known. Without either it is the file's outline.
type run struct {
	file      *workset.File
	region    *workset.Region
	piece     *workset.Piece
	from, to  int    // lines of the region
	core      [2]int // those that were touched
	tokens    int
	worth     float64
	instructs bool // the file says what is to be done
}

func (x *run) isOutline() bool { return x.region == nil && x.piece == nil }

// leastRun is the fewest lines that show a text where they stand: fewer are hits
// of a search, which say nothing without the lines around them.
const leastRun = 5

// around is how many lines beside a change or a short read belong to it. Cut
// finer, runs do worse: an edit needs all of its old text.
const around = 20

// The tokens of what stands around the lines of a run, and of a file's heading
// besides its path.
const (
	runFrame  = 14
	fileFrame = 8
)

// lineSizes are the tokens of a region's lines, added up.
type lineSizes []int

// fileSizes are the sizes of a file's regions, as long as nobody touches it.
type fileSizes struct {
	touched int
	regions map[*workset.Region]lineSizes
}

func (r *Reading) sizesOf(file *workset.File, g *workset.Region) lineSizes {
	all := r.sizes[file]
	if all == nil || all.touched != file.Touched {
		all = &fileSizes{file.Touched, map[*workset.Region]lineSizes{}}
		r.sizes[file] = all
	}
	s := all.regions[g]
	if s == nil {
		s = make(lineSizes, len(g.Lines)+1)
		for i := range g.Lines {
			s[i+1] = s[i] + r.counter.Text(g.Lines[i].Text) + 1
		}
		all.regions[g] = s
	}
	return s
}

// worthPerToken returns the worth per token of an item of that weight and size that
// was last shown in message at.
func (r *Reading) worthPerToken(weight float64, at, tokens int) float64 {
	return weight / ((float64(r.tokensAfter(at)) + weights.Age) * math.Sqrt(float64(tokens)+weights.Size))
}

// runsOf lists the runs of a file that the view does not show anyway.
func (f *filler) runsOf(file *workset.File) []run {
	var list []run
	weight := f.weightOf(file)
	add := func(x run, touched int, sure bool) {
		x.file = file
		w := weight
		if !sure {
			w *= weights.Unsure
		}
		if f.holdsRenamed(&x) {
			w *= weights.Called
		}
		x.worth = f.worthPerToken(w, touched, x.tokens)
		list = append(list, x)
	}
	for k := range file.Regions {
		g := &file.Regions[k]
		if len(g.Lines) < leastRun && !file.Complete && !g.Lines[0].Edited {
			continue
		}
		sizes := f.sizesOf(file, g)
		for i := 0; i < len(g.Lines); {
			l := &g.Lines[i]
			to := i + 1
			for to < len(g.Lines) && g.Lines[to].Touched == l.Touched && g.Lines[to].Edited == l.Edited {
				to++
			}
			x := run{region: g, from: i, to: to, core: [2]int{i, to}}
			if to-i <= around {
				x.from, x.to = max(0, i-around), min(len(g.Lines), to+around)
			}
			if l.Edited && to-i <= around || to-i < leastRun || !f.isShown(l.Touched) {
				sure := !slices.ContainsFunc(g.Lines[x.from:x.to], func(n workset.Line) bool { return n.Doubt >= workset.Command })
				x.tokens = sizes[x.to] - sizes[x.from] + runFrame
				add(x, l.Touched, sure)
			}
			i = to
		}
	}
	for k := range file.Loose {
		if p := &file.Loose[k]; !f.isShown(p.Touched) && strings.ContainsAny(strings.TrimSpace(p.Text), " \t\n({[=") { // a name alone tells nothing
			add(run{piece: p, tokens: f.countTokens(p.Text) + runFrame}, p.Touched, true)
		}
	}
	return list
}

// holdsRenamed reports whether a run has a name that the newest edits took out elsewhere.
func (f *filler) holdsRenamed(x *run) bool {
	return len(f.renamed) > 0 && x.region != nil && slices.ContainsFunc(x.region.Lines[x.from:x.to], func(l workset.Line) bool { return find.Any(l.Text, f.renamed...) })
}

// renamedIn returns the names in code that the newest edits took out and did not put in
// again: where others hold them, they are changed next.
func (r *Reading) renamedIn() (names []string) {
	var old, now strings.Builder
	for i := max(0, r.history.Len()-8); i < r.history.Len(); i++ {
		m := r.history.At(i)
		for k := range m.Parts {
			if m.Parts[k].Kind != chat.ToolCall {
				continue
			}
			for _, e := range work.Edits(&m.Parts[k], r.kinds, "") {
				old.WriteString(e.Old + "\n")
				now.WriteString(e.New + "\n")
			}
		}
	}
	for _, name := range codeName.FindAllString(old.String(), 64) {
		if len(names) < 8 && !slices.Contains(names, name) && !strings.Contains(now.String(), name) {
			names = append(names, name)
		}
	}
	return names
}

// codeName is a name of several words in code.
var codeName = regexp.MustCompile(`\b[A-Za-z]\w*(?:[a-z][A-Z]|_)\w+`)

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
		if s.kind != did || s.result == nil || s.access.Kind != work.ToolEdit && s.access.Kind != work.ToolWrite || !f.isFolded(int(s.msg)) {
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
			file, text, again := f.set.File(name), texts[name], later[baseName(name)]
			later[baseName(name)] = true // the path may have been what was wrong
			if again || !a.failed || a.refused || len(text) < leastTried || file != nil && file.Edited > int(s.msg) {
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

// fileView is what a state shows of one file.
type fileView struct {
	file    *workset.File
	lines   map[*workset.Region][]bool
	pieces  []*workset.Piece
	outline []outlineLine
	tokens  int
}

// runCost returns what a run costs beside what is shown of its file already; 0
// where nothing is new in it.
func (f *filler) runCost(x *run, from, to int) int {
	v := f.views[x.file]
	cost := 0
	if v == nil {
		cost = f.countTokens(x.file.Path) + fileFrame
	}
	if x.piece != nil {
		return cost + x.tokens
	}
	var marks []bool
	if v != nil {
		marks = v.lines[x.region]
	}
	sizes, fresh := f.sizesOf(x.file, x.region), 0
	for i := from; i < to; i++ {
		if marks == nil || !marks[i] {
			fresh += sizes[i+1] - sizes[i]
		}
	}
	if fresh == 0 {
		return 0
	}
	return cost + fresh + runFrame
}

// showLines puts lines of a run into what is shown.
func (f *filler) showLines(x *run, from, to, cost int) {
	v := f.viewOf(x.file)
	v.tokens += cost
	if x.piece != nil {
		v.pieces = append(v.pieces, x.piece)
		return
	}
	marks := v.lines[x.region]
	if marks == nil {
		marks = make([]bool, len(x.region.Lines))
		v.lines[x.region] = marks
	}
	for i := from; i < to; i++ {
		marks[i] = true
	}
}

// viewOf returns what is shown of a file, and begins with it where nothing was.
func (f *filler) viewOf(file *workset.File) *fileView {
	v := f.views[file]
	if v == nil {
		v = &fileView{file: file, lines: map[*workset.Region][]bool{}}
		f.views[file] = v
		f.shown = append(f.shown, v)
	}
	return v
}

// fittingPart returns the part of a run that costs at most that many tokens: the
// touched lines, and as many of those around them as fit.
func (f *filler) fittingPart(x *run, most int) (from, to int) {
	most -= runFrame
	if f.views[x.file] == nil {
		most -= f.countTokens(x.file.Path) + fileFrame
	}
	sizes := f.sizesOf(x.file, x.region)
	from, to = x.core[0], x.core[0]
	for to < x.core[1] && sizes[to+1]-sizes[from] <= most {
		to++
	}
	if to < min(x.core[1], from+leastLines) {
		return from, from
	}
	for grown := true; grown; {
		grown = false
		if from > x.from && sizes[to]-sizes[from-1] <= most {
			from, grown = from-1, true
		}
		if to < x.to && sizes[to+1]-sizes[from] <= most {
			to, grown = to+1, true
		}
	}
	if to-from < min(leastRun, x.to-x.from) {
		return from, from
	}
	return from, to
}

// leastLines is the fewest lines that are worth showing by themselves.
const leastLines = 8

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
		more += len(g.Lines)
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
			if g.From > 0 {
				p.where = fmt.Sprintf("lines %d-%d", g.From+from, g.From+i-1)
				if from == i-1 {
					p.where = fmt.Sprintf("line %d", g.From+from)
				}
				if total := v.file.Total(); total > 0 {
					p.where += fmt.Sprintf(" of %d", total)
				}
			}
			if from == 0 && i == len(marks) && v.file.Complete {
				p.where = "the whole file"
			}
			if more -= i - from; p.where == "" {
				p.where = "a part of it"
			}
			parts = append(parts, p)
		}
	}
	same := workset.Certain // what is doubted alike is said once
	if len(parts) > 0 && !slices.ContainsFunc(parts, func(p part) bool { return p.doubt != parts[0].doubt }) {
		same = parts[0].doubt
	}
	fmt.Fprintf(b, "### %s%s%s\n", quote.Line(v.file.Path), about, f.doubtNote(v.file, same))
	for _, p := range parts {
		if p.doubt == same {
			p.doubt = workset.Certain
		}
		writeFenced(b, strings.TrimPrefix(p.where+f.doubtNote(v.file, p.doubt), ", "), p.text)
	}
	for _, p := range v.pieces {
		where := "somewhere in it"
		if f.tried[p] {
			where = fmt.Sprintf("tried in message %d, but it failed and is not written", p.Touched+1)
		} else if p.Touched > v.file.Read && len(parts) > 0 {
			where += ", newer than what else is shown"
		}
		writeFenced(b, where, p.Text)
	}
	switch {
	case newer:
		b.WriteString("More of it stands in the newest messages.\n")
	case more >= around && v.file.Total() == 0:
		fmt.Fprintf(b, "(%s of it left out that were seen)\n", plural(more, "line"))
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
			return ""
		}
		why = "`" + quote.Line(clipMiddle(trimCommand(command), 60)) + "` ran"
	case workset.SubAgent:
		why = "another agent worked"
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
