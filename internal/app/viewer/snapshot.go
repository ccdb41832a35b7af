package viewer

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// snapshot is a session at one moment, as far as the screen needs it. It is made
// outside the program's loop and never changed.
type snapshot struct {
	history chat.History
	view    plan.View
	plan    *plan.Plan

	places []session.Place
	rows   []row
	leaf   int // the row of the leaf, or -1

	message []int32      // by place: its message in the history, or -1
	entry   []int32      // by message: its place, or -1
	shown   []int32      // by message: the message of the view that shows or hides it
	edits   []*plan.Edit // by message: what changed it, or nil

	labels map[string]string // by entry
	pins   []string          // entries

	id, name, provider, model string
	last                      string // the compaction that an undo takes back, or ""
	saved                     int    // by that compaction, as it said itself
}

// stripped stands for edits where only signed thinking was left out of a message.
var stripped = &plan.Edit{Kind: "stripped", Part: -1}

// row is a line of the tree.
type row struct {
	place, depth int32 // depth is how many forks lie above it
	forks        bool  // a branch begins with it
}

// takeSnapshot reads a session. It takes time in proportion to its entries, but decodes
// none beyond the path.
func takeSnapshot(s *session.Session) (*snapshot, error) {
	c, err := s.Context()
	if err != nil {
		return nil, err
	}
	sn := &snapshot{
		history: c.Request.History, view: c.View, plan: c.View.Plan(),
		places: s.Places(), labels: s.Labels(), pins: s.Pins(),
		id: s.ID(), name: s.Name(), provider: c.Provider, model: c.Model,
	}
	sn.listRows(c.Leaf)
	sn.indexEntries()
	sn.indexView()
	if e, ok := s.LastCompaction(); ok {
		sn.last = e.ID
		if c := e.Compaction; c != nil && c.TokensAfter > 0 {
			sn.saved = c.TokensBefore - c.TokensAfter
		}
	}
	return sn, nil
}

// listRows lists the entries that are worth a line of their own. What the others say is
// shown elsewhere: labels and pins beside what they are about.
func (sn *snapshot) listRows(leaf string) {
	depth := make([]int32, len(sn.places))
	for k := range sn.places {
		p, r := &sn.places[k], row{place: int32(k)}
		if p.Parent >= 0 {
			if r.depth = depth[p.Parent]; sn.places[p.Parent].Children > 1 {
				r.depth, r.forks = r.depth+1, true
			}
		}
		depth[k] = r.depth
		switch p.Type {
		case session.TypeMessage, session.TypeCustomMessage, session.TypeCompaction, session.TypeBranchSummary, session.TypeModelChange:
			sn.rows = append(sn.rows, r)
		}
	}
	sn.leaf = sn.rowOf(sn.findPlace(leaf))
}

// findPlace returns the place of an entry, or -1.
func (sn *snapshot) findPlace(id string) int {
	return slices.IndexFunc(sn.places, func(p session.Place) bool { return p.ID == id })
}

// rowOf returns the row of a place, or the one before it where it has none.
func (sn *snapshot) rowOf(place int) int {
	k, found := slices.BinarySearchFunc(sn.rows, place, func(r row, place int) int { return int(r.place) - place })
	if !found {
		k--
	}
	return k
}

// isPinned reports whether a message is pinned.
func (sn *snapshot) isPinned(msg int) bool { return slices.Contains(sn.pins, sn.history.At(msg).ID) }

// indexEntries finds the entries of messages. A message that was written as
// several entries has the id of the last of them.
func (sn *snapshot) indexEntries() {
	n := sn.history.Len()
	sn.message = make([]int32, len(sn.places))
	sn.entry = slices.Repeat([]int32{-1}, n)
	h := 0
	for k := range sn.places {
		p := &sn.places[k]
		sn.message[k] = -1
		if !p.OnPath || h >= n {
			continue
		}
		switch {
		case p.ID == sn.history.At(h).ID:
			sn.message[k], sn.entry[h] = int32(h), int32(k)
			h++
		case p.Type == session.TypeMessage && h > 0: // a system prompt stands before all messages
			sn.message[k] = int32(h)
		}
	}
}

// indexView finds what the plan in force does to each message.
func (sn *snapshot) indexView() {
	n := sn.history.Len()
	sn.shown, sn.edits = slices.Repeat([]int32{-1}, n), conview.EditsOf(sn.plan, n)
	for v := range sn.view.Len() {
		o := sn.view.Origin(v)
		if o.Edit >= 0 && sn.plan.Edits[o.Edit].Kind != plan.State {
			for h := sn.plan.Edits[o.Edit].From; h < sn.plan.Edits[o.Edit].To; h++ {
				sn.shown[h] = int32(v)
			}
		}
		for _, h := range o.Joined {
			sn.shown[h] = int32(v)
		}
		if o.Message >= 0 {
			sn.shown[o.Message] = int32(v)
			if o.Stripped && sn.edits[o.Message] == nil {
				sn.edits[o.Message] = stripped
			}
		}
	}
}
