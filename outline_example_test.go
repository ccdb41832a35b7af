package winnow_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

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
		Settings: winnow.Settings{Model: "gpt-4o", Window: 8000, MaxTokens: 500},
		Outliner: rules{},
	})
	if err != nil {
		log.Fatal(err)
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, "Which rules are there?"))
	for i := range 12 {
		var file strings.Builder
		for k := range 40 {
			fmt.Fprintf(&file, "rule reject%d\n\twhen amount over %d\n\tand country among the ones below\n\tthen ask a person first\n", k, 100*k)
		}
		id := fmt.Sprint("call_", i)
		h = h.Append(
			chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"pay%d.rules"}`, i))),
			chat.ResultMessage(id, file.String()))
	}
	h = h.Append(chat.TextMessage(chat.Assistant, "There are 480."))
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
