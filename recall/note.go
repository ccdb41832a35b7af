package recall

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
)

// ToolNote is the name of the tool that writes notes.
const ToolNote = "note"

const noteSchema = `{"type":"object","properties":{` +
	`"text":{"type":"string"},` +
	`"replaces":{"type":"string","description":"id of a note"}}}`

// NoteTool returns a tool by which a model writes something down that outlives every
// rewrite, in a conversation's own words for it: write takes the id of a note that
// goes, "" for none, and the text, and returns what to tell the model.
// A handler for winnow's Conversation calls its Note.
func NoteTool(write func(ctx context.Context, replaces, text string) (say string, err error)) Tool {
	return Tool{
		Def: chat.ToolDef{
			Name: ToolNote, Schema: noteSchema,
			Description: "Write down a fact that must outlast shortening.",
		},
		Call: func(ctx context.Context, args string) (string, bool) {
			var a struct {
				Text     string `json:"text"`
				Replaces string `json:"replaces"`
			}
			if err := readArguments(args, &a); err != nil {
				return toolFailure(err)
			}
			say, err := write(ctx, a.Replaces, a.Text)
			if err != nil {
				return toolFailure(err)
			}
			return say + "\n", false
		},
	}
}
