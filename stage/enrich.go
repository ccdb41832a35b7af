package stage

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/summary"
)

// The parts that only enrich a view. Each is made behind a guard: a view without
// it is still one that fits and is valid.
const (
	partSummary = "summary"
	partCalls   = "calls"
)

// leftParts are the parts that were left out, and why.
type leftParts struct{ names, notes []string }

// noteLeftOut notes a part that is left out, and reports whether it is. One that is
// missing in several places is told once.
func (d *Draft) noteLeftOut(left *guard.LeftOut) bool {
	if left == nil {
		return false
	}
	if !slices.Contains(d.left.names, left.Part) {
		d.left.names = append(d.left.names, left.Part)
		d.left.notes = append(d.left.notes, left.Error())
	}
	return true
}

// makePart runs what makes a part, and reports whether it was made.
func (d *Draft) makePart(part string, do func()) bool { return !d.noteLeftOut(guard.Do(part, do)) }

// summarizeFold asks for the text of a fold. Where the built-in summariser fails, the
// text is what is known without reading: that there was something.
func (d *Draft) summarizeFold(ctx context.Context, in summary.Input) (out summary.Output, err error) {
	if !d.makePart(partSummary, func() { out, err = cmp.Or(d.Config.Summarizer, summary.Builtin()).Summarize(ctx, in) }) {
		return summary.Output{Text: "[Earlier messages, without a summary]", Used: "none"}, nil
	}
	return out, err
}
