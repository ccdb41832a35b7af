package summary

import "strings"

// pairs knows which entities stand close together in a text.
type pairs struct {
	s      *scan
	r      *relations
	rows   []int32           // of the text, entity by entity
	at     []int32           // by entity: the end of its rows, which start where those of the one before it end
	quoted []bool            // lines of the region that were added
	joined map[[2]int32]bool // by those lines
}

// newPairs reads a text.
func (s *scan) newPairs(text string) *pairs {
	p := &pairs{s: s, r: s.relate(), at: make([]int32, len(s.entities)+2), quoted: make([]bool, len(s.lines)), joined: map[[2]int32]bool{}}
	type place struct{ id, row int32 }
	var places []place
	last := make([]int32, len(s.entities)) // row of each entity, and one more
	row := int32(0)
	for l := range strings.SplitSeq(text, "\n") {
		eachEntity(l, func(v string) {
			if id, ok := s.find(v); ok && s.entities[id].pairs && last[id] != row+1 {
				last[id] = row + 1
				places = append(places, place{id, row})
				p.at[id+2]++
			}
		})
		row++
	}
	for id := range s.entities {
		p.at[id+2] += p.at[id+1]
	}
	p.rows = make([]int32, len(places))
	for _, x := range places {
		p.rows[p.at[x.id+1]] = x.row
		p.at[x.id+1]++
	}
	return p
}

// together reports whether two entities stand close to each other.
func (p *pairs) together(a, b int32) bool {
	if len(p.joined) > 0 && p.joined[[2]int32{min(a, b), max(a, b)}] {
		return true
	}
	x, y := p.rows[p.at[a]:p.at[a+1]], p.rows[p.at[b]:p.at[b+1]]
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
	own := p.r.line(int(i))
	if len(own) == 0 {
		return
	}
	from, to := p.s.around(int(i))
	for n, a := range own {
		for _, b := range own[n+1:] {
			if !p.together(a, b) {
				f(a, b)
			}
		}
		for k := from; k < to; k++ {
			if !p.quoted[k] {
				continue
			}
			for _, b := range p.r.line(k) {
				if a != b && !p.together(a, b) {
					f(a, b)
				}
			}
		}
	}
}
