package summary

import (
	"context"
)

// Builtin returns the summariser that needs no model.
func Builtin() Summarizer { return builtin{} }

// Quick returns a summariser like [Builtin] for very long regions.
func Quick() Summarizer { return builtin{quick: true} }

type builtin struct{ quick bool }

func (b builtin) Summarize(ctx context.Context, in Input) (Output, error) {
	in, err := in.normal()
	if err != nil {
		return Output{}, err
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	text, _ := compose(&in, "", b.quick)
	return Output{Text: text, Used: "builtin"}, nil
}
