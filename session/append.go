package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// undo is where the session goes back to when appended entries are lost.
type undo struct {
	nodes int
	leaf  int32
}

// draft is an entry that has no place in the tree yet.
type draft = pifile.Draft

// placed is a draft with the id it will have.
type placed struct {
	id string
	draft
	at time.Time // when it was said, where that is not now
}

// placeEntries adds entries after the leaf, in memory and on the way to the disk. The
// caller holds the lock, and calls the function returned without it.
func (s *Session) placeEntries(entries []placed) func(context.Context) error {
	var refused error
	if s.closed {
		refused = s.opError("append", ErrClosed, "open it again", "the session is closed")
	} else if s.undo != nil {
		refused = s.opError("append", ErrBusy, "try again", "an earlier append has just failed")
	}
	if refused != nil {
		return func(context.Context) error { return refused }
	}
	parent := s.leafID()
	was := undo{len(s.tree.nodes), s.line.leaf}
	recs := make([]Record, len(entries))
	raws := make([][]byte, len(entries))
	at := s.now()
	for i := range entries {
		e := &entries[i]
		raws[i] = e.Record(e.id, parent, cmp.Or(e.at, at))
		recs[i] = Record{Raw: raws[i]}
		parent = e.id
	}
	first := s.tree.addRecords(recs)
	nodes := make([]int32, 0, len(entries))
	for i := first; i < len(s.tree.nodes); i++ {
		if s.tree.nodes[i].kind != typeBookmark { // which only says where the leaf is
			nodes = append(nodes, int32(i))
		}
	}
	err := s.line.addNodes(&s.tree, nodes, s.o.Rules, true)
	wait := s.log.Append(raws...)
	s.inFlight++
	return func(ctx context.Context) error {
		werr := wait(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
		if werr != nil && (s.undo == nil || was.nodes < s.undo.nodes) {
			s.undo = &was
		}
		if s.undo != nil && s.inFlight == 0 {
			s.goBack()
		}
		return cmp.Or(werr, err)
	}
}

// goBack forgets entries that were appended and not acknowledged, and reads again
// what is there. The line was sound before.
func (s *Session) goBack() {
	u := s.undo
	s.order = nil
	s.undo = nil
	s.tree.truncateTo(u.nodes)
	s.line.pos = s.line.pos[:min(u.nodes, len(s.line.pos))] // others may come in their place
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if recs, err := s.log.Load(ctx); err == nil {
		s.tree.addRecords(recs)
	}
	if l, err := s.lineTo(u.leaf); err == nil {
		s.line = l
	}
	s.forgetReports()
}

func (s *Session) leafID() string { return s.tree.idOf(s.line.leaf) }

// addDrafts places drafts and waits for them. It returns their ids.
func (s *Session) addDrafts(ctx context.Context, drafts ...draft) ([]string, error) {
	return s.addDraftsAt(ctx, time.Time{}, drafts...)
}

// addDraftsAt is addDrafts for what was said at a time; zero is now.
func (s *Session) addDraftsAt(ctx context.Context, at time.Time, drafts ...draft) ([]string, error) {
	s.mu.Lock()
	list := make([]placed, len(drafts))
	ids := make([]string, len(drafts))
	for i := range drafts {
		ids[i] = s.newID()
		list[i] = placed{ids[i], drafts[i], at}
	}
	wait := s.placeEntries(list)
	s.mu.Unlock()
	return ids, wait(ctx)
}

// Append adds messages after the leaf and returns the ids of their entries. It
// returns when they are on the disk for good.
func (s *Session) Append(ctx context.Context, msgs ...chat.Message) ([]string, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	ids, wait, err := s.appendLocked(msgs)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return ids, wait(ctx)
}

func (s *Session) appendLocked(msgs []chat.Message) ([]string, func(context.Context) error, error) {
	var list []placed
	ids := make([]string, len(msgs))
	o := pifile.Origin{Provider: s.line.provider, Model: s.line.model}
	for i := range msgs {
		m := msgs[i]
		m.Parts = tidyParts(m.Parts, func(id string) string { return s.toolOf(id, msgs[:i]) })
		if r := s.redactorInUse(); r != nil {
			m = r.Message(m)
		}
		var said time.Time
		if m.Time == 0 {
			m.Time = s.now().UnixMilli()
			said = s.importedAt
		} else if s.importing {
			said = time.UnixMilli(m.Time).UTC()
		}
		drafts := pifile.MessageDrafts(&m, o)
		names := make([]string, len(drafts))
		for k := range names {
			names[k] = s.newID()
		}
		if !readsBackAs(drafts, &m) {
			whole, err := marshalPlain(extra{names, wholly{m.Role, wholeParts(m.Parts), m.Synthetic, m.Model, m.Usage, m.Time}})
			if err != nil {
				return nil, nil, s.opError("append", err, "", "message %d cannot be written: %v", i, err)
			}
			list = append(list, placed{s.newID(), customDraft(customMessage, whole), said})
		}
		for k := range drafts {
			list = append(list, placed{names[k], drafts[k], said})
		}
		ids[i] = names[len(names)-1]
		if m.StartsTurn() {
			s.overflowed = false
		}
	}
	return ids, s.placeEntries(list), nil
}

// toolOf returns the name of the tool that a call names, which is one of the messages
// before it or not far back in the history.
func (s *Session) toolOf(id string, before []chat.Message) string {
	h := s.line.history
	for i := len(before) - 1; i >= -min(256, h.Len()); i-- {
		var m *chat.Message
		if i >= 0 {
			m = &before[i]
		} else {
			m = h.At(h.Len() + i)
		}
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolCall && p.ID == id && p.Name != "" {
				return p.Name
			}
		}
	}
	return ""
}

// newID returns an id for a session: a UUID of version 7, so that ids sort by
// the time they were made.
func newID(at time.Time) string {
	var b [16]byte
	rand.Read(b[6:])
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = 0x70 | b[6]&0x0f
	b[8] = 0x80 | b[8]&0x3f
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// newID returns an id for an entry that no entry has.
func (s *Session) newID() string {
	for {
		var b [4]byte
		if s.importing { // the same file gives the same ids, so that they can be named again
			s.imported++
			binary.BigEndian.PutUint32(b[:], s.imported*2654435761) // each once, and unlike its neighbours
		} else {
			rand.Read(b[:])
		}
		id := hex.EncodeToString(b[:])
		if _, taken := s.tree.find(id); !taken {
			return id
		}
	}
}
