package summary

import (
	"cmp"
	"slices"
)

// A list that names everything still loses what belongs together. Where two
// things stood close to each other, they should do so in the list: on one row
// or on rows next to each other. So an entity goes to that home, of those it
// occurs in, where most of what it stood among is; and some are named again
// under a second home.

// pairLeast is the least chance of an entity whose neighbours matter.
const pairLeast = 0.01

// listed is what arranging needs to know of one entity in the list.
type listed struct {
	id    int32
	fixed bool    // it stands in a home's own name
	rows  []int32 // of the list that name it
	homes []int32 // that it occurs in
	near  []int32 // what stood close to it: indexes into arrangement.all
}

type arrangement struct {
	s    *scan
	all  []listed
	row  []int32 // of each home in the list, -1 for none
	last int32   // the row of what has no home
}

// openHomes returns the homes of the list in the order of its rows.
func (s *scan) openHomes(open []bool) []int {
	var order []int
	for h := range open {
		if open[h] && h < len(s.homes) {
			order = append(order, h)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.homes[a].first, s.homes[b].first) })
	return order
}

// arrange moves what was chosen between the homes of the list and spends about
// room tokens on naming things again.
func (c *composer) arrange(sel selection, room float64) {
	s, chosen := c.scan, sel.chosen
	order := s.openHomes(sel.open)
	a := &arrangement{s: s, row: make([]int32, len(s.homes)+1), last: int32(len(order))}
	for h := range a.row {
		a.row[h] = -1
	}
	a.row[len(s.homes)] = a.last
	for r, h := range order {
		a.row[h] = int32(r)
	}
	index := make([]int32, len(s.entities)) // into all, and one more
	name := func(id int32, h int, fixed bool) {
		if e := &s.entities[id]; e.kind == wordEntity || e.tail {
			return
		}
		if index[id] == 0 {
			a.all = append(a.all, listed{id: id})
			index[id] = int32(len(a.all))
		}
		x := &a.all[index[id]-1]
		x.fixed = x.fixed || fixed
		x.rows = append(x.rows, a.row[h])
	}
	for _, h := range append(order, len(s.homes)) {
		if h < len(s.homes) {
			for _, id := range s.ownEntities()[h] {
				name(id, h, true)
			}
		}
		for _, id := range chosen[h] {
			name(id, h, false)
		}
	}
	a.read(index)
	a.settle()
	again := a.again(room / c.scale)

	byRow := append(order, len(s.homes))
	put := func(r, id int32) { chosen[byRow[r]] = append(chosen[byRow[r]], id) }
	// Plain words go to their home, if it has a row by now.
	for _, h := range byRow {
		ids := chosen[h]
		chosen[h] = nil
		for _, id := range ids {
			if index[id] > 0 {
				continue
			}
			if e := &s.entities[id]; e.home >= 0 && a.row[e.home] >= 0 {
				put(a.row[e.home], id)
			} else {
				put(a.row[h], id)
			}
		}
	}
	for i := range a.all {
		if x := &a.all[i]; !x.fixed {
			put(x.rows[0], x.id)
		}
	}
	for _, x := range again {
		put(x.row, a.all[x.at].id)
	}
}

// read finds the homes of what is listed, and what stood close together.
func (a *arrangement) read(index []int32) {
	r := a.s.relate()
	for i := range a.all {
		x := &a.all[i]
		for _, h := range r.homes[x.id] {
			if a.row[h] >= 0 {
				x.homes = append(x.homes, h)
			}
		}
		for _, id := range r.near[x.id] {
			if k := index[id]; k > 0 {
				x.near = append(x.near, k-1)
			}
		}
	}
}

// relations are what the region says of where entities stand, by entity.
type relations struct {
	homes [][]int32 // that it occurs in
	near  [][]int32 // pairable entities that it stands close to
}

// mostNear bounds the neighbours of one entity that are looked at.
const mostNear = 160

// relate finds the relations once.
func (s *scan) relate() *relations {
	if s.relations != nil {
		return s.relations
	}
	r := &relations{homes: make([][]int32, len(s.entities)), near: make([][]int32, len(s.entities))}
	var flat []int32 // pairable entities, line by line
	start := make([]int32, len(s.lines)+1)
	times := make([]int32, len(s.entities)+1)
	for i := range s.lines {
		l := &s.lines[i]
		home := s.lineHome(l)
		for _, id := range s.occ[l.occ:l.end] {
			if s.entities[id].kind == wordEntity {
				continue
			}
			if in := r.homes[id]; home >= 0 && len(in) < mostNear && (len(in) == 0 || in[len(in)-1] != home) && !slices.Contains(in, home) {
				r.homes[id] = append(in, home)
			}
			if s.pairable(id) {
				flat = append(flat, id)
				times[id+1]++
			}
		}
		start[i+1] = int32(len(flat))
	}
	// The lines of each entity stand together in at, from times[id] to times[id+1].
	for id := range s.entities {
		times[id+1] += times[id]
	}
	at, next := make([]int32, len(flat)), slices.Clone(times)
	for i := range s.lines {
		for _, id := range flat[start[i]:start[i+1]] {
			at[next[id]] = int32(i)
			next[id]++
		}
	}
	seen := make([]int32, len(s.entities)) // by whom last, and one more
	for a := range int32(len(s.entities)) {
		seen[a] = a + 1
		for _, i := range at[times[a]:times[a+1]] {
			if len(r.near[a]) >= mostNear {
				break
			}
			from, to := s.around(int(i))
			for _, b := range flat[start[from]:start[to]] {
				if seen[b] != a+1 {
					seen[b] = a + 1
					r.near[a] = append(r.near[a], b)
				}
			}
		}
	}
	s.relations = r
	return r
}

// around returns the lines that stand close to line i: those from up to, not
// including, to.
func (s *scan) around(i int) (from, to int) {
	from, to = max(0, i-closeLines), min(len(s.lines), i+closeLines+1)
	for s.lines[from].msg != s.lines[i].msg {
		from++
	}
	for s.lines[to-1].msg != s.lines[i].msg {
		to--
	}
	return from, to
}

// close reports whether something is named on a row or next to it.
func (a *arrangement) close(x *listed, row int32) bool {
	for _, r := range x.rows {
		if d := r - row; -closeLines <= d && d <= closeLines {
			return true
		}
	}
	return false
}

// gain is the weight of what x stood close to and is close to a row, but to
// none of the rows of x that are given.
func (a *arrangement) gain(x *listed, row int32, but []int32) float64 {
	sum := 0.0
next:
	for _, k := range x.near {
		y := &a.all[k]
		if !a.close(y, row) {
			continue
		}
		for _, r := range but {
			if a.close(y, r) {
				continue next
			}
		}
		sum += a.s.entities[y.id].weight
	}
	return sum
}

// settle moves each entity to the best of its homes, a few times over, since
// where one is best depends on where the others are.
func (a *arrangement) settle() {
	for range 3 {
		moved := false
		for i := range a.all {
			x := &a.all[i]
			if x.fixed {
				continue
			}
			row := x.rows[0]
			best := a.gain(x, row, nil)
			if row == a.last {
				best -= 0.001 // with a home is better than without
			}
			for _, h := range x.homes {
				if r := a.row[h]; r != row {
					if g := a.gain(x, r, nil); g > best {
						best, x.rows[0], moved = g, r, true
					}
				}
			}
		}
		if !moved {
			return
		}
	}
}

// repeat is an entity to be named on a second row.
type repeat struct {
	at, row int32
	ratio   float64
}

// again chooses what to name on a second row, for about room units of cost.
func (a *arrangement) again(room float64) []repeat {
	ratio := func(x repeat) float64 {
		l := &a.all[x.at]
		if a.close(l, x.row) {
			return 0
		}
		e := &a.s.entities[l.id]
		return a.gain(l, x.row, l.rows) * e.weight / e.cost
	}
	var q []repeat
	for i := range a.all {
		for _, h := range a.all[i].homes {
			x := repeat{at: int32(i), row: a.row[h]}
			if x.ratio = ratio(x); x.ratio > 0 {
				q = append(q, x)
			}
		}
	}
	var taken []repeat
	for more := true; more && room > 0; {
		more = false
		slices.SortStableFunc(q, func(x, y repeat) int { return cmp.Compare(y.ratio, x.ratio) })
		for i := range q {
			x := &q[i]
			x.ratio = ratio(*x)
			// One that has lost much by what was taken before waits for the next round.
			if x.ratio == 0 || i+1 < len(q) && x.ratio < 0.7*q[i+1].ratio {
				continue
			}
			l := &a.all[x.at]
			if room -= a.s.entities[l.id].cost; room <= 0 {
				break
			}
			l.rows = append(l.rows, x.row)
			taken = append(taken, *x)
			x.ratio, more = 0, true
		}
		q = slices.DeleteFunc(q, func(x repeat) bool { return x.ratio == 0 })
	}
	return taken
}
