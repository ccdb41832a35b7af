// Command planfile makes a plan in one place and applies it in another: a plan is
// data, and any process that has the same history gets the same view from it.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func main() {
	history := chat.NewHistory(chat.TextMessage(chat.User, "Find the slow query."))
	for i := range 30 {
		id := fmt.Sprintf("call_%d", i)
		history = history.Append(chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"logs/db-%02d.log"}`, i))),
			chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("db-%02d: SELECT took %d ms\n", i, 100+i), 40)))
	}
	file := makePlan(history)
	fmt.Printf("the plan is %d bytes of JSON\n", len(file))

	// Elsewhere, perhaps much later: the history has grown, and the plan still applies.
	history = history.Append(chat.TextMessage(chat.User, "And the fast ones?"))
	p, err := plan.Decode(file)
	if err != nil {
		log.Fatal(err)
	}
	view, err := plan.Apply(history, p) // an error where the history is another one
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d messages become %d\n", history.Len(), view.Len())
}

func makePlan(h chat.History) []byte {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000, OutputReserve: 1000}})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := w.Fit(context.Background(), chat.Request{History: h}, winnow.State{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := fit.Plan.File()
	if err != nil {
		log.Fatal(err)
	}
	return file
}
