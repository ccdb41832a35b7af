package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/winnow-llm/winnow/chat"
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
			Call: func(ctx context.Context, args string) (string, bool) {
				var a struct {
					Handle string `json:"handle"`
					From   int    `json:"from"`
					Lines  int    `json:"lines"`
					Find   string `json:"find"`
				}
				if err := readArguments(args, &a); err != nil {
					return toolFailure(err)
				}
				r := Range{From: a.From, Lines: a.Lines, Find: a.Find}
				p, err := s.Recall(ctx, a.Handle, r)
				if err != nil {
					return toolFailure(err)
				}
				return p.Format(r), false
			},
		},
		{
			Def: chat.ToolDef{
				Name: ToolSearch, Schema: searchSchema,
				Description: "Find words in the earlier parts of this conversation that were shortened or left out. Returns places with handles for " + ToolRecall + ".",
			},
			Call: func(ctx context.Context, args string) (string, bool) {
				var a struct {
					Words string `json:"words"`
					All   bool   `json:"all"`
				}
				if err := readArguments(args, &a); err != nil {
					return toolFailure(err)
				}
				q := Query{Words: a.Words, All: a.All}
				if err := q.check(); err != nil {
					return toolFailure(err)
				}
				r, err := s.Search(ctx, q)
				if err != nil {
					return toolFailure(err)
				}
				return r.Format(q), false
			},
		},
	}
}

// readArguments reads what a model wrote. A name that no tool knows is an error,
// because the model expects it to do something.
func readArguments(args string, to any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(args)))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil && d.More() {
		err = errors.New("there is more than one object")
	}
	if errors.Is(err, io.EOF) {
		return nil // no arguments: the caller says which it misses
	}
	if err != nil {
		return fmt.Errorf("the arguments cannot be read: %w; write a JSON object as the tool's schema says", err)
	}
	return nil
}

func toolFailure(err error) (string, bool) { return "error: " + err.Error(), true }
