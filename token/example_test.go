package token_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

func Example() {
	counter := token.New(token.O200K, &token.Options{Exact: true})
	history := chat.NewHistory(
		chat.TextMessage(chat.User, "Why does the test fail?"),
		chat.CallMessage("", chat.Call("call_1", "shell", `{"cmd":"go test"}`)),
		chat.ResultMessage("call_1", "--- FAIL: TestStore (0.00s)"),
	)
	total := counter.Conversation()
	for i := range history.Len() {
		total += counter.At(history, i)
	}
	fmt.Println(total, counter.Method())
	// Output: 61 exact
}

func ExampleLedger() {
	ledger := token.NewLedger(token.Claude5)
	// The view had 12 messages, estimated at 20,000 tokens. The provider counted
	// 23,000 and answered with 900, of which 300 are visible.
	ledger.Record(token.Step{
		Messages: 12, Estimate: 20000, Answer: 300,
		Usage: chat.Usage{Input: 1000, CacheRead: 22000, Output: 900},
	})
	// The answer and a tool's result of 1,500 tokens were appended.
	next, ok := ledger.Predict(token.Step{Messages: 14, Estimate: 20000 + 300 + 1500, Plan: ""})
	fmt.Println(next.Tokens, next.Method, ok)
	// Output: 25400 anchored true
}

func ExampleCounter_Truncate() {
	counter := token.New(token.O200K, &token.Options{Exact: true})
	fmt.Println(counter.Truncate("The disk was full. The server restarted twice before anybody noticed.", 8))
	// Output: The disk was full. …
}
