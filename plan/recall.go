package plan

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
)

// Original is what an edit hides.
type Original struct {
	Edit Edit
	// From is the index of the first message.
	From int
	// Messages are the originals. For a mask it is one message with the one part.
	Messages []chat.Message
}

// Recall returns the original behind a handle, also when the edit has since
// given way to a stronger one. The error wraps [ErrNoHandle].
func Recall(h chat.History, p *Plan, handle string) (Original, error) {
	if !p.Covers(h) {
		return Original{}, fmt.Errorf("plan: plan %s: %w", p.ID(), ErrMismatch)
	}
	for _, edits := range [...][]Edit{p.Edits, p.Replaced} {
		for i := range edits {
			e := &edits[i]
			if e.Handle != handle || handle == "" {
				continue
			}
			o := Original{Edit: *e, From: e.From}
			for k := e.From; k < e.To; k++ {
				m := *h.At(k)
				if !e.isRun() && e.Part < len(m.Parts) {
					m.Parts = m.Parts[e.Part : e.Part+1]
				}
				o.Messages = append(o.Messages, m)
			}
			return o, nil
		}
	}
	return Original{}, fmt.Errorf("plan: %q: %w; the plan's handles are listed by its edits", handle, ErrNoHandle)
}
