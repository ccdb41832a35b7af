package winnow

import (
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/stage"
)

// CannotFitError says that what must stay is larger than what is available,
// and lists it, largest first. Tokens are those that the provider counts.
type CannotFitError = stage.CannotFitError

// inTokens puts an error of the stages, which count in the counter's units,
// into what the provider counts.
func inTokens(err error, available int, of scale) error {
	var cannot *CannotFitError
	if !errors.As(err, &cannot) {
		return err
	}
	e := *cannot
	c := of(e.Floor)
	share := float64(c.Tokens) / float64(max(1, e.Floor))
	e.Available, e.Floor, e.Upper = available, c.Tokens, c.Upper()
	e.Items = slices.Clone(e.Items)
	for i := range e.Items {
		e.Items[i].Tokens = int(share * float64(e.Items[i].Tokens))
	}
	return &e
}

// NotLastingError says that three rewrites in a row did not last, so that a
// further one would only cost.
type NotLastingError struct {
	Rewrites int
	Used     int // tokens
	Limits   Limits
}

// Error says what can be done.
func (e *NotLastingError) Error() string {
	return fmt.Sprintf("winnow: %d rewrites in a row did not help for long: %d tokens of %d available are used and the rest cannot shrink; use a larger window, lower the output reserve, or remove pins",
		e.Rewrites, e.Used, e.Limits.Available)
}
