package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// slot is where a part stands in a message of chat completions: a member, and which
// element of it where several parts stand there; -1 is the whole member.
type slot struct {
	member string
	n      int
}

// reasonFields are the members in which servers put reasoning, often twice.
var reasonFields = [...]string{"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"}

// openAISlots returns where each part of a message stands. It walks as
// decoding does: reasoning, content, refusal, audio, calls.
func openAISlots(o *object, m *chat.Message) []slot {
	add := func(to []slot, member string, n int) []slot {
		for i := range n {
			to = append(to, slot{member, i})
		}
		return to
	}
	after := add(nil, "content", len(contentOf(o.get("content")).elems)) // the reasoning
	if s, _ := decode.String(o.get("refusal")); s != "" {
		after = append(after, slot{"refusal", -1})
	}
	if o.get("audio").Kind() == '{' {
		after = append(after, slot{"audio", -1})
	}
	after = add(after, "tool_calls", len(o.array("tool_calls").elems))
	if o.get("function_call").Kind() == '{' {
		after = append(after, slot{"function_call", -1})
	}
	// What is left over at the front is reasoning. Blocks count before details,
	// and plain words stand first where neither has any.
	slots := make([]slot, 0, len(m.Parts))
	if lead := len(m.Parts) - len(after); lead > 0 {
		list, n := "thinking_blocks", len(o.array("thinking_blocks").elems)
		if n == 0 {
			list, n = "reasoning_details", len(o.array("reasoning_details").elems)
		}
		if lead > n {
			words := "reasoning_content"
			if isNull(o.get(words)) {
				words = "reasoning"
			}
			slots = append(slots, slot{words, -1})
		}
		slots = add(slots, list, min(n, lead))
	}
	return append(slots, after...)
}

// openAIParts gathers a message's members from its sources.
type openAIParts struct {
	content, calls []piece
	reason         map[string][]piece // of the first source that has reasoning, by member
	thought        bool               // some reasoning was taken
	lost           bool               // some reasoning was removed
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
		return []piece{{data: o.with(change{"content", jsonwrite.AppendString(nil, m.Parts[0].Text)})}}
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
	if old := o.get("refusal"); g.refusal == nil && old.Kind() == 'n' {
		g.refusal = old
	}
	changes = append(changes, change{"refusal", g.refusal}, change{"audio", g.audio}, change{"function_call", g.function})
	if len(g.calls) > 0 {
		a := o.array("tool_calls")
		changes = append(changes, change{"tool_calls", a.with(g.calls)})
	} else if o.get("tool_calls").Kind() == '[' {
		changes = append(changes, change{"tool_calls", nil})
	}
	return []piece{{data: o.with(g.changeReasoning(&o, changes)...)}}
}

// changeReasoning adds the changes of the members with reasoning. When a part of it
// goes, so do its other copies.
func (g *openAIParts) changeReasoning(o *object, changes []change) []change {
	for _, name := range reasonFields {
		old, kept := o.get(name), g.reason[name]
		switch {
		case len(kept) == 0 && old != nil && g.lost:
			changes = append(changes, change{name, nil})
		case len(kept) > 0 && (old == nil || g.lost): // where there is none, it is from a message that was joined
			data := kept[0].data
			if name == "reasoning_details" || name == "thinking_blocks" {
				list := o.array(name)
				data = list.with(kept)
			}
			changes = append(changes, change{name, data})
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
	kept, first := 0, !g.thought
	for _, b := range s.bits {
		if b.Part < 0 || b.Part >= len(slots) {
			g.content = append(g.content, piece{data: openAIContent(b.p)})
			continue
		}
		switch at := slots[b.Part]; at.member {
		case "content":
			p := content.piece(at.n)
			if b.Fate != plan.Kept {
				p.data = maskText(p.data, "text", b.p.Text)
			}
			g.content = append(g.content, p)
		case "refusal":
			if g.refusal = o.get("refusal"); b.Fate != plan.Kept {
				g.refusal = jsonwrite.AppendString(nil, b.p.Text)
			}
		case "audio":
			g.audio = o.get("audio")
		case "tool_calls", "function_call":
			g.addCall(&o, calls, at, b)
		default:
			kept++
			if first {
				g.keepReason(&o, at)
			}
		}
	}
	had := 0
	for _, at := range slots {
		if slices.Contains(reasonFields[:], at.member) {
			had++
		}
	}
	g.lost = g.lost || base && kept < had
	g.thought = g.thought || kept > 0
}

func (g *openAIParts) keepReason(o *object, at slot) {
	if g.reason == nil {
		g.reason = make(map[string][]piece)
	}
	p := piece{data: o.get(at.member)}
	if at.n >= 0 {
		list := o.array(at.member)
		p = list.piece(at.n)
	}
	g.reason[at.member] = append(g.reason[at.member], p)
}

func (g *openAIParts) addCall(o *object, calls array, at slot, b bit) {
	if b.Fate == plan.Quoted {
		g.content = append(g.content, piece{data: openAIContent(b.p)})
		return
	}
	if at.member == "function_call" {
		f := readObject(o.get("function_call"))
		if g.function = f.raw; b.Fate == plan.Masked {
			g.function = f.with(change{"arguments", writeArguments(f.get("arguments"), b.p.Args)})
		}
		return
	}
	p := calls.piece(at.n)
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
	return jsonwrite.AppendString(nil, args)
}

// openAIContent renders a part of content. A text alone is a JSON string.
func openAIContent(p *chat.Part) []byte {
	switch p.Kind {
	case chat.Text:
		return jsonwrite.AppendString(nil, p.Text)
	case chat.Image, chat.Document:
		return openAIMedia(p)
	}
	return typedJSON(p)
}

func openAIMedia(p *chat.Part) []byte {
	switch {
	case p.Kind == chat.Image:
		return jsonwrite.Of("type", "image_url", "image_url", jsonwrite.Of("url", mediaURL(p)))
	case strings.HasPrefix(p.Media, "audio/"):
		return jsonwrite.Of("type", "input_audio", "input_audio", jsonwrite.Of("data", p.Data, "format", strings.TrimPrefix(p.Media, "audio/")))
	case p.Data == "" && p.Text != "":
		return jsonwrite.AppendString(nil, p.Text)
	case p.Media == "":
		return jsonwrite.Of("type", "file", "file", jsonwrite.Of("file_id", p.Data))
	}
	return jsonwrite.Of("type", "file", "file", jsonwrite.Of("filename", p.Name, "file_data", mediaURL(p)))
}

// renderOpenAI writes a message anew: one element for each result it carries,
// and one for the rest.
func renderOpenAI(m *chat.Message) []piece {
	var out, content, calls []piece
	reason := ""
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case chat.ToolResult:
			out = append(out, piece{data: openAIResult(p)})
		case chat.ToolCall:
			function := jsonwrite.Of("name", p.Name, "arguments", p.Args)
			calls = append(calls, piece{data: jsonwrite.Of("id", p.ID, "type", "function", "function", function)})
		case chat.Thinking:
			reason = cmp.Or(reason, p.Text)
		default:
			if c := openAIContent(p); c != nil {
				content = append(content, piece{data: c})
			}
		}
	}
	if len(out) > 0 && len(content)+len(calls) == 0 {
		return out
	}
	var words, list any = "", nil
	if len(calls) > 0 {
		words, list = []byte("null"), newList(calls)
	}
	if len(content) > 0 {
		words = contentValue(nil, content, "text")
	}
	return append(out, piece{data: jsonwrite.Of("role", speakerOf(m.Role), "content", words, "reasoning_content", jsonwrite.Optional(reason), "tool_calls", list)})
}

func openAIResult(p *chat.Part) []byte {
	if name, old := strings.CutPrefix(p.ID, "function:"); old {
		return jsonwrite.Of("role", "function", "name", name, "content", p.Text)
	}
	return jsonwrite.Of("role", "tool", "tool_call_id", p.ID, "content", p.Text)
}
