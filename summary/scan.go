package summary

import (
	"strings"

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
	near     int32 // occurrences on a line with something that the tail mentions
	lastMsg  int32
	lastPos  int32 // where it stood last, in bytes from the region's start
	agentPos int32 // where the agent wrote it last
	userPos  int32 // where a user wrote it last
	block    int32 // bytes of the shortest text that it stands in
	home     int32 // -1 is none
	sources  uint8 // bits by source, and failedBit
	value    bool  // it is a number, and not only one that counts lines
	tail     bool  // the tail mentions it, so it is not lost

	weight float64
	cost   float64
	ratio  float64 // weight for its cost
	quoted string  // as a list writes it, once it did
	ticks  bool    // it is recognised only between back-ticks
	pairs  bool    // it matters what it stands beside
	said   uint8   // what the text says of it so far
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
	exit  int   // status of the last run of a command, -1 where unknown
	ran   int32 // where a command was run last, 0 for what is none
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
	decision verdict
	home     int32 // of the call
	place    int32 // the home of what stands on the line
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
	homes    []home
	homeOf   map[string]int32
	calls    map[string]int32 // call id to home
	pos      int
	tail     int // bytes that follow the region
	common   *common
	root     string // folder that most files are in
	byShort  map[string]int32
	paths    []int32   // by entity: the home of the file that it names, and two more; 0 where that is not known yet
	own      [][]int32 // by home: the entities in its name
	headers  []header  // by home: what its own name costs and is worth
	ranked   []int32   // entities, what is worth most for its cost first

	relations *relations
}

// scanRegion reads the messages of the region, and of what follows just so much
// as to know what the tail mentions. The room bounds the work, in about bytes:
// where it does not do for everything, long tool output is read in part, and
// of the oldest messages only what users and the agent said and which files were changed.
func scanRegion(in *Input, room int) *scan {
	near, most, bytes := reach(in, room)
	// How much there will be is a guess, a little below what sessions hold.
	s := &scan{
		in: in, index: newNames(bytes / 256), homeOf: map[string]int32{}, calls: map[string]int32{}, common: commonWords(),
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
	s.readTail(min(room/4, tailBytes))
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
			s.skip(len(p.Text) + len(p.Args))
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
	var h int32
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
	s.pieces[len(s.pieces)-1].ran = a.Path == "" && a.Command != ""
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
		s.skip(len(t) - most)
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
	return clipHead(trimCommand(c), headWidth)
}

// trimCommand leaves off what only limits the output of a command or joins its
// two streams: the command is the same without it.
func trimCommand(c string) string {
	c, _, _ = strings.Cut(c, "\n")
	for {
		c = strings.TrimRight(c, " ;")
		short := c
		for _, end := range [...]string{"2>&1", "2>/dev/null"} {
			short = strings.TrimSuffix(short, end)
		}
		if at := strings.LastIndexByte(c, '|'); at > 0 && c[at-1] != '|' {
			if f := strings.Fields(c[at+1:]); len(f) > 0 && len(f) < 4 && (f[0] == "head" || f[0] == "tail") {
				short = c[:at]
			}
		}
		if short == c || short == "" {
			return c
		}
		c = short
	}
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
