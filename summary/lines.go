package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// longLine is the length from which a line is divided: JSON without line ends,
// minified code, escaped text.
const longLine = 320

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

func (s *scan) add(v string, hash uint32, kind evidence.EntityKind) int32 {
	s.entities = append(s.entities, entity{text: v, kind: kind, lastMsg: -1})
	return s.index.add(v, hash)
}

// find returns the entity of a text, and whether there is one.
func (s *scan) find(v string) (int32, bool) { return s.index.find(v, nameHash(v)) }

// findWord is find for a plain word.
func (s *scan) findWord(w string) (int32, bool) {
	if !isCapital(w[0]) {
		return s.find(w)
	}
	var buf [wordMax]byte
	return s.find(string(lowerFirst(&buf, w)))
}

// lowerFirst returns a word with a small first letter.
func lowerFirst(buf *[wordMax]byte, w string) []byte {
	n := copy(buf[:], w)
	if isCapital(buf[0]) {
		buf[0] |= 0x20
	}
	return buf[:n]
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

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
				if id, ok := s.find(v); ok {
					s.entities[id].tail = true
				}
			})
			eachWord(l, func(w string) {
				if id, ok := s.findWord(w); ok {
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
