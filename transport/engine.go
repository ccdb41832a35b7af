package transport

import (
	"sync"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/wire"
)

// limits are what a provider told about a model in its errors; 0 is nothing.
type limits struct{ context, input, bytes int }

// endpointModel is what limits are learned for. Tiers and regions differ, so
// what one tenant learns does not hold for others; nor does what a provider says
// to an agent in its smaller window hold for a larger one.
type endpointModel struct {
	tenant      planstore.Tenant
	host, model string
	agent       model.Window // that its agent works in; zero is the model's own
}

// engines makes an engine for each model and set of limits, and remembers them.
type engines struct {
	opts *Options

	mu      sync.Mutex
	made    map[engineKey]*winnow.Winnow
	learned map[endpointModel]limits
	bound   map[endpointModel]bool // seen to bind thinking to what stands before it
	guesses map[endpointModel]guess
}

type engineKey struct {
	model string
	agent model.Window
	limits

	// ahead is for engines that prepare what others use: they ask the
	// summariser, and aim lower.
	ahead bool
}

// Most engines and learned limits that are kept. Names come from outside.
const (
	maxEngines = 256
	maxLearned = 4096
)

func newEngines(o *Options) *engines {
	return &engines{
		opts: o, made: make(map[engineKey]*winnow.Winnow), bound: make(map[endpointModel]bool),
		learned: make(map[endpointModel]limits), guesses: make(map[endpointModel]guess),
	}
}

// engine returns the engine for a model as this tenant knows it.
func (e *engines) engine(m endpointModel, ahead bool) (*winnow.Winnow, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := engineKey{m.model, m.agent, e.known(m), ahead}
	if w := e.made[k]; w != nil {
		return w, nil
	}
	o := winnow.Options{Settings: e.settings(k), Registry: e.opts.Registry, Agent: k.agent}
	if ahead {
		o.Summarizer = noting{e.opts.Summarizer}
		o.Settings.Target = lowerTarget(o.Settings)
	}
	w, err := winnow.New(&o)
	if err != nil {
		return nil, err
	}
	if len(e.made) >= maxEngines {
		for old := range e.made {
			delete(e.made, old)
			break
		}
	}
	e.made[k] = w
	return w, nil
}

// lowerTarget is what must be aimed at from where preparation starts, so that
// the target is reached from the trigger.
func lowerTarget(s winnow.Settings) float64 {
	d := s.WithDefaults()
	threshold := d.Threshold
	if threshold <= 0 {
		threshold = 1
	}
	return max(d.Target-max(0, threshold-prepareFrom), d.Target/2)
}

// settings are the engine's settings with what was learned: that lowers what
// is known, and replaces what is a guess.
func (e *engines) settings(k engineKey) winnow.Settings {
	s := e.opts.Settings
	s.Model = k.model
	m := e.opts.Registry.Lookup(k.model)
	guess := s.Window == 0 && k.agent.Tokens == 0 && m.Source.Guess()
	if s.Window > 0 {
		m.Context, m.Input = s.Window, 0
	} else {
		m, _ = m.In(k.agent)
	}
	if s.InputLimit > 0 {
		m.Input = s.InputLimit
	}
	if k.bytes > 0 && (s.MaxBytes <= 0 || k.bytes < s.MaxBytes) {
		s.MaxBytes = k.bytes
	}
	if k.context == 0 && k.input == 0 {
		return s
	}
	if k.context > 0 && (guess || m.Context == 0 || k.context < m.Context) {
		m.Context = k.context
		if guess {
			m.Input = 0
		}
	}
	if k.input > 0 {
		if guess && k.context == 0 {
			m.Context = max(m.Context, k.input)
		}
		if m.Input == 0 || guess || k.input < m.Input {
			m.Input = k.input
		}
	}
	s.Window, s.InputLimit = m.Context, m.Input
	return s
}

// binds reports whether the model was seen to bind thinking to what stands
// before it, though its name does not say so.
func (e *engines) binds(m endpointModel) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bound[m]
}

// learnBinding remembers that the model refused thinking after a rewrite.
func (e *engines) learnBinding(m endpointModel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.bound) < maxLearned {
		e.bound[m] = true
	}
}

// learn remembers what an overflow tells.
func (e *engines) learn(m endpointModel, v wire.Verdict) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, ok := e.learned[m]
	if !ok {
		makeRoom(e.learned)
	}
	lower := func(at *int, n int) {
		if n > 0 && (*at == 0 || n < *at) {
			*at = n
		}
	}
	switch {
	case v.Bytes > 0:
		lower(&l.bytes, v.Bytes)
	case v.Bytes == 0 && v.Output > 0:
		lower(&l.context, v.Limit)
	case v.Bytes == 0:
		lower(&l.input, v.Limit)
	}
	if l != (limits{}) {
		e.learned[m] = l
	}
}
