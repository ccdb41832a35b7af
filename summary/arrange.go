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

	moved, tried int // when it was moved and looked at last
}

type arrangement struct {
	s     *scan
	all   []listed
	row   []int32   // of each home in the list, -1 for none
	last  int32     // the row of what has no home
	gains []float64 // by row, see gainByRow
	by    []int32   // by row: who was added to its gain last, and one more
	pool  []int32   // the room of short lists
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
	a := &arrangement{
		s: s, row: make([]int32, len(s.homes)+1), last: int32(len(order)),
		gains: make([]float64, len(order)+1), by: make([]int32, len(order)+1),
	}
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
		if x.rows == nil { // most have one row and no more
			a.pool = append(a.pool, a.row[h])
			x.rows = a.pool[len(a.pool)-1 : len(a.pool) : len(a.pool)]
			return
		}
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
	pool := a.pool
	for i := range a.all {
		x := &a.all[i]
		r.find(x.id)
		from := len(pool)
		for _, h := range r.homes {
			if a.row[h] >= 0 {
				pool = append(pool, h)
			}
		}
		to := len(pool)
		for _, id := range r.near {
			if k := index[id]; k > 0 {
				pool = append(pool, k-1)
			}
		}
		x.homes, x.near = pool[from:to:to], pool[to:len(pool):len(pool)]
	}
}

// relations are what the region says of where entities stand.
type relations struct {
	s *scan

	// The pairable entities, line by line: those of line i are
	// flat[start[i]:start[i+1]].
	flat, start []int32

	// The lines of each entity that is no plain word: those of id are
	// at[times[id]:times[id+1]].
	at, times []int32

	// What find found: the homes that an entity occurs in, and pairable
	// entities that it stands close to.
	homes, near []int32

	seen, been []int32 // by entity and by home: in which search it was found last
	search     int32
}

// mostNear bounds the neighbours of one entity that are looked at.
const mostNear = 160

// relate reads the lines once.
func (s *scan) relate() *relations {
	if s.relations != nil {
		return s.relations
	}
	r := &relations{
		s: s, flat: make([]int32, 0, len(s.occ)), start: make([]int32, len(s.lines)+1), times: make([]int32, len(s.entities)+2),
		seen: make([]int32, len(s.entities)), been: make([]int32, len(s.homes)),
	}
	// times[id+2] is how often id occurs, and further down where its lines
	// end so far; when all are read, times[id+1] is where they end.
	for i := range s.lines {
		l := &s.lines[i]
		for _, id := range s.occ[l.occ:l.end] {
			e := &s.entities[id]
			if e.kind == wordEntity {
				continue
			}
			r.times[id+2]++
			if e.pairs {
				r.flat = append(r.flat, id)
			}
		}
		r.start[i+1] = int32(len(r.flat))
	}
	for id := range s.entities {
		r.times[id+2] += r.times[id+1]
	}
	r.at = make([]int32, r.times[len(r.times)-1])
	for i := range s.lines {
		l := &s.lines[i]
		for _, id := range s.occ[l.occ:l.end] {
			if s.entities[id].kind != wordEntity {
				r.at[r.times[id+1]] = int32(i)
				r.times[id+1]++
			}
		}
	}
	s.relations = r
	return r
}

// line returns the pairable entities of a line.
func (r *relations) line(i int) []int32 { return r.flat[r.start[i]:r.start[i+1]] }

// find finds the homes and neighbours of an entity.
func (r *relations) find(a int32) {
	s := r.s
	r.homes, r.near = r.homes[:0], r.near[:0]
	r.search++
	lines := r.at[r.times[a]:r.times[a+1]]
	for _, i := range lines {
		if h := s.lines[i].place; h >= 0 && r.been[h] != r.search && len(r.homes) < mostNear {
			r.been[h] = r.search
			r.homes = append(r.homes, h)
		}
	}
	if !s.entities[a].pairs {
		return
	}
	r.seen[a] = r.search
	for _, i := range lines {
		if len(r.near) >= mostNear {
			break
		}
		from, to := s.around(int(i))
		for _, b := range r.flat[r.start[from]:r.start[to]] {
			if r.seen[b] != r.search {
				r.seen[b] = r.search
				r.near = append(r.near, b)
			}
		}
	}
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

// still reports whether nothing that x stood close to was moved since x was
// looked at.
func (a *arrangement) still(x *listed) bool {
	if x.tried == 0 {
		return false
	}
	for _, k := range x.near {
		if a.all[k].moved > x.tried {
			return false
		}
	}
	return true
}

// gainByRow is gain for all rows at once.
func (a *arrangement) gainByRow(x *listed, but []int32) []float64 {
	clear(a.gains)
	clear(a.by)
next:
	for _, k := range x.near {
		y := &a.all[k]
		for _, r := range but {
			if a.close(y, r) {
				continue next
			}
		}
		weight := a.s.entities[y.id].weight
		for _, r := range y.rows {
			for row := max(r-closeLines, 0); row <= min(r+closeLines, a.last); row++ {
				if a.by[row] != k+1 {
					a.by[row] = k + 1
					a.gains[row] += weight
				}
			}
		}
	}
	return a.gains
}

// settle moves each entity to the best of its homes, a few times over, since
// where one is best depends on where the others are.
func (a *arrangement) settle() {
	now := 0
	for range 3 {
		moved := false
		for i := range a.all {
			x := &a.all[i]
			row := x.rows[0]
			if x.fixed || len(x.homes) == 0 || len(x.homes) == 1 && a.row[x.homes[0]] == row || a.still(x) {
				continue
			}
			now++
			x.tried = now
			gains := a.gainByRow(x, nil)
			best := gains[row]
			if row == a.last {
				best -= 0.001 // with a home is better than without
			}
			for _, h := range x.homes {
				if r := a.row[h]; r != row {
					if g := gains[r]; g > best {
						best, x.rows[0], moved = g, r, true
						x.moved = now
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
	place   int32 // in the list of all, for order
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
		l := &a.all[i]
		if len(l.homes) == 0 || len(l.near) == 0 {
			continue
		}
		gains := a.gainByRow(l, l.rows)
		e := &a.s.entities[l.id]
		for _, h := range l.homes {
			x := repeat{at: int32(i), row: a.row[h]}
			if a.close(l, x.row) {
				continue
			}
			if x.ratio = gains[x.row] * e.weight / e.cost; x.ratio > 0 {
				q = append(q, x)
			}
		}
	}
	var taken []repeat
	for more := true; more && room > 0; {
		more = false
		for i := range q {
			q[i].place = int32(i)
		}
		slices.SortFunc(q, func(x, y repeat) int {
			if c := cmp.Compare(y.ratio, x.ratio); c != 0 {
				return c
			}
			return cmp.Compare(x.place, y.place)
		})
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
