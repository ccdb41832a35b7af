package recall

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/toolcall"
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
		Call: toolcall.Typed(func(ctx context.Context, a struct {
			Text     string `json:"text"`
			Replaces string `json:"replaces"`
		},
		) (string, error) {
			say, err := write(ctx, a.Replaces, a.Text)
			return say + "\n", err
		}),
	}
}
