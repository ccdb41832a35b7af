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
// what it said (status, errors, paths, symbols, numbers). The long values of old calls'
// arguments and the reasoning of earlier turns go with it. The newest output is left
// alone. It prunes oldest first until need is met, and returns nothing when that would
// save less than the configured least.
func (d *Draft) pruneOutput(ctx context.Context, need chat.Size) ([]plan.Edit, error) {
	least := d.Config.PruneMin
	if !d.Config.FirmPruneMin {
		least = min(least, d.Available/10)
	}
	edits := d.maskThinking()
	tooMany := need.Bytes > 0 // bytes: then tokens are not what counts
	need = need.Sub(savedBy(edits))
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

// pruneCandidates lists old results and long arguments that may be pruned, oldest first.
func (d *Draft) pruneCandidates() []item {
	protect := d.Config.PruneProtect
	if !d.Config.FirmPruneProtect {
		protect = min(protect, d.Available/4)
	}
	edge := d.Live // what stands before may be pruned
	for _, r := range slices.Backward(d.editableResults(0, d.History.Len())) {
		if protect <= 0 {
			break
		}
		protect -= r.tokens
		edge = min(edge, d.Outline.CutBefore(r.message))
	}
	var items []item
	for p := range d.visibleParts(0, edge) {
		tool := p.Name
		if p.Kind == chat.ToolResult {
			tool = d.Call(p.message, p.index).Name
		} else if p.Kind != chat.ToolCall || len(p.Args) <= 1200 || d.History.At(p.message).Role != chat.Assistant {
			continue
		}
		if p.Signature != "" || p.mask != nil || !d.mayMask(p.message, p.index) || d.isExcepted(tool) {
			continue
		}
		if it := d.asItem(p); it.tokens >= leastPruned {
			items = append(items, it)
		}
	}
	return items
}

// leastPruned is the number of tokens below which a result is not worth an edit.
const leastPruned = 48

// leastThinking is the number of tokens below which reasoning is not worth an edit.
const leastThinking = 16

func (d *Draft) isExcepted(tool string) bool {
	return slices.ContainsFunc(d.Config.PruneExcept, func(name string) bool { return strings.EqualFold(name, tool) })
}

// maskThinking returns masks that remove the thinking of turns before the current one.
func (d *Draft) maskThinking() []plan.Edit {
	var edits []plan.Edit
	for p := range d.visibleParts(0, min(d.LastUser, d.Live)) {
		m := d.History.At(p.message)
		if p.Kind != chat.Thinking || p.mask != nil || m.Role != chat.Assistant || len(m.Parts) < 2 || !d.mayMask(p.message, p.index) {
			continue
		}
		if e, ok := d.maskPart("prune", p, "", "reasoning of an earlier turn"); ok && e.Before.Tokens >= leastThinking {
			edits = append(edits, e)
		}
	}
	return edits
}

func (d *Draft) pruneMask(r item) (plan.Edit, bool) {
	redeem := d.redeemPart(r.visiblePart)
	if r.Kind == chat.ToolCall {
		return d.maskPart("prune", r.visiblePart, shortArgs(r.Args, len(r.Args)/2, redeem), "long arguments of an old call")
	}
	call := work.Headline(d.Call(r.message, r.index), 160)
	text := fmt.Sprintf("[old output of %s left out: %s, %d bytes; original: %s]", call, statusWord(r.Part), len(r.Text), redeem)
	if said := skeletonOf(r.Part, min(skeletonMax, r.tokens/3), d.Counter.Text); said != "" {
		text += "\n" + said
	}
	return d.maskPart("prune", r.visiblePart, text, "old tool output")
}
