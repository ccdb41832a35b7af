package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/typed"
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

	messages int32 // messages it occurs in
	lastMsg  int32
	lastPos  int32 // where it stood last, in bytes from the region's start
	sources  uint8 // bits by source
	value    bool  // it is a number, and not only one that counts lines
	tail     bool  // the tail mentions it, so it is not lost
	said     bool  // the text says it already

	weight float64
}

// wordEntity is a plain word that is not common.
const wordEntity evidence.EntityKind = 31

// agentBits are the sources of what the agent wrote.
const agentBits = 1<<fromAssistant | 1<<fromCall | 1<<fromBody

// counter reports whether an entity is a number that only counts lines.
func (e *entity) counter() bool { return e.kind == evidence.NumberEntity && !e.value }

// line is one line of the region.
type line struct {
	text     string
	msg      int32
	step     int32 // -1 for what belongs to none: the user's words
	piece    int32 // what is taken or left as a whole: a paragraph of the agent's
	from     source
	fails    bool // a tool's report of a failure
	odd      bool // it stands out in a tool's result
	rare     bool // and few others do
	decision verdict
	occ, end int32 // its entities: scan.occ[occ:end]
}

// scan is what was read of a region.
type scan struct {
	in       *Input
	pieces   []piece
	entities []entity
	index    names // of the entities
	lines    []line
	occ      []int32
	steps    []step
	calls    map[string]int32 // call id to step
	pos      int
	tail     int // bytes that follow the region
	common   *common
	root     string // folder that most files are in
}

// scanRegion reads the messages of the region, and of what follows just so much
// as to know what the tail mentions. The room bounds the work, in about bytes:
// where it does not do for everything, long tool output is read in part, and
// of the oldest messages only what users and the agent said and which files were changed.
func scanRegion(in *Input, room int) *scan {
	near, most, bytes := reach(in, room)
	// How much there will be is a guess, a little below what sessions hold.
	s := &scan{
		in: in, index: newNames(bytes / 256), calls: map[string]int32{}, common: commonWords(),
		entities: make([]entity, 0, bytes/256), lines: make([]line, 0, bytes/112), occ: make([]int32, 0, bytes/40),
	}
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
	s.readPieces()
	s.findRare()
	s.readTail(min(room/4, tailBytes))
	s.findRoot()
	return s
}

// partWork is what reading a call or result costs whatever its size, in bytes.
const partWork = 320

// reach returns from which message on everything is read, how many bytes of
// one call or result, and about how many that are in all.
func reach(in *Input, room int) (near, most, bytes int) {
	parts := 0
	for i := in.From; i < in.To; i++ {
		m := in.History.At(i)
		for k := range m.Parts {
			parts++
			bytes += len(m.Parts[k].Text) + len(m.Parts[k].Args)
		}
	}
	if parts*partWork+bytes <= room {
		return in.From, 1 << 40, bytes
	}
	bytes = room
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
	return near, most, bytes
}

// glanceBytes is how much is read of the words of an old message.
const glanceBytes = 1024

// glance reads what may not be missed of an old message: users' words, some of
// the agent's, and which files were changed.
func (s *scan) glance(i int) {
	m := s.in.History.At(i)
	s.put(i, glanceBytes, 0)
	for k := range m.Parts {
		p := &m.Parts[k]
		switch {
		case p.Kind == chat.Text && m.Role == chat.User: // read by put
		case p.Kind == chat.Text && m.Role == chat.Assistant && len(p.Text) < glanceBytes && i%8 == 0:
			s.said(p.Text, i)
		case p.Kind == chat.ToolCall:
			switch s.in.Kinds.Of(p.Name) {
			case evidence.Write, evidence.Edit, evidence.Delete:
				if len(p.Args) > 4*glanceBytes {
					continue
				}
				id := s.step(step{msg: int32(i), call: p, access: s.in.Kinds.Access(p)})
				s.calls[p.ID] = id
				s.text(s.steps[id].access.Path, i, fromCall, id)
			}
		case p.Kind == chat.ToolResult:
			if id, ok := s.calls[p.ID]; ok {
				s.steps[id].result = p
			}
			s.skip(len(p.Text))
		default:
			s.skip(len(p.Text) + len(p.Args))
		}
	}
}

// step notes a step and returns its number.
func (s *scan) step(x step) int32 {
	s.steps = append(s.steps, x)
	return int32(len(s.steps) - 1)
}

// said notes what the agent said, paragraph by paragraph. A heading goes with
// what stands under it.
func (s *scan) said(t string, msg int) {
	if t = strings.TrimSpace(t); t == "" {
		return
	}
	id := s.step(step{msg: int32(msg)})
	for t != "" {
		end := 0
		for end < len(t) && end < headingBytes {
			k := strings.Index(t[end:], "\n\n")
			if k < 0 {
				end = len(t)
				break
			}
			end += k + 2
		}
		s.text(t[:end], msg, fromAssistant, id)
		t = strings.TrimLeft(t[end:], "\n ")
	}
}

// headingBytes is the length up to which a paragraph may be a heading, or too
// little to be told by itself.
const headingBytes = 120

// wordsBytes is how much is always read of what somebody says in one message.
const wordsBytes = 16 << 10

func (s *scan) message(i, most int) {
	m := s.in.History.At(i)
	switch m.Role {
	case chat.Assistant:
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.Text:
				s.said(clipText(p.Text, max(most, wordsBytes)), i)
			case chat.ToolCall:
				s.call(p, i, most)
			}
		}
	case chat.User, chat.Tool:
		s.put(i, max(most, wordsBytes), most)
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.Document:
				s.text(clipText(p.Text, max(most, wordsBytes)), i, fromUser, -1)
			case chat.ToolResult:
				s.result(p, i, most)
			}
		}
	}
}

// put notes what the user typed, and what the agent's program put in beside it.
// The latter is no request, but it may be needed: rules of the project, reminders.
// So many bytes are read of a text of each.
func (s *scan) put(i, own, others int) {
	m := s.in.History.At(i)
	for _, span := range typed.Split(s.in.History, i) {
		switch text := span.Text(m); {
		case span.Kind == typed.Typed:
			s.text(clipText(text, own), i, fromUser, -1)
		case others > 0:
			s.text(clipText(text, others), i, fromResult, -1)
		default:
			s.skip(len(text))
		}
	}
}

// call reads a call.
func (s *scan) call(p *chat.Part, msg, most int) {
	a := s.in.Kinds.Access(p)
	id := s.step(step{msg: int32(msg), call: p, access: a})
	s.calls[p.ID] = id
	head := a.Command
	if head == "" {
		head = strings.TrimSpace(strings.Join(append([]string{a.Path, a.Query}, a.Paths...), " "))
	}
	if head == "" {
		head = evidence.Headline(p, 120)
	}
	s.text(clipText(head, most), msg, fromCall, id)
	if len(p.Args) > len(head)+40 {
		for _, arg := range evidence.KeyArgs(p, 24) {
			if len(arg.Value) < 3 || arg.Value == a.Path || arg.Value == a.Command || arg.Value == a.Query {
				continue
			}
			s.text(clipText(arg.Value, most), msg, fromBody, id)
		}
	}
}

func (s *scan) result(p *chat.Part, msg, most int) {
	id, ok := s.calls[p.ID]
	if !ok {
		id = -1
	} else {
		s.steps[id].result = p
	}
	t := p.Text
	if len(t) > most {
		// The end of an output says how it went; the beginning, what it is.
		head := most * 2 / 3
		s.text(clipText(t, head), msg, fromResult, id)
		s.skip(len(t) - most)
		t = t[len(t)-(most-head):]
		if nl := strings.IndexByte(t, '\n'); nl >= 0 {
			t = t[nl+1:]
		}
	}
	s.text(t, msg, fromResult, id)
	for i := range p.Content {
		if c := &p.Content[i]; c.Kind == chat.Document {
			s.text(clipText(c.Text, most), msg, fromResult, id)
		}
	}
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
