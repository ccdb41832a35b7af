package chat_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
)

func conversation() chat.History {
	return chat.NewHistory(
		chat.TextMessage(chat.User, "Which port does the server use?"),
		chat.CallMessage("", chat.Call("1", "grep", `{"pattern":"port"}`), chat.Call("2", "read_file", `{"path":"main.go"}`)),
		chat.ResultMessage("1", "config.yaml:3: port: 8080"),
		chat.ResultMessage("2", "package main"),
		chat.TextMessage(chat.Assistant, "8080, set in config.yaml."),
		chat.TextMessage(chat.User, "Make it 9090."),
	)
}

func ExampleHistory_Append() {
	h := conversation()
	one := h.Append(chat.TextMessage(chat.Assistant, "Done."))
	two := h.Append(chat.TextMessage(chat.Assistant, "Which file?"))
	fmt.Println(h.Len(), one.At(6).Text(), two.At(6).Text())
	fmt.Println(one.StartsWith(h.Len(), h.Chain(h.Len())))
	// Output:
	// 6 Done. Which file?
	// true
}

func ExampleNewOutline() {
	o := chat.NewOutline(conversation())
	for _, t := range o.Turns {
		fmt.Println("turn", t.From, t.To)
	}
	for _, x := range o.Exchanges {
		fmt.Println("exchange", x.From, x.To, "calls", x.Calls)
	}
	fmt.Println(o.CanCut(2), o.CutBefore(3))
	// Output:
	// turn 0 5
	// turn 5 6
	// exchange 1 4 calls 2
	// false 1
}

func ExampleRules_Check() {
	broken := chat.NewHistory(
		chat.TextMessage(chat.User, "Which port does the server use?"),
		chat.CallMessage("", chat.Call("1", "grep", `{"pattern":"port"}`)),
		chat.TextMessage(chat.User, "Never mind."),
	)
	for _, p := range chat.AllDialects().Check(broken) {
		fmt.Printf("message %d: %s: %s\n", p.At, p.Rule, p.Message)
	}
	// Output:
	// message 1: unanswered_call: call "1" has no result directly after it
}
