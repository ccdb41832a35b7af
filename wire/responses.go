package wire

import (
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// item is one item of the responses dialect: a message with several parts, or
// something that is one part.
type item struct {
	piece
	obj     object
	kind    string
	content array // of a message
	bits    []bit // what is left of it
	parts   int
}

// assembleResponses writes the items of a message. Items that lose everything
// go. Reasoning whose item went or became something else goes with it. Where
// reasoning goes, so do the ids that tie the other items to it, and the
// provider's own calls, which cannot do without theirs: it refuses one without
// the other.
func assembleResponses(m *chat.Message, sources []source, find callFinder) []piece {
	var out []piece
	for i := range sources {
		s := &sources[i]
		if s.raw == nil {
			for _, b := range s.bits {
				out = append(out, responsesItem(m.Role, b.p, find)...)
			}
			continue
		}
		out = append(out, assembleItems(m, s, find)...)
	}
	return out
}

func assembleItems(m *chat.Message, s *source, find callFinder) []piece {
	items := readItems(s)
	ends := make([]int, len(items)) // by item, the part after its last
	for k, end := 0, 0; k < len(items); k++ {
		end += items[k].parts
		ends[k] = end
	}
	var extra []bit
	for _, b := range s.bits {
		k := sort.SearchInts(ends, b.Part+1)
		if b.Part < 0 || k == len(items) {
			extra = append(extra, b)
			continue
		}
		b.Part -= ends[k] - items[k].parts
		items[k].bits = append(items[k].bits, b)
	}
	untied := false
	for k := len(items) - 1; k >= 0; k-- {
		it := &items[k]
		if it.kind != "reasoning" {
			continue
		}
		if k+1 < len(items) && !items[k+1].stays() {
			it.bits = nil
		}
		untied = untied || len(it.bits) == 0
	}
	var out []piece
	for k := range items {
		out = append(out, items[k].write(m.Role, untied)...)
	}
	for _, b := range extra {
		out = append(out, responsesItem(m.Role, b.p, find)...)
	}
	return out
}

func readItems(s *source) []item {
	items := make([]item, len(s.elems))
	for k, e := range s.elems {
		items[k] = readItem(e.in(s.raw))
		if k > 0 {
			items[k].sep = s.raw[s.elems[k-1].To:e.From]
		}
	}
	return items
}

func readItem(raw []byte) item {
	it := item{piece: piece{data: raw}, obj: readObject(raw), parts: 1}
	it.kind = decode.Str(it.obj.get("type"))
	if it.kind == "message" || it.kind == "" {
		it.kind = "message"
		it.content = contentOf(it.obj.get("content"))
		it.parts = len(it.content.elems)
	}
	return it
}

// stays reports whether the item is still what it was, changed or not.
func (it *item) stays() bool {
	if it.parts == 0 {
		return true
	}
	return len(it.bits) > 0 && (it.kind == "message" || it.bits[0].Fate != plan.Quoted)
}

func (it *item) write(role chat.Role, untied bool) []piece {
	if it.parts > 0 && len(it.bits) == 0 {
		return nil
	}
	var changes []change
	if untied && it.obj.find("id") >= 0 {
		switch {
		case it.kind == "message", it.kind == "function_call", it.kind == "custom_tool_call":
			changes = append(changes, change{"id", nil})
		case strings.HasSuffix(it.kind, "_call") && it.obj.find("call_id") < 0 && it.kind != "local_shell_call":
			return nil
		}
	}
	if it.kind == "message" {
		same := len(it.bits) == it.parts
		pieces := make([]piece, 0, len(it.bits))
		for _, b := range it.bits {
			p := it.content.piece(b.Part)
			if b.Fate != plan.Kept {
				p.data = maskText(p.data, textKind(role), b.p.Text)
				same = false
			}
			pieces = append(pieces, p)
		}
		if !same {
			changes = append(changes, change{"content", contentValue(it.obj.get("content"), pieces, textKind(role))})
		}
	} else {
		b := it.bits[0]
		if b.Fate == plan.Quoted || b.Fate == plan.Masked && b.p.Kind == chat.Text {
			return responsesItem(role, b.p, noCalls)
		}
		if b.Fate == plan.Masked {
			changes = append(changes, it.maskChanges(b.p)...)
		}
	}
	if len(changes) > 0 {
		return []piece{{sep: it.sep, data: it.obj.with(changes...)}}
	}
	return []piece{it.piece}
}

// maskChanges returns what changes in an item whose part is masked.
func (it *item) maskChanges(p *chat.Part) []change {
	if p.Kind == chat.ToolResult {
		if it.kind == "computer_call_output" || it.kind == "tool_search_output" {
			return nil // must be a screenshot, or the tools that calls after it use
		}
		return []change{{"output", itemOutput(it.kind, p.Text)}}
	}
	switch {
	case it.obj.find("input") >= 0:
		return []change{{"input", callInput(p.Args)}}
	case it.obj.find("arguments") >= 0:
		return []change{{"arguments", writeArguments(it.obj.get("arguments"), p.Args)}}
	}
	// Actions of shells and patches have a fixed form. One that would break it
	// is left as it is: a longer request is better than one that is refused.
	for _, name := range [...]string{"action", "operation"} {
		if old := it.obj.get(name); old.Kind() == '{' && sameForm(old, jsontext.Value(p.Args)) {
			return []change{{name, argsObject(p.Args)}}
		}
	}
	return nil
}

// outputKind returns the type of the item that answers a call of that type.
func outputKind(call string) string {
	if call == "tool_search_call" {
		return "tool_search_output"
	}
	return call + "_output"
}

// itemOutput writes what a tool answered in the form that its kind of item has.
func itemOutput(kind, text string) []byte {
	if kind == "shell_call_output" {
		ended := jsonwrite.Of("type", "exit", "exit_code", 0)
		return newList([]piece{{data: jsonwrite.Of("stdout", text, "stderr", "", "outcome", ended)}})
	}
	return jsonwrite.AppendString(nil, text)
}

// sameForm reports whether b has a member of the same type for each of a's,
// and the same "type".
func sameForm(a, b jsontext.Value) bool {
	if b.Kind() != '{' {
		return false
	}
	x, y := readObject(a), readObject(b)
	for _, f := range x.members {
		if y.get(f.name).Kind() != x.get(f.name).Kind() {
			return false
		}
	}
	return string(x.get("type")) == string(y.get("type"))
}

func textKind(r chat.Role) string {
	if r == chat.Assistant {
		return "output_text"
	}
	return "input_text"
}

// responsesItem renders a part as an item of its own; none for one that cannot be sent.
func responsesItem(role chat.Role, p *chat.Part, find callFinder) []piece {
	var out []byte
	switch p.Kind {
	case chat.ToolCall:
		out = jsonwrite.Of("type", "function_call", "call_id", p.ID, "name", p.Name, "arguments", p.Args)
	case chat.ToolResult:
		out = responsesResult(p, find)
	case chat.Thinking:
		out = responsesReasoning(p)
	case chat.Opaque:
		out = typedJSON(p)
	default:
		if c := responsesContent(role, p); c != nil {
			out = responsesMessage(role, []piece{{data: c}})
		}
	}
	if out == nil {
		return nil
	}
	return []piece{{data: out}}
}

// responsesResult renders a result as its call wants it.
func responsesResult(p *chat.Part, find callFinder) []byte {
	kind := "function_call_output"
	if call := find(p.ID); call != nil {
		kind = outputKind(decode.Str(call, "type"))
	}
	status := ""
	switch kind {
	case "tool_search_output":
		return jsonwrite.Of("type", kind, "call_id", p.ID, "execution", "client", "status", "completed", "tools", newList(nil))
	case "apply_patch_call_output":
		status = "failed"
	}
	return jsonwrite.Of("type", kind, "call_id", p.ID, "status", jsonwrite.Optional(status), "output", itemOutput(kind, p.Text))
}

func responsesReasoning(p *chat.Part) []byte {
	switch {
	case p.Signature == "":
		return nil
	case strings.HasPrefix(p.Signature, "{") && decode.Str([]byte(p.Signature), "type") == "reasoning":
		return []byte(p.Signature) // pi keeps the whole item there
	}
	var summary []piece
	if p.Text != "" {
		summary = []piece{{data: textBlock("summary_text", p.Text)}}
	}
	return jsonwrite.Of("type", "reasoning", "summary", newList(summary), "encrypted_content", p.Signature)
}

func responsesMessage(role chat.Role, content []piece) []byte {
	return jsonwrite.Of("type", "message", "role", speakerOf(role), "content", newList(content))
}

func responsesContent(role chat.Role, p *chat.Part) []byte {
	switch {
	case p.Kind == chat.Text, p.Kind == chat.Document && p.Data == "" && p.Text != "":
		return textBlock(textKind(role), p.Text)
	case p.Kind != chat.Image && p.Kind != chat.Document:
		return nil
	}
	switch {
	case p.Kind == chat.Image:
		return jsonwrite.Of("type", "input_image", "image_url", mediaURL(p))
	case isAddress(p.Data):
		return jsonwrite.Of("type", "input_file", "file_url", p.Data)
	case p.Media == "":
		return jsonwrite.Of("type", "input_file", "file_id", p.Data)
	}
	return jsonwrite.Of("type", "input_file", "filename", p.Name, "file_data", mediaURL(p))
}

// renderResponses writes a message anew, as the items it is made of. Words and
// media that follow each other share one item.
func renderResponses(m *chat.Message, find callFinder) []piece {
	var out, content []piece
	flush := func() {
		if len(content) > 0 {
			out = append(out, piece{data: responsesMessage(m.Role, content)})
		}
		content = nil
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if c := responsesContent(m.Role, p); c != nil {
			content = append(content, piece{data: c})
			continue
		}
		flush()
		out = append(out, responsesItem(m.Role, p, find)...)
	}
	flush()
	return out
}
