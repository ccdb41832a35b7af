package session

import (
	"context"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/pifile"
)

func labelDraft(target, label string) draft {
	return pifile.NewDraft(pifile.TypeLabel, "targetId", target, "label", jsonwrite.Optional(label))
}

// Label puts a label on an entry; an empty one takes it off.
func (s *Session) Label(ctx context.Context, target, label string) error {
	s.mu.Lock()
	_, err := s.nodeOf("label", target)
	s.mu.Unlock()
	if err == nil {
		_, err = s.addDrafts(ctx, labelDraft(target, label))
	}
	return err
}

// Labels returns the labels that are in force, by entry.
func (s *Session) Labels() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	labels := make(map[string]string)
	for i := range s.tree.nodes {
		if s.tree.nodes[i].kind != TypeLabel {
			continue
		}
		if e := parseEntry(s.tree.record(int32(i))); e.Label == "" {
			delete(labels, e.Target)
		} else {
			labels[e.Target] = e.Label
		}
	}
	return labels
}

// Pin marks the message of an entry on the path, so that no stage edits it. An
// edit that is already in force on it is taken back at the next rewrite.
func (s *Session) Pin(ctx context.Context, id string) error { return s.setPin(ctx, id, true) }

// Unpin takes the mark off.
func (s *Session) Unpin(ctx context.Context, id string) error { return s.setPin(ctx, id, false) }

func (s *Session) setPin(ctx context.Context, id string, on bool) error {
	s.mu.Lock()
	i, ok := s.tree.find(id)
	ok = ok && int(i) < len(s.line.pos) && s.line.pos[i] >= 0
	s.mu.Unlock()
	if !ok {
		return s.opError("pin", ErrNotFound, "list the path to find one", "entry %q is not a message on the path to the leaf", id)
	}
	_, err := s.addDrafts(ctx, customDraft(customPin, jsonwrite.Of("targetId", id, "pinned", on)))
	return err
}

// Pins returns the entries that are pinned, in order.
func (s *Session) Pins() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, at := range sortedKeys(s.line.pins) {
		ids = append(ids, s.tree.nodes[s.line.last[at]].id)
	}
	return ids
}

// Note writes something down that stands in the view with how things stand, from the
// next compaction on, however often the session is compacted. Replaces is the id of a
// note that goes, "" for none; a text of "" only removes that one. It returns a
// sentence for the note's author.
func (s *Session) Note(ctx context.Context, replaces, text string) (string, error) {
	s.mu.Lock()
	c, err := conview.CheckNote(s.line.notes, control.Write{Replaces: replaces, Text: text}, s.line.history.Len(), s.now())
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	var drafts []draft
	if c.Gone != nil {
		drafts = append(drafts, customDraft(customNote, jsonwrite.Of("id", c.Gone.ID)))
	}
	if c.Added != nil {
		drafts = append(drafts, customDraft(customNote, jsonwrite.Of("id", c.Added.ID, "message", c.Added.Message, "text", c.Added.Text)))
	}
	_, err = s.addDrafts(ctx, drafts...)
	return c.Say, err
}

// Noted returns the notes on the path to the leaf, oldest first.
func (s *Session) Noted() []winnow.Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.line.notes)
}

// SetModel notes that another model answers from here on.
func (s *Session) SetModel(ctx context.Context, provider, model string) error {
	_, err := s.addDrafts(ctx, modelDraft(provider, model))
	return err
}

func modelDraft(provider, model string) draft {
	return pifile.NewDraft(pifile.TypeModelChange, "provider", provider, "modelId", model)
}

// SetName gives the session a name.
func (s *Session) SetName(ctx context.Context, name string) error {
	_, err := s.addDrafts(ctx, pifile.NewDraft(pifile.TypeName, "name", name))
	return err
}

// Name returns the name that the session was given last, on whatever branch:
// the name is the session's, so it stays when the leaf moves.
func (s *Session) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentName()
}

func (s *Session) currentName() string {
	for i := len(s.tree.nodes) - 1; i >= 0; i-- {
		if n := &s.tree.nodes[i]; n.kind == TypeName {
			return decode.Str(n.raw(), "name")
		}
	}
	return ""
}

// Custom adds an entry that a program keeps for itself. The model does not see
// it.
func (s *Session) Custom(ctx context.Context, kind string, data any) (string, error) {
	raw, err := marshalPlain(data)
	if err != nil {
		return "", s.opError("append", err, "", "the data cannot be written as JSON: %v", err)
	}
	ids, err := s.addDrafts(ctx, customDraft(kind, raw))
	if err != nil {
		return "", err
	}
	return ids[0], nil
}
