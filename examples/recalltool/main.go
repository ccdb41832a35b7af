// Command recalltool gives a model two tools, with which it reads again what a plan
// hides from it: one by handle, one by search.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
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
	if _, err := c.Fit(ctx); err != nil {
		log.Fatal(err)
	}

	// The definitions go into the request, and the loop runs the calls.
	tools := recall.Tools(recall.Over(func() (chat.History, *plan.Plan) { return c.History(), c.Plan() }))
	for _, t := range tools {
		fmt.Println("tool:", t.Def.Name)
	}
	text, failed := tools[1].Call(ctx, `{"words":"db-03 SELECT"}`) // as a model would
	fmt.Println("failed:", failed, "found:", strings.Contains(text, "db-03: SELECT took"))
}
