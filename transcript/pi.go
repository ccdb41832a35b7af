package transcript

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// readPi reads a pi session of version 1 (a list), 2 or 3 (a tree). The
// history is the path to the last entry. Edits that pi makes to its context
// and compactions leave the history as it is. A header with another id begins
// another session: somebody put two files together.
func readPi(in *input) ([]Session, error) {
	entries := make([]piEntry, 0, len(in.records))
	for r := range in.eachRecord() {
		e := piEntry{record: r}
		decode.Find(r.raw, decode.To("type", &e.Type), decode.To("id", &e.ID), decode.To("parentId", &e.Parent))
		entries = append(entries, e)
	}
	var out []Session
	from, id := 0, ""
	for i := range entries {
		e := &entries[i]
		if !e.isHeader() {
			continue
		}
		if i > from && e.ID != id && e.ID != "" {
			out = append(out, in.piSession(entries[from:i]))
			from = i
		}
		id = e.ID
	}
	return append(out, in.piSession(entries[from:])), nil
}

// piEntry is what says where an entry stands. There may be a million of them.
type piEntry struct {
	record
	Type, ID, Parent string
}

func (e *piEntry) isHeader() bool {
	return e.Type == pifile.TypeSession || e.Type == "" && decode.Str(e.raw, "kind") == "header"
}

func (in *input) piSession(records []piEntry) Session {
	b := in.newBuilder()
	b.logged = true
	var entries []*piEntry
	byID := map[string]int{}
	for i := range records {
		e := &records[i]
		if e.isHeader() {
			if b.s.ID == "" {
				b.s.ID = e.ID
				b.s.Folder = decode.Str(e.raw, "cwd")
			} else {
				b.skip("repeated session header")
			}
			continue
		}
		if e.Type == pifile.TypeName {
			b.s.Title = decode.Str(e.raw, "name")
		}
		if _, twice := byID[e.ID]; !twice && e.ID != "" {
			byID[e.ID] = len(entries)
		}
		entries = append(entries, e)
	}
	take := piPath(b, entries, byID)
	left := 0
	for i := range entries {
		if take[i] {
			b.piEntry(entries[i])
			entries[i].raw = nil // the message has it
		} else if entries[i].Type == pifile.TypeMessage || entries[i].Type == pifile.TypeCustomMessage {
			left++
		} else {
			b.skip(entries[i].Type + " on another branch")
		}
	}
	if left > 0 {
		b.warn(0, "messages on other branches, left out: %d", left)
	}
	return b.finish()
}

// piPath marks the entries on the way from the last one to the root. An entry
// without an id (version 1) follows the entry before it; so does one whose
// parent is not there.
func piPath(b *builder, entries []*piEntry, byID map[string]int) []bool {
	take := make([]bool, len(entries))
	for at := len(entries) - 1; at >= 0; {
		if take[at] {
			b.warn(entries[at].line, "the chain of parents is a cycle: earlier entries are left out")
			break
		}
		take[at] = true
		e := entries[at]
		switch i, ok := byID[e.Parent]; {
		case e.ID == "":
			at--
		case e.Parent == "":
			at = -1
		case ok:
			at = i
		default:
			if at > 0 {
				b.warn(e.line, "the parent %.40s is not in the file: the previous entry is used instead", e.Parent)
			}
			at--
		}
	}
	return take
}

func (b *builder) piEntry(at *piEntry) {
	b.in.at = at.line
	e := pifile.Parse(at.raw)
	m := chat.Message{ID: e.ID, Time: decode.Millis(e.Time)}
	switch e.Type {
	case pifile.TypeMessage:
		b.readPiMessage(at.line, &e, m)
	case pifile.TypeCustomMessage:
		m.Role, m.Synthetic = chat.User, true
		b.readPiContent(&m, e.Content)
	case pifile.TypeBranchSummary:
		b.addSynthetic(m, decode.Str(e.Summary))
	case pifile.TypeCompaction:
		b.noteCompaction(Compaction{Summary: decode.Str(e.Summary), Kept: b.keptFrom(decode.Str(e.FirstKept)), TokensBefore: numberAt(e.TokensBefore), Took: b.sinceLastMessage(m.Time), Line: at.line})
	default:
		b.skip(orUnknown(e.Type))
	}
}

func (b *builder) readPiMessage(line int, e *pifile.Entry, m chat.Message) {
	said := pifile.ParseMessage(e.Message)
	m.Model = decode.Str(said.Model)
	if said.Time != nil {
		m.Time = decode.Millis(said.Time)
	}
	switch said.Role {
	case "user":
		m.Role = chat.User
		b.readPiContent(&m, said.Content)
	case "assistant":
		m.Role, m.Usage = chat.Assistant, said.Reported()
		b.readPiContent(&m, said.Content)
	case "toolResult":
		m.Role = chat.Tool
		p := said.Result()
		inner, err := piParts(said.Content)
		if err != nil {
			b.noteBroken(e.Message, err)
			return
		}
		fillResult(&p, inner)
		m.Parts = []chat.Part{p}
		b.addMessage(m)
	case "system":
		m.Role = chat.System
		if s := decode.Str(said.Content); s != "" {
			m.Parts = append(m.Parts, textPart(s))
		}
		for _, v := range decode.Members(said.Sections) {
			if s := decode.Str(v); s != "" {
				m.Parts = append(m.Parts, textPart(s))
			}
		}
		if defs, err := decode.Tools(said.Added); err == nil {
			b.s.Tools = append(b.s.Tools, defs...)
		}
		b.addMessage(m)
	case "bashExecution":
		if pifile.Set(said.Excluded) {
			b.skip("command that the user kept out of the context")
			return
		}
		b.addSynthetic(m, bashText(&said))
	case "custom", "hookMessage":
		m.Role, m.Synthetic = chat.User, true
		b.readPiContent(&m, said.Content)
	case "branchSummary":
		b.addSynthetic(m, decode.Str(said.Summary))
	case "compactionSummary":
		b.noteCompaction(Compaction{Summary: decode.Str(said.Summary), TokensBefore: numberAt(said.TokensBefore), Line: line})
	default:
		b.warn(line, "unknown role %.40q: left out", said.Role)
	}
}

func (b *builder) readPiContent(m *chat.Message, body jsontext.Value) {
	parts, err := piParts(body)
	if err != nil {
		b.noteBroken(body, err)
		return
	}
	m.Parts = parts
	markSynthetic(m)
	b.addMessage(*m)
}

// piParts reads pi's blocks, which differ from Anthropic's in calls and signatures.
func piParts(body jsontext.Value) ([]chat.Part, error) {
	if body.Kind() != '[' {
		return decode.Content(body)
	}
	var parts []chat.Part
	for i, v := range decode.Elements(body) {
		var p chat.Part
		var err error
		switch decode.Str(v, "type") {
		case "toolCall", "thinking":
			b := pifile.ParseBlock(v)
			p, _ = b.Part()
		default:
			p, err = decode.Block(v)
		}
		if err != nil {
			return nil, fmt.Errorf("/content/%d%w", i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// bashText renders a command that the user ran beside the conversation.
func bashText(m *pifile.Message) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Ran `%s`\n", decode.Str(m.Command))
	if out := decode.Str(m.Output); out != "" {
		fmt.Fprintf(&s, "```\n%s\n```\n", out)
	}
	if full := decode.Str(m.FullOutput); full != "" {
		fmt.Fprintf(&s, "The whole output is in %s\n", full)
	}
	switch code := numberAt(m.Exit); {
	case pifile.Set(m.Cancelled):
		s.WriteString("It was cancelled.")
	case code != 0:
		fmt.Fprintf(&s, "It ended with exit code %d.", code)
	}
	return strings.TrimSpace(s.String())
}
