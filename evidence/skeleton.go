package evidence

import (
	"math"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// Counter counts the tokens of a text. A nil Counter stands for one token per
// three bytes.
type Counter func(string) int

func (c Counter) of(s string) int {
	if c == nil {
		return (len(s) + 2) / 3
	}
	return c(s)
}

// bytesPerToken is the first guess for skeletons, which are dense: names and
// paths rather than prose. The counter has the last word.
const bytesPerToken = 3

// Skeleton says in at most max tokens what a tool result said: how it ended,
// the lines that report errors, its first and last words, and the files with
// line numbers, names, numbers and ids that stand in it. A result that fits is
// returned as it is. The skeleton is never longer than the result; it is ""
// where nothing is worth keeping.
//
// What counts depends on the call: of a file that was read, the names it
// defines; of a search, the files and lines found; of a command, its errors and
// its end. The call may be nil.
func Skeleton(call, result *chat.Part, max int, count Counter) string {
	var a Access
	if call != nil && len(result.Text) > max {
		a = defaultKinds.Access(call)
	}
	return a.Skeleton(result, max, count)
}

// Skeleton is [Skeleton] for a call whose access is known already.
func (a *Access) Skeleton(result *chat.Part, max int, count Counter) string {
	src := result.Text
	trimmed := strings.TrimSpace(src)
	if max <= 0 || trimmed == "" {
		return ""
	}
	if len(trimmed) <= max*8 && count.of(trimmed) <= max {
		return trimmed
	}
	s := skeletons.Get().(*skeleton)
	defer skeletons.Put(s)
	s.reset()
	s.access = a
	s.failed, s.exit, s.exitKnown = Status(result)
	s.known(a.Path)
	s.known(a.Query)
	s.scan(plainText(body(unwrap(trimmed, 0))), max)
	out := s.fit(max, len(src)*3/4, count)
	s.access, s.text, s.json = nil, "", ""
	if len(out) >= len(src) {
		return ""
	}
	return out
}

// fit renders the skeleton within max tokens and most bytes. Bytes are the
// guess; the counter has the last word.
func (s *skeleton) fit(max, most int, count Counter) string {
	limit := min(max*bytesPerToken, most)
	out := s.render(limit)
	n := count.of(out)
	for try := 0; n > max && try < 4; try++ {
		limit = min(limit*max/n, limit-1) * 15 / 16
		out = s.render(limit)
		n = count.of(out)
	}
	if n < max*3/4 && s.left && limit < most {
		more := s.render(min(limit*max/(n+1), limit*2, most))
		if m := count.of(more); m <= max {
			out, n = more, m
		}
	}
	for n > max && out != "" {
		out = clip(out, len(out)*3/4)
		n = count.of(out)
	}
	return out
}

const (
	skeletonSlots = 2048 // of the hash table; a power of two
	skeletonItems = 1024 // different entities looked at
	skeletonLines = 8    // line numbers kept per file
)

// skeleton collects what a result says. It is reused: its tables are large.
type skeleton struct {
	failed, exitKnown bool
	exit              int
	access            *Access

	text    string // the result without its wrapping
	json    string // the same where it is JSON
	weights *[entityKinds]uint8
	bonus   uint8 // for entities found now

	slots   [skeletonSlots]uint16 // index into items, plus one
	items   [skeletonItems]skeletonItem
	n       int
	most    int // items after which only files are added
	sorted  [skeletonItems]uint16
	nsorted int
	ranks   [skeletonItems]uint8
	chosen  []uint16

	errors  errorPicker
	forms   Forms
	odd     []string // lines that stand out
	scanner entityScanner
	out     []byte
	left    bool // the last rendering had to leave something out
}

type skeletonItem struct {
	text  string
	hash  uint64
	at    int32 // where it stands first
	lines [skeletonLines]int32
	nline uint8
	kind  EntityKind
	score uint8
	known bool // stands in the call
	times uint16
}

var skeletons = sync.Pool{New: func() any { return new(skeleton) }}

func (s *skeleton) reset() {
	if s.n > 0 {
		clear(s.slots[:])
	}
	clear(s.items[:s.n])
	s.n, s.text, s.json, s.left, s.bonus = 0, "", "", false, 0
	s.errors.reset()
	s.odd = s.odd[:0]
}

// known marks what the call itself says: it stays with the call and need not
// be said again.
func (s *skeleton) known(text string) {
	if text != "" && len(text) < 200 {
		s.item(PathEntity, text).known = true
	}
}

// again counts a token that was found before and reports whether it was. Names
// are repeated often, and need to be judged only once.
func (s *skeleton) again(text string) bool {
	h := hashString(text)
	for at := h & (skeletonSlots - 1); s.slots[at] != 0; at = (at + 1) & (skeletonSlots - 1) {
		it := &s.items[s.slots[at]-1]
		if it.hash == h && it.text == text {
			if it.times < 1<<15 {
				it.times++
			}
			return true
		}
	}
	return false
}

// item finds or makes the entry for an entity; nil when the table is full.
func (s *skeleton) item(kind EntityKind, text string) *skeletonItem {
	h := hashString(text)
	for at := h & (skeletonSlots - 1); ; at = (at + 1) & (skeletonSlots - 1) {
		i := s.slots[at]
		if i == 0 {
			if s.n == skeletonItems {
				return nil
			}
			s.items[s.n] = skeletonItem{text: text, hash: h, kind: kind, at: math.MaxInt32}
			s.n++
			s.slots[at] = uint16(s.n)
			return &s.items[s.n-1]
		}
		if it := &s.items[i-1]; it.hash == h && it.text == text {
			return it
		}
	}
}

// closeBytes is how much of a result is read closely for each token that the
// skeleton may have. Of longer results these are the head, the tail and strips
// in between; errors and definitions are found wherever they stand.
const (
	closeBytes = 24
	closeLeast = 2 << 10
	closeStrip = 256
)

// scan reads the result.
func (s *skeleton) scan(text string, max int) {
	if startsJSON(text) {
		s.json = text
	}
	s.text, s.most = text, 64+max
	s.weights = &weightsOf[s.access.Kind]
	if s.failed || s.access.Kind != Read && s.access.Kind != Search {
		least := 3
		if s.failed {
			least = 2
		}
		failures(text, func(line string, at, score int) {
			if score >= least && s.errors.add(line, at, score) {
				s.bonus = 3
				s.names(at, at+len(line))
			}
		})
		s.bonus = 0
	}
	if s.access.Kind == Read {
		s.definitions()
	} else if s.json == "" {
		s.outstanding(max)
	}
	room := closeBytes * max
	if room < closeLeast {
		room = closeLeast
	}
	if len(text) <= room+room/2 {
		s.names(0, len(text))
		return
	}
	head, tail := room/2, len(text)-room/8
	s.names(0, head)
	strips := (room - head - room/8) / closeStrip
	step := (tail - head) / (strips + 1)
	for k := range strips {
		at := head + (k+1)*step
		if n := strings.IndexByte(text[at:at+min(step, closeStrip)], '\n'); n >= 0 {
			at += n + 1
		}
		s.names(at, min(at+closeStrip, tail))
	}
	s.names(tail, len(text))
}

// startsJSON reports whether a text is JSON, perhaps cut off, or begins with a
// line of it. A line such as "[3/7] compiled main.go" does not.
func startsJSON(text string) bool {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	rest := strings.TrimLeft(text[work.SkipValue(text, 0):], " \t\r")
	return rest == "" || rest[0] == '\n'
}

// outstanding finds the lines that stand out, as many as there may be room for.
func (s *skeleton) outstanding(max int) {
	s.forms.Read(s.text)
	line, rest := "", s.text
	for i := range s.forms.lines {
		line, rest = cutLine(rest)
		if s.forms.StandsOut(i) && len(line) <= oddLine && s.says(line) {
			s.odd = append(s.odd, line)
			if len(s.odd)*8 > max {
				break
			}
		}
	}
}

// oddLine is the most bytes of a line that is kept because it stands out. It is
// kept whole or not at all: the end of such a line is often its value.
const oddLine = 160

// names adds the entities of text[from:to]. A token that sticks out is read
// whole where it starts inside, and left out where it ends inside.
func (s *skeleton) names(from, to int) {
	text := s.text
	for to < len(text) && class[text[to]] != 0 && to-from < 1<<12 {
		to++
	}
	if from > 0 {
		for from < to && class[text[from]] != 0 && class[text[from-1]] != 0 {
			from++
		}
	}
	part := text[from:to]
	for i := 0; ; {
		end := nextName(part, i)
		if end < 0 {
			return
		}
		start := tokenStart(part, i, end)
		i = end
		if end-start > 2 {
			i = s.token(part, start, end, from)
		}
	}
}

// token adds the entities of part[start:end], which lies at from, and returns
// where to go on.
func (s *skeleton) token(part string, start, end, from int) int {
	if s.json != "" && start > 0 && part[start-1] == '\\' {
		start++ // the letter of an escape
	}
	if t := trimToken(part[start:end]); s.again(t) {
		return end
	} else if s.n > s.most && strings.IndexByte(t, '/') < 0 {
		return end // there is more than can be said; only files still count
	}
	start, end = wholeNumber(part, 0, start, end)
	end = s.scanner.token(part, start, end, maskOf(part[start:end]))
	for k := range s.scanner.n {
		s.entity(&s.scanner.found[k], from+start)
	}
	return min(end, len(part))
}

// weightsOf says how much an entity is worth, by the kind of call and of entity.
var weightsOf = [...][entityKinds]uint8{
	Other:  {PathEntity: 6, IdentEntity: 4, IDEntity: 6, NumberEntity: 4, FlagEntity: 2, ErrorEntity: 6, TickEntity: 2, URLEntity: 4},
	Read:   {PathEntity: 4, IdentEntity: 4, IDEntity: 4, NumberEntity: 1, FlagEntity: 3, ErrorEntity: 3, TickEntity: 2, URLEntity: 3},
	Write:  {PathEntity: 5, IdentEntity: 4, IDEntity: 4, NumberEntity: 2, FlagEntity: 2, ErrorEntity: 5, TickEntity: 2, URLEntity: 3},
	Edit:   {PathEntity: 5, IdentEntity: 4, IDEntity: 4, NumberEntity: 2, FlagEntity: 2, ErrorEntity: 5, TickEntity: 2, URLEntity: 3},
	Delete: {PathEntity: 5, IdentEntity: 4, IDEntity: 4, NumberEntity: 2, FlagEntity: 2, ErrorEntity: 5, TickEntity: 2, URLEntity: 3},
	Search: {PathEntity: 7, IdentEntity: 4, IDEntity: 4, NumberEntity: 1, FlagEntity: 2, ErrorEntity: 3, TickEntity: 2, URLEntity: 3},
	Shell:  {PathEntity: 6, IdentEntity: 4, IDEntity: 5, NumberEntity: 3, FlagEntity: 2, ErrorEntity: 6, TickEntity: 2, URLEntity: 4},
}

// entity adds one find to the table.
func (s *skeleton) entity(e *entity, at int) {
	w := s.weights[e.kind]
	if e.kind == NumberEntity && len(e.value) < 4 && w > 0 {
		w--
	}
	it := s.item(e.kind, e.whole)
	if it == nil {
		return
	}
	if it.times == 0 {
		it.score = w + s.bonus
	}
	it.at = min(it.at, int32(min(at, math.MaxInt32)))
	if it.times < 1<<15 {
		it.times++
	}
	if e.line > 0 && e.kind == PathEntity && int(it.nline) < len(it.lines) {
		for _, l := range it.lines[:it.nline] {
			if l == int32(e.line) {
				return
			}
		}
		it.lines[it.nline] = int32(e.line)
		it.nline++
	}
}
