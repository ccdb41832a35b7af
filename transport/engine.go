package transport

import (
	"sync"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/wire"
)

// endpointModel is what limits are learned for. Tiers and regions differ, so
// what one tenant learns does not hold for others; nor does what a provider says
// to an agent in its smaller window hold for a larger one.
type endpointModel struct {
	tenant      planstore.Tenant
	host, model string
	agent       model.Window // that its agent works in; zero is the model's own
}

// engines makes an engine for each model and window of an agent, and remembers
// them; what was learned about a model goes with each call.
type engines struct {
	opts *Options

	mu      sync.Mutex
	made    map[engineKey]*winnow.Winnow
	learned map[endpointModel]winnow.Learned
	guesses map[endpointModel]guess
}

type engineKey struct {
	model string
	agent model.Window
}

// Most engines and learned limits that are kept. Names come from outside.
const (
	maxEngines = 256
	maxLearned = 4096
)

func newEngines(o *Options) *engines {
	return &engines{
		opts: o, made: make(map[engineKey]*winnow.Winnow),
		learned: make(map[endpointModel]winnow.Learned), guesses: make(map[endpointModel]guess),
	}
}

// engine returns the engine for a model.
func (e *engines) engine(m endpointModel) (*winnow.Winnow, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := engineKey{m.model, m.agent}
	if w := e.made[k]; w != nil {
		return w, nil
	}
	o := winnow.Options{Settings: e.opts.Settings, Registry: e.opts.Registry, Kinds: e.opts.Kinds, Agent: k.agent}
	o.Settings.Model = k.model
	if e.opts.Summarizer != nil {
		o.Summarizer = noting{e.opts.Summarizer}
	}
	w, err := winnow.New(&o)
	if err != nil {
		return nil, err
	}
	e.logWindow(k.model, w)
	makeRoom(e.made, maxEngines)
	e.made[k] = w
	return w, nil
}

// logWindow tells which window holds for a model, why, and when it is compacted.
func (e *engines) logWindow(name string, w *winnow.Winnow) {
	status, err := w.Check(chat.Request{}, winnow.State{})
	if err != nil {
		return // the request says so itself
	}
	window := w.Window()
	at, why := status.Due()
	e.opts.Log.Info("window", "model", name, "tokens", window.Tokens, "source", window.Source, "why", window.Why, "compact_at", at, "compact_why", why)
}

// learnBinding remembers that the model refused thinking after a rewrite.
func (e *engines) learnBinding(m endpointModel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.learned[m]
	l.BoundThinking = true
	e.keep(m, l)
}

// keep keeps what was learned about a model. The caller holds the lock.
func (e *engines) keep(m endpointModel, l winnow.Learned) {
	if _, ok := e.learned[m]; !ok {
		makeRoom(e.learned, maxLearned)
	}
	e.learned[m] = l
}

// learn remembers what an overflow tells.
func (e *engines) learn(m endpointModel, v wire.Verdict) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.learned[m]
	lower := func(at *int, n int) {
		if n > 0 && (*at == 0 || n < *at) {
			*at = n
		}
	}
	switch {
	case v.Bytes > 0:
		lower(&l.Bytes, v.Bytes)
	case v.Bytes == 0 && v.Output > 0:
		lower(&l.Context, v.Limit)
	case v.Bytes == 0:
		lower(&l.Input, v.Limit)
	}
	if l != (winnow.Learned{}) {
		e.keep(m, l)
	}
}
