package stage

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// supersedeStage reduces older copies of what stands in the conversation again: a
// file that was read again in the same or a larger range, or written as a
// whole; a result that came again byte for byte; lines that a later result
// repeats. The latest copy stays, the older ones point to it and keep the lines
// that are only in them.
type supersedeStage struct{}

// Name returns "supersede".
func (supersedeStage) Name() string { return "supersede" }

// shownAt is a later place where something stands again.
type shownAt struct {
	op      work.FileOp
	message int
	result  *chat.Part
}

// Propose reduces superseded results, oldest first, until need is met.
func (s supersedeStage) Propose(_ context.Context, d *Draft, need chat.Size) ([]plan.Edit, error) {
	seed := maphash.MakeSeed()
	shown := make(map[string][]shownAt) // by path, from later messages
	whole := make(map[uint64]int)       // hash of a result -> message
	lines := make(map[uint64]int)       // hash of a line -> message, the latest

	// Newest first: what a result repeats must stand after it. Results from
	// Live on count as later copies but are not reduced themselves.
	var found []plan.Edit
	all := d.editableResults(0, d.History.Len())
	for n := len(all) - 1; n >= 0; n-- {
		r := &all[n]
		if r.failed {
			continue // it neither repeats nor replaces anything
		}
		access := d.Kinds.Access(r.call)
		if r.message < d.Live && r.tokens >= 64 {
			if e, ok := s.maskSuperseded(d, r, &access, shown, whole, lines, seed); ok {
				found = append(found, e)
				continue // it no longer stands there for others to point at
			}
		}
		for _, op := range access.Ops {
			if op.Path != "" && (op.Kind == work.ToolRead || op.Kind == work.ToolWrite) {
				shown[op.Path] = append(shown[op.Path], shownAt{op, r.message, r.part})
			}
		}
		if len(r.part.Text) >= minRepeat {
			whole[maphash.String(seed, r.part.Text)] = r.message
			for line := range strings.Lines(r.part.Text) {
				if line = strings.TrimSuffix(line, "\n"); len(line) >= minLine {
					lines[maphash.String(seed, line)] = r.message
				}
			}
		}
	}
	// found is newest first; the oldest go first.
	edits := s.maskInstructions(d)
	for i := range edits {
		need = need.Sub(edits[i].Before.Sub(edits[i].After))
	}
	for i := len(found) - 1; i >= 0 && (need.Tokens > 0 || need.Bytes > 0); i-- {
		e := found[i]
		need = need.Sub(e.Before.Sub(e.After))
		edits = append(edits, e)
	}
	return edits, nil
}

// maskInstructions reduces system messages in the middle that stand again later,
// word for word.
func (s supersedeStage) maskInstructions(d *Draft) []plan.Edit {
	var edits []plan.Edit
	later := make(map[string]int)
	for i := d.Live - 1; i >= 0; i-- {
		m := d.History.At(i)
		if m.Role != chat.System || len(m.Parts) != 1 || len(m.Parts[0].Text) < minRepeat {
			continue
		}
		at, again := later[m.Parts[0].Text]
		later[m.Parts[0].Text] = i
		if again && d.mayMask(i, 0) {
			if e, ok := d.maskPart(s.Name(), i, 0, "[these instructions stand again later]", fmt.Sprintf("the same system message at message %d", at)); ok {
				edits = append(edits, e)
			}
		}
	}
	slices.Reverse(edits)
	return edits
}

// Texts and lines shorter than this are not worth pointing at another place for.
const (
	minRepeat = 200
	minLine   = 12
)

// maskSuperseded returns an edit for a result that stands again later, in whole or for the most part.
func (s supersedeStage) maskSuperseded(d *Draft, r *toolResult, access *work.Access, shown map[string][]shownAt, whole, lines map[uint64]int, seed maphash.Seed) (plan.Edit, bool) {
	text := r.part.Text
	handle := plan.Handle(d.History, r.message, r.message+1, r.index)
	least := int(supersedeMin * float64(r.tokens))
	try := func(stand, why string) (plan.Edit, bool) {
		e, ok := d.maskPart(s.Name(), r.message, r.index, stand, why)
		return e, ok && e.Before.Tokens-e.After.Tokens >= least
	}
	if access.Kind == work.ToolRead && access.Path != "" {
		own := work.FileOp{Kind: work.ToolRead, Path: access.Path, From: access.From, To: access.To}
		for _, later := range shown[access.Path] {
			if later.message > r.message && later.op.Covers(own) {
				if failed, _, _ := work.Status(later.result); failed {
					continue
				}
				verb := "read again"
				if later.op.Kind == work.ToolWrite {
					verb = "written as a whole"
				}
				return try(fmt.Sprintf("[%s: superseded, %s later in this conversation; original: %s]", rangeOf(own), verb, d.redeemHint(handle)),
					fmt.Sprintf("%s %s at message %d", access.Path, verb, later.message))
			}
		}
	}
	if len(text) < minRepeat {
		return plan.Edit{}, false
	}
	if at, ok := whole[maphash.String(seed, text)]; ok && at > r.message {
		return try(fmt.Sprintf("[the same output of %d bytes stands again later in this conversation; original: %s]", len(text), d.redeemHint(handle)),
			fmt.Sprintf("the same output at message %d", at))
	}
	standsAgain := func(line string) bool {
		if len(line) < minLine {
			return false
		}
		at, ok := lines[maphash.String(seed, line)]
		return ok && at > r.message
	}
	repeated := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); standsAgain(line) {
			repeated += len(line)
		}
	}
	if float64(repeated) < supersedeMin*float64(len(text)) || repeated == 0 {
		return plan.Edit{}, false
	}
	var b strings.Builder
	skipped := 0
	flush := func() {
		if skipped > 0 {
			fmt.Fprintf(&b, "[… %d lines that stand again later]\n", skipped)
		}
		skipped = 0
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); standsAgain(line) {
			skipped++
			continue
		}
		flush()
		b.WriteString(line)
		b.WriteByte('\n')
	}
	flush()
	fmt.Fprintf(&b, "[original: %s]", d.redeemHint(handle))
	return try(b.String(), fmt.Sprintf("%d %% of its lines stand again later", 100*repeated/len(text)))
}

func rangeOf(op work.FileOp) string {
	if op.From == 0 && op.To == 0 {
		return op.Path
	}
	if op.To == 0 {
		return fmt.Sprintf("%s from line %d", op.Path, op.From)
	}
	return fmt.Sprintf("%s lines %d-%d", op.Path, op.From, op.To)
}

// toolResult is a result that stands whole in the draft's view.
type toolResult struct {
	message, index int
	part, call     *chat.Part
	tokens         int
	failed         bool
}

// editableResults lists the results of messages from to to-1 that no edit has touched
// and that may be edited, oldest first.
func (d *Draft) editableResults(from, to int) []toolResult {
	var out []toolResult
	for p := range d.visibleParts(from, to) {
		i, k := p.message, p.index
		if p.Kind != chat.ToolResult || p.mask != nil || !d.mayMask(i, k) {
			continue
		}
		r := toolResult{message: i, index: k, part: p.Part, call: d.Call(i, k), failed: p.Failed}
		if len(d.History.At(i).Parts) == 1 {
			r.tokens = d.tokensAt(i)
		} else {
			r.tokens = d.Counter.Part(p.Part)
		}
		out = append(out, r)
	}
	return out
}
