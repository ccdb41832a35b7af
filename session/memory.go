package session

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/decode"
)

// memory is a store whose sessions end with the program.
type memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession // nil once it is closed
}

type memorySession struct {
	header   Header
	recs     [][]byte
	bytes    int64
	modified time.Time
}

// NewMemory makes an empty store whose sessions end with the program: for
// conversations of which nothing is to be written, and for tests.
func NewMemory() Store { return &memory{sessions: make(map[string]*memorySession)} }

func (m *memory) findSession(op, id string) (*memorySession, error) {
	s := m.sessions[id]
	switch {
	case m.sessions == nil:
		return nil, ErrClosed
	case s == nil:
		return nil, &Error{Op: op, Session: id, Problem: "there is no such session in memory", Hint: "list the sessions to find it", Err: ErrNotFound}
	}
	return s, nil
}

// Create makes a session with its first records.
func (m *memory) Create(_ context.Context, h Header, recs iter.Seq2[[]byte, error]) (Log, error) {
	var all [][]byte
	for raw, err := range recs {
		if err != nil {
			return nil, err
		}
		all = append(all, raw)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.sessions == nil:
		return nil, ErrClosed
	case h.ID == "":
		return nil, &Error{Op: "create", Session: "memory", Problem: "a session needs an id"}
	case m.sessions[h.ID] != nil:
		return nil, &Error{Op: "create", Session: h.ID, Problem: "there is one already", Hint: "open it, or choose another id", Err: ErrExists}
	}
	raw := HeaderRecord(h.withTimeAndID(time.Now()))
	h, err := ParseHeader(raw)
	if err != nil {
		return nil, err
	}
	s := &memorySession{header: h, bytes: int64(len(raw))}
	s.add(all)
	m.sessions[h.ID] = s
	return &memoryLog{m: m, id: h.ID}, nil
}

// Open opens a session by its id.
func (m *memory) Open(_ context.Context, id string) (Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.findSession("open", id); err != nil {
		return nil, err
	}
	return &memoryLog{m: m, id: id}, nil
}

// List returns the sessions, the last modified first.
func (m *memory) List(_ context.Context, skip, limit int) ([]Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Info
	for _, s := range m.sessions {
		all = append(all, s.info())
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(b.ID, a.ID)) })
	all = all[min(max(skip, 0), len(all)):]
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

func (s *memorySession) add(recs [][]byte) {
	for _, r := range recs {
		s.recs = append(s.recs, bytes.Clone(r))
		s.bytes += int64(len(r)) + 1
	}
	s.modified = time.Now().UTC()
}

func (s *memorySession) info() Info {
	i := Info{Header: s.header, Modified: s.modified, Bytes: s.bytes}
	for _, r := range slices.Backward(s.recs) {
		if bytes.Contains(r, []byte(`"session_info"`)) && decode.Str(r, "type") == string(TypeName) {
			i.Name = decode.Str(r, "name")
			break
		}
	}
	for _, r := range s.recs[:min(12, len(s.recs))] {
		if i.Title = RecordTitle(r); i.Title != "" {
			break
		}
	}
	return i
}

// Delete removes a session.
func (m *memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.findSession("delete", id); err != nil {
		return err
	}
	delete(m.sessions, id)
	return nil
}

// Close forgets all sessions.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = nil
	return nil
}

// memoryLog is one session in memory.
type memoryLog struct {
	m    *memory
	id   string
	read int
	shut bool
}

func (l *memoryLog) Info() Info {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if s := l.m.sessions[l.id]; s != nil {
		return s.info()
	}
	return Info{Header: Header{ID: l.id}}
}

func (l *memoryLog) Load(context.Context) ([]Record, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	s, err := l.m.findSession("read", l.id)
	if err != nil {
		return nil, err
	}
	var recs []Record
	for ; l.read < len(s.recs); l.read++ { // the header is line 1
		recs = append(recs, Record{Raw: s.recs[l.read], Line: l.read + 2})
	}
	return recs, nil
}

func (l *memoryLog) Append(recs ...[]byte) func(context.Context) error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	s, err := l.m.findSession("append to", l.id)
	if l.shut {
		err = ErrClosed
	}
	if err == nil {
		s.add(recs)
	}
	return func(context.Context) error { return err }
}

func (l *memoryLog) Notes() []string { return nil }

func (l *memoryLog) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.shut = true
	return nil
}
