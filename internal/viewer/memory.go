package viewer

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/session"
)

// Memory is a store that is gone when the program ends: for looking at what is
// not to be changed.
type Memory struct {
	mu   sync.Mutex
	logs map[string]*memoryLog
}

var _ session.Store = (*Memory)(nil)

// Create makes an empty session.
func (s *Memory) Create(_ context.Context, h session.Header) (session.Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[h.ID] != nil {
		return nil, fmt.Errorf("session %s: %w", h.ID, session.ErrExists)
	}
	if s.logs == nil {
		s.logs = make(map[string]*memoryLog)
	}
	h.Version = session.Version
	l := &memoryLog{info: session.Info{Header: h, Modified: h.Time}}
	s.logs[h.ID] = l
	return &memoryReader{l: l}, nil
}

// Open opens a session by its id.
func (s *Memory) Open(_ context.Context, id string) (session.Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.logs[id]; l != nil {
		return &memoryReader{l: l}, nil
	}
	return nil, fmt.Errorf("session %s: %w", id, session.ErrNotFound)
}

// List returns the sessions.
func (s *Memory) List(_ context.Context, skip, limit int) ([]session.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []session.Info
	for _, l := range s.logs {
		all = append(all, l.info)
	}
	slices.SortFunc(all, func(a, b session.Info) int { return b.Modified.Compare(a.Modified) })
	all = all[min(max(skip, 0), len(all)):]
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

// Delete removes a session.
func (s *Memory) Delete(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[id] == nil {
		return fmt.Errorf("session %s: %w", id, session.ErrNotFound)
	}
	delete(s.logs, id)
	return nil
}

// Close does nothing.
func (s *Memory) Close() error { return nil }

type memoryLog struct {
	mu   sync.Mutex
	info session.Info
	recs []session.Record
}

// memoryReader is one use of a log, with how far it has read.
type memoryReader struct {
	l    *memoryLog
	read int
}

func (r *memoryReader) Info() session.Info {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.l.info
}

func (r *memoryReader) Load(context.Context) ([]session.Record, error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	out := slices.Clone(r.l.recs[r.read:])
	r.read = len(r.l.recs)
	return out, nil
}

func (r *memoryReader) Append(recs ...[]byte) func(context.Context) error {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for _, raw := range recs {
		r.l.recs = append(r.l.recs, session.Record{Raw: raw, Line: len(r.l.recs) + 2})
		r.l.info.Bytes += int64(len(raw)) + 1
	}
	return func(context.Context) error { return nil }
}

func (r *memoryReader) Notes() []string { return nil }
func (r *memoryReader) Close() error    { return nil }
