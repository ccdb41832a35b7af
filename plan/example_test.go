package plan_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// A plan is a list of edits over a history that stays as it is.
func Example() {
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Which port?"),
		chat.CallMessage("", chat.Call("1", "read_file", `{"path":"config.yaml"}`)),
		chat.ResultMessage("1", "a very long file with port: 8080 in it"),
		chat.TextMessage(chat.Assistant, "8080."),
		chat.TextMessage(chat.User, "Make it 9090."),
	)
	p, err := plan.Compose(nil, h, chat.Rules{}, nil, plan.Edit{
		Kind: plan.Mask, From: 2, To: 3, Part: 0, Text: "[old output of read_file]",
		Stage: "prune", Why: "old tool output", Handle: plan.Handle(h, 2, 3, 0),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range p.Edits {
		fmt.Printf("%s message %d (%s): %s\n", e.Kind, e.From, e.Why, e.Text)
	}
	view, err := plan.Apply(h, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the model sees:", view.At(2).Parts[0].Text)

	original, err := plan.Recall(h, p, p.Edits[0].Handle)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the original:", original.Messages[0].Parts[0].Text)

	undone, err := plan.Undo(p, p.ID(), h, chat.Rules{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("edits after undo:", len(undone.Edits))
	// Output:
	// mask message 2 (old tool output): [old output of read_file]
	// the model sees: [old output of read_file]
	// the original: a very long file with port: 8080 in it
	// edits after undo: 0
}
