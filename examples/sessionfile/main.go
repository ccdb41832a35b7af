// Command sessionfile reads an agent's session file, whichever of the known formats
// it has, and says how full it is and what a compaction would do:
//
//	go run ./examples/sessionfile ~/.claude/projects/…/session.jsonl
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/transcript"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: sessionfile FILE")
	}
	sessions, err := transcript.ReadFile(os.Args[1], nil) // nil options detect the format
	if err != nil {
		log.Fatal(err)
	}
	for i := range sessions {
		s := &sessions[i]
		w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: s.Model}})
		if err != nil {
			log.Fatal(err)
		}
		// A file is at rest: calls without a result will get none. Force compacts below the trigger too.
		fit, err := w.Fit(context.Background(), s.Request(), winnow.State{Ask: winnow.Ask{Close: true, Force: true}})
		if err != nil {
			log.Fatal(err)
		}
		report := fit.Report()
		fmt.Printf("%s, %s: %d messages, %d of %d tokens; compacted: %d messages, %d tokens\n", s.Format, s.Model,
			report.MessagesBefore, fit.Before.Tokens.Total, fit.Before.Limits.Available, report.MessagesAfter, fit.After.Tokens.Total)
	}
}
