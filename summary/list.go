package summary

import (
	"cmp"
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

// before compares candidates: what is worth most for its length comes first.
func (x candidate) before(y candidate) int {
	switch {
	case x.ratio > y.ratio:
		return -1
	case x.ratio < y.ratio:
		return 1
	}
	return cmp.Compare(x.id, y.id)
}

// selection is what a list of files and commands names.
type selection struct {
	open   []bool    // by home: whether it has a row
	chosen [][]int32 // entities by home; those without one by the number of homes
	full   bool      // there is nothing more to name
}

// header is what a home's own name costs in a list, and the chance that the
// agent runs it again.
type header struct{ cost, again float64 }

// rank sorts the entities that a list may name, once for all lists.
func (s *scan) rank() []int32 {
	if s.ranked == nil {
		s.ranked = make([]int32, 0, len(s.entities))
		for i := range s.entities {
			if e := &s.entities[i]; !e.tail && e.weight > 0 {
				s.ranked = append(s.ranked, int32(i))
			}
		}
		slices.SortFunc(s.ranked, func(a, b int32) int {
			if c := cmp.Compare(s.entities[b].ratio, s.entities[a].ratio); c != 0 {
				return c
			}
			return cmp.Compare(a, b)
		})
	}
	return s.ranked
}

// header returns what is known of each home's own name.
func (s *scan) header() []header {
	if s.headers == nil {
		s.headers = make([]header, len(s.homes))
		for h := range s.homes {
			s.headers[h] = header{textCost(s.shown(h)) + 4, s.again(h) / 2}
		}
	}
	return s.headers
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
	headers := s.header()
	none := len(s.homes) // stands for no home
	ranked := s.rank()
	members := s.members(ranked, none)
	open := make([]bool, none+1)
	header, bonus := make([]float64, none+1), make([]float64, none+1)
	var q []candidate
	for h := range s.homes {
		header[h] = headers[h].cost
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
		bonus[h] += headers[h].again
		if bonus[h] > 0 {
			q = append(q, candidate{id: -1 - int32(h), ratio: bonus[h] / header[h]})
		}
	}
	header[none] = 4
	slices.SortFunc(q, candidate.before)
	openHome := func(h int) {
		open[h] = true
		if h < none {
			for _, id := range own[h] {
				s.entities[id].mark(saidListed)
			}
		}
	}
	chosen := make([][]int32, none+1)
	misses := 0
	for len(q)+len(ranked) > 0 && misses < 40 {
		var x candidate
		if len(ranked) > 0 {
			x = candidate{id: ranked[0], ratio: s.ratio(ranked[0])}
		}
		if len(ranked) == 0 || len(q) > 0 && q[0].before(x) < 0 {
			x, q = q[0], q[1:]
		} else {
			ranked = ranked[1:]
		}
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

// members returns what is not said yet by home, each in the order of the ranking.
func (s *scan) members(ranked []int32, none int) [][]int32 {
	sizes, n := make([]int32, none+1), 0
	for _, id := range ranked {
		if e := &s.entities[id]; e.said == saidNot {
			sizes[s.homeOr(e, none)]++
			n++
		}
	}
	all, members := make([]int32, n), make([][]int32, none+1)
	for h, size := range sizes {
		members[h], all = all[:0:size], all[size:]
	}
	for _, id := range ranked {
		if e := &s.entities[id]; e.said == saidNot {
			h := s.homeOr(e, none)
			members[h] = append(members[h], id)
		}
	}
	return members
}

// homeOr returns an entity's home, or none where it has no home.
func (s *scan) homeOr(e *entity, none int) int {
	if e.home < 0 {
		return none
	}
	return int(e.home)
}

// ratio is what an entity is worth for its length.
func (s *scan) ratio(id int32) float64 { return s.entities[id].ratio }

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
				if id, ok := s.find(v); ok {
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
	if len(order) == 0 && !slices.ContainsFunc(chosen, func(ids []int32) bool { return len(ids) > 0 }) {
		return ""
	}
	var b strings.Builder
	b.WriteString("## " + sectionEvidence)
	if s.root != "" {
		b.WriteString(" (in " + quoteLine(s.root) + ")")
	}
	b.WriteByte('\n')
	names := func(ids []int32) {
		slices.Sort(ids) // entities are numbered as they come
		for i, id := range ids {
			if i > 0 {
				b.WriteByte(' ')
			}
			e := &s.entities[id]
			if e.quoted == "" {
				if e.quoted = quoteLine(e.text); e.ticks {
					e.quoted = "`" + e.quoted + "`"
				}
			}
			b.WriteString(e.quoted)
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
	if len(chosen) == 0 {
		return b.String()
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
