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

	// Gap is the pause between two pieces of an answer; the default is none.
	Gap time.Duration
}

// New returns a model, and a function that ends what still waits for it. It opens no port.
func New(o Options) (*llm.Client, func(), error) {
	if o.Window <= 0 {
		o.Window = Window
	}
	sim := providersim.New(providersim.Options{Seed: o.Seed, Window: o.Window, EventGap: o.Gap, Agent: scriptedAgent(o.Seed)})
	l := pipes.Listen()
	server := &http.Server{Handler: sim.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until it is closed
	end := func() {
		sim.Close()
		_ = server.Close() // nobody is connected but this process
	}
	c, err := llm.New("compatible/"+Name, &llm.Options{
		BaseURL: "http://sim.invalid/v1", Transport: &http.Transport{DialContext: l.Dial}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		end()
	}
	return c, end, err
}
