package stage

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
)

// FailState puts another reader of how things stand in place, until it is taken
// back.
func FailState(read func(chat.History, int, *token.Counter, *evidence.Kinds) *summary.State) (back func()) {
	was := newState
	newState = read
	return func() { newState = was }
}
