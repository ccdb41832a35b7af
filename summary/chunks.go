package summary

import (
	"cmp"
	"iter"
	"slices"

	"github.com/winnow-llm/winnow/internal/workset"
)

// chunk is lines from to to-1 of a region, or a loose piece: what is shown or
// left out as a whole.
type chunk struct {
	file     *workset.File
	region   *workset.Region
	piece    *workset.Piece
	from, to int
	core     [2]int // the lines that were touched; the others stand around them
	touched  int
	cost     int // about how many tokens it takes
	path     int // tokens of the file's path
	place    int // among the chunks of its rank, as they were found
}

// around is how many lines beside a change or a short read belong to it.
const around = 20

// chunks is what may be shown, by rank: what is shown first has the lowest.
// A state is full long before the last rank, so the tokens of a chunk are counted
// only when its rank's turn comes.
type chunks struct {
	found  bool
	ranks  [][]chunk
	sorted int // ranks that are in order
}

// rulesRank is the rank of instructions for agents.
const rulesRank = 0

// rankOf is the rank of what was touched or spoken of that many messages ago.
// Ages are compared by their order of magnitude; among those of one age, lines
// that were changed come first, then files that were.
func rankOf(c *chunk, age int) int {
	rank := 1 + 3*log2(age)
	switch {
	case c.file.Edited < 0:
		rank += 2
	case c.region != nil && !c.region.Lines[c.core[0]].Edited:
		rank++
	}
	return rank
}

// ranked lists what may be shown with its rank, the most wanted first. Chunks of
// one region may overlap.
func (w *stateWriter) ranked() iter.Seq2[int, *chunk] {
	if !w.chunks.found {
		w.chunks.found = true
		for _, f := range w.State.files {
			if !f.Deleted {
				w.find(f)
			}
		}
	}
	return func(yield func(int, *chunk) bool) {
		for rank, list := range w.chunks.ranks {
			if rank >= w.chunks.sorted {
				w.sort(list)
				w.chunks.sorted = rank + 1
			}
			for i := range list {
				if !yield(rank, &list[i]) {
					return
				}
			}
		}
	}
}

// find finds the chunks of a file.
func (w *stateWriter) find(f *workset.File) {
	rules := isInstructions(f.Path)
	add := func(c chunk) {
		c.file = f
		rank := rulesRank
		if !rules {
			rank = rankOf(&c, w.history.Len()-max(c.touched, w.spoken[f]))
		}
		for rank >= len(w.chunks.ranks) {
			w.chunks.ranks = append(w.chunks.ranks, nil)
		}
		list := &w.chunks.ranks[rank]
		c.place = len(*list)
		*list = append(*list, c)
	}
	for k := range f.Regions {
		r := &f.Regions[k]
		for i := 0; i < len(r.Lines); {
			l := &r.Lines[i]
			to := i + 1
			for to < len(r.Lines) && r.Lines[to].Touched == l.Touched && r.Lines[to].Edited == l.Edited {
				to++
			}
			from, end := i, to
			if to-i <= around {
				from, end = max(0, i-around), min(len(r.Lines), to+around)
			}
			add(chunk{region: r, from: from, to: end, core: [2]int{i, to}, touched: l.Touched})
			i = to
		}
	}
	for k := range f.Loose {
		if p := &f.Loose[k]; !w.shows(p.Touched) {
			add(chunk{piece: p, touched: p.Touched})
		}
	}
}

// sort counts the tokens of chunks and puts the cheapest first.
func (w *stateWriter) sort(list []chunk) {
	for i := range list {
		list[i].cost = w.cost(&list[i])
		list[i].path = w.count(list[i].file.Path)
	}
	slices.SortFunc(list, func(a, b chunk) int { return cmp.Or(a.cost-b.cost, a.place-b.place) })
}

// cost is about how many tokens a chunk takes.
func (w *stateWriter) cost(c *chunk) int {
	if c.piece != nil {
		return w.count(c.piece.Text) + linesFrame
	}
	s := w.sizesOf(c.region)
	return s[c.to] - s[c.from] + linesFrame
}

// linesFrame and pieceFrame are about what stands around lines that are shown
// together, and around a loose piece.
const (
	linesFrame = 16
	pieceFrame = 12
)

// sizesOf returns the tokens of a region's lines, added up.
func (w *stateWriter) sizesOf(r *workset.Region) []int {
	s := w.sizes[r]
	if s == nil {
		s = make([]int, len(r.Lines)+1)
		for i := range r.Lines {
			s[i+1] = s[i] + w.counter.Text(r.Lines[i].Text) + 1
		}
		w.sizes[r] = s
	}
	return s
}
