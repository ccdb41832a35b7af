package summary

import (
	"strings"
	"unsafe"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// source says where a line comes from.
type source uint8

const (
	fromUser source = iota
	fromAssistant
	fromCall   // the head of a call: its file or command
	fromBody   // the other arguments of a call
	fromResult // a tool's result
)

// entity is a name, path, number or the like that occurs in the region.
type entity struct {
	text string
	kind evidence.EntityKind

	count    int32 // occurrences
	messages int32 // messages it occurs in
	agent    int32 // occurrences in what the agent wrote
	near     int32 // occurrences on a line with something that the tail mentions
	lastMsg  int32
	lastPos  int32 // bytes from the region's start
	first    int32 // occurrence, for order
	home     int32 // -1 is none
	bare     int32 // occurrences as a bare line number
	sources  uint8 // bits by source, and failedBit
	tail     bool  // the tail mentions it, so it is not lost

	weight float64
	cost   float64
	said   uint8 // what the text says of it so far
}

// wordEntity is a plain word that is not common.
const wordEntity evidence.EntityKind = 31

// failedBit is set for what stands in the result of a call that failed.
const failedBit = 1 << 7

// What a text says of an entity.
const (
	saidNot    = iota
	saidListed // in a list
	saidLine   // in words that stand around it
)

// home is a file or command that entities belong to.
type home struct {
	name  string // as it is rendered
	path  string // set for files
	first int32  // message
	ops   [7]int16
	exit  int // status of the last run of a command, -1 where unknown
	fails int16

	glanced uint8 // times that its path was read in a glance
}

// line is one line of the region.
type line struct {
	text     string
	msg      int32
	pos      int32
	from     source
	failed   bool
	home     int32
	occ, end int32 // its entities: scan.occ[occ:end]
}

// scan is what was read of a region.
type scan struct {
	in       *Input
	entities []entity
	index    map[string]int32
	lines    []line
	occ      []int32
	homes    []home
	homeOf   map[string]int32
	calls    map[string]int32 // call id to home
	pos      int
	common   map[string]uint8
	root     string // folder that most files are in
	byShort  map[string]int32
	own      [][]int32 // by home: the entities in its name
}

// scanRegion reads the messages of the region, and of what follows just so much
// as to know what the tail mentions. The room bounds the work, in about bytes:
// where it does not do for everything, long tool output is read in part, and
// of the oldest messages only what users and the agent said and which files were changed.
func scanRegion(in *Input, room int) *scan {
	s := &scan{in: in, index: make(map[string]int32, 1024), homeOf: map[string]int32{}, calls: map[string]int32{}, common: commonWords()}
	near, most := reach(in, room)
	keep := in.keeps()
	for i := in.From; i < in.To; i++ {
		if keep(i) {
			continue
		}
		if i < near {
			s.glance(i)
		} else {
			s.message(i, most)
		}
	}
	s.readTail(min(room/4, tailBytes))
	return s
}

// partWork is what reading a call or result costs whatever its size, in bytes.
const partWork = 320

// reach returns from which message on everything is read, and how many bytes of
// one call or result.
func reach(in *Input, room int) (near, most int) {
	parts, bytes := 0, 0
	for i := in.From; i < in.To; i++ {
		m := in.History.At(i)
		for k := range m.Parts {
			parts++
			bytes += len(m.Parts[k].Text) + len(m.Parts[k].Args)
		}
	}
	if parts*partWork+bytes <= room {
		return in.From, 1 << 40
	}
	room = room * 3 / 4
	most = min(max(room/max(parts, 1), 512), 8192)
	near = in.To
	for near > in.From && room > 0 {
		near--
		m := in.History.At(near)
		for k := range m.Parts {
			room -= partWork + min(len(m.Parts[k].Text)+len(m.Parts[k].Args), most)
		}
	}
	return near, most
}

// glanceBytes is how much is read of the words of an old message.
const glanceBytes = 1024

// glance reads what may not be missed of an old message: users' words, some of
// the agent's, and the names of files that were changed.
func (s *scan) glance(i int) {
	m := s.in.History.At(i)
	for k := range m.Parts {
		p := &m.Parts[k]
		switch {
		case p.Kind == chat.Text && m.Role == chat.User && !m.Synthetic:
			s.text(clipText(p.Text, glanceBytes), i, fromUser, -1, false)
		case p.Kind == chat.Text && m.Role == chat.Assistant && len(p.Text) < glanceBytes && i%8 == 0:
			s.text(p.Text, i, fromAssistant, -1, false)
		case p.Kind == chat.ToolCall:
			switch s.in.Kinds.Of(p.Name) {
			case evidence.Write, evidence.Edit, evidence.Delete:
				if len(p.Args) > 4*glanceBytes {
					continue
				}
				a := s.in.Kinds.Access(p)
				a.Each(func(o evidence.Op) {
					h := s.file(o.Path, i)
					s.homes[h].ops[o.Kind]++
					if s.homes[h].glanced < 2 {
						s.homes[h].glanced++
						s.text(o.Path, i, fromCall, h, false)
					}
				})
			}
		default:
			s.pos += len(p.Text) + len(p.Args)
		}
	}
}

// wordsBytes is how much is always read of what somebody says in one message.
const wordsBytes = 16 << 10

func (s *scan) message(i, most int) {
	m := s.in.History.At(i)
	switch m.Role {
	case chat.Assistant:
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.Text:
				s.text(clipText(p.Text, max(most, wordsBytes)), i, fromAssistant, -1, false)
			case chat.ToolCall:
				s.call(p, i, most)
			}
		}
	case chat.User, chat.Tool:
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.Text, chat.Document:
				// What the agent's program put in is no request, but it may be
				// needed: rules of the project, reminders.
				from, text := fromUser, clipText(p.Text, max(most, wordsBytes))
				if m.Synthetic {
					from, text = fromResult, clipText(text, most)
				}
				s.text(text, i, from, -1, false)
			case chat.ToolResult:
				s.result(p, i, most)
			}
		}
	}
}

// call reads a call: what it does decides the home of everything in it and in
// its result.
func (s *scan) call(p *chat.Part, msg, most int) {
	a := s.in.Kinds.Access(p)
	h := int32(-1)
	head := ""
	switch {
	case a.Path != "":
		h = s.file(a.Path, msg)
		s.homes[h].ops[a.Kind]++
		head = a.Path
		for _, path := range a.Paths {
			k := s.file(path, msg)
			s.homes[k].ops[a.Kind]++
		}
		if a.Command != "" {
			head = a.Command
		} else if a.Query != "" {
			head += " " + a.Query
		}
	case a.Command != "":
		head = a.Command
		h = s.command(commandHead(a.Command), msg)
	default:
		head = a.Query
		if head == "" {
			head = evidence.Headline(p, 120)
		}
		h = s.command(clipHead(p.Name+" "+a.Query, 60), msg)
	}
	a.Each(func(o evidence.Op) {
		if o.Path != a.Path && o.Path != "" {
			k := s.file(o.Path, msg)
			s.homes[k].ops[o.Kind]++
		}
	})
	s.calls[p.ID] = h
	s.text(clipText(head, most), msg, fromCall, h, false)
	if len(p.Args) > len(head)+40 {
		for _, arg := range evidence.KeyArgs(p, 24) {
			if len(arg.Value) < 3 || arg.Value == a.Path || arg.Value == a.Command || arg.Value == a.Query {
				continue
			}
			s.text(clipText(arg.Value, most), msg, fromBody, h, false)
		}
	}
}

func (s *scan) result(p *chat.Part, msg, most int) {
	h, ok := s.calls[p.ID]
	if !ok {
		h = -1
	}
	failed, exit, known := evidence.Status(p)
	if h >= 0 && s.homes[h].path == "" {
		s.homes[h].exit = -1
		if known {
			s.homes[h].exit = exit
		}
	}
	if h >= 0 && failed {
		s.homes[h].fails++
	}
	t := p.Text
	if len(t) > most {
		// The end of an output says how it went; the beginning, what it is.
		head := most * 2 / 3
		s.text(clipText(t, head), msg, fromResult, h, failed)
		s.pos += len(t) - most
		t = t[len(t)-(most-head):]
		if nl := strings.IndexByte(t, '\n'); nl >= 0 {
			t = t[nl+1:]
		}
	}
	s.text(t, msg, fromResult, h, failed)
	for i := range p.Content {
		if c := &p.Content[i]; c.Kind == chat.Document {
			s.text(clipText(c.Text, most), msg, fromResult, h, false)
		}
	}
}

// file returns the home of a file.
func (s *scan) file(path string, msg int) int32 {
	if h, ok := s.homeOf[path]; ok {
		return h
	}
	h := int32(len(s.homes))
	s.homeOf[path] = h
	s.homes = append(s.homes, home{name: path, path: path, first: int32(msg), exit: -1})
	return h
}

// command returns the home of a command.
func (s *scan) command(head string, msg int) int32 {
	key := "$" + head
	h, ok := s.homeOf[key]
	if !ok {
		h = int32(len(s.homes))
		s.homeOf[key] = h
		s.homes = append(s.homes, home{name: head, first: int32(msg), exit: -1})
	}
	s.homes[h].ops[evidence.Shell]++
	return h
}

// headWidth is the most of a command that the list shows.
const headWidth = 100

// commandHead is what a command is listed under: its first line, without a
// change of folder in front, clipped.
func commandHead(c string) string {
	c = strings.TrimSpace(c)
	if strings.HasPrefix(c, "cd ") {
		if at := strings.Index(c, "&&"); at > 0 && at < 200 {
			c = strings.TrimSpace(c[at+2:])
		}
	}
	return clipHead(c, headWidth)
}

func clipHead(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(clipText(s, n))
}

// clipText cuts at a character's edge.
func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// longLine is the length from which a line is divided: JSON without line ends,
// minified code, escaped text.
const longLine = 320

func (s *scan) text(t string, msg int, from source, h int32, failed bool) {
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
	put := func(id int32) *entity {
		for _, o := range s.occ[start:] {
			if o == id {
				return nil
			}
		}
		e := &s.entities[id]
		e.count++
		if e.lastMsg != int32(msg) {
			e.messages++
			e.lastMsg = int32(msg)
		}
		if from == fromAssistant || from == fromCall || from == fromBody {
			e.agent++
		}
		e.sources |= bits
		e.lastPos = int32(s.pos)
		s.occ = append(s.occ, id)
		return e
	}
	evidence.Entities(l, func(kind evidence.EntityKind, v string) {
		id, ok := s.index[v]
		if !ok {
			id = s.add(v, kind)
		} else if e := &s.entities[id]; e.kind == wordEntity {
			e.kind = kind
		}
		if e := put(id); e != nil && kind == evidence.NumberEntity && lineNumber(l, v) {
			e.bare++
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
	at := int(uintptr(unsafe.Pointer(unsafe.StringData(v))) - uintptr(unsafe.Pointer(unsafe.StringData(l))))
	if at == 0 {
		rest := l[len(v):]
		return rest == "" || rest[0] == ':' || rest[0] == '\t' || rest[0] == '|' || rest[0] == '-' || strings.HasPrefix(rest, "→") || strings.HasPrefix(rest, "  ")
	}
	return at > 2 && at < len(l) && l[at-1] == ':' && (at+len(v) == len(l) || l[at+len(v)] == ':' || l[at+len(v)] == ')' || l[at+len(v)] == ' ')
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
	for i := s.in.To; i < h.Len() && room > 0; i++ {
		eachText(h.At(i), func(_ *chat.Part, t string) { mark(t) })
	}
	for _, i := range s.in.Keep {
		if i >= s.in.From && i < s.in.To {
			eachText(h.At(i), func(_ *chat.Part, t string) { mark(t) })
		}
	}
}
