package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// pruneOutput makes old tool output small: a line that names the call, and a skeleton of
// what it said (status, errors, paths, symbols, numbers). The newest output is left
// alone. It prunes oldest first until need is met, and returns nothing when that would
// save less than the configured least.
func (d *Draft) pruneOutput(ctx context.Context, need chat.Size) ([]plan.Edit, error) {
	least := d.Config.PruneMin
	if !d.Config.FirmPruneMin {
		least = min(least, d.Available/10)
	}
	var edits []plan.Edit
	tooMany := need.Bytes > 0 // bytes: then tokens are not what counts
	for _, r := range d.pruneCandidates() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if need.Tokens <= 0 && need.Bytes <= 0 {
			break
		}
		if e, ok := d.pruneMask(r); ok {
			need = need.Sub(e.Before.Sub(e.After))
			edits = append(edits, e)
		}
	}
	if savedBy(edits).Tokens < least && !tooMany {
		return nil, nil
	}
	return edits, nil
}

// pruneCandidates lists the results that may be pruned, oldest first.
func (d *Draft) pruneCandidates() []item {
	protect := d.Config.PruneProtect
	if !d.Config.FirmPruneProtect {
		protect = min(protect, d.Available/4)
	}
	results := d.editableResults(0, d.History.Len())
	end := len(results)
	for end > 0 && (protect > 0 || results[end-1].message >= d.Live) {
		end--
		protect -= results[end].tokens
	}
	return slices.DeleteFunc(results[:end], func(r item) bool {
		return r.tokens < leastPruned || d.isExcepted(d.Call(r.message, r.index).Name)
	})
}

// leastPruned is the number of tokens below which a result is not worth an edit.
const leastPruned = 48

func (d *Draft) isExcepted(tool string) bool {
	return slices.ContainsFunc(d.Config.PruneExcept, func(name string) bool { return strings.EqualFold(name, tool) })
}

func (d *Draft) pruneMask(r item) (plan.Edit, bool) {
	call := work.Headline(d.Call(r.message, r.index), 160)
	text := fmt.Sprintf("[old output of %s (%s), reduced from %d bytes; original: %s]", call, statusWord(r.Part), len(r.Text), d.redeemPart(r.visiblePart))
	if said := skeletonOf(r.Part, min(skeletonMax, r.tokens/3), d.Counter.Text); said != "" {
		text += "\n" + said
	}
	return d.maskPart("prune", r.visiblePart, text, "old tool output")
}
