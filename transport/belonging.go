package transport

import (
	"context"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// # Which conversation a request belongs to
//
// Requests carry no session id, but each carries its whole history. So a
// conversation is a leaf of the tree of messages that a tenant has sent, and the
// messages themselves say which leaf a request belongs to. The book keeps for each
// leaf its length, the hash of all its messages, and one short hash for each of them
// (a link). [Transport.chooseLeaf] asks three questions, and the first answer counts:
//
//  1. Does the history start with all messages of a leaf? It continues the longest
//     such leaf.
//  2. Which leaf shares the most links with it? If that leaf has all of its
//     messages, the request is an earlier one of that leaf, sent or counted again.
//  3. Else it parts from that leaf, and is a new leaf whose parent that one is. Where
//     it parts before that leaf had itself begun, the parent is that leaf's parent.
//
// An example: the book has X, the messages a b c d, and Y, which parted from X after
// three messages: a b c y.
//
//	a b c d e f   continues X
//	a b c y z     continues Y
//	a b           an earlier request of X or Y: it is behind, and changes neither
//	a b c d'      a new leaf: parent X, three messages shared
//	a b w         a new leaf: two messages shared with Y, but Y began after three,
//	              so the parent is X
//
// Conversations are looked up by their first message: one that begins otherwise
// never meets these.

// belonging is where a request belongs.
type belonging struct {
	planstore.Conversation

	// lineage is the conversation and those that it branched off from, the
	// nearest first.
	lineage []string

	// known says that the conversation is in the book, behind that the request
	// is older than its newest one.
	known, behind bool

	// pins are those of all conversations under the key.
	pins []planstore.Pin
}

// findConversation finds the conversation of a history. Where the book cannot be read, it
// is taken for one at its start.
func (t *Transport) findConversation(ctx context.Context, k planstore.Key, h chat.History) (belonging, error) {
	leaves, pins, err := t.opts.Store.Leaves(ctx, k)
	if err != nil {
		return newLeaf(k, h), err
	}
	c, err := t.chooseLeaf(ctx, k, h, leaves)
	c.pins = pins
	return c, err
}

// chooseLeaf finds the conversation of a history among those under its key.
func (t *Transport) chooseLeaf(ctx context.Context, k planstore.Key, h chat.History, leaves []planstore.Conversation) (belonging, error) {
	best := -1
	for i := range leaves {
		if h.StartsWith(leaves[i].Len, leaves[i].Chain) && (best < 0 || leaves[i].Len > leaves[best].Len) {
			best = i
		}
	}
	if best >= 0 {
		return belonging{Conversation: leaves[best], lineage: lineageOf(leaves, leaves[best]), known: true}, nil
	}
	common := 0
	for i := range leaves {
		links, err := t.opts.Store.Links(ctx, leaves[i])
		if err != nil {
			return newLeaf(k, h), err
		}
		if n := countShared(links, h); n > common {
			best, common = i, n
		}
	}
	if best < 0 {
		return newLeaf(k, h), nil
	}
	from := leaves[best]
	if common == h.Len() {
		return belonging{Conversation: from, lineage: lineageOf(leaves, from), known: true, behind: true}, nil
	}
	for common <= from.Shared { // it parts where that one had not begun yet
		i := slices.IndexFunc(leaves, func(c planstore.Conversation) bool { return c.ID == from.Parent })
		if i < 0 {
			break
		}
		from = leaves[i]
	}
	c := planstore.NewConversation(k, h.Chain(common+1))
	c.Parent, c.Shared = from.ID, common
	return belonging{Conversation: c, lineage: append([]string{c.ID}, lineageOf(leaves, from)...)}, nil
}

// newLeaf returns a conversation that begins with its first message.
func newLeaf(k planstore.Key, h chat.History) belonging {
	c := planstore.NewConversation(k, h.Chain(min(1, h.Len())))
	return belonging{Conversation: c, lineage: []string{c.ID}}
}

// countShared returns how many messages a history has in common with links.
func countShared(links []planstore.Link, h chat.History) int {
	n := min(len(links), h.Len())
	for i := range n {
		if links[i] != planstore.LinkOf(h.Chain(i+1)) {
			return i
		}
	}
	return n
}

// lineageOf returns a conversation and those that it branched off from.
func lineageOf(leaves []planstore.Conversation, c planstore.Conversation) []string {
	ids := []string{c.ID}
	for c.Parent != "" && !slices.Contains(ids, c.Parent) {
		ids = append(ids, c.Parent)
		i := slices.IndexFunc(leaves, func(x planstore.Conversation) bool { return x.ID == c.Parent })
		if i < 0 {
			break
		}
		c = leaves[i]
	}
	return ids
}

// linksOf returns the links of a history's messages from one on.
func linksOf(h chat.History, from int) planstore.Links {
	l := planstore.Links{From: min(from, h.Len())}
	for i := l.From; i < h.Len(); i++ {
		l.Links = append(l.Links, planstore.LinkOf(h.Chain(i+1)))
	}
	return l
}

// placeRequest says which conversation a request belongs to, which plan is in force
// there, and what is pinned. In a conversation that is known that is the plan
// that came into force last; in a new one the plan with the longest prefix that
// it starts with.
func (c *conversation) placeRequest(h chat.History, known *plan.Plan) (err error) {
	if c.conv, err = c.t.findConversation(c.ctx(), c.key, h); err != nil {
		return err
	}
	if c.base, err = c.t.inForce(c.ctx(), &c.conv, h, known); err != nil {
		return err
	}
	if !c.conv.known {
		c.conv.Plan = c.base.ID()
	}
	c.pins, c.notes = c.conv.pinsAndNotes(h)
	return c.takeBack()
}

// inForce returns the plan in force for a history; nil for none. A plan that is
// at hand already is not read again.
func (t *Transport) inForce(ctx context.Context, c *belonging, h chat.History, known *plan.Plan) (*plan.Plan, error) {
	switch {
	case !c.known || c.behind:
		return findLongest(ctx, t.opts.Store, c.Key, h, known, "")
	case c.Plan == "":
		return nil, nil
	case known != nil && known.ID() == c.Plan:
		return known, nil
	}
	return findLongest(ctx, t.opts.Store, c.Key, h, known, c.Plan) // the longest where the store has forgotten it
}

// pinsAndNotes returns what is pinned and what is noted in a history.
func (c *belonging) pinsAndNotes(h chat.History) ([]winnow.Pin, []winnow.Note) {
	written, pins := planstore.Notes(planstore.In(c.pins, c.lineage, h))
	var out []winnow.Pin
	for _, p := range pins {
		out = append(out, winnow.Pin{Message: p.Len - 1, Part: p.Part})
	}
	return out, written
}
