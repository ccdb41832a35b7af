package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// Where a part stands in a message of chat completions.
type corner uint8

const (
	atContent corner = iota
	atBlocks         // thinking_blocks
	atDetails        // reasoning_details
	atReason         // reasoning_content or reasoning
	atRefusal
	atAudio
	atCall
	atFunction // function_call, of old
)

type slot struct {
	corner corner
	n      int // element, where the corner has several
}

// reasonFields are the members in which servers put reasoning, often twice.
var reasonFields = [...]string{"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"}

// openAISlots returns where each part of a message stands. It walks as
// decoding does: reasoning, content, refusal, audio, calls.
func openAISlots(o *object, m *chat.Message) []slot {
	var after []slot // the reasoning
	add := func(to []slot, c corner, n int) []slot {
		for i := range n {
			to = append(to, slot{c, i})
		}
		return to
	}
	after = add(after, atContent, len(contentOf(o.get("content")).elems))
	if s, _ := decode.String(o.get("refusal")); s != "" {
		after = add(after, atRefusal, 1)
	}
	if o.get("audio").Kind() == '{' {
		after = add(after, atAudio, 1)
	}
	after = add(after, atCall, len(o.array("tool_calls").elems))
	if o.get("function_call").Kind() == '{' {
		after = add(after, atFunction, 1)
	}
	// What is left over at the front is reasoning. Blocks count before details,
	// and plain words stand first where neither has any.
	slots := make([]slot, 0, len(m.Parts))
	if lead := len(m.Parts) - len(after); lead > 0 {
		where, n := atBlocks, len(o.array("thinking_blocks").elems)
		if n == 0 {
			where, n = atDetails, len(o.array("reasoning_details").elems)
		}
		slots = add(slots, atReason, max(0, lead-n))
		slots = add(slots, where, min(n, lead))
	}
	return append(slots, after...)
}

// openAIParts gathers a message's members from its sources.
type openAIParts struct {
	content, calls []piece
	reason         [4][]piece // of the first source that has reasoning, by field
	thought        bool       // some reasoning was taken
	lost           bool       // some reasoning was removed
	refusal, audio []byte
	function       []byte
}

func assembleOpenAI(m *chat.Message, sources []source) []piece {
	base := frameSource(sources)
	if m.Role != base.orig.Role { // a result without its call is now a user's words
		return renderOpenAI(m)
	}
	o := readObject(base.raw)
	if m.Role == chat.Tool {
		return []piece{{data: o.with(change{"content", appendQuoted(nil, m.Parts[0].Text)})}}
	}
	var g openAIParts
	for i := range sources {
		g.addSource(&sources[i], &sources[i] == base)
	}
	old := o.get("content")
	changes := make([]change, 0, 8)
	switch {
	case len(g.content) > 0:
		changes = append(changes, change{"content", contentValue(old, g.content, "text")})
	case len(g.calls) == 0 && g.function == nil && g.refusal == nil && g.audio == nil:
		changes = append(changes, change{"content", []byte(`""`)}) // null needs calls beside it
	case !isNull(old) && string(old) != `""`:
		changes = append(changes, change{"content", []byte("null")})
	}
	changes = append(changes, change{"refusal", orNull(g.refusal, o.get("refusal"))}, change{"audio", g.audio}, change{"function_call", g.function})
	if len(g.calls) > 0 {
		a := o.array("tool_calls")
		changes = append(changes, change{"tool_calls", a.with(g.calls)})
	} else if o.get("tool_calls").Kind() == '[' {
		changes = append(changes, change{"tool_calls", nil})
	}
	return []piece{{data: o.with(g.changeReasoning(&o, changes)...)}}
}

// orNull keeps a member that was null where nothing stands in its place.
func orNull(v []byte, old jsontext.Value) []byte {
	if v == nil && old.Kind() == 'n' {
		return old
	}
	return v
}

// changeReasoning adds the changes of the members with reasoning. When a part of it
// goes, so do its other copies.
func (g *openAIParts) changeReasoning(o *object, changes []change) []change {
	if !g.lost && !g.thought {
		return changes
	}
	for i, name := range reasonFields {
		old := o.get(name)
		switch {
		case len(g.reason[i]) > 0 && old.Kind() == '[' && g.lost:
			a := readArray(old)
			changes = append(changes, change{name, a.with(g.reason[i])})
		case len(g.reason[i]) > 0 && old == nil: // from a message that was joined
			data := g.reason[i][0].data
			if i > 1 {
				data = append(appendPieces([]byte{'['}, g.reason[i]), ']')
			}
			changes = append(changes, change{name, data})
		case old != nil && g.lost && len(g.reason[i]) == 0:
			changes = append(changes, change{name, nil})
		}
	}
	return changes
}

func (g *openAIParts) addSource(s *source, base bool) {
	if s.raw == nil {
		for _, b := range s.bits {
			g.content = append(g.content, piece{data: openAIContent(b.p)})
		}
		return
	}
	o := readObject(s.raw)
	slots := openAISlots(&o, s.orig)
	content := contentOf(o.get("content"))
	calls := o.array("tool_calls")
	had, kept := 0, 0
	for _, sl := range slots {
		if sl.corner >= atBlocks && sl.corner <= atReason {
			had++
		}
	}
	first := !g.thought
	for _, b := range s.bits {
		if b.Part < 0 || b.Part >= len(slots) {
			g.content = append(g.content, piece{data: openAIContent(b.p)})
			continue
		}
		sl := slots[b.Part]
		switch sl.corner {
		case atContent:
			p := content.piece(sl.n)
			if b.Fate != plan.Kept {
				p.data = maskText(p.data, "text", b.p.Text)
			}
			g.content = append(g.content, p)
		case atBlocks, atDetails, atReason:
			kept++
			if first {
				g.keepReason(&o, sl)
			}
		case atRefusal:
			if g.refusal = o.get("refusal"); b.Fate != plan.Kept {
				g.refusal = appendQuoted(nil, b.p.Text)
			}
		case atAudio:
			g.audio = o.get("audio")
		default:
			g.addCall(&o, calls, sl, b)
		}
	}
	g.lost = g.lost || base && kept < had
	g.thought = g.thought || kept > 0
}

func (g *openAIParts) keepReason(o *object, sl slot) {
	switch sl.corner {
	case atReason:
		name, i := reasonFields[0], 0
		if isNull(o.get(name)) {
			name, i = reasonFields[1], 1
		}
		g.reason[i] = []piece{{data: o.get(name)}}
	case atDetails:
		a := readArray(o.get(reasonFields[2]))
		g.reason[2] = append(g.reason[2], a.piece(sl.n))
	case atBlocks:
		a := readArray(o.get(reasonFields[3]))
		g.reason[3] = append(g.reason[3], a.piece(sl.n))
	}
}

func (g *openAIParts) addCall(o *object, calls array, sl slot, b bit) {
	if b.Fate == plan.Quoted {
		g.content = append(g.content, piece{data: openAIContent(b.p)})
		return
	}
	if sl.corner == atFunction {
		f := readObject(o.get("function_call"))
		if g.function = f.raw; b.Fate == plan.Masked {
			g.function = f.with(change{"arguments", writeArguments(f.get("arguments"), b.p.Args)})
		}
		return
	}
	p := calls.piece(sl.n)
	if b.Fate == plan.Masked {
		c := readObject(p.data)
		switch {
		case c.get("function").Kind() == '{':
			f := readObject(c.get("function"))
			p.data = c.with(change{"function", f.with(change{"arguments", writeArguments(f.get("arguments"), b.p.Args)})})
		case c.get("custom").Kind() == '{':
			f := readObject(c.get("custom"))
			p.data = c.with(change{"custom", f.with(change{"input", callInput(b.p.Args)})})
		default:
			p.data = c.with(change{"arguments", writeArguments(c.get("arguments"), b.p.Args)})
		}
	}
	g.calls = append(g.calls, p)
}

// writeArguments writes a call's arguments the way they stood there: as a string,
// or as the object that some servers send.
func writeArguments(old jsontext.Value, args string) []byte {
	if old.Kind() == '{' {
		return argsObject(args)
	}
	return appendQuoted(nil, args)
}

// openAIContent renders a part of content. A text alone is a JSON string.
func openAIContent(p *chat.Part) []byte {
	switch p.Kind {
	case chat.Text:
		return appendQuoted(nil, p.Text)
	case chat.Image, chat.Document:
		return openAIMedia(p)
	case chat.Opaque:
		if decode.Valid([]byte(p.Data)) == nil && decode.Str([]byte(p.Data), "type") != "" {
			return []byte(p.Data)
		}
	}
	return nil
}

func openAIMedia(p *chat.Part) []byte {
	url := p.Data
	if p.Media != "" && !isAddress(url) {
		url = "data:" + p.Media + ";base64," + p.Data
	}
	switch {
	case p.Kind == chat.Image:
		return append(appendQuoted([]byte(`{"type":"image_url","image_url":{"url":`), url), "}}"...)
	case strings.HasPrefix(p.Media, "audio/"):
		out := appendQuoted([]byte(`{"type":"input_audio","input_audio":{"data":`), p.Data)
		return append(appendQuoted(append(out, `,"format":`...), strings.TrimPrefix(p.Media, "audio/")), "}}"...)
	case p.Data == "" && p.Text != "":
		return appendQuoted(nil, p.Text)
	case p.Media == "":
		return append(appendQuoted([]byte(`{"type":"file","file":{"file_id":`), p.Data), "}}"...)
	}
	out := appendQuoted([]byte(`{"type":"file","file":{"filename":`), p.Name)
	return append(appendQuoted(append(out, `,"file_data":`...), url), "}}"...)
}

// renderOpenAI writes a message anew: one element for each result it carries,
// and one for the rest.
func renderOpenAI(m *chat.Message) []piece {
	var out, content, calls []piece
	var reason []byte
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case chat.ToolResult:
			out = append(out, openAIResult(p)...)
		case chat.ToolCall:
			c := appendQuoted([]byte(`{"id":`), p.ID)
			c = appendQuoted(append(c, `,"type":"function","function":{"name":`...), p.Name)
			c = append(appendQuoted(append(c, `,"arguments":`...), p.Args), "}}"...)
			calls = append(calls, piece{data: c})
		case chat.Thinking:
			if p.Text != "" && reason == nil {
				reason = appendQuoted(nil, p.Text)
			}
		default:
			if c := openAIContent(p); c != nil {
				content = append(content, piece{data: c})
			}
		}
	}
	if len(out) > 0 && len(content)+len(calls) == 0 {
		return out
	}
	role := m.Role
	if role == chat.Tool {
		role = chat.User
	}
	b := append([]byte(`{"role":"`), role...)
	b = append(b, `","content":`...)
	switch {
	case len(content) > 0:
		b = append(b, contentValue(nil, content, "text")...)
	case len(calls) > 0:
		b = append(b, "null"...)
	default:
		b = append(b, `""`...)
	}
	if reason != nil {
		b = append(append(b, `,"reasoning_content":`...), reason...)
	}
	if len(calls) > 0 {
		b = append(appendPieces(append(b, `,"tool_calls":[`...), calls), ']')
	}
	return append(out, piece{data: append(b, '}')})
}

func openAIResult(p *chat.Part) []piece {
	var b []byte
	if name, old := strings.CutPrefix(p.ID, "function:"); old {
		b = appendQuoted([]byte(`{"role":"function","name":`), name)
	} else {
		b = appendQuoted([]byte(`{"role":"tool","tool_call_id":`), p.ID)
	}
	return []piece{{data: append(appendQuoted(append(b, `,"content":`...), p.Text), '}')}}
}
