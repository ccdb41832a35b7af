package replay_test

import (
	"context"
	"fmt"
	"log"

	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/internal/peers"
	"github.com/winnow-llm/winnow/internal/replay"
)

// A board over sessions at hand. Real ones are read with [replay.Load].
func ExampleRun() {
	s := replaygen.Session(1, replaygen.Options{Requests: 60})
	data := &replay.Data{Sessions: []replay.Session{{Session: s, File: "session.json", Source: "here"}}}

	policies, err := peers.ByName("winnow", "sliding-window")
	if err != nil {
		log.Fatal(err)
	}
	board, err := replay.Run(context.Background(), data, &replay.Options{
		Policies: policies, Windows: []int{16000},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range board.Rows {
		if r.File == replay.All && r.Window > 0 {
			fmt.Printf("%s: valid %v, fits %v, no LLM %v\n", r.Policy, r.Invalid == 0, r.Overflows == 0, r.LLMCalls == 0)
		}
	}
	// Output:
	// winnow: valid true, fits true, no LLM true
	// sliding window: valid false, fits true, no LLM true
}
