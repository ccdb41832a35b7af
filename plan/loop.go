package plan

import "github.com/winnow-llm/winnow/chat"

// CloseLoop returns the edit that a view needs whose last calls lost their thinking
// and have words of the user right behind their results; false where it needs
// none. Providers join what the user's side says in a row, so those calls would be
// an open loop, which must start with thinking; a word of the assistant's between
// results and words ends it.
func (v View) CloseLoop(r chat.Rules) (Edit, bool) {
	if !r.OrDefault().LeadThinking || v.p == nil {
		return Edit{}, false
	}
	words, first, lost := -1, -1, false
	for i := v.Len() - 1; i >= 0; i-- {
		m := v.At(i)
		said := m.Role == chat.User && !m.Has(chat.ToolResult)
		if said && first >= 0 {
			break
		}
		if said {
			words = i
		}
		if m.Role != chat.Assistant {
			continue
		}
		if words < 0 || first < 0 && !m.Has(chat.ToolCall) {
			return Edit{}, false
		}
		first = i
		o := v.Origin(i)
		lost = lost || o.Message >= 0 && v.h.At(o.Message).StartsWithThinking() && !m.StartsWithThinking()
	}
	if !lost || v.At(first).StartsWithThinking() {
		return Edit{}, false
	}
	o := v.Origin(words)
	at := o.Message
	if at < 0 && o.Edit >= 0 {
		at = v.p.Edits[o.Edit].From
	}
	return Edit{
		Kind: Drop, Role: chat.Assistant, From: at, To: at, Part: -1, Text: betweenUsers.Text(), Stage: "repair",
		Why: "the thinking of the calls before is gone, so they must not be an open loop",
	}, at >= 0 && at < v.h.Len() && chat.NewOutline(v.h).CanCut(at)
}
