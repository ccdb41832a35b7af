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
	out := make([]Place, len(o.list))
	at := make([]int32, len(s.tree.nodes)) // where a node is listed
	for i := range at {
		at[i] = none
	}
	for k, i := range o.list {
		at[i] = int32(k)
		n := &s.tree.nodes[i]
		p := Place{ID: n.id, Type: n.kind, Parent: none, Children: int(o.kids[i]), Leaf: i == s.line.leaf}
		if up := s.tree.parentOf(i); up >= 0 {
			p.Parent = int(at[up])
		}
		out[k] = p
	}
	for _, i := range s.line.path {
		if at[i] >= 0 {
			out[at[i]].OnPath = true
		}
	}
	return out
}
