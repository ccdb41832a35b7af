package summary

import (
	"context"
)

// Builtin returns the summariser that needs no model.
func Builtin() Summarizer { return builtin{} }

type builtin struct{}

func (builtin) Summarize(ctx context.Context, in Input) (Output, error) {
	in, err := in.normal()
	if err != nil {
		return Output{}, err
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	text, _ := compose(&in, "")
	return Output{Text: text, Used: "builtin"}, nil
}
