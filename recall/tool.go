package recall

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/toolcall"
)

// The names of the tools.
const (
	ToolRecall = "recall"
	ToolSearch = "search_history"
)

// Tool is a tool for a model: what the request declares, and what runs when the
// model calls it.
type Tool struct {
	Def chat.ToolDef

	// Call takes the arguments as the model wrote them, and returns the text of
	// the tool's result. Failed says that it is about an error; the text says
	// what to do then.
	Call func(ctx context.Context, args string) (text string, failed bool)
}

const recallSchema = `{"type":"object","properties":{` +
	`"handle":{"type":"string","description":"as in [original: w3kfa82nq]"},` +
	`"from":{"type":"integer","minimum":1,"description":"first line (default 1)"},` +
	`"lines":{"type":"integer","minimum":1,"maximum":1000,"description":"how many lines (default 200)"},` +
	`"find":{"type":"string","description":"show only lines with these words"}},` +
	`"required":["handle"],"additionalProperties":false}`

const searchSchema = `{"type":"object","properties":{` +
	`"words":{"type":"string","description":"names, paths, errors"},` +
	`"all":{"type":"boolean","description":"search all conversations, not only the one used last"}},` +
	`"required":["words"],"additionalProperties":false}`

// Tools returns the tools recall and search_history over a source. Declare them
// from the first request on: a tool that comes later costs the provider's cache.
func Tools(s Source) []Tool {
	return []Tool{
		{
			Def: chat.ToolDef{
				Name: ToolRecall, Schema: recallSchema,
				Description: "Show the original text behind a handle. Parts of this conversation were shortened to save room; [original: HANDLE] marks them. Returns numbered lines, a page at a time.",
			},
			Call: toolcall.Typed(func(ctx context.Context, a struct {
				Handle string `json:"handle"`
				From   int    `json:"from"`
				Lines  int    `json:"lines"`
				Find   string `json:"find"`
			},
			) (string, error) {
				r := Range{From: a.From, Lines: a.Lines, Find: a.Find}
				p, err := s.Recall(ctx, a.Handle, r)
				return p.Format(r), err
			}),
		},
		{
			Def: chat.ToolDef{
				Name: ToolSearch, Schema: searchSchema,
				Description: "Find words in the earlier parts of this conversation that were shortened or left out. Returns places with handles for " + ToolRecall + ".",
			},
			Call: toolcall.Typed(func(ctx context.Context, a struct {
				Words string `json:"words"`
				All   bool   `json:"all"`
			},
			) (string, error) {
				q := Query{Words: a.Words, All: a.All}
				if err := q.check(); err != nil {
					return "", err
				}
				r, err := s.Search(ctx, q)
				if err != nil {
					return "", err
				}
				return r.Format(q), nil
			}),
		},
	}
}
