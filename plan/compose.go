package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// Compose returns the plan that carries base's edits, without those in
// release, and the added ones, over the whole of h. An added edit replaces
// edits of base at the same place or inside its run, save masks of messages
// that it keeps, and an added state replaces base's. A state of base whose folds
// are all released goes with them. A nil base stands for no edits.
//
// The result is sealed at h's length. When an edit changes what the provider
// has already seen, and the rules bind thinking to what stands before it, all
// signed thinking from there on is left out of the view.
//
// The error wraps [ErrMismatch] when base was made for another history and
// [ErrInvalid] when the edits would overlap, separate an exchange, or alter a
// part that can only be removed.
func Compose(base *Plan, h chat.History, r chat.Rules, release []Ref, add ...Edit) (*Plan, error) {
	gone := make(map[Ref]bool, len(release))
	for _, r := range release {
		gone[r] = true
	}
	return composeEdits(base, h, r, add, func(old, add []Edit) (kept, replaced []Edit) { return splitReplaced(old, add, gone) })
}

// Exchange returns the plan that has the given edits in the place of all those of
// base. They come back when it is undone. Its errors are those of [Compose].
func Exchange(base *Plan, h chat.History, r chat.Rules, edits ...Edit) (*Plan, error) {
	return composeEdits(base, h, r, edits, func(old, _ []Edit) (kept, replaced []Edit) { return nil, slices.Clone(old) })
}

// composeEdits joins added edits with those of base, as far as split keeps them. What it
// does not return is released.
func composeEdits(base *Plan, h chat.History, r chat.Rules, add []Edit, split func(old, add []Edit) (kept, replaced []Edit)) (*Plan, error) {
	r = r.OrDefault()
	if base != nil && !base.Covers(h) {
		return nil, fmt.Errorf("plan: plan %s: %w", base.id, ErrMismatch)
	}
	add = slices.Clone(add)
	for i := range add {
		add[i].normalise()
	}
	sortEdits(add)

	p := &Plan{Len: h.Len(), Prefix: h.Chain(h.Len())}
	first := p.Len // the first message that stands differently from now on
	for i := range add {
		if !add[i].removesEmpty(h) {
			first = min(first, add[i].firstChanged())
		}
	}
	var old []Edit
	if base != nil {
		p.Parent, p.Strip, p.Seals = base.id, base.Strip, base.Seals
		p.Replaced, p.Results, p.unlinked = slices.Clip(base.Replaced), base.Results, base.unlinked
		old = base.Edits
	}
	kept, replaced := split(old, add)
	stays := make(map[Ref]bool, len(kept))
	for i := range kept {
		stays[kept[i].Ref()] = true
	}
	for i := range old {
		if !stays[old[i].Ref()] {
			first = min(first, old[i].firstChanged())
		}
	}
	for i := range replaced {
		replaced[i].By = ""
	}
	if at := lostState(kept, add); at >= 0 {
		first = min(first, kept[at].firstChanged())
		kept = slices.Delete(kept, at, at+1)
	}
	p.Replaced = append(p.Replaced, replaced...)
	p.Edits = mergeSorted(kept, add)

	rewrite := first < Seen(h)
	p.decideJoins(base, r, first, rewrite)
	if rewrite && r.BoundThinking {
		p.Strip = stripFrom(p.Strip, h, first)
	}
	if p.Results == "" && r.ResultsJoined {
		p.Results = chat.User
	} else if p.Results == "" {
		p.Results = resultRole(h)
	}
	if err := p.checkAlone(); err != nil {
		return nil, err
	}
	if err := p.checkAgainst(h, add); err != nil {
		return nil, err
	}
	return p.seal(), nil
}

// normalise brings an edit that a caller made into the form that plans hold:
// text that JSON can carry, no maker yet, and messages that a run keeps at its
// start left outside the run.
func (e *Edit) normalise() {
	e.Text = strings.ToValidUTF8(e.Text, "\uFFFD")
	e.Prose = strings.ToValidUTF8(e.Prose, "\uFFFD")
	e.CallID = strings.ToValidUTF8(e.CallID, "\uFFFD")
	e.Made, e.By = "", ""
	for e.isRun() && len(e.Keep) > 0 && e.Keep[0] == e.From {
		e.From, e.Keep = e.From+1, e.Keep[1:]
	}
}

// firstChanged returns the first message that the edit changes. An answer leaves
// its call as it is and stands after it.
func (e *Edit) firstChanged() int {
	if e.CallID != "" {
		return e.From + 1
	}
	return e.From
}

// removesEmpty reports whether the edit leaves a message out that has no content.
// No provider takes one, so nothing that it signed depends on it.
func (e *Edit) removesEmpty(h chat.History) bool {
	return e.Kind == Answer && e.Text == "" && e.CallID == "" && e.From >= 0 && e.From < h.Len() && h.At(e.From).Empty()
}

// sortEdits sorts edits by place. Most come sorted, and edits are large.
func sortEdits(edits []Edit) {
	less := func(i, j int) bool { return lessByPlace(&edits[i], &edits[j]) }
	if !sort.SliceIsSorted(edits, less) {
		sort.SliceStable(edits, less)
	}
}

// splitReplaced splits old edits into those that stay and those that added ones
// replace. Released edits are in neither.
func splitReplaced(old, add []Edit, released map[Ref]bool) (kept, replaced []Edit) {
	kept = make([]Edit, 0, len(old))
	state := slices.ContainsFunc(add, func(e Edit) bool { return e.Kind == State })
	next := 0     // first added edit that is not wholly before the old one
	marker := -1  // where the last added marker stands
	var run *Edit // the last added run that starts at or before the old edit
	for i := range old {
		e := &old[i]
		if released[e.Ref()] {
			continue
		}
		for next < len(add) && (add[next].From < e.From || add[next].From == e.From && add[next].isRun()) {
			if a := &add[next]; a.isRun() && a.From < a.To {
				run = a
			} else if a.Kind == Drop {
				marker = a.From
			}
			next++
		}
		out := run != nil && run.swallows(e) || state && e.Kind == State
		out = out || e.Kind == Drop && e.From == e.To && e.From == marker
		for k := next; k < len(add) && add[k].From == e.From && !e.isRun(); k++ {
			out = out || add[k].Part == e.Part && (add[k].CallID == "") == (e.CallID == "")
		}
		if out {
			replaced = append(replaced, *e)
		} else {
			kept = append(kept, *e)
		}
	}
	return kept, replaced
}

// lostState returns the place of a kept state that has no fold left, or -1.
func lostState(kept, add []Edit) int {
	if slices.ContainsFunc(kept, hidesMessages) || slices.ContainsFunc(add, hidesMessages) {
		return -1
	}
	return slices.IndexFunc(kept, func(e Edit) bool { return e.Kind == State })
}

// hidesMessages reports whether an edit hides messages that a state tells about.
func hidesMessages(e Edit) bool { return e.Kind == Fold || e.Kind == Drop && e.From < e.To }

func mergeSorted(a, b []Edit) []Edit {
	out := make([]Edit, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if lessByPlace(&b[0], &a[0]) {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Seen returns how many messages of the history the provider has seen:
// everything up to its own last message. An edit from there on changes nothing
// that is in its cache.
func Seen(h chat.History) int {
	for i := h.Len(); i > 0; i-- {
		if h.At(i-1).Role == chat.Assistant {
			return i
		}
	}
	return 0
}

// decideJoins decides where messages are joined. Messages sealed apart stay apart
// until a rewrite changes what stands before them.
func (p *Plan) decideJoins(base *Plan, r chat.Rules, first int, rewrite bool) {
	switch {
	case r.Alternate:
		p.Join = JoinAll
	case r.CallAfterInput:
		p.Join = JoinCalls
	}
	p.Seals = nil
	if base == nil || p.Join == JoinNone {
		return
	}
	for _, s := range append(slices.Clip(base.Seals), base.Len) {
		if s < p.Len && !(rewrite && s > first) {
			p.Seals = append(p.Seals, s)
		}
	}
}

// stripFrom adds the run from first to the end of h to the runs without signed
// thinking, when there is any in it.
func stripFrom(spans []Span, h chat.History, first int) []Span {
	found := false
	for i := first; i < h.Len() && !found; i++ {
		found = hasSignedThinking(h.At(i))
	}
	if !found {
		return spans
	}
	out := make([]Span, 0, len(spans)+1)
	for _, s := range spans {
		if s.To < first {
			out = append(out, s)
		} else {
			first = min(first, s.From)
		}
	}
	return append(out, Span{first, h.Len()})
}

// resultRole returns the role of messages with results in this history.
func resultRole(h chat.History) chat.Role {
	for _, m := range h.All() {
		if m.Role == chat.Tool {
			return chat.Tool
		}
		if m.Role == chat.User && m.Has(chat.ToolResult) {
			return chat.User
		}
	}
	return chat.Tool
}

// checkAgainst verifies added edits against the history: runs do not separate
// exchanges, and parts that can only be removed are not altered.
func (p *Plan) checkAgainst(h chat.History, add []Edit) error {
	if len(add) == 0 {
		return nil
	}
	if err := p.checkParts(h); err != nil {
		return err
	}
	var o *chat.Outline
	for i := range add {
		e := &add[i]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("plan: %w: %s of message %d by stage %s: %s", ErrInvalid, e.Kind, e.From, e.Stage, fmt.Sprintf(format, args...))
		}
		switch e.Kind {
		case Fold, Drop, State:
			if o == nil {
				o = chat.NewOutline(h)
			}
			if e.From == h.Len() && e.Kind != State {
				return bad("a marker must come before a message, and there is none")
			}
			if !o.CanCut(e.From) || !o.CanCut(e.To) {
				return bad("the run %d-%d splits an exchange", e.From, e.To)
			}
			for k, m := range e.Keep {
				x := o.ExchangeOf(m)
				if x < 0 {
					continue
				}
				ex := o.Exchanges[x]
				if m > ex.From && (k == 0 || e.Keep[k-1] != m-1) || m < ex.To-1 && (k+1 == len(e.Keep) || e.Keep[k+1] != m+1) {
					return bad("keeps only part of an exchange")
				}
			}
		case Mask:
			parts := h.At(e.From).Parts
			if len(parts) == 0 {
				continue
			}
			part := &parts[e.Part]
			if e.Text != "" && (part.Kind == chat.Thinking || part.Kind == chat.Opaque || part.Signature != "") {
				return bad("a signed, thinking or opaque part can be removed but not altered")
			}
			if part.Kind == chat.ToolCall && (!strings.HasPrefix(strings.TrimSpace(e.Text), "{") || !json.Valid([]byte(e.Text))) {
				return bad("a call's arguments can only become a JSON object")
			}
		case Answer:
			if e.removesEmpty(h) {
				continue
			}
			part := &h.At(e.From).Parts[e.Part]
			if e.CallID != "" && (part.Kind != chat.ToolCall || strings.ToValidUTF8(part.ID, "\uFFFD") != e.CallID) {
				return bad("part %d is not the call %q", e.Part, e.CallID)
			}
			if e.CallID == "" && part.Kind != chat.ToolResult && part.Kind != chat.ToolCall {
				return bad("part %d is neither a call nor a result", e.Part)
			}
		}
	}
	return nil
}

// Overlay returns old edits with added ones laid over them: what an added edit
// covers or replaces is gone. It is for edits that belong to no plan yet.
func Overlay(old, add []Edit) []Edit {
	add = slices.Clone(add)
	sortEdits(add)
	kept, _ := splitReplaced(old, add, nil)
	return mergeSorted(kept, add)
}
