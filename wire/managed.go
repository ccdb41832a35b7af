package wire

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Managed returns the name of the first member that hands the context to the
// provider: a conversation that it stores, its own compaction or truncation, or
// an item that only it has. Such a request does not hold the whole history, or is
// not meant to, and is best left alone. "" is none.
func (b *Body) Managed() string {
	for _, f := range b.fields {
		v := jsontext.Value(f.val.in(b.raw))
		if k := v.Kind(); k == 'n' || k == 'f' || string(v) == `""` || string(v) == "[]" || string(v) == "{}" {
			continue
		}
		switch f.name {
		case "previous_response_id", "conversation", "context_management", "compaction", "thread", "previous_interaction_id", "cachedContent", "cached_content":
			return f.name
		case "truncation":
			if b.dialect == Responses && decode.Str(v) == "auto" {
				return f.name
			}
		}
	}
	if b.refers > 0 {
		return itemReference
	}
	return ""
}

// refer looks for items that are not here but with the provider.
func (b *Body) refer(items []chat.Message, prev *Body, same int) {
	if b.dialect != Responses {
		return
	}
	if same > 0 && prev.refers > 0 && prev.refers <= same {
		b.refers = prev.refers
		return
	}
	for i := range items {
		if p := items[i].Parts; len(p) == 1 && p[0].Kind == chat.Opaque && p[0].Name == itemReference {
			b.refers = same + i + 1
			return
		}
	}
}

// itemReference is an item that the provider has.
const itemReference = "item_reference"
