package ladder

import (
	"math"
	"slices"
	"strings"

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

// knownTokens returns how many tokens the known lines of a file have.
func (r *Reading) knownTokens(file *workset.File) (n int) {
	for k := range file.Regions {
		s := r.sizesOf(file, &file.Regions[k])
		n += s[len(s)-1]
	}
	return n
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
			if l.Edited && to-i <= around || !f.isShown(l.Touched) || to-i < leastRun && !f.showsAll(g.Lines[x.from:x.to]) {
				sure := !slices.ContainsFunc(g.Lines[x.from:x.to], func(n workset.Line) bool { return n.Doubt > workset.Turn })
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

// showsAll reports whether messages that the view shows have all of some lines.
func (f *filler) showsAll(lines []workset.Line) bool {
	return !slices.ContainsFunc(lines, func(l workset.Line) bool { return !f.isShown(l.Touched) })
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
