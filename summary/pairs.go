package summary

import "strings"

// pairs knows which entities stand close together in a text.
type pairs struct {
	s      *scan
	rows   map[int32][]int32 // of the text, by entity
	quoted map[int32]bool    // lines of the region that were added
	joined map[[2]int32]bool // by those lines
}

// newPairs reads a text.
func (s *scan) newPairs(text string) *pairs {
	p := &pairs{s: s, rows: map[int32][]int32{}, quoted: map[int32]bool{}, joined: map[[2]int32]bool{}}
	row := int32(0)
	for l := range strings.SplitSeq(text, "\n") {
		eachEntity(l, func(v string) {
			if id, ok := s.index[v]; ok && s.pairable(id) {
				if rows := p.rows[id]; len(rows) == 0 || rows[len(rows)-1] != row {
					p.rows[id] = append(rows, row)
				}
			}
		})
		row++
	}
	return p
}

// pairable reports whether it matters what an entity stands beside.
func (s *scan) pairable(id int32) bool {
	e := &s.entities[id]
	return e.kind != wordEntity && !e.tail && e.weight >= pairLeast
}

// together reports whether two entities stand close to each other.
func (p *pairs) together(a, b int32) bool {
	if p.joined[[2]int32{min(a, b), max(a, b)}] {
		return true
	}
	x, y := p.rows[a], p.rows[b]
	for i, k := 0, 0; i < len(x) && k < len(y); {
		d := x[i] - y[k]
		if -closeLines <= d && d <= closeLines {
			return true
		}
		if d < 0 {
			i++
		} else {
			k++
		}
	}
	return false
}

// value is what line i of the region would bring together by itself and with
// lines around it that were added: for each pair the chance that both are needed.
func (p *pairs) value(i int32) float64 {
	v := 0.0
	p.each(i, func(a, b int32) { v += p.s.entities[a].weight * p.s.entities[b].weight })
	return v
}

// add notes that line i of the region is quoted.
func (p *pairs) add(i int32) {
	p.each(i, func(a, b int32) { p.joined[[2]int32{min(a, b), max(a, b)}] = true })
	p.quoted[i] = true
}

// each calls f with the pairs that quoting line i would bring together.
func (p *pairs) each(i int32, f func(a, b int32)) {
	s := p.s
	l := &s.lines[i]
	from, to := s.around(int(i))
	for n, a := range s.occ[l.occ:l.end] {
		if !s.pairable(a) {
			continue
		}
		with := func(others []int32) {
			for _, b := range others {
				if a != b && s.pairable(b) && !p.together(a, b) {
					f(a, b)
				}
			}
		}
		with(s.occ[l.occ+int32(n)+1 : l.end])
		for k := from; k < to; k++ {
			if p.quoted[int32(k)] {
				with(s.occ[s.lines[k].occ:s.lines[k].end])
			}
		}
	}
}
