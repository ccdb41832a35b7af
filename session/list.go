package session

import (
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	plain "github.com/winnow-llm/winnow/internal/text"
)

// Leaf returns the entry that the next one is added to; "" before the first.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leafID()
}

// Len returns the number of entries on all branches.
func (s *Session) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tree.nodes) - s.tree.marks
}

// Entry returns an entry by its id.
func (s *Session) Entry(id string) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.nodeOf("read", id)
	if err != nil {
		return Entry{}, err
	}
	return parseEntry(s.tree.record(i)), nil
}

// nodeOf returns the node of an entry. The caller holds the lock.
func (s *Session) nodeOf(op, id string) (int32, error) {
	i, ok := s.tree.find(id)
	if !ok {
		return none, s.opError(op, ErrNotFound, "list the entries to find one", "there is no entry %q", id)
	}
	return i, nil
}

// Path returns the entries from the root to the leaf.
func (s *Session) Path() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parseEntries(s.tree.withoutBookmarks(s.line.path))
}

// Page returns entries in the order in which they were written, without the
// first skip ones and at most limit of them.
func (s *Session) Page(skip, limit int) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	skip = max(skip, 0)
	var out []Entry
	for i := range s.tree.nodes {
		switch {
		case s.tree.nodes[i].kind == typeBookmark:
		case skip > 0:
			skip--
		case len(out) >= limit:
			return out
		default:
			out = append(out, parseEntry(s.tree.record(int32(i))))
		}
	}
	return out
}

// Problems returns what is wrong with the tree, also on branches that are not
// in use.
func (s *Session) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.findProblems()
}

// Item is one line of a listing of the tree.
type Item struct {
	ID     string    `json:"id"`
	Parent string    `json:"parent,omitempty"`
	Type   Type      `json:"type"`
	Role   string    `json:"role,omitempty"`
	Time   time.Time `json:"time"`

	// Depth is how many forks lie between the entry and the root, Children how
	// many entries follow it directly.
	Depth    int `json:"depth"`
	Children int `json:"children"`

	// OnPath says that the entry lies on the path to the leaf, Leaf that it is
	// the leaf.
	OnPath bool `json:"on_path,omitempty"`
	Leaf   bool `json:"leaf,omitempty"`

	// Text is the beginning of what it says.
	Text string `json:"text,omitempty"`
}

// order is the tree in the order in which it is listed.
type order struct {
	n     int // nodes it was made of
	list  []int32
	depth []int32
	kids  []int32 // by node, as is at: its place in the list
	at    []int32
}

// Tree lists the tree: every entry before what follows it, a branch before the
// next one, without the first skip entries and at most limit of them. Making
// the first page of a long session takes some milliseconds, the others less.
func (s *Session) Tree(skip, limit int) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.entryOrder()
	from := min(max(skip, 0), len(o.list))
	to := min(from+max(limit, 0), len(o.list))
	out := make([]Item, to-from)
	for k, p := range s.placesBetween(o, from, to) {
		e := parseEntry(s.tree.record(o.list[from+k]))
		it := Item{
			ID: p.ID, Parent: e.Parent, Type: p.Type, Time: e.Time, Depth: int(o.depth[from+k]), Children: p.Children,
			OnPath: p.OnPath, Leaf: p.Leaf, Text: plain.Brief(entryText(&e), 120),
		}
		if p.Parent >= 0 {
			it.Parent = s.tree.nodes[o.list[p.Parent]].id
		}
		if it.Role = decode.Str(e.Raw, "message", "role"); it.Role == "toolResult" {
			it.Role = string(chat.Tool) // one word for it everywhere
		}
		out[k] = it
	}
	return out
}

func (s *Session) entryOrder() *order {
	t := &s.tree
	if s.order != nil && s.order.n == len(t.nodes) {
		return s.order
	}
	o := &order{n: len(t.nodes), kids: make([]int32, len(t.nodes)), at: make([]int32, len(t.nodes))}
	next := slices.Repeat([]int32{none}, len(t.nodes)) // the next sibling
	first := slices.Clone(next)                        // the first child
	root := int32(none)                                // the first root, whose siblings are the others
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if t.nodes[i].kind == typeBookmark {
			continue
		}
		list := &root
		if up := t.parentOf(int32(i)); up >= 0 {
			list = &first[up]
			o.kids[up]++
		}
		next[i], *list = *list, int32(i)
	}
	type place struct{ node, depth int32 }
	seen := make([]bool, len(t.nodes))
	walk := func(from int32) {
		for stack := []place{{from, 0}}; len(stack) > 0; {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if at.node < 0 || seen[at.node] {
				continue
			}
			seen[at.node] = true
			o.at[at.node] = int32(len(o.list))
			o.list, o.depth = append(o.list, at.node), append(o.depth, at.depth)
			deeper := at.depth
			if o.kids[at.node] > 1 {
				deeper++
			}
			stack = append(stack, place{next[at.node], at.depth}, place{first[at.node], deeper})
		}
	}
	walk(root)
	for i := range t.nodes { // circles have no root
		if !seen[i] && t.nodes[i].kind != typeBookmark {
			walk(int32(i))
		}
	}
	s.order = o
	return o
}

// entryText returns what an entry says, for listings and search.
func entryText(e *Entry) string {
	switch {
	case e.Compaction != nil:
		return e.Compaction.Summary
	case e.Branch != nil:
		return e.Branch.Summary
	case e.Message != nil:
		if t := e.Message.Text(); t != "" {
			return t
		}
		return partsText(e.Message.Parts)
	case e.Type == TypeModelChange:
		return strings.Trim(e.Provider+"/"+e.Model, "/")
	case e.Type == TypeLabel:
		return e.Label
	case e.Type == TypeName:
		return e.Name
	case e.Type == TypeCustom:
		return e.Custom
	}
	return ""
}

func partsText(parts []chat.Part) string {
	var all []string
	for i := range parts {
		p := &parts[i]
		if p.Kind == chat.ToolCall {
			all = append(all, p.Name+" "+p.Args)
		} else if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// RecordText returns the words of a record, for stores that index them.
func RecordText(raw []byte) string {
	e := parseEntry(raw)
	if e.Message != nil {
		return partsText(e.Message.Parts)
	}
	return entryText(&e)
}

// RecordTitle returns how a message begins that a user wrote, for stores that
// list their sessions; "" for any other record.
func RecordTitle(raw []byte) string {
	if decode.Str(raw, "message", "role") != "user" {
		return ""
	}
	e := parseEntry(raw)
	if e.Message == nil || e.Message.Synthetic {
		return ""
	}
	return plain.Brief(e.Message.Text(), 100)
}

// Stats are numbers about a session.
type Stats struct {
	Session string `json:"session"`
	Name    string `json:"name,omitempty"`
	Model   string `json:"model,omitempty"`

	Entries  int          `json:"entries"` // on all branches
	ByType   map[Type]int `json:"by_type"`
	Branches int          `json:"branches"` // entries that nothing follows
	Bytes    int64        `json:"bytes"`

	// These are about the path to the leaf.
	Path        int `json:"path"`
	Messages    int `json:"messages"`
	Turns       int `json:"turns"`
	Compactions int `json:"compactions"`
	Rewinds     int `json:"rewinds"` // which took one back each
	Pins        int `json:"pins"`

	// View is how many messages the model sees, Status what they measure.
	View   int           `json:"view"`
	Status winnow.Status `json:"-"`
	Tokens int           `json:"tokens"`
	Ratio  float64       `json:"ratio"`

	// Usage is what all calls on the path have used in all.
	Usage chat.Usage `json:"usage"`
	Calls int        `json:"calls"`

	// First and Last are when the first and the last entry were written.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

func (st *Stats) setMeasured(by *winnow.Status) {
	st.Status, st.Tokens, st.Ratio = *by, by.Count.Tokens, by.Ratio
}

// Stats returns numbers about the session.
func (s *Session) Stats() (Stats, error) {
	_, status, err := s.NeedsCompaction()
	if err != nil {
		return Stats{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{
		Session: s.id, Name: s.currentName(), Model: s.line.model,
		Entries: len(s.tree.nodes) - s.tree.marks, ByType: make(map[Type]int), Path: len(s.tree.withoutBookmarks(s.line.path)), Pins: len(s.line.pins),
		Messages: s.line.history.Len(), Turns: len(chat.Boundaries(s.line.history)),
		Bytes: s.log.Info().Bytes,
	}
	st.setMeasured(&status)
	kids := s.entryOrder().kids
	for i := range s.tree.nodes {
		if kind := s.tree.nodes[i].kind; kind != typeBookmark {
			st.ByType[kind]++
			if kids[i] == 0 {
				st.Branches++
			}
		}
	}
	for _, i := range s.line.path {
		switch n := &s.tree.nodes[i]; {
		case n.kind != TypeCompaction:
		case decode.Str(n.raw(), "details", "winnow", "rewinds") != "":
			st.Rewinds++
		default:
			st.Compactions++
		}
	}
	for _, m := range s.line.history.All() {
		if u := m.Usage; u != nil {
			st.Calls++
			st.Usage.Input += u.Input
			st.Usage.Output += u.Output
			st.Usage.CacheRead += u.CacheRead
			st.Usage.CacheWrite += u.CacheWrite
			st.Usage.CacheWriteLong += u.CacheWriteLong
			st.Usage.Thinking += u.Thinking
		}
	}
	for i := range s.tree.nodes { // imported entries have the times of their messages, in any order
		t := RecordTime(s.tree.record(int32(i)))
		if t.IsZero() {
			continue
		}
		if st.First.IsZero() || t.Before(st.First) {
			st.First = t
		}
		if t.After(st.Last) {
			st.Last = t
		}
	}
	if c, err := s.currentContext(); err == nil {
		st.View = c.View.Len()
	}
	return st, nil
}

// Place is where an entry stands in the tree, without what it says: enough to
// draw a tree of any size.
type Place struct {
	ID   string
	Type Type

	// Parent is the place of the entry before it, -1 for none. Children is how
	// many entries follow it directly.
	Parent, Children int

	// OnPath says that the entry lies on the path to the leaf, Leaf that it is
	// the leaf.
	OnPath, Leaf bool
}

// Places returns the places of all entries, in the order in which [Session.Tree]
// lists them. No entry is decoded, so a long session takes milliseconds.
func (s *Session) Places() []Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.entryOrder()
	return s.placesBetween(o, 0, len(o.list))
}

// placesBetween returns some places of an order. The caller holds the lock.
func (s *Session) placesBetween(o *order, from, to int) []Place {
	on := make([]bool, len(s.tree.nodes))
	for _, i := range s.line.path {
		on[i] = true
	}
	out := make([]Place, 0, to-from)
	for _, i := range o.list[from:to] {
		n := &s.tree.nodes[i]
		p := Place{ID: n.id, Type: n.kind, Parent: none, Children: int(o.kids[i]), OnPath: on[i], Leaf: i == s.line.leaf}
		if up := s.tree.parentOf(i); up >= 0 {
			p.Parent = int(o.at[up])
		}
		out = append(out, p)
	}
	return out
}
