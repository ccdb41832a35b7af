package plan_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func talk() chat.History {
	return chat.NewHistory(
		chat.TextMessage(chat.User, "Which port does the server use?"),
		chat.CallMessage("", chat.Call("1", "read_file", `{"path":"config.yaml"}`)),
		chat.ResultMessage("1", "host: 0.0.0.0\nport: 8080\n(400 more lines)"),
		chat.TextMessage(chat.Assistant, "8080, set in config.yaml."),
		chat.TextMessage(chat.User, "Make it 9090."),
	)
}

func printView(v plan.View) {
	for i := range v.Len() {
		m := v.At(i)
		text := m.Text()
		for _, p := range m.Parts {
			if p.Kind == chat.ToolCall {
				text += p.Name + " " + p.Args
			}
			if p.Kind == chat.ToolResult {
				text += p.Text
			}
		}
		fmt.Printf("%s: %s\n", m.Role, text)
	}
}

// A plan masks an old result; the history stays as it is.
func ExampleCompose() {
	h := talk()
	p, err := plan.Compose(nil, h, chat.AllDialects(), nil, plan.Edit{
		Kind: plan.Mask, From: 2, To: 3, Part: 0, Stage: "prune",
		Text: "[config.yaml, port: 8080]",
	})
	if err != nil {
		log.Fatal(err)
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		log.Fatal(err)
	}
	printView(v)
	// Output:
	// user: Which port does the server use?
	// assistant: read_file {"path":"config.yaml"}
	// tool: [config.yaml, port: 8080]
	// assistant: 8080, set in config.yaml.
	// user: Make it 9090.
}

// A fold puts one message in place of a run, and its handle gives the run back.
func ExampleRecall() {
	h := talk()
	fold := plan.Edit{
		Kind: plan.Fold, From: 0, To: 4, Part: -1, Stage: "fold",
		Text:   "Earlier: the server's port is 8080 (config.yaml).",
		Handle: plan.Handle(h, 0, 4, -1),
	}
	p, err := plan.Compose(nil, h, chat.AllDialects(), nil, fold)
	if err != nil {
		log.Fatal(err)
	}
	v, _ := plan.Apply(h, p)
	printView(v)
	o, err := plan.Recall(h, p, fold.Handle)
	fmt.Println(len(o.Messages), "messages from", o.From, err)
	// Output:
	// user: Earlier: the server's port is 8080 (config.yaml).
	// user: Make it 9090.
	// 4 messages from 0 <nil>
}

// Plans are taken back by their id, also after the conversation went on.
func ExampleUndo() {
	h := talk()
	p, err := plan.Compose(nil, h, chat.AllDialects(), nil, plan.Edit{
		Kind: plan.Drop, From: 0, To: 4, Part: -1, Stage: "truncate", Text: "[4 messages left out]",
	})
	if err != nil {
		log.Fatal(err)
	}
	h = h.Append(chat.TextMessage(chat.Assistant, "Done."))
	v, _ := plan.Apply(h, p)
	fmt.Println(v.Len())
	back, err := plan.Undo(p, p.ID(), h, chat.AllDialects())
	if err != nil {
		log.Fatal(err)
	}
	v, _ = plan.Apply(h, back)
	fmt.Println(v.Len())
	// Output:
	// 3
	// 6
}

// Plans are stored as JSON. A file that was changed is refused.
func ExampleDecode() {
	h := talk()
	p, err := plan.Compose(nil, h, chat.AllDialects(), nil, plan.Edit{
		Kind: plan.Mask, From: 0, To: 1, Part: 0, Stage: "limit", Text: "Which port?",
	})
	if err != nil {
		log.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		log.Fatal(err)
	}
	q, err := plan.Decode(data)
	fmt.Println(q.ID() == p.ID(), q.Covers(h), err)
	// Output: true true <nil>
}
