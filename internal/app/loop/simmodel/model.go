package simmodel

import (
	"net/http"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/memnet/pipes"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/llm"
)

// Name is what the model is called; Window is its window where nothing else is
// said: small, so that compaction comes after some turns.
const (
	Name   = "sim"
	Window = 16_000
)

// Options say how the model behaves. The zero value works.
type Options struct {
	// Window is the most tokens of a prompt; the default is [Window].
	Window int

	// Seed of its answers; two conversations with the same seed go alike.
	Seed uint64

	// Gap is the pause between two pieces of an answer, Delay the one before
	// it; the default is none.
	Gap, Delay time.Duration
}

// Model is the simulated model.
type Model struct {
	*llm.Client
	sim    *providersim.Server
	server *http.Server
}

// New returns a model. It opens no port.
func New(o Options) (*Model, error) {
	if o.Window <= 0 {
		o.Window = Window
	}
	sim := providersim.New(providersim.Options{
		Seed: o.Seed, Window: o.Window, EventGap: o.Gap, FirstByte: o.Delay, Agent: scriptedAgent(o.Seed),
	})
	l := pipes.Listen()
	m := &Model{sim: sim, server: &http.Server{Handler: sim.Handler(), ReadHeaderTimeout: time.Minute}}
	go func() { _ = m.server.Serve(l) }() // until it is closed
	var err error
	m.Client, err = llm.New("compatible/"+Name, &llm.Options{
		BaseURL: "http://sim.invalid/v1", Transport: &http.Transport{DialContext: l.Dial}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Report says what the model was asked so far.
func (m *Model) Report() providersim.Report { return m.sim.Report() }

// Close ends what still waits.
func (m *Model) Close() {
	m.sim.Close()
	_ = m.server.Close() // nobody is connected but this process
}
