package summary

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/guard"
)

// Reading has two steps. Finding the names and words of a text depends on
// nothing else, so it is done block by block, on more than one core where there
// is enough to do. What was found is then counted in the order of the region.

// piece is a text of the region.
type piece struct {
	text string
	skip int // bytes after it that are not read
	msg  int32
	step int32
	id   int32 // its number
	from source
}

// text notes a text that is to be read.
func (s *scan) text(t string, msg int, from source, step int32) {
	s.pieces = append(s.pieces, piece{text: t, msg: int32(msg), step: step, id: int32(len(s.pieces)), from: from})
}

// skip notes that bytes are left out.
func (s *scan) skip(bytes int) {
	if len(s.pieces) == 0 {
		s.pos += bytes
		return
	}
	s.pieces[len(s.pieces)-1].skip += bytes
}

// mention is a name or plain word where it stands.
type mention struct {
	text    string
	hash    uint32 // of the text; of a word, in lower case
	kind    evidence.EntityKind
	counter bool // a number that only counts lines
}

// passage is a line with something to be counted, or the end of a piece.
type passage struct {
	text     string
	bytes    int32 // since the passage before it
	mentions int32 // up to its last one
	fails    bool  // a tool's report of a failure
	odd      bool  // it stands out in a result
	end      bool
}

// block is what was found in consecutive pieces.
type block struct {
	pieces   []piece
	passages []passage
	mentions []mention
	common   *common
	bytes    int32 // that belong to the next passage
	forms    evidence.Forms
	fault    *guard.LeftOut // why it could not be read
}

// blockBytes is the least text of a block but the last.
const blockBytes = 24 << 10

// readPieces reads what was noted.
func (s *scan) readPieces() {
	var blocks [][]piece
	bytes, from := 0, 0
	for i := range s.pieces {
		if bytes += len(s.pieces[i].text) + partWork; bytes >= blockBytes || i+1 == len(s.pieces) {
			blocks = append(blocks, s.pieces[from:i+1])
			bytes, from = 0, i+1
		}
	}
	helpers := min(runtime.GOMAXPROCS(0)-1, len(blocks)/2, 3)
	if helpers <= 0 {
		b := &block{common: s.common}
		for _, pieces := range blocks {
			b.read(pieces)
			s.count(b)
		}
		return
	}
	// Blocks are taken in order, each with room for what is found. The room of
	// those that are counted goes to the next ones, so that little is needed.
	room := make(chan *block, 3*(helpers+1))
	for range cap(room) {
		room <- &block{common: s.common}
	}
	done := make([]chan *block, len(blocks))
	for i := range done {
		done[i] = make(chan *block, 1)
	}
	var taken atomic.Int64
	read := func(b *block) bool {
		i := int(taken.Add(1)) - 1
		if i >= len(blocks) {
			room <- b
			return false
		}
		b.fault = guard.Do("", func() { b.read(blocks[i]) })
		done[i] <- b
		return true
	}
	var wg sync.WaitGroup
	for range helpers {
		wg.Go(func() {
			for read(<-room) {
			}
		})
	}
	for i := range blocks {
		var b *block
		for b == nil {
			select {
			case b = <-done[i]:
				continue
			default:
			}
			// Nothing to count yet: help.
			select {
			case more := <-room:
				if read(more) {
					continue
				}
			default:
			}
			b = <-done[i]
		}
		if b.fault != nil { // it belongs to who asked for the reading
			taken.Store(int64(len(blocks)))
			room <- b
			wg.Wait()
			panic(b.fault)
		}
		s.count(b)
		room <- b
	}
	wg.Wait()
}

// read finds the names and words of pieces.
func (b *block) read(pieces []piece) {
	b.pieces, b.passages, b.mentions, b.bytes = pieces, b.passages[:0], b.mentions[:0], 0
	for i := range pieces {
		from := pieces[i].from
		if from == fromResult {
			b.forms.Read(pieces[i].text)
		}
		for t, k := pieces[i].text, 0; t != ""; k++ {
			l := t
			if nl := strings.IndexByte(t, '\n'); nl >= 0 {
				l, t = t[:nl], t[nl+1:]
			} else {
				t = ""
			}
			first := len(b.passages)
			for len(l) > longLine {
				cut := splitAt(l)
				b.line(strings.TrimSuffix(l[:cut], `\n`), from)
				l = l[cut:]
			}
			b.line(l, from)
			for p := first; from == fromResult && p < len(b.passages); p++ {
				b.passages[p].odd = b.forms.StandsOut(k)
			}
		}
		b.passages = append(b.passages, passage{bytes: b.bytes + int32(pieces[i].skip), end: true})
		b.bytes = 0
	}
}

// clearFailure is how clearly a line must report a failure to be told for that.
const clearFailure = 3

func (b *block) line(l string, from source) {
	b.bytes += int32(len(l)) + 1
	l = strings.TrimSpace(l)
	if len(l) < 2 {
		return
	}
	n := len(b.mentions)
	evidence.Entities(l, func(kind evidence.EntityKind, v string) {
		b.mentions = append(b.mentions, mention{
			text: v, hash: nameHash(v), kind: kind,
			counter: kind == evidence.NumberEntity && lineNumber(l, v),
		})
	})
	eachWord(l, func(w string) {
		hash, informs := b.word(w)
		if informs {
			b.mentions = append(b.mentions, mention{text: w, hash: hash, kind: wordEntity})
		}
	})
	if n == len(b.mentions) && from != fromAssistant {
		return
	}
	fails := from == fromResult && evidence.Clearness(l) >= clearFailure
	b.passages = append(b.passages, passage{text: l, bytes: b.bytes, mentions: int32(len(b.mentions)), fails: fails})
	b.bytes = 0
}

// word returns the hash of a plain word, and whether the word is not too common
// to say anything.
func (b *block) word(w string) (uint32, bool) {
	if isCapital(w[0]) {
		var buf [wordMax]byte
		low := lowerFirst(&buf, w)
		hash := nameHash(string(low))
		return hash, !b.common.tooCommon(string(low), hash)
	}
	hash := nameHash(w)
	return hash, !b.common.tooCommon(w, hash)
}

// count takes over what was found.
func (s *scan) count(b *block) {
	at, mentions := 0, b.mentions
	first := int32(0)
	for i := range b.passages {
		x := &b.passages[i]
		s.pos += int(x.bytes)
		if x.end {
			at++
			continue
		}
		s.line(x, &b.pieces[at], mentions[first:x.mentions])
		first = x.mentions
	}
}

// line counts what a line mentions.
func (s *scan) line(x *passage, p *piece, mentions []mention) {
	start := int32(len(s.occ))
next:
	for i := range mentions {
		m := &mentions[i]
		id, ok := s.entityOf(m)
		if !ok {
			continue
		}
		e := &s.entities[id]
		if m.kind == evidence.NumberEntity && !m.counter {
			e.value = true
		}
		for _, o := range s.occ[start:] {
			if o == id {
				continue next
			}
		}
		if e.lastMsg != p.msg {
			e.messages++
			e.lastMsg = p.msg
		}
		e.sources |= 1 << p.from
		e.lastPos = int32(s.pos)
		s.occ = append(s.occ, id)
	}
	if start == int32(len(s.occ)) && p.from != fromAssistant {
		return
	}
	s.lines = append(s.lines, line{text: x.text, msg: p.msg, from: p.from, fails: x.fails, odd: x.odd, step: p.step, piece: p.id, occ: start, end: int32(len(s.occ))})
}

// entityOf returns the entity that is mentioned; not ok for a word that is
// something else than a plain word elsewhere.
func (s *scan) entityOf(m *mention) (int32, bool) {
	if m.kind != wordEntity {
		id, ok := s.index.find(m.text, m.hash)
		if !ok {
			id = s.add(m.text, m.hash, m.kind)
		} else if e := &s.entities[id]; e.kind == wordEntity {
			e.kind = m.kind
		}
		return id, true
	}
	if isCapital(m.text[0]) {
		var buf [wordMax]byte
		low := lowerFirst(&buf, m.text)
		if id, ok := s.index.find(string(low), m.hash); ok {
			return id, s.entities[id].kind == wordEntity
		}
		return s.add(string(low), m.hash, wordEntity), true
	}
	if id, ok := s.index.find(m.text, m.hash); ok {
		return id, s.entities[id].kind == wordEntity
	}
	return s.add(m.text, m.hash, wordEntity), true
}
