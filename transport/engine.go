package transport

import (
	"sync"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
)

// endpointModel is what limits are learned for. Tiers and regions differ, so
// what one tenant learns does not hold for others; nor does what a provider says
// to an agent in its smaller window hold for a larger one.
type endpointModel struct {
	tenant      Tenant
	host, model string
	agent       model.Window // that its agent works in; zero is the model's own
}

// engines makes an engine for each model and window of an agent, and remembers
// them; the limits learned about a model go with each call.
type engines struct {
	opts *Options

	mu      sync.Mutex
	made    map[engineKey]*winnow.Winnow
	lessons map[endpointModel]lesson
}

type engineKey struct {
	model string
	agent model.Window
}

// Most engines and lessons that are kept. Names come from outside.
const (
	maxEngines = 256
	maxLessons = 4096
)

// engineFor returns the engine for a model.
func (e *engines) engineFor(m endpointModel) (*winnow.Winnow, error) {
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
	// The reserve of the start holds for the first answers only.
	status, err := w.Check(chat.Request{}, winnow.State{Answers: winnow.Answers{Enough: true}})
	if err != nil {
		return // the request says so itself
	}
	window := w.Window()
	status.Count.Band = 0 // the first report of usage takes the margin away
	at, why := status.Due()
	e.opts.Log.Info("window", "model", name, "tokens", window.Tokens, "source", window.Source, "why", window.Why, "compact_at", at, "compact_why", why)
}
