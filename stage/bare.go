package stage

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// leaveHandles leaves of every part in a run of messages that may be shortened its handle
// alone, where that is smaller: in the live messages, and in those that only stay
// because a pinned message of their exchange does. Markers lose their words, too. It is
// the last resort before an error, which must not be wrong.
func (r *run) leaveHandles(from, to int) {
	d := r.d
	var edits []plan.Edit
	if !r.isOff("limit") {
		for _, it := range d.shrinkableItems(from, to) {
			if e, ok := d.bareMask(it); ok {
				edits = append(edits, e)
			}
		}
	}
	if len(edits) > 0 {
		r.acceptEdits("limit", edits)
	}
	edits = nil
	for _, e := range d.Edits() {
		if e.Kind == plan.Drop && e.From < e.To && e.From >= from && e.To <= to {
			text := fmt.Sprintf("[left out: %s]", plan.Handle(d.History, e.From, e.To, -1))
			edits = append(edits, d.editRun(plan.Drop, "truncate", e.From, e.To, e.Keep, text, e.Why))
		}
	}
	if len(edits) > 0 {
		r.acceptEdits("truncate", edits)
	}
}

// bareMask returns the mask that leaves the handle.
func (d *Draft) bareMask(it item) (plan.Edit, bool) {
	handle := d.handleOf(it.visiblePart)
	var text string
	switch it.Kind {
	case chat.Text, chat.ToolResult, chat.Document, chat.Image:
		text = fmt.Sprintf("[shortened; original: %s]", handle)
	case chat.ToolCall:
		text = fmt.Sprintf(`{"shortened":%q}`, handle)
	case chat.Thinking:
		return d.squeezePart(it, 0)
	default:
		return plan.Edit{}, false
	}
	return d.maskItem(it, text, "what must stay is larger than what is available")
}
