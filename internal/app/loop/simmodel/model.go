// Package simmodel is a model for trying winnow's agent without a key and
// without a network: the provider simulator inside the process, with a script
// that calls the agent's own tools on the files of the working folder. It only
// lists and reads by itself; it writes and runs something harmless
// where the person's words ask for it, so that the questions can be seen too.
//
// It understands nothing of what it reads, and says so. What it is good for is
// to fill a window with real content, so that compaction can be watched.
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

// New returns a model, and a function that ends what still waits for it. It opens no port.
// The window is the most tokens of a prompt, 0 for [Window]; two conversations with the
// same seed go alike; the gap is a pause between two pieces of an answer.
func New(window int, seed uint64, gap time.Duration) (*llm.Client, func(), error) {
	if window <= 0 {
		window = Window
	}
	sim := providersim.New(providersim.Options{Seed: seed, Window: window, EventGap: gap, Agent: scriptedAgent(seed)})
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
