package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// pruneStage makes old tool output small: first a skeleton of what it said (status,
// errors, paths, symbols, numbers), then, if that is not enough, a placeholder
// that names the call. The long values of old calls' arguments and the
// reasoning of earlier turns go with it. The newest output is left alone.
type pruneStage struct{}

// Name returns "prune".
func (pruneStage) Name() string { return "prune" }

// Propose prunes oldest first until need is met. It returns nothing when that
// would save less than the configured least.
func (s pruneStage) Propose(ctx context.Context, d *Draft, need chat.Size) ([]plan.Edit, error) {
	least := d.Config.PruneMin
	if !d.Config.FirmPruneMin {
		least = min(least, d.Available/10)
	}
	candidates := s.pruneCandidates(d)
	possible := 0
	for i := range candidates {
		possible += candidates[i].tokens
	}
	tooMany := need.Bytes > 0 // bytes: then tokens are not what counts
	if possible < least && !tooMany {
		return nil, nil
	}
	edits := s.maskThinking(d)
	for i := range edits {
		need = need.Sub(edits[i].Before.Sub(edits[i].After))
	}
	small := make(map[plan.Ref]int)
	for i := range candidates {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if need.Tokens <= 0 && need.Bytes <= 0 {
			break
		}
		e, ok := s.skeletonMask(d, &candidates[i])
		if ok {
			need = need.Sub(e.Before.Sub(e.After))
			small[e.Ref()] = len(edits)
			edits = append(edits, e)
		}
	}
	for i := range candidates {
		if need.Tokens <= 0 && need.Bytes <= 0 {
			break
		}
		c := &candidates[i]
		if c.part.Kind != chat.ToolResult {
			continue
		}
		e, ok := s.placeholderMask(d, c)
		if !ok {
			continue
		}
		if k, done := small[e.Ref()]; done {
			if e.After.Tokens < edits[k].After.Tokens {
				need = need.Sub(edits[k].After.Sub(e.After))
				edits[k] = e
			}
			continue
		}
		need = need.Sub(e.Before.Sub(e.After))
		edits = append(edits, e)
	}
	saved := 0
	for i := range edits {
		saved += edits[i].Before.Tokens - edits[i].After.Tokens
	}
	if saved < least && !tooMany {
		return nil, nil
	}
	return edits, nil
}

// pruneCandidates lists old results and long arguments that may be pruned, oldest first.
func (s pruneStage) pruneCandidates(d *Draft) []toolResult {
	results := d.editableResults(0, d.Live)
	protect := d.Config.PruneProtect
	if !d.Config.FirmPruneProtect {
		protect = min(protect, d.Available/4)
	}
	for _, r := range d.editableResults(d.Live, d.History.Len()) {
		protect -= r.tokens
	}
	end := len(results)
	for end > 0 && protect > 0 {
		end--
		protect -= results[end].tokens
	}
	results = slices.DeleteFunc(results[:end], func(r toolResult) bool {
		return r.tokens < 48 || s.isExcepted(d, r.call.Name)
	})
	edge := 0
	if end > 0 && len(results) > 0 {
		edge = results[len(results)-1].message
	}
	// Long arguments of calls that are as old as the oldest protected result.
	for p := range d.visibleParts(0, edge) {
		if p.Kind == chat.ToolCall && len(p.Args) > 1200 && p.Signature == "" && p.mask == nil && d.History.At(p.message).Role == chat.Assistant && d.mayMask(p.message, p.index) && !s.isExcepted(d, p.Name) {
			results = append(results, toolResult{message: p.message, index: p.index, part: p.Part, call: p.Part, tokens: d.Counter.Part(p.Part)})
		}
	}
	slices.SortStableFunc(results, func(a, b toolResult) int { return cmp.Or(a.message-b.message, a.index-b.index) })
	return results
}

// leastThinking is the number of tokens below which reasoning is not worth an edit.
const leastThinking = 16

func (pruneStage) isExcepted(d *Draft, tool string) bool {
	return slices.ContainsFunc(d.Config.PruneExcept, func(name string) bool { return strings.EqualFold(name, tool) })
}

// maskThinking returns masks that remove the thinking of turns before the current one.
func (s pruneStage) maskThinking(d *Draft) []plan.Edit {
	var edits []plan.Edit
	for p := range d.visibleParts(0, min(d.LastUser, d.Live)) {
		m := d.History.At(p.message)
		if p.Kind != chat.Thinking || p.mask != nil || m.Role != chat.Assistant || len(m.Parts) < 2 || !d.mayMask(p.message, p.index) {
			continue
		}
		if e, ok := d.maskPart(s.Name(), p.message, p.index, "", "reasoning of an earlier turn"); ok && e.Before.Tokens >= leastThinking {
			edits = append(edits, e)
		}
	}
	return edits
}

func (s pruneStage) skeletonMask(d *Draft, r *toolResult) (plan.Edit, bool) {
	handle := plan.Handle(d.History, r.message, r.message+1, r.index)
	if r.part.Kind == chat.ToolCall {
		return d.maskPart(s.Name(), r.message, r.index, shortArgs(r.part.Args, len(r.part.Args)/2, d.redeemHint(handle)), "long arguments of an old call")
	}
	room := min(skeletonMax, r.tokens/3)
	text := skeletonOf(r.part, room, d.Counter.Text)
	if text == "" {
		return s.placeholderMask(d, r)
	}
	note := fmt.Sprintf("[old output, reduced from %d bytes; original: %s]\n", len(r.part.Text), d.redeemHint(handle))
	return d.maskPart(s.Name(), r.message, r.index, note+text, "old tool output")
}

func (s pruneStage) placeholderMask(d *Draft, r *toolResult) (plan.Edit, bool) {
	handle := plan.Handle(d.History, r.message, r.message+1, r.index)
	status := ""
	if failed, exit, known := work.Status(r.part); known && exit != 0 {
		status = fmt.Sprintf(", exit status %d", exit)
	} else if failed {
		status = ", failed"
	}
	text := fmt.Sprintf("[old output of %s left out: %d bytes%s; original: %s]", work.Headline(r.call, 160), len(r.part.Text), status, d.redeemHint(handle))
	return d.maskPart(s.Name(), r.message, r.index, text, "old tool output")
}
