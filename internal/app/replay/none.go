package replay

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
)

// none sends everything.
type none struct{}

func (none) Name() string                     { return "none" }
func (none) Begin(s Setup) (Compactor, error) { return &noneRun{NewWorking(s)}, nil }

type noneRun struct{ *Working }

func (n *noneRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	n.Grow(h)
	return n.Sent(), nil
}
