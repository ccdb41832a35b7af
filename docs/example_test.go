package docs_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// provider is what an agent has to call a model.
type provider func(ctx context.Context, messages chat.Sequence) (chat.Message, chat.Usage, error)

// turn is the README's example of library use.
func turn(ctx context.Context, send provider, question string) error {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5"}})
	if err != nil {
		return err
	}
	c := w.Conversation(chat.Request{})
	c.Append(chat.TextMessage(chat.User, question))
	fit, err := c.Fit(ctx) // before every request; nothing happens below the trigger
	if err != nil {
		return err // a *winnow.CannotFitError names what cannot shrink
	}
	answer, usage, err := send(ctx, fit.View) // what the model should see
	if err != nil {
		return err
	}
	c.Answered(answer, usage) // counts get better with every answer

	return nil
}

// The README's example, with a model that does not exist.
func Example() {
	send := func(_ context.Context, messages chat.Sequence) (chat.Message, chat.Usage, error) {
		fmt.Println("the model sees", messages.Len(), "message:", messages.At(0).Text())
		return chat.TextMessage(chat.Assistant, "Done."), chat.Usage{Input: 12, Output: 3}, nil
	}
	if err := turn(context.Background(), send, "Fix the build."); err != nil {
		fmt.Println(err)
	}
	// Output: the model sees 1 message: Fix the build.
}

// A history that is far too long for the window is compacted on the way, and
// taking the plan back brings everything back.
func Example_compaction() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000, OutputReserve: 1000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := w.Conversation(chat.Request{})
	c.Append(chat.TextMessage(chat.User, "Find the slow query. Never touch the production database."))
	for i := range 30 {
		id := fmt.Sprintf("call_%d", i)
		c.Append(
			chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"logs/db-%02d.log"}`, i))),
			chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("2026-11-02 db-%02d: SELECT took %d ms\n", i, 100+i), 40)),
		)
	}
	fit, err := c.Fit(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("before:", fit.Before.Fits, "after:", fit.After.Fits)
	fmt.Println("the constraint is still there:", strings.Contains(text(fit.View), "Never touch the production database."))
	if err := c.Undo(""); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("edits after undo:", len(c.Plan().Edits))
	// Output:
	// before: false after: true
	// the constraint is still there: true
	// edits after undo: 0
}

func text(s chat.Sequence) string {
	var b strings.Builder
	for i := range s.Len() {
		b.WriteString(s.At(i).Text() + "\n")
	}
	return b.String()
}
