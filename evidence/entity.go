package evidence

import "strings"

// EntityKind says what kind of thing a piece of text names.
type EntityKind uint8

// The kinds of entities.
const (
	PathEntity   EntityKind = iota // a file or folder, by its last two segments
	IdentEntity                    // camelCase, snake_case, UPPER_CASE
	IDEntity                       // hashes, UUIDs, #123, AB-123, K1NW8N
	NumberEntity                   // of three digits and more, dates, versions
	FlagEntity                     // --name
	ErrorEntity                    // TypeError, ENOENT, E0425
	TickEntity                     // back-ticked, and none of the others
	URLEntity                      // with its scheme
	entityKinds
)

var entityNames = [...]string{"path", "ident", "id", "num", "flag", "err", "tick", "url"}

// String returns the kind's name as it stands in reports.
func (k EntityKind) String() string {
	if int(k) < len(entityNames) {
		return entityNames[k]
	}
	return "unknown"
}

// entity is one find: its value in normal form, and for paths the path as it stood.
type entity struct {
	kind  EntityKind
	value string
	whole string
	line  int // for paths: the line number after the colon
}

// Entities calls f with every entity of a line, from left to right; one that
// occurs twice is reported twice. Values are pieces of the line, in a normal
// form in which they can be compared: paths are cut to their last two segments,
// trailing punctuation is gone. It allocates nothing.
func Entities(line string, f func(kind EntityKind, value string)) {
	var e entityScanner
	tick := strings.IndexByte(line, '`')
	for i := 0; ; {
		end := nextName(line, i)
		for tick >= 0 && (end < 0 || tick < end) {
			tick = e.tick(line, tick, f)
		}
		if end < 0 {
			return
		}
		i = e.next(line, i, behindEscape(line, tokenStart(line, i, end), end, false), end)
		for k := range e.n {
			f(e.found[k].kind, e.found[k].value)
		}
	}
}

// entityScanner holds what one token turned out to be.
type entityScanner struct {
	found [12]entity
	n     int
}

func (e *entityScanner) add(kind EntityKind, value string) {
	if e.n < len(e.found) {
		e.found[e.n] = entity{kind: kind, value: value, whole: value}
		e.n++
	}
}

// next finds the entities of the token s[start:end], which a number may reach
// beyond, but not before low, and returns where to go on.
func (e *entityScanner) next(s string, low, start, end int) int {
	if start == end {
		e.n = 0
		return end
	}
	start, end = wholeNumber(s, low, start, end)
	return e.token(s, start, end, maskOf(s[start:end]))
}

// tick reports the back-ticked text that starts at line[at], unless it is an
// entity of another kind, and returns where the next one starts, or -1.
func (e *entityScanner) tick(line string, at int, f func(EntityKind, string)) int {
	n := strings.IndexByte(line[at+1:], '`')
	if n < 0 {
		return -1
	}
	inner := line[at+1 : at+1+n]
	if n >= 3 && n <= 60 && strings.IndexByte(inner, ' ') < 0 && !e.covers(inner) {
		f(TickEntity, inner)
	}
	next := strings.IndexByte(line[at+2+n:], '`')
	if next < 0 {
		return -1
	}
	return at + 2 + n + next
}

// covers reports whether a text as a whole is an entity, perhaps called.
func (e *entityScanner) covers(inner string) bool {
	end := nextName(inner, 0)
	if end < 0 {
		return false
	}
	e.next(inner, 0, tokenStart(inner, 0, end), end)
	for k := range e.n {
		if e.found[k].kind == PathEntity || e.found[k].value == inner || e.found[k].value+"()" == inner {
			return true
		}
	}
	return false
}

// token finds the entities of the token line[start:end] and returns where to go
// on: addresses reach further than tokens do.
func (e *entityScanner) token(line string, start, end int, mask uint16) int {
	e.n = 0
	if mask&(cColon|cSlash) == cColon|cSlash {
		if i := strings.Index(line[start:end], "://"); i > 1 {
			stop := end
			for stop < len(line) && line[stop] > ' ' && strings.IndexByte("\"'`<>()[]{}|\\^,", line[stop]) < 0 {
				stop++
			}
			url := strings.TrimRight(line[start:stop], ".,:;!?")
			if len(url) > i+5 && !strings.HasPrefix(url, "file://") {
				e.add(URLEntity, url)
				return stop
			}
		}
	}
	t := trimToken(line[start:end])
	if mask&^(cLetters|cDigit|cUnder) == 0 && len(t) > 1 {
		e.word(t, mask)
		return end
	}
	if mask&cColon == 0 {
		e.piece(t, mask)
		return end
	}
	for rest := t; rest != ""; {
		one := rest
		if i := strings.IndexByte(rest, ':'); i >= 0 {
			one, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if one == "" {
			continue
		}
		if e.n > 0 && e.found[e.n-1].kind == PathEntity && e.found[e.n-1].line == 0 && len(one) < 8 {
			if n, ok := digits(one); ok {
				e.found[e.n-1].line = n
			}
		}
		e.piece(one, maskOf(one))
	}
	return end
}

func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		if class[s[i]] != cDigit {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

func maskOf(s string) (mask uint16) {
	prev := uint16(0)
	for i := range len(s) {
		c := class[s[i]]
		mask |= c | (prev&cLower)&(c>>1)<<camelBit
		prev = c
	}
	return mask
}
