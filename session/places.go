package session

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
