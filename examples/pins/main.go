// Command pins keeps one message from being touched, shows what a plan did, brings
// one original back and then takes the whole plan back.
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
	ctx := context.Background()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000, OutputReserve: 1000}})
	if err != nil {
		log.Fatal(err)
	}
	c := w.Conversation(chat.Request{})
	c.Append(chat.TextMessage(chat.User, "Find the slow query."))
	for i := range 30 {
		id := fmt.Sprintf("call_%d", i)
		c.Append(chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"logs/db-%02d.log"}`, i))),
			chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("db-%02d: SELECT took %d ms\n", i, 100+i), 40)))
	}
	if err := c.Pin(2); err != nil { // the first result stays as it is
		log.Fatal(err)
	}
	fit, err := c.Fit(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d -> %d tokens\n", fit.Plan, fit.Before.Tokens.Total, fit.After.Tokens.Total)
	for _, e := range fit.Plan.Edits {
		if e.Handle == "" {
			continue
		}
		original, err := c.Recall(e.Handle)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s hides %d messages from %d on\n", e.Handle, len(original.Messages), original.From)
		break
	}
	if err := c.Undo(fit.Plan.ID()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("taken back; edits left:", len(c.Plan().Edits))
}
