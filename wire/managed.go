package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Managed returns the name of the first member that hands the context to the
// provider: a conversation that it stores, its own compaction, or
// an item that only it has or can read, such as what its compaction made of
// earlier messages. Such a request does not hold the whole history, or is not
// meant to, and is best left alone. "" is none.
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
// has or can read: a reference to an item that it stores, or its own compaction
// of what came before. Hiding such an element would lose what is behind it.
type held struct {
	at   int // one more than its number; 0 is none
	name string
}

// hold looks for elements that stand for what the provider has.
func (b *Body) hold(items []chat.Message, prev *Body, same int) {
	if same > 0 && prev.held.at > 0 && prev.held.at <= same {
		b.held = prev.held
		return
	}
	for i := range items {
		for k := range items[i].Parts {
			if p := &items[i].Parts[k]; p.Kind == chat.Opaque && b.dialect.holds(p) {
				b.held = held{same + i + 1, p.Name}
				return
			}
		}
	}
}

// holds reports whether a part stands for something that only the provider has.
func (d Dialect) holds(p *chat.Part) bool {
	switch {
	case d == Responses && p.Name == "item_reference":
		return true
	case d == Responses && p.Name == "compaction":
		return !isNull(decode.Member(jsontext.Value(p.Data), "encrypted_content"))
	case d == Anthropic && p.Name == "compaction": // without content it failed, and holds nothing
		return !isNull(decode.Member(jsontext.Value(p.Data), "content"))
	}
	return false
}
