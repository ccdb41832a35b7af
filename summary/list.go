package summary

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// eachEntity calls f with the entities of a line.
func eachEntity(l string, f func(v string)) {
	evidence.Entities(l, func(_ evidence.EntityKind, v string) { f(v) })
}

// candidate is an entity in the queue of the list.
type candidate struct {
	id    int32
	ratio float64
}

type queue []candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, k int) bool {
	if q[i].ratio != q[k].ratio {
		return q[i].ratio > q[k].ratio
	}
	return q[i].id < q[k].id
}
func (q queue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// selection is what a list of files and commands names.
type selection struct {
	open   []bool          // by home: whether it has a row
	chosen map[int][]int32 // entities by home; those without one by the number of homes
	full   bool            // there is nothing more to name
}

// choose chooses files and commands with the names that belong to them for a
// list of about room tokens. What is worth most for its length comes in first; a file's or
// command's own name is paid once, by itself or by what it is the home of.
func (c *composer) choose(room float64) selection {
	s := c.scan
	room -= 6
	if room < 8 || len(s.entities) == 0 {
		return selection{full: true}
	}
	own := s.ownEntities()
	none := len(s.homes) // stands for no home
	members := make([][]int32, none+1)
	for i := range s.entities {
		if e := &s.entities[i]; !e.tail && e.said == saidNot && e.weight > 0 {
			members[s.homeOr(e, none)] = append(members[s.homeOr(e, none)], int32(i))
		}
	}
	open := make([]bool, none+1)
	header, bonus := make([]float64, none+1), make([]float64, none+1)
	var q queue
	for h := range s.homes {
		header[h] = textCost(s.shown(h)) + 4
		for _, id := range own[h] {
			e := &s.entities[id]
			if e.tail {
				continue
			}
			// That a file was changed is worth saying even if its name is said.
			if e.said == saidNot {
				bonus[h] += e.weight
			}
			if s.homes[h].changed() {
				bonus[h] += e.weight / 2
			}
		}
		bonus[h] += s.again(h) / 2
		if bonus[h] > 0 {
			q = append(q, candidate{-1 - int32(h), bonus[h] / header[h]})
		}
	}
	header[none] = 4
	for _, ids := range members {
		slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(s.ratio(b), s.ratio(a)) })
		for _, id := range ids {
			q = append(q, candidate{id, s.ratio(id)})
		}
	}
	heap.Init(&q)
	openHome := func(h int) {
		open[h] = true
		if h < none {
			for _, id := range own[h] {
				s.entities[id].mark(saidListed)
			}
		}
	}
	chosen := map[int][]int32{}
	misses := 0
	for len(q) > 0 && misses < 40 {
		x := heap.Pop(&q).(candidate)
		if x.id < 0 {
			h := int(-1 - x.id)
			if open[h] {
				continue
			}
			if cost := header[h] * c.scale; cost <= room {
				room -= cost
				openHome(h)
			} else {
				misses++
			}
			continue
		}
		e := &s.entities[x.id]
		if e.said != saidNot {
			continue
		}
		h := s.homeOr(e, none)
		if !open[h] && !s.worthOpening(x.id, members[h], header[h], bonus[h]) {
			h = none
		}
		cost := e.cost
		if !open[h] {
			cost += header[h]
		}
		if cost *= c.scale; cost > room {
			misses++
			continue
		}
		room -= cost
		if !open[h] {
			openHome(h)
			if e.said != saidNot {
				room += e.cost * c.scale // the home's own name says it
				continue
			}
		}
		e.mark(saidListed)
		chosen[h] = append(chosen[h], x.id)
	}
	return selection{open, chosen, misses == 0}
}

// homeOr returns an entity's home, or none where it has no home.
func (s *scan) homeOr(e *entity, none int) int {
	if e.home < 0 {
		return none
	}
	return int(e.home)
}

// ratio is what an entity is worth for its length.
func (s *scan) ratio(id int32) float64 { return s.entities[id].weight / s.entities[id].cost }

// worthOpening reports whether an entity and what follows it among the members
// of its home, the best first, are many enough or the home's own name is
// valuable enough to name the home. Otherwise the entity is better off without.
func (s *scan) worthOpening(id int32, members []int32, header, bonus float64) bool {
	e := &s.entities[id]
	n := float64(sort.Search(len(members), func(i int) bool { return s.ratio(members[i]) < s.ratio(id)/2 }))
	return (e.weight+bonus/n)/(e.cost+header/n) >= 0.7*s.ratio(id)
}

// mark notes that the text says an entity. Being quoted is more than being listed.
func (e *entity) mark(said uint8) { e.said = max(e.said, said) }

// ownEntities returns the entities in each home's own name.
func (s *scan) ownEntities() [][]int32 {
	if s.own == nil {
		s.own = make([][]int32, len(s.homes))
		s.findRoot()
		for i := range s.homes {
			eachEntity(s.shown(i), func(v string) {
				if id, ok := s.index[v]; ok {
					s.own[i] = append(s.own[i], id)
				}
			})
		}
	}
	return s.own
}

// findRoot finds the folder whose name is worth leaving out of the paths below
// it. It is named once.
func (s *scan) findRoot() {
	below := map[string]int{}
	for i := range s.homes {
		p := s.homes[i].path
		if len(p) > 400 {
			continue
		}
		// The last two segments of a path always stay, so its last folder is no root.
		last := strings.LastIndexByte(p, '/')
		for k := 1; k < last; k++ {
			if p[k] == '/' {
				below[p[:k+1]]++
			}
		}
	}
	most := 8.0
	for dir, n := range below {
		saved := float64(n-1) * textCost(dir)
		if saved > most || saved == most && dir < s.root {
			s.root, most = dir, saved
		}
	}
}

// shown is a home's name as the list writes it.
func (s *scan) shown(h int) string {
	x := &s.homes[h]
	if x.path == "" {
		return x.name
	}
	// A path is recognised by its last two segments, so those stay.
	if rest, ok := strings.CutPrefix(x.path, s.root); ok && strings.IndexByte(rest, '/') > 0 {
		return rest
	}
	return x.path
}

// render writes a list.
func (s *scan) render(sel selection) string {
	chosen := sel.chosen
	order := s.openHomes(sel.open)
	if len(order) == 0 && len(chosen) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## " + sectionEvidence)
	if s.root != "" {
		b.WriteString(" (in " + quoteLine(s.root) + ")")
	}
	b.WriteByte('\n')
	names := func(ids []int32) {
		sort.Slice(ids, func(a, b int) bool { return s.entities[ids[a]].first < s.entities[ids[b]].first })
		for i, id := range ids {
			if i > 0 {
				b.WriteByte(' ')
			}
			e := &s.entities[id]
			if e.ticked() {
				b.WriteString("`" + quoteLine(e.text) + "`")
			} else {
				b.WriteString(quoteLine(e.text))
			}
		}
	}
	for _, h := range order {
		x := &s.homes[h]
		b.WriteString("- ")
		if x.path == "" {
			b.WriteString("$ ")
		}
		b.WriteString(quoteLine(s.shown(h)))
		b.WriteString(x.marks())
		if ids := chosen[h]; len(ids) > 0 {
			b.WriteString(": ")
			names(ids)
		}
		b.WriteByte('\n')
	}
	if ids := chosen[len(s.homes)]; len(ids) > 0 {
		b.WriteString("- also: ")
		names(ids)
		b.WriteByte('\n')
	}
	return b.String()
}

// ticked reports whether an entity is recognised only between back-ticks.
func (e *entity) ticked() bool {
	switch e.kind {
	case evidence.TickEntity:
		return true
	case evidence.PathEntity:
		found := false
		eachEntity(e.text, func(v string) { found = found || v == e.text })
		return !found
	}
	return false
}

// marks say what was done: [R3 E5] for a file, [exit 1] for a command.
func (x *home) marks() string {
	var list []string
	if x.path == "" {
		if x.exit > 0 {
			list = append(list, fmt.Sprintf("exit %d", x.exit))
		}
	} else {
		for _, k := range [...]struct {
			kind evidence.ToolKind
			mark string
		}{{evidence.Read, "R"}, {evidence.Write, "W"}, {evidence.Edit, "E"}, {evidence.Delete, "D"}} {
			switch n := x.ops[k.kind]; {
			case n == 1:
				list = append(list, k.mark)
			case n > 1:
				list = append(list, k.mark+strconv.Itoa(int(n)))
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " [" + strings.Join(list, " ") + "]"
}
