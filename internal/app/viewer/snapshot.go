package viewer

import (
	"github.com/winnow-llm/winnow/chat"
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
	byID   map[string]int32

	message []int32 // by place: its message in the history, or -1
	entry   []int32 // by message: its place, or -1
	shown   []int32 // by message: the message of the view that shows or hides it
	state   []state // by message

	labels map[string]string // by entry
	pins   map[int]bool      // by message

	id, name, provider, model string
	leaf                      string
	last                      string // the compaction that an undo takes back, or ""
	saved                     int    // by that compaction, as it said itself
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
		places: s.Places(), labels: s.Labels(), pins: make(map[int]bool),
		id: s.ID(), name: s.Name(), provider: c.Provider, model: c.Model, leaf: c.Leaf,
	}
	sn.indexEntries()
	sn.indexView()
	for _, id := range s.Pins() {
		if k, ok := sn.byID[id]; ok && sn.message[k] >= 0 {
			sn.pins[int(sn.message[k])] = true
		}
	}
	if e, ok := s.LastCompaction(); ok {
		sn.last = e.ID
		if c := e.Compaction; c != nil && c.TokensAfter > 0 {
			sn.saved = c.TokensBefore - c.TokensAfter
		}
	}
	return sn, nil
}

// indexEntries finds the entries of messages. A message that was written as
// several entries has the id of the last of them.
func (sn *snapshot) indexEntries() {
	n := sn.history.Len()
	sn.byID = make(map[string]int32, len(sn.places))
	sn.message = make([]int32, len(sn.places))
	sn.entry = make([]int32, n)
	for i := range sn.entry {
		sn.entry[i] = -1
	}
	h := 0
	for k := range sn.places {
		p := &sn.places[k]
		sn.byID[p.ID] = int32(k)
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
	sn.shown = make([]int32, n)
	sn.state = make([]state, n)
	for i := range sn.shown {
		sn.shown[i] = -1
	}
	for v := range sn.view.Len() {
		o := sn.view.Origin(v)
		if o.Edit >= 0 {
			e := &sn.plan.Edits[o.Edit]
			if e.Kind == plan.Fold || e.Kind == plan.Drop {
				for h := e.From; h < e.To; h++ {
					sn.shown[h], sn.state[h] = int32(v), stateOf(e)
				}
				for _, h := range e.Keep {
					sn.state[h] = kept
				}
			}
		}
		for _, h := range o.Joined {
			sn.shown[h] = int32(v)
		}
		if o.Message < 0 {
			continue
		}
		sn.shown[o.Message] = int32(v)
		if o.Stripped {
			sn.state[o.Message] = stripped
		}
		for _, i := range o.Edits {
			e := &sn.plan.Edits[i]
			sn.state[e.From] = stateOf(e)
		}
	}
}

// editOf returns the edit that changed a message, nil for none.
func (sn *snapshot) editOf(msg int) *plan.Edit {
	if msg < 0 || sn.state[msg] == kept || sn.shown[msg] < 0 {
		return nil
	}
	o := sn.view.Origin(int(sn.shown[msg]))
	if o.Edit >= 0 {
		return &sn.plan.Edits[o.Edit]
	}
	for _, i := range o.Edits {
		if e := &sn.plan.Edits[i]; e.From == msg {
			return e
		}
	}
	return nil
}

// row is one line of the tree.
type row struct {
	place  int32
	guides string // the lines that lead to it
}

// forest is the tree as lines.
type forest struct {
	rows []row
	at   []int32 // by place: its row, or that of the nearest entry before it
}

// deservesLine reports whether entries of a type are worth a line of their own. What
// the others say is shown elsewhere: labels and pins beside what they are about.
func deservesLine(t session.Type) bool {
	switch t {
	case session.TypeMessage, session.TypeCustomMessage, session.TypeCompaction, session.TypeBranchSummary, session.TypeModelChange:
		return true
	}
	return false
}

// mostGuides is how wide the lines that lead to an entry may be. What lies deeper is
// drawn as if it lay there, with a mark.
const mostGuides = 12

// growForest lists the tree, with all entries or those worth it.
func (sn *snapshot) growForest(all bool) *forest {
	n := len(sn.places)
	f := &forest{at: make([]int32, n)}
	parent := make([]int, n)   // the nearest entry before it that has a line
	children := make([]int, n) // entries with a line after it
	youngest := make([]int, n) // the last of them
	for k := range sn.places {
		parent[k] = -1
		if p := sn.places[k].Parent; p >= 0 && p < k {
			parent[k] = parent[p]
			if all || deservesLine(sn.places[p].Type) {
				parent[k] = p
			}
		}
		if up := parent[k]; up >= 0 && (all || deservesLine(sn.places[k].Type)) {
			children[up]++
			youngest[up] = k
		}
	}
	guides := make([]string, n) // of the entries after it on the same branch
	for k := range sn.places {
		up := parent[k]
		if !all && !deservesLine(sn.places[k].Type) {
			if up >= 0 {
				f.at[k] = f.at[up]
			}
			continue
		}
		r := row{place: int32(k)}
		if up >= 0 {
			r.guides, guides[k] = guides[up], guides[up]
		}
		if up >= 0 && children[up] > 1 {
			before := []rune(guides[up])
			if len(before) >= mostGuides {
				before = append([]rune("‥"), before[len(before)-mostGuides+2:]...)
			}
			r.guides, guides[k] = string(before)+"├─", string(before)+"│ "
			if youngest[up] == k {
				r.guides, guides[k] = string(before)+"╰─", string(before)+"  "
			}
		}
		f.at[k] = int32(len(f.rows))
		f.rows = append(f.rows, r)
	}
	return f
}
