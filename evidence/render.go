package evidence

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// render writes the skeleton in about limit bytes: the exit status, then the
// lines that say what went wrong, then the first and last words, then the
// entities worth most, each list in order of appearance.
func (s *skeleton) render(limit int) string {
	b := s.out[:0]
	s.left = false
	if s.exitKnown && (s.exit != 0 || s.access.Kind == Shell) {
		b = append(b, "exit "...)
		b = strconv.AppendInt(b, int64(s.exit), 10)
		b = append(b, '\n')
	}
	share := limit / 2
	if s.failed {
		share = limit * 2 / 3
	}
	for _, l := range s.errors.pick(max(1, min(share/48, 16))) {
		b = s.verbatim(b, l, min(share, max(share/3, 120)), len(b)+share)
		if len(b) >= share {
			break
		}
	}
	if s.json != "" {
		b = s.compact(b, min(limit, len(b)+(limit-len(b))*2/5))
	} else if s.access.Kind != Read {
		each := min(max((limit-len(b))/9, 32), 140)
		if s.access.Kind != Search {
			first, last := s.ends()
			b = s.verbatim(b, first, each, limit)
			half := len(b) + (limit-len(b))*2/3
			for _, l := range s.odd {
				b = s.verbatim(b, l, oddLine, half)
			}
			b = s.verbatim(b, last[0], each, limit)
			b = s.verbatim(b, last[1], each, limit)
		}
	}
	b = s.lists(b, limit)
	s.out = b
	return strings.TrimRight(string(b), "\n")
}

// verbatim adds a line as it stands, cut to n bytes, unless it is there already
// or there is no room.
func (s *skeleton) verbatim(b []byte, line string, n, limit int) []byte {
	line = strings.TrimSpace(line)
	if len(line) < 3 || strings.Contains(peek(b), line) {
		return b
	}
	if len(line) > n {
		line = clip(line, n)
	}
	if len(b)+len(line)+1 > limit {
		s.left = true
		return b
	}
	if strings.Contains(peek(b), line) {
		return b
	}
	b = append(b, line...)
	return append(b, '\n')
}

// ends returns the first line of the result that says something, and the last two.
func (s *skeleton) ends() (first string, last [2]string) {
	rest := s.text
	for range 8 {
		if first, rest = cutLine(rest); s.says(first) || rest == "" {
			break
		}
	}
	n := 2
	for range 12 {
		i := strings.LastIndexByte(rest, '\n')
		if line := rest[i+1:]; s.says(line) {
			n--
			last[n] = line
		}
		if i < 0 || n == 0 {
			break
		}
		rest = rest[:i]
	}
	return first, last
}

// says reports whether a line has words, and not only braces, rules and the exit
// status that is known already.
func (s *skeleton) says(line string) bool {
	if s.exitKnown {
		if _, ok := exitOf(line); ok {
			return false
		}
	}
	letters := 0
	for i := 0; i < len(line) && letters < 3; i++ {
		if class[line[i]]&(cLetters|cDigit|cHigh) != 0 {
			letters++
		}
	}
	return letters == 3
}

// peek is b as a string, for as long as b does not change.
func peek(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// groups are the lists of a skeleton: which entities stand under which label.
var groups = [...]struct {
	label string
	kinds uint16
}{
	{"files: ", 1<<PathEntity | 1<<URLEntity},
	{"names: ", 1<<IdentEntity | 1<<ErrorEntity | 1<<FlagEntity | 1<<TickEntity},
	{"values: ", 1<<IDEntity | 1<<NumberEntity},
}

// lists adds the entities that are worth most and fit.
func (s *skeleton) lists(b []byte, limit int) []byte {
	room := limit - len(b) - 24
	if room < 8 {
		s.left = s.left || s.n > 0
		return b
	}
	s.order()
	s.chosen = s.chosen[:0]
	folder := s.folder()
	room -= len(folder)
	said := peek(b)
	for _, i := range s.sorted[:s.nsorted] {
		it := &s.items[i]
		cost := len(it.text) + 2 + 4*int(it.nline)
		if folder != "" && it.kind == PathEntity && strings.HasPrefix(it.text, folder) {
			cost -= len(folder)
		}
		if cost > room || len(it.text) > 160 {
			s.left = true
			if room < 4 {
				break
			}
			continue
		}
		if it.nline == 0 && strings.Contains(said, it.text) {
			continue
		}
		s.chosen = append(s.chosen, i)
		room -= cost
	}
	slices.SortFunc(s.chosen, func(a, b uint16) int {
		return cmp.Or(cmp.Compare(s.items[a].at, s.items[b].at), cmp.Compare(a, b))
	})
	for g, group := range groups {
		first := true
		for _, i := range s.chosen {
			it := &s.items[i]
			if 1<<it.kind&group.kinds == 0 {
				continue
			}
			if first {
				b = append(b, group.label...)
				if g == 0 && folder != "" {
					b = append(b, "in "...)
					b = append(b, folder...)
					b = append(b, ' ')
				}
				first = false
			} else {
				b = append(b, ", "...)
			}
			if it.kind == PathEntity {
				b = append(b, strings.TrimPrefix(it.text, folder)...)
			} else {
				b = append(b, it.text...)
			}
			for k, l := range it.lines[:it.nline] {
				if k == 0 {
					b = append(b, ':')
				} else {
					b = append(b, ',')
				}
				b = strconv.AppendInt(b, int64(l), 10)
			}
		}
		if !first {
			b = append(b, '\n')
		}
	}
	return b
}

// folder returns the folder that all rooted paths of the result lie in, less
// its last segment: what follows it still has two segments, by which paths are
// known. It is "" where naming it once would save nothing.
func (s *skeleton) folder() string {
	common, n := "", 0
	for _, i := range s.sorted[:s.nsorted] {
		it := &s.items[i]
		if it.kind != PathEntity || it.text[0] != '/' {
			continue
		}
		dir := it.text[:strings.LastIndexByte(it.text, '/')+1]
		if n++; n == 1 {
			common = dir
			continue
		}
		k := 0
		for k < len(common) && k < len(dir) && common[k] == dir[k] {
			k++
		}
		common = common[:strings.LastIndexByte(common[:k], '/')+1]
	}
	if n < 2 || len(common) < 2 {
		return ""
	}
	common = common[:strings.LastIndexByte(common[:len(common)-1], '/')+1]
	if len(common) < 12 {
		return ""
	}
	return common
}

// order sorts the entities by what they are worth for their length, equal ones
// by their appearance. Measured on what agents use again later, worth per
// length keeps a tenth more than worth alone.
func (s *skeleton) order() {
	var at [256]int
	s.nsorted = 0
	for i := range s.n {
		it := &s.items[i]
		if it.known {
			continue
		}
		worth := int(it.score) + 3*min(bits.Len16(it.times), 6)
		r := 255 - min(worth*perLength[min(len(it.text), len(perLength)-1)]>>6, 255)
		s.ranks[i] = uint8(r)
		at[r]++
		s.nsorted++
	}
	sum := 0
	for r := range at {
		at[r], sum = sum, sum+at[r]
	}
	for i := range s.n {
		if !s.items[i].known {
			r := s.ranks[i]
			s.sorted[at[r]] = uint16(i)
			at[r]++
		}
	}
}

// perLength is 4096 divided by a length and a little.
var perLength = func() (t [256]int) {
	for i := range t {
		t[i] = 4096 / (i + 8)
	}
	return t
}()

// compact writes JSON without its quotes and spaces, in order, as far as there
// is room: id=K1NW8N flights[number=HAT028 price=101; …].
func (s *skeleton) compact(b []byte, limit int) []byte {
	c := compactor{b: b, limit: limit}
	c.value(s.json, 0)
	if c.full {
		s.left = true
		c.b = append(c.b, ellipsis...)
	}
	return append(c.b, '\n')
}

type compactor struct {
	b     []byte
	limit int
	full  bool
}

const (
	compactString = 60 // bytes of one string
	compactDepth  = 6  // levels of objects and arrays
)

func (c *compactor) put(s string) {
	if c.full || len(c.b)+len(s)+4 > c.limit {
		c.full = true
		return
	}
	c.b = append(c.b, s...)
}

func (c *compactor) value(raw string, depth int) {
	switch {
	case c.full || raw == "" || depth > compactDepth:
	case raw[0] == '{':
		c.object(raw, depth, 0)
	case raw[0] == '[':
		c.put("[")
		first, keys := true, uint64(0)
		elements(raw, func(raw string) bool {
			if !first {
				c.put("; ")
			}
			first = false
			if raw[0] == '{' {
				keys = c.object(raw, depth+1, keys)
			} else {
				c.value(raw, depth+1)
			}
			return !c.full
		})
		c.put("]")
	default:
		if len(raw) > 4*compactString {
			raw = raw[:runeFloor(raw, 4*compactString)]
		}
		c.put(oneLine(text(raw), compactString))
	}
}

// object writes the members of an object and returns a hash of their keys. In a
// row of objects with the same keys only the first names them.
func (c *compactor) object(raw string, depth int, before uint64) uint64 {
	if depth > compactDepth {
		return 0
	}
	keys := uint64(1)
	members(raw, func(key, raw string) bool {
		if !emptyJSON(raw) {
			keys = keys*31 + hashString(key)
		}
		return true
	})
	first := true
	members(raw, func(key, raw string) bool {
		if emptyJSON(raw) {
			return true
		}
		if !first {
			c.put(" ")
		}
		first = false
		if keys != before {
			c.put(oneLine(key, 40))
			if raw[0] != '{' && raw[0] != '[' {
				c.put("=")
			}
		}
		if raw[0] == '{' {
			c.put("(")
			c.object(raw, depth+1, 0)
			c.put(")")
		} else {
			c.value(raw, depth+1)
		}
		return !c.full
	})
	return keys
}

func emptyJSON(raw string) bool { return raw == "null" || raw == `""` || raw == "[]" || raw == "{}" }
