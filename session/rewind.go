package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// Rewind takes one compaction back and leaves everything else as it is. The id
// is that of the compaction's entry, of its plan, or the handle of a single
// edit, a truncation for example. What it hid is seen again, also when many
// turns have gone by: the view becomes what it would be without it. Only thinking
// that a provider signed under the compaction is left out, because the provider
// would refuse it. The rewind is an entry of its own, and can be rewound.
func (s *Session) Rewind(ctx context.Context, id string) (Entry, error) {
	s.mu.Lock()
	entry, p, err := s.planWithout(id)
	base := s.line.plan
	if err != nil {
		s.mu.Unlock()
		return Entry{}, err
	}
	c := Compaction{Plan: p, Reason: reasonRewind, Rewinds: entry}
	if w, before, err := s.checkSize(); err == nil {
		c.TokensBefore = before.Count.Tokens
		if after, err := w.Check(s.currentRequest(), winnow.State{Plan: p}); err == nil {
			c.TokensAfter = before.Prompt(after.Count.Tokens - after.Seen()) // in the same units
		}
	}
	s.mu.Unlock()
	return s.commitCompaction(ctx, c, base)
}

// planWithout returns the plan that is left when a compaction, plan or edit is
// taken back, and the entry that brought it. The caller holds the lock.
func (s *Session) planWithout(id string) (string, *plan.Plan, error) {
	at := int32(none)
	for _, i := range slices.Backward(s.line.path) {
		if s.line.carriesPlan(&s.tree, i) && (s.tree.nodes[i].id == id || string(s.planOf(i).ID()) == id) {
			at = i
			break
		}
	}
	if at == none {
		return s.withoutEdit(id)
	}
	entry := s.tree.nodes[at].id
	if top, last, skip := s.standingCompaction(); (at == top || at == last) && !s.signedSince(at) {
		if at == last {
			skip = map[int32]bool{at: true}
		}
		l, err := s.lineWithout(s.line.leaf, skip)
		return entry, l.plan, s.failed("rewind", err)
	}
	of := s.planOf(at).ID()
	if s.line.plan == nil || of == "" {
		return "", nil, s.nothingToRewind(id)
	}
	whole, err := s.linkedPlan()
	if err != nil {
		return "", nil, s.failed("rewind", err)
	}
	p, err := plan.Undo(whole, of, s.line.history, s.o.Rules)
	if err != nil {
		return "", nil, s.nothingToRewind(id)
	}
	return entry, p, nil
}

func (s *Session) nothingToRewind(id string) error {
	return s.opError("rewind", ErrNotFound, "the compactions on the path are listed by Compactions", "there is no compaction, plan or handle %q in force on this path", id)
}

// linkedPlan returns the plan in force with everything that was replaced up to it.
// An entry holds only what its own plan says; the rest is in the entries before
// it. The caller holds the lock.
func (s *Session) linkedPlan() (*plan.Plan, error) {
	if s.line.plan.Linked() {
		return s.line.plan, nil
	}
	l := newLine()
	l.known = make(map[plan.ID]*plan.Plan)
	if err := s.readPath(l, s.line.leaf, true); err != nil {
		return nil, err
	}
	if !l.plan.Linked() {
		return nil, fmt.Errorf("the plans before plan %s are not on the path: %w", l.plan.ID(), ErrDamaged)
	}
	return l.plan, nil
}

// planData returns a plan as an entry holds it: without what is in the entries
// before, which end with the plan in force. The caller holds the lock.
func (s *Session) planData(p *plan.Plan) ([]byte, error) {
	if p.Parent == s.line.plan.ID() {
		return p.MarshalJSON()
	}
	return p.File()
}

// withoutEdit takes a single edit back, by its handle.
func (s *Session) withoutEdit(handle string) (string, *plan.Plan, error) {
	p := s.line.plan
	taken := editWith(p, handle)
	if taken == nil {
		return "", nil, s.nothingToRewind(handle)
	}
	release := []plan.Ref{taken.Ref()}
	hides := false // what a state tells is there to be read once no messages are hidden
	for i := range p.Edits {
		e := &p.Edits[i]
		hides = hides || e != taken && e.From < e.To && (e.Kind == plan.Fold || e.Kind == plan.Drop)
	}
	if state := (plan.Edit{Kind: plan.State}); !hides {
		release = append(release, state.Ref())
	}
	q, err := plan.Compose(p, s.line.history, s.o.Rules, release)
	return handle, q, s.failed("rewind", err)
}

// planOf returns the plan that an entry put in force, nil for none.
func (s *Session) planOf(i int32) *plan.Plan {
	e := parseEntry(s.tree.record(i))
	if p := planIn(&e); p.Covers(s.line.history) {
		return p
	}
	l, err := s.lineTo(i)
	if err != nil {
		return nil
	}
	return l.plan
}

// standing returns the nodes on the path that count as compactions, and those of them
// that no later one took back. The caller holds the lock.
func (s *Session) standing(counts func(i int32) bool) (all, stand []int32) {
	for _, i := range s.line.path {
		if !counts(i) {
			continue
		}
		all = append(all, i)
		n := len(stand)
		if n > 0 && decode.Str(s.tree.record(i), "details", "winnow", "rewinds") == s.tree.nodes[stand[n-1]].id {
			stand = stand[:n-1]
		} else {
			stand = append(stand, i)
		}
	}
	return all, stand
}

// isCompaction reports whether a node is a compaction.
func (s *Session) isCompaction(i int32) bool { return s.tree.nodes[i].kind == TypeCompaction }

// standingCompaction returns the last compaction on the path that was not taken back, and
// what to pass over to see the conversation as it would be without it: itself
// and all that came after it, which took back each other. Last is the last one
// of all, which may be a rewind.
func (s *Session) standingCompaction() (top, last int32, skip map[int32]bool) {
	all, stack := s.standing(func(i int32) bool { return s.line.carriesPlan(&s.tree, i) })
	top, last = none, none
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	if n := len(stack); n > 0 {
		top = stack[n-1]
	}
	skip = make(map[int32]bool)
	for _, i := range slices.Backward(all) {
		skip[i] = true
		if i == top {
			break
		}
	}
	return top, last, skip
}

// signedSince reports whether thinking was signed after a node, where that
// thinking is bound to what stood before it.
func (s *Session) signedSince(at int32) bool {
	if !s.o.Rules.OrDefault().BoundThinking {
		return false
	}
	after := false
	for _, i := range s.line.path {
		if after && s.line.pos[i] >= 0 {
			m := s.line.history.At(int(s.line.pos[i]))
			for k := range m.Parts {
				if m.Parts[k].Kind == chat.Thinking && m.Parts[k].Signature != "" {
					return true
				}
			}
		}
		after = after || i == at
	}
	return false
}

// LastCompaction returns the last compaction on the path that was not taken back:
// "undo that" means this one. It is false where there is none.
func (s *Session) LastCompaction() (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, stack := s.standing(s.isCompaction)
	if len(stack) == 0 {
		return Entry{}, false
	}
	return parseEntry(s.tree.record(stack[len(stack)-1])), true
}

// Compactions returns the compactions on the path to the leaf, oldest first.
func (s *Session) Compactions() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, _ := s.standing(s.isCompaction)
	return s.parseEntries(all)
}
