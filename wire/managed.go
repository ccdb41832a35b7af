package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Managed returns the name of the first member that hands the context to the
// provider: a conversation that it stores, its own compaction, or an item that
// only it has. Such a request does not hold the whole history, or is not meant
// to, and is best left alone. "" is none. The result of its compaction is not such
// an item: it stays where it is, and what follows is a conversation like any other,
// unless a call from before it is answered there.
//
// Anthropic's context_management counts only where one of its edits takes
// something of the history besides thinking: Claude Code sends one that clears
// thinking, or keeps all of it, with every request. OpenAI's truncation does not
// count: it drops items from the middle of what does not fit, unseen, and what is
// sent from here fits. Cline asks for it with every request.
func (b *Body) Managed() string {
	for _, f := range b.fields {
		v := jsontext.Value(f.val.in(b.raw))
		if k := v.Kind(); k == 'n' || k == 'f' || string(v) == `""` || string(v) == "[]" || string(v) == "{}" {
			continue
		}
		switch f.name {
		case "context_management":
			if b.dialect != Anthropic || takesHistory(v) {
				return f.name
			}
		case "previous_response_id", "conversation", "compaction", "thread", "previous_interaction_id", "cachedContent", "cached_content":
			return f.name
		}
	}
	return b.held.name
}

// takesHistory reports whether an edit of Anthropic's context_management clears
// tool uses, compacts, or does something that is not known here. What only
// clears thinking leaves the history as it came.
func takesHistory(v jsontext.Value) bool {
	for name, edits := range decode.Members(v) {
		if name != "edits" || edits.Kind() != '[' {
			return true
		}
		for _, e := range decode.Elements(edits) {
			if !strings.HasPrefix(decode.Str(e, "type"), "clear_thinking_") {
				return true
			}
		}
	}
	return v.Kind() != '{'
}

// held is the first element that stands for something which only the provider
// has: a reference to an item that it stores, or its own compaction with a call
// before it that is answered later. Hiding such an element would lose what is
// behind it.
type held struct {
	at   int // one more than its number; 0 is none
	name string
}

// findHeld looks for elements that stand for what the provider has.
func (b *Body) findHeld(items []chat.Message, prev *Body, same int) {
	if same > 0 && prev.held.at > 0 && prev.held.at <= same {
		b.held = prev.held
		return
	}
	open := make(map[string]bool) // calls that wait for their results
	for i := range items {
		for k := range items[i].Parts {
			p := &items[i].Parts[k]
			switch {
			case b.dialect != Responses:
			case p.Kind == chat.ToolCall:
				open[p.ID] = true
			case p.Kind == chat.ToolResult:
				delete(open, p.ID)
			case p.Kind == chat.Opaque && p.Name == "item_reference", b.dialect.isCompaction(p) && len(open) > 0:
				b.held = held{same + i + 1, p.Name}
				return
			}
		}
	}
}

// lastCompaction returns the last item that stands for what came before it, or -1.
func (d Dialect) lastCompaction(items []chat.Message) int {
	for i := len(items) - 1; i >= 0; i-- {
		for k := range items[i].Parts {
			if d.isCompaction(&items[i].Parts[k]) {
				return i
			}
		}
	}
	return -1
}

// isCompaction reports whether a part is what the provider's own compaction made of
// everything before it.
func (d Dialect) isCompaction(p *chat.Part) bool {
	if p.Kind != chat.Opaque || p.Name != "compaction" {
		return false
	}
	switch d {
	case Responses:
		return !isNull(decode.Member(jsontext.Value(p.Data), "encrypted_content"))
	case Anthropic: // without content it failed, and holds nothing
		return !isNull(decode.Member(jsontext.Value(p.Data), "content"))
	}
	return false
}
