package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// longLine is the length from which a line is divided: JSON without line ends,
// minified code, escaped text.
const longLine = 320

func (s *scan) text(t string, msg int, from source, h int32, failed bool) {
	s.block = len(t)
	for t != "" {
		l := t
		if nl := strings.IndexByte(t, '\n'); nl >= 0 {
			l, t = t[:nl], t[nl+1:]
		} else {
			t = ""
		}
		for len(l) > longLine {
			cut := splitAt(l)
			s.line(strings.TrimSuffix(l[:cut], `\n`), msg, from, h, failed)
			l = l[cut:]
		}
		s.line(l, msg, from, h, failed)
	}
}

// splitAt returns where to divide a long line: at an escaped line end, between
// two members of an object, after a sentence or a blank.
func splitAt(l string) int {
	part := l[:longLine]
	if i := strings.Index(part[8:], `\n`); i >= 0 {
		return 8 + i + 2
	}
	if i := strings.LastIndex(part, `,"`); i > 40 {
		return i + 1
	}
	if i := strings.LastIndex(part, ". "); i > 80 {
		return i + 2
	}
	if i := strings.LastIndexAny(part, " ,;"); i > 40 {
		return i + 1
	}
	return len(clipText(l, longLine))
}

func (s *scan) line(l string, msg int, from source, h int32, failed bool) {
	s.pos += len(l) + 1
	l = strings.TrimSpace(l)
	if len(l) < 2 {
		return
	}
	start := int32(len(s.occ))
	bits := uint8(1) << from
	if failed {
		bits |= failedBit
	}
	put := func(id int32) {
		for _, o := range s.occ[start:] {
			if o == id {
				return
			}
		}
		e := &s.entities[id]
		e.count++
		if e.lastMsg != int32(msg) {
			e.messages++
			e.lastMsg = int32(msg)
		}
		e.sources |= bits
		e.lastPos = int32(s.pos)
		switch from {
		case fromUser:
			e.userPos = e.lastPos
		case fromAssistant, fromCall, fromBody:
			e.agentPos = e.lastPos
		}
		if e.block == 0 || s.block < int(e.block) {
			e.block = int32(s.block)
		}
		s.occ = append(s.occ, id)
	}
	evidence.Entities(l, func(kind evidence.EntityKind, v string) {
		id, ok := s.index[v]
		if !ok {
			id = s.add(v, kind)
		} else if e := &s.entities[id]; e.kind == wordEntity {
			e.kind = kind
		}
		put(id)
		if kind == evidence.NumberEntity && !lineNumber(l, v) {
			s.entities[id].value = true
		}
	})
	eachWord(l, func(w string) {
		if id, ok := s.word(w); ok {
			put(id)
		}
	})
	if start == int32(len(s.occ)) && from != fromAssistant {
		return
	}
	s.lines = append(s.lines, line{text: l, msg: int32(msg), pos: int32(s.pos), from: from, failed: failed, home: h, occ: start, end: int32(len(s.occ))})
}

func (s *scan) add(v string, kind evidence.EntityKind) int32 {
	id := int32(len(s.entities))
	s.entities = append(s.entities, entity{text: v, kind: kind, first: int32(len(s.occ)), home: -1, lastMsg: -1})
	s.index[v] = id
	return id
}

// word returns the entity of a plain word; not ok for one that is too common
// to say anything.
func (s *scan) word(w string) (int32, bool) {
	var buf [wordMax]byte
	low := lowerFirst(&buf, w)
	if id, ok := s.index[string(low)]; ok {
		return id, s.entities[id].kind == wordEntity
	}
	if tier, ok := s.common[string(low)]; ok && tier < tooCommon {
		return 0, false
	}
	if low[0] == w[0] {
		return s.add(w, wordEntity), true
	}
	return s.add(string(low), wordEntity), true
}

// lowerFirst returns a word with a small first letter.
func lowerFirst(buf *[wordMax]byte, w string) []byte {
	n := copy(buf[:], w)
	if 'A' <= buf[0] && buf[0] <= 'Z' {
		buf[0] |= 0x20
	}
	return buf[:n]
}

// tooCommon is the tier from which on words are looked at at all.
const tooCommon = 3

// lineNumber reports whether a number in a line is one that a tool put there to
// count lines: at the line's start, or after a path and a colon.
func lineNumber(l, v string) bool {
	at := strings.Index(l, v)
	rest := l[at+len(v):]
	if at == 0 {
		return rest == "" || strings.IndexByte(":\t|-", rest[0]) >= 0 || strings.HasPrefix(rest, "→") || strings.HasPrefix(rest, "  ")
	}
	return at > 2 && l[at-1] == ':' && (rest == "" || strings.IndexByte(":) ", rest[0]) >= 0)
}

// tailBytes is how much of the tail is read to know what it mentions.
const tailBytes = 128 << 10

func (s *scan) readTail(room int) {
	mark := func(t string) {
		t = clipText(t, max(room, 0))
		room -= len(t)
		for l := range strings.SplitSeq(t, "\n") {
			evidence.Entities(l, func(_ evidence.EntityKind, v string) {
				if id, ok := s.index[v]; ok {
					s.entities[id].tail = true
				}
			})
			eachWord(l, func(w string) {
				var buf [wordMax]byte
				if id, ok := s.index[string(lowerFirst(&buf, w))]; ok {
					s.entities[id].tail = true
				}
			})
		}
	}
	h := s.in.History
	for i := s.in.To; i < h.Len(); i++ {
		eachText(h.At(i), func(_ *chat.Part, t string) {
			s.tail += len(t)
			if room > 0 {
				mark(t)
			}
		})
	}
	for _, i := range s.in.Keep {
		if i >= s.in.From && i < s.in.To {
			eachText(h.At(i), func(_ *chat.Part, t string) { mark(t) })
		}
	}
}
