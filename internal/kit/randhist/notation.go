package randhist

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// Parse returns the messages of a conversation in the short notation of test
// tables, one word for each message:
//
//	u  a  s     a user's, assistant's or system message
//	y           a synthetic user message
//	tc(A,B)     an assistant message that calls A and B; tc is tc(A)
//	th(A)       the same, starting with signed thinking
//	t(A)        a result for A in a message of role tool; t is t(A)
//	r(A,B)      results for A and B in a user's message; r(A)+ has text too
//
// Texts are the word and the message's index, so they all differ. Parse
// panics on other words.
func Parse(notation string) []chat.Message {
	var out []chat.Message
	for i, word := range strings.Fields(notation) {
		head, inside, _ := strings.Cut(strings.TrimSuffix(word, "+"), "(")
		ids := []string{"A"}
		if inside != "" {
			ids = strings.Split(strings.TrimSuffix(inside, ")"), ",")
		}
		text := fmt.Sprintf("%s %d", head, i)
		var m chat.Message
		switch head {
		case "u":
			m = chat.TextMessage(chat.User, text)
		case "y":
			m = chat.TextMessage(chat.User, text)
			m.Synthetic = true
		case "a":
			m = chat.TextMessage(chat.Assistant, text)
		case "s":
			m = chat.TextMessage(chat.System, text)
		case "tc", "th":
			m.Role = chat.Assistant
			if head == "th" {
				m.Parts = append(m.Parts, chat.Part{Kind: chat.Thinking, Text: text, Signature: fmt.Sprintf("signature %d", i)})
			}
			for _, id := range ids {
				m.Parts = append(m.Parts, chat.Call(id, "tool_"+id, `{"n":1}`))
			}
		case "t", "r":
			m.Role = chat.Tool
			if head == "r" {
				m.Role = chat.User
			}
			for _, id := range ids {
				m.Parts = append(m.Parts, chat.Part{Kind: chat.ToolResult, ID: id, Text: text + " of " + id})
			}
		default:
			panic(fmt.Sprintf("randhist: %q is not a word of the notation", word))
		}
		if strings.HasSuffix(word, "+") {
			m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: "words " + text})
		}
		out = append(out, m)
	}
	return out
}
