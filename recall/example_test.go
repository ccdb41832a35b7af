package recall_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// An agent's loop offers the tools to its model and runs what the model calls.
func Example_recallAsTool() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000}})
	if err != nil {
		panic(err)
	}
	var c *winnow.Conversation
	tools := recall.Tools(recall.Over(func() (chat.History, *plan.Plan) { return c.History(), c.Plan() }))
	req := chat.Request{}
	for _, t := range tools {
		req.Tools = append(req.Tools, t.Def)
	}
	c = w.Conversation(req)

	c.Append(chat.TextMessage(chat.User, "Why does the build fail?"))
	for i := range 12 {
		id := fmt.Sprint("call", i)
		c.Append(
			chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.ToolCall, ID: id, Name: "build", Args: "{}"}}},
			chat.Message{Role: chat.Tool, Parts: []chat.Part{{Kind: chat.ToolResult, ID: id, Name: "build", Text: strings.Repeat(fmt.Sprintf("compiling part %d of the program\n", i), 60) + fmt.Sprintf("step %d took %d seconds\n", i, 40+i)}}},
		)
	}
	if _, err := c.Compact(context.Background()); err != nil {
		panic(err)
	}

	// What the model asks for, the loop runs and sends back as the result.
	run := func(name, args string) string {
		for _, t := range tools {
			if t.Def.Name == name {
				text, _ := t.Call(context.Background(), args)
				return text
			}
		}
		return "error: there is no such tool"
	}
	found := run("search_history", `{"words":"step 3 took"}`)
	handle, _, _ := strings.Cut(strings.Split(found, "\n")[1], " ")
	answer := run("recall", fmt.Sprintf(`{"handle":%q,"find":"step 3 took"}`, handle))
	fmt.Println(strings.Contains(answer, "step 3 took 43 seconds"))
	// Output: true
}
