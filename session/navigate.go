package session

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/summary"
)

// NavigateOptions say how to move. The zero value moves and summarises nothing.
type NavigateOptions struct {
	// Summarise leaves a summary of the branch that is left where the leaf goes.
	Summarise bool

	// Focus is what that summary should pay attention to.
	Focus string

	// Label is put on the summary, or on the entry moved to where there is none.
	Label string
}

// Navigated says where the leaf went.
type Navigated struct {
	Session       string
	OldLeaf, Leaf string

	// Ancestor is the entry that the old and the new path share; "" for none.
	Ancestor string

	// Text is what the user had written, when the target was a message of his:
	// the leaf is then before it, so that he can write it differently.
	Text string

	// Summary is the entry that was written; nil for none.
	Summary *Entry

	// Moved is false when the leaf was already there.
	Moved bool
}

// Navigate moves the leaf to another entry. To a user's message it goes to the
// entry before it and gives the text back. Nothing is lost: the branch that is
// left stays in the tree. A move without a summary leaves a bookmark, which no
// list shows, so that a session that is opened again continues from there.
//
// When making the summary fails or is called off, nothing is written and the
// leaf stays.
func (s *Session) Navigate(ctx context.Context, target string, o NavigateOptions) (Navigated, error) {
	trip, err := s.plotTrip(target)
	if err != nil {
		return Navigated{}, err
	}
	out := trip.Navigated
	if trip.from == trip.to {
		return out, nil
	}
	of := func(h *Hooks) asked[BeforeNavigate, NavigateDecision] { return h.BeforeNavigate }
	about := func() (BeforeNavigate, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return BeforeNavigate{
			Session: s.ID(), Target: target, OldLeaf: out.OldLeaf, Ancestor: out.Ancestor,
			Left: s.parseEntries(trip.left), Summarise: o.Summarise, Focus: o.Focus, Label: o.Label,
		}, nil
	}
	var chosen NavigateDecision // the first that decides anything
	_ = askHooks(ctx, s, "before_navigate", of, about, func(d NavigateDecision) {
		if !chosen.Cancel && chosen.Summary == nil {
			chosen = d
		}
	})
	if chosen.Cancel {
		return Navigated{}, s.opError("navigate", ErrCancelled, "", "a hook cancelled the move")
	}
	supplied := chosen.Summary
	if supplied == nil && o.Summarise {
		if supplied, err = s.summariseBranch(ctx, trip, o.Focus); err != nil {
			return Navigated{}, s.opError("navigate", err, "try again, or move without a summary", "the summary of the branch could not be made: %v", err)
		}
	} else if supplied != nil {
		supplied.FromHook, supplied.Summary = true, s.cleanText(supplied.Summary)
	}

	s.mu.Lock()
	if s.line.leaf != trip.from {
		s.mu.Unlock()
		return Navigated{}, s.opError("navigate", ErrMoved, "try again", "something was added while the summary was being written")
	}
	if err := s.moveTo(trip.to, "navigate"); err != nil {
		s.mu.Unlock()
		return Navigated{}, err
	}
	var list []placed
	mark := target
	if supplied != nil && supplied.Summary != "" {
		supplied.From = out.OldLeaf
		list = append(list, placed{id: s.newID(), draft: branchDraft(supplied)})
		mark = list[0].id
	}
	if o.Label != "" {
		list = append(list, placed{id: s.newID(), draft: labelDraft(mark, o.Label)})
	}
	if len(list) == 0 {
		list = append(list, placed{id: s.newID(), draft: customDraft(customLeaf, []byte("{}"))})
	}
	wait := s.placeEntries(list)
	s.mu.Unlock()
	if err := wait(ctx); err != nil {
		s.mu.Lock()
		_ = s.moveTo(trip.from, "navigate")
		s.mu.Unlock()
		return Navigated{}, err
	}
	if mark != target {
		e, err := s.Entry(mark)
		if err != nil {
			return Navigated{}, err
		}
		out.Summary = &e
	}
	out.Leaf, out.Moved = s.Leaf(), true
	tellHooks(ctx, s, "after_navigate", func(h *Hooks) func(context.Context, Navigated) error { return h.AfterNavigate }, out)
	return out, nil
}

// trip is a move of the leaf.
type trip struct {
	Navigated
	from, to int32
	left     []int32 // the entries that are left, oldest first

	history chat.History
	first   int // the first message that is left
	w       *winnow.Winnow
}

// plotTrip finds the way.
func (s *Session) plotTrip(target string) (*trip, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn {
		return nil, s.opError("navigate", ErrTurnRunning, "wait for its end", "a turn is running")
	}
	at, err := s.nodeOf("navigate", target)
	if err != nil {
		return nil, err
	}
	t := &trip{Navigated: Navigated{Session: s.id, OldLeaf: s.leafID()}, from: s.line.leaf, to: at, history: s.line.history, first: s.line.history.Len()}
	path, wrong := s.tree.pathTo(at)
	if wrong != "" && !s.o.Recover {
		return nil, s.opError("navigate", ErrDamaged, "choose another entry", "%s", wrong)
	}
	if m := s.tree.decodeMessage(at); m != nil && m.Role == chat.User && s.tree.nodes[at].kind != TypeBranchSummary {
		t.to, t.Text = max(none, s.tree.nodes[at].up), m.Text() // none where the parent is missing
	}
	t.Leaf = s.tree.idOf(t.to)
	on := make(map[int32]bool, len(path))
	for _, i := range path {
		on[i] = true
	}
	for _, i := range slices.Backward(s.line.path) {
		if on[i] {
			t.Ancestor = s.tree.idOf(i)
			break
		}
		t.left = append(t.left, i)
		if p := s.line.pos[i]; p >= 0 {
			t.first = int(p)
		}
	}
	slices.Reverse(t.left)
	t.w, err = s.engineFor()
	return t, err
}

// summariseBranch makes the summary of the branch that is left, of its newest
// messages within the window.
func (s *Session) summariseBranch(ctx context.Context, t *trip, focus string) (*BranchSummary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := t.history
	if t.first >= h.Len() {
		return nil, nil
	}
	set, counter := t.w.Settings(), t.w.Meter().Counter()
	limits := t.w.Limits(s.o.Output)
	budget := max(limits.Available-set.Reserve, limits.Available/2)
	from, used := h.Len(), 0
	for from > t.first {
		n := counter.At(h, from-1)
		if used+n > budget && from < h.Len() {
			break
		}
		used += n
		from--
	}
	b := &BranchSummary{}
	if used <= smallBranch {
		b.Summary = summary.Serialize(h, from, h.Len())
	} else {
		out, err := summary.Guard(cmp.Or(s.o.Summarizer, summary.Builtin())).Summarize(ctx, summary.Input{
			History: h, From: from, To: h.Len(), Turn: -1, Focus: focus, Counter: counter, Kinds: s.o.Kinds,
			Max: max(256, limits.Available/8), Open: true,
		})
		if err != nil {
			return nil, err
		}
		b.Summary = out.Text
	}
	s.mu.Lock()
	f := s.gatherFiles(h, t.first, h.Len(), t.left)
	s.mu.Unlock()
	b.Read, b.Modified, b.created, b.deleted = f.Read, f.Modified, f.Created, f.Deleted
	b.Summary += f.Footer()
	return b, nil
}

// smallBranch is how many tokens a branch may have to be told as it is: a
// summary of less would say nothing.
const smallBranch = 500

func branchDraft(b *BranchSummary) draft {
	var own []byte
	if len(b.created)+len(b.deleted) > 0 {
		own = jsonwrite.Of("createdFiles", b.created, "deletedFiles", b.deleted)
	}
	details := jsonwrite.Of("readFiles", b.Read, "modifiedFiles", b.Modified, "winnow", own)
	return pifile.NewDraft(
		pifile.TypeBranchSummary, "fromId", b.From, "summary", b.Summary, "details", details,
		"fromHook", jsonwrite.Optional(b.FromHook), // as in a compaction
	)
}

// parseEntries returns the entries of nodes. The caller holds the lock.
func (s *Session) parseEntries(nodes []int32) []Entry {
	out := make([]Entry, len(nodes))
	eachParallel(len(out), 512, func(k int) { out[k] = parseEntry(s.tree.record(nodes[k])) })
	return out
}
