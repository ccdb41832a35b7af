package planstore

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Preparation is what a conversation will need when it reaches its trigger, made
// ahead of time. It is edits: they become a plan when a request uses them.
type Preparation struct {
	// Len and Chain are the messages that it was made for, Base the plan in
	// force then.
	Len   int       `json:"len"`
	Chain chat.Hash `json:"chain"`
	Base  plan.ID   `json:"base"`

	// Release are edits of that plan that give way, Edits those that are added.
	// There are none where nothing is needed.
	Release []plan.Ref  `json:"release"`
	Edits   []plan.Edit `json:"edits"`
}

// preparedID is what something is prepared for.
type preparedID struct {
	key  Key
	base plan.ID
}

// PutPrepared implements [Store].
func (m *Memory) PutPrepared(_ context.Context, k Key, p Preparation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := preparedID{k, p.Base}
	if _, there := m.prepared[id]; there {
		return nil
	}
	if m.prepared == nil || len(m.prepared) >= m.bounds.Plans {
		m.prepared = make(map[preparedID]Preparation) // what was there is prepared again
	}
	m.prepared[id] = p
	return nil
}

// Preparation implements [Store].
func (m *Memory) Preparation(_ context.Context, k Key, base plan.ID) (Preparation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.prepared[preparedID{k, base}]
	if !ok {
		return Preparation{}, ErrNotFound
	}
	return p, nil
}
