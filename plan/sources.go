package plan

import "github.com/winnow-llm/winnow/chat"

// Source is a run of parts of a view's message that come from one message of
// the history, or that edits made.
type Source struct {
	// Message is the index of that message, or -1 where edits made the parts.
	Message int
	// Parts says of each part of the run where it was. A message that has no
	// parts, or lost them, is a source without any.
	Parts []PartOrigin
}

// PartOrigin says where a part of a view comes from.
type PartOrigin struct {
	Fate Fate
	// Part is its index in the message it comes from, or -1.
	Part int
	// Edit is the index of the edit that changed or made it, or -1.
	Edit int
}

// Fate is what became of a part.
type Fate uint8

// The fates of parts.
const (
	Kept   Fate = iota // it stands as it is in the history
	Masked             // its content is replaced
	Quoted             // it became a text
	Made               // it is not in the history
)

// Sources says where the parts of message i of the view come from: its parts
// are those of the sources, one after the other. Joined messages have several
// sources, all others one. The sources must not be changed.
func (v View) Sources(i int) []Source {
	o := v.Origin(i)
	return o.sourcesOf(v.h, v.At(i))
}

// Summary reports whether a part of message i of the view is one that a fold, a
// drop or a state put there in place of messages.
func (v View) Summary(i, part int) bool {
	for _, s := range v.Sources(i) {
		if part < len(s.Parts) {
			p := s.Parts[part]
			return p.Fate == Made && p.Edit >= 0 && v.p.Edits[p.Edit].isRun()
		}
		part -= len(s.Parts)
	}
	return false
}

// sourcesOf returns the sources of the message with this origin. Most messages
// need no note: they are untouched, lost the thinking they started with, or
// were made by edits.
func (o *Origin) sourcesOf(h chat.History, m *chat.Message) []Source {
	if o.sources != nil {
		return o.sources
	}
	parts := make([]PartOrigin, len(m.Parts))
	for k := range parts {
		switch {
		case o.Message >= 0:
			parts[k] = PartOrigin{Kept, len(h.At(o.Message).Parts) - len(parts) + k, -1}
		case k < len(o.Edits): // answers that share a message
			parts[k] = PartOrigin{Made, -1, o.Edits[k]}
		default:
			parts[k] = PartOrigin{Made, -1, o.Edit}
		}
	}
	return []Source{{o.Message, parts}}
}
