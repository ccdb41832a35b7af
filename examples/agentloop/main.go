// Command agentloop is an agent whose conversation never outgrows its window. The
// model is a stand-in that reads one log after the other.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

func main() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000, OutputReserve: 1000}})
	if err != nil {
		log.Fatal(err)
	}
	c := w.Conversation(chat.Request{})
	c.Append(chat.TextMessage(chat.User, "Find the slow query. Never touch the production database."))
	for step := range 40 {
		fit, err := c.Fit(context.Background()) // before every request; below the trigger it changes nothing
		if err != nil {
			log.Fatal(err) // a *winnow.CannotFitError names what cannot shrink
		}
		if fit.Changed {
			fmt.Printf("step %2d: compacted from %d to %d tokens\n", step, fit.Before.Tokens.Total, fit.After.Tokens.Total)
		}
		answer, usage := model(step, fit.View)
		c.Answered(answer, usage)
		c.Append(chat.ResultMessage(answer.Parts[0].ID, strings.Repeat(fmt.Sprintf("db-%02d: SELECT took %d ms\n", step, 100+step), 40)))
	}
	fmt.Printf("%d messages in the history, %d tokens at most\n", c.History().Len(), 8000)
}

// model stands for a call to a provider: it gets the view and returns an answer.
func model(step int, _ chat.Sequence) (chat.Message, chat.Usage) {
	call := chat.Call(fmt.Sprintf("call_%d", step), "read_file", fmt.Sprintf(`{"path":"logs/db-%02d.log"}`, step))
	return chat.CallMessage("", call), chat.Usage{Output: len(call.Args) / 4} // as the provider reports it
}
