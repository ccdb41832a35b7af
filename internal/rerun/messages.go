package rerun

import (
	"context"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// Messages returns a stretch of the history, and what became of each message.
func (r *Rerun) Messages(_ context.Context, id string, from, limit int) (*control.Messages, error) {
	if err := r.is(id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.in.Request.History
	if limit <= 0 || limit > 500 {
		limit = 100
	}
	from = max(0, min(from, h.Len()))
	to := min(h.Len(), from+limit)
	doc := &control.Messages{Messages: []control.Message{}, Total: h.Len()}
	if to < h.Len() {
		doc.Next = to
	}
	c := r.w.Meter().Counter()
	masks := map[[2]int]string{}
	hidden := map[int]string{}
	if r.plan != nil {
		for i := range r.plan.Edits {
			e := &r.plan.Edits[i]
			switch e.Kind {
			case plan.Mask, plan.Answer:
				masks[[2]int{e.From, e.Part}] = e.Handle
			case plan.Fold, plan.Drop:
				for m := max(e.From, from); m < min(e.To, to); m++ {
					hidden[m] = e.Handle
				}
				for _, m := range e.Keep {
					delete(hidden, m)
				}
			}
		}
	}
	for i := from; i < to; i++ {
		m := h.At(i)
		d := control.Message{Message: i, Role: m.Role, Tokens: c.At(h, i), Parts: []control.Part{}, Shown: "kept", Pinned: r.pinned(i, -1)}
		for k := range m.Parts {
			p := &m.Parts[k]
			all := partText(p)
			handle, masked := masks[[2]int{i, k}]
			if masked {
				d.Shown = "reduced"
			}
			d.Parts = append(d.Parts, control.Part{
				Part: k, Kind: p.Kind.String(), Name: p.Name, Tokens: c.Part(p), Text: text.Head(all, control.MaxText), Bytes: len(all),
				Handle: handle, Pinned: r.pinned(i, k),
			})
		}
		if handle, ok := hidden[i]; ok {
			d.Shown, d.Edit = "hidden", handle
		}
		doc.Messages = append(doc.Messages, d)
	}
	return doc, nil
}
