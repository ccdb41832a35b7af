package transport

import (
	"context"
	"encoding/json"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/wire"
)

// What a provider's refusals teach costs a refused request, so the store keeps it
// for the processes that come after this one. It is read once for each model, and
// written when it changes. Providers raise their limits, and a local server is
// started again with a larger window: a limit that was told is forgotten a week
// after the provider last told it, and learned again from one refusal.

// lesson is what refusals taught about a model.
type lesson struct {
	Told  winnow.Learned `json:"told,omitzero"`
	Until time.Time      `json:"until,omitzero"` // how long that holds
	Guess guess          `json:"guess,omitzero"`
}

// toldLasts is how long a limit holds that a provider told.
const toldLasts = 7 * 24 * time.Hour

// hear takes what an overflow tells.
func (l *lesson) hear(v wire.Verdict, now time.Time) {
	if v.Limit <= 0 && v.Bytes <= 0 {
		return
	}
	lower := func(at *int, n int) {
		if n > 0 && (*at == 0 || n < *at) {
			*at = n
		}
	}
	switch {
	case v.Bytes > 0:
		lower(&l.Told.Bytes, v.Bytes)
	case v.Bytes == 0 && v.Output > 0:
		lower(&l.Told.Context, v.Limit)
	case v.Bytes == 0:
		lower(&l.Told.Input, v.Limit)
	}
	l.Until = now.Add(toldLasts)
}

// known returns the lesson as the engine takes it, told or guessed.
func (l *lesson) known() winnow.Learned {
	k := l.Told
	if g := l.Guess.Limit; g > 0 && (k.Input == 0 || g < k.Input) {
		k.Input = g
	}
	return k
}

// now returns the lesson without what has become too old.
func (l lesson) now(now time.Time) lesson {
	if now.After(l.Until) {
		l.Told, l.Until = winnow.Learned{}, time.Time{}
	}
	if now.After(l.Guess.Until) {
		l.Guess = guess{}
	}
	return l
}

// learnedLimits returns the limits learned about a model.
func (e *engines) learnedLimits(m endpointModel) winnow.Learned {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lessons[m].now(e.opts.Now())
	return l.known()
}

// keepLesson keeps a lesson. The caller holds the lock.
func (e *engines) keepLesson(m endpointModel, l lesson) {
	if _, ok := e.lessons[m]; !ok {
		makeRoom(e.lessons, maxLessons)
	}
	e.lessons[m] = l
}

// readLesson reads the stored lesson about a model, once. It does not ask again for
// an empty one.
func (e *engines) readLesson(ctx context.Context, m endpointModel) error {
	e.mu.Lock()
	_, ok := e.lessons[m]
	e.mu.Unlock()
	if ok {
		return nil
	}
	value, err := e.opts.Store.Limits(ctx, m.tenant, m.lessonName())
	if err != nil {
		return err
	}
	var l lesson
	if len(value) > 0 && json.Unmarshal(value, &l) != nil {
		l = lesson{} // of another version; it is learned again
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.lessons[m]; !ok { // nothing was learned meanwhile
		e.keepLesson(m, l)
	}
	return nil
}

// lessonName returns the name under which the store keeps a tenant's lesson.
func (m *endpointModel) lessonName() string {
	name, _ := json.Marshal([]any{m.host, m.model, m.agent.Tokens, m.agent.Own}) // cannot fail
	return string(name)
}

// updateLesson changes what is known of the call's model, and has the store keep it.
func (c *conversation) updateLesson(f func(*lesson)) {
	e := c.t.engines
	e.mu.Lock()
	before := e.lessons[c.whose]
	l := before.now(e.opts.Now())
	f(&l)
	if l != before {
		e.keepLesson(c.whose, l)
	}
	e.mu.Unlock()
	if l == before {
		return
	}
	value, err := json.Marshal(l)
	if err == nil {
		err = c.t.opts.Store.KeepLimits(context.WithoutCancel(c.ctx()), c.whose.tenant, c.whose.lessonName(), value)
	}
	if err != nil {
		c.storeFailed(err)
	}
}

// learnFromOverflow remembers what an overflow tells.
func (c *conversation) learnFromOverflow(v wire.Verdict) {
	c.updateLesson(func(l *lesson) { l.hear(v, c.t.opts.Now()) })
}

// makeRoom lets one entry of a full map go. Which one does not matter: an engine
// is made again, and a lesson is read or learned again.
func makeRoom[K comparable, V any](m map[K]V, most int) {
	if len(m) < most {
		return
	}
	for old := range m {
		delete(m, old)
		return
	}
}
