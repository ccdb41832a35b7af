package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// session returns a long conversation: twenty requests, each with a file read
// and an answer.
func session() chat.History {
	var h chat.History
	for i := range 20 {
		id := fmt.Sprint("call_", i)
		h = h.Append(
			chat.TextMessage(chat.User, fmt.Sprintf("Rename handler %d.", i)),
			chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"api/h%d.go"}`, i))),
			chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("func handler%d(w http.ResponseWriter, r *http.Request) {}\n", i), 40)),
			chat.TextMessage(chat.Assistant, "Done."))
	}
	return h
}

// Fit a request into a window of 8,000 tokens. No key and no network is needed.
func Example() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := w.Fit(context.Background(), chat.Request{History: session()}, winnow.State{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("fits before:", fit.Before.Fits, "after:", fit.After.Fits)
	fmt.Println("smaller:", fit.After.Tokens.Total < fit.Before.Tokens.Total)
	fmt.Println("last message:", fit.View.At(fit.View.Len()-1).Text())
	// Output:
	// fits before: false after: true
	// smaller: true
	// last message: Done.
}

// A conversation keeps the history, the plan and what the provider reported.
func ExampleConversation() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}})
	if err != nil {
		log.Fatal(err)
	}
	c := w.Conversation(chat.Request{System: []chat.Part{{Kind: chat.Text, Text: "You are a careful engineer."}}})
	c.Append(chat.TextMessage(chat.User, "Never touch vendor/."))
	if err := c.Pin(0); err != nil {
		log.Fatal(err)
	}
	for _, m := range session().Messages() {
		if m.Role != chat.Assistant {
			c.Append(m)
			continue
		}
		fit, err := c.Fit(context.Background()) // before every call to the model
		if err != nil {
			log.Fatal(err)
		}
		_ = fit.View // is what the model sees; m is what it answered
		c.Answered(m, chat.Usage{Input: fit.After.Tokens.Total, Output: 20})
	}
	status, err := c.Check()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("messages:", c.History().Len(), "fits:", status.Fits, "compacted:", c.Plan() != nil)
	// Output:
	// messages: 81 fits: true compacted: true
}

// Plans are data: they can be shown, and everything they hide comes back.
func ExampleConversation_Undo() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500}})
	if err != nil {
		log.Fatal(err)
	}
	c := w.Conversation(chat.Request{History: session()})
	fit, err := c.Compact(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	edit := fit.Plan.Edits[0]
	original, err := c.Recall(edit.Handle)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the original is there:", len(original.Messages) == edit.To-edit.From)
	if err := c.Undo(fit.Plan.ID()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("edits after undo:", len(c.Plan().Edits))
	// Output:
	// the original is there: true
	// edits after undo: 0
}

// When what must stay is larger than the window, the error says what it is.
func ExampleCannotFitError() {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-4o", Window: 2000, OutputReserve: 500}})
	if err != nil {
		log.Fatal(err)
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, strings.Repeat("one very long request ", 1000)))
	_, err = w.Fit(context.Background(), chat.Request{History: h}, winnow.State{})
	var cannot *winnow.CannotFitError
	if errors.As(err, &cannot) {
		fmt.Println(cannot.Items[0].What, "is larger:", cannot.Floor > cannot.Available)
	}
	// Output:
	// last user message (message 0) is larger: true
}

// rules reads a language of one's own: a line that begins with "rule" defines one.
type rules struct{}

func (rules) Outline(path string, lines []string) []int {
	if !strings.HasSuffix(path, ".rules") {
		return nil // winnow knows better
	}
	var found []int
	for i, l := range lines {
		if strings.HasPrefix(l, "rule ") {
			found = append(found, i)
		}
	}
	return found
}

// Show what files of a language define for which you have a parser.
func Example_outlineWithAParser() {
	w, err := winnow.New(&winnow.Options{
		Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500},
		Outliner: rules{},
	})
	if err != nil {
		log.Fatal(err)
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, "Which rules are there?"))
	for i := range 12 {
		var file strings.Builder
		for k := range 80 {
			fmt.Fprintf(&file, "rule reject%d\n\twhen amount over %d\n\tand country among the ones below\n\tthen ask a person first\n", k, 100*k)
		}
		id := fmt.Sprint("call_", i)
		h = h.Append(
			chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"pay%d.rules"}`, i))),
			chat.ResultMessage(id, file.String()))
	}
	h = h.Append(chat.TextMessage(chat.Assistant, "There are 960."))
	fit, err := w.Fit(context.Background(), chat.Request{History: h}, winnow.State{Ask: winnow.Ask{Force: true}})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range fit.Plan.Edits {
		if e.Kind == plan.State {
			fmt.Println("outlines have rules:", strings.Contains(e.Text, "\n1: rule reject0\n"), "and other lines:", strings.Contains(e.Text, "\n3: "))
		}
	}
	// Output: outlines have rules: true and other lines: false
}
