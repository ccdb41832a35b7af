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

// supersedeCopies reduces older copies of what stands in the conversation again: a
// file that was read again in the same or a larger range, or written as a
// whole; a result that came again byte for byte; lines that a later result
// repeats. The latest copy stays, the older ones point to it and keep the lines
// that are only in them. It goes on, oldest first, until need is met.
func (d *Draft) supersedeCopies(_ context.Context, need chat.Size) ([]plan.Edit, error) {
	found := d.findCopies(0, true)
	slices.Reverse(found) // the oldest go first
	n := 0
	for ; n < len(found) && (need.Tokens > 0 || need.Bytes > 0); n++ {
		need = need.Sub(savedBy(found[n : n+1]))
	}
	return found[:n], nil
}

// findCopies returns the edits for the results from message from on, newest first; byLine
// also for those of which only most lines stand again.
func (d *Draft) findCopies(from int, byLine bool) (found []plan.Edit) {
	later := laterCopies{seed: maphash.MakeSeed(), shown: map[string][]shownAt{}, whole: map[uint64]int{}}
	if byLine {
		later.lines = map[uint64]int{}
	}
	// Newest first: what a result repeats must stand after it. Results from
	// Live on count as later copies but are not reduced themselves.
	for _, r := range slices.Backward(d.editableResults(from, d.History.Len())) {
		if r.Failed {
			continue // it neither repeats nor replaces anything
		}
		access := d.Kinds.Access(d.Call(r.message, r.index))
		if r.message < d.Live && r.tokens >= 64 {
			if e, ok := d.maskSuperseded(r, &access, &later); ok {
				found = append(found, e)
				continue // it no longer stands there for others to point at
			}
		}
		later.add(r, &access)
	}
	return found
}

// Texts and lines shorter than this are not worth pointing at another place for.
const (
	minRepeat = 200
	minLine   = 12
)

// laterCopies is what later results show: by path, and by the hash of a result or
// line the latest message with it.
type laterCopies struct {
	seed         maphash.Seed
	shown        map[string][]shownAt
	whole, lines map[uint64]int // lines is nil where they do not matter
}

// shownAt is a later place where something stands again.
type shownAt struct {
	op      work.FileOp
	message int
	result  *chat.Part
}

func (l *laterCopies) add(r item, access *work.Access) {
	for _, op := range access.Ops {
		if op.Path != "" && (op.Kind == work.ToolRead || op.Kind == work.ToolWrite) {
			l.shown[op.Path] = append(l.shown[op.Path], shownAt{op, r.message, r.Part})
		}
	}
	if len(r.Text) >= minRepeat {
		l.whole[maphash.String(l.seed, r.Text)] = r.message
		if l.lines == nil {
			return
		}
		for line := range strings.Lines(r.Text) {
			if line = strings.TrimSuffix(line, "\n"); len(line) >= minLine {
				l.lines[maphash.String(l.seed, line)] = r.message
			}
		}
	}
}

// maskSuperseded returns an edit for a result that stands again later, in whole or for the most part.
func (d *Draft) maskSuperseded(r item, access *work.Access, later *laterCopies) (plan.Edit, bool) {
	text, redeem := r.Text, d.redeemPart(r.visiblePart)
	try := func(stand, why string) (plan.Edit, bool) {
		e, ok := d.maskPart("supersede", r.visiblePart, stand, why)
		return e, ok && e.Before.Tokens-e.After.Tokens >= int(supersedeMin*float64(r.tokens))
	}
	if access.Kind == work.ToolRead && access.Path != "" {
		own := work.FileOp{Kind: work.ToolRead, Path: access.Path, From: access.From, To: access.To}
		for _, at := range later.shown[access.Path] {
			if failed, _, _ := work.Status(at.result); failed || !at.op.Covers(own) {
				continue
			}
			verb := "read again"
			if at.op.Kind == work.ToolWrite {
				verb = "written as a whole"
			}
			return try(fmt.Sprintf("[%s: superseded, %s later in this conversation; original: %s]", rangeOf(own), verb, redeem),
				fmt.Sprintf("%s %s at message %d", access.Path, verb, at.message))
		}
	}
	if len(text) < minRepeat {
		return plan.Edit{}, false
	}
	if at, ok := later.whole[maphash.String(later.seed, text)]; ok && at > r.message {
		return try(fmt.Sprintf("[the same output of %d bytes stands again later in this conversation; original: %s]", len(text), redeem),
			fmt.Sprintf("the same output at message %d", at))
	}
	if later.lines == nil {
		return plan.Edit{}, false
	}
	var b strings.Builder
	repeated, skipped := 0, 0
	flush := func() {
		if skipped > 0 {
			fmt.Fprintf(&b, "[… %d lines that stand again later]\n", skipped)
		}
		skipped = 0
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) >= minLine && later.lines[maphash.String(later.seed, line)] > r.message {
			repeated += len(line)
			skipped++
			continue
		}
		flush()
		b.WriteString(line + "\n")
	}
	if repeated == 0 {
		return plan.Edit{}, false
	}
	flush()
	fmt.Fprintf(&b, "[original: %s]", redeem)
	return try(b.String(), fmt.Sprintf("%d %% of its lines stand again later", 100*repeated/len(text)))
}

func rangeOf(op work.FileOp) string {
	switch {
	case op.To > 0:
		return fmt.Sprintf("%s lines %d-%d", op.Path, op.From, op.To)
	case op.From > 0:
		return fmt.Sprintf("%s from line %d", op.Path, op.From)
	}
	return op.Path
}

// editableResults lists the results of messages from to to-1 that no edit has touched
// and that may be edited, oldest first.
func (d *Draft) editableResults(from, to int) []item {
	var out []item
	for p := range d.visibleParts(from, to) {
		switch {
		case p.Kind != chat.ToolResult || p.mask != nil || !d.mayMask(p.message, p.index):
		case len(d.History.At(p.message).Parts) == 1: // its tokens are remembered
			out = append(out, item{p, d.tokensAt(p.message)})
		default:
			out = append(out, d.asItem(p))
		}
	}
	return out
}
