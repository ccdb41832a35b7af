// Package leaf has what stores share that keep a book of conversations.
package leaf

import (
	"slices"
	"time"

	"github.com/winnow-llm/winnow/transport/planstore"
)

// Moved returns conversations with one of them moved on, or added.
func Moved(all []planstore.Conversation, x planstore.Conversation, at time.Time) []planstore.Conversation {
	i := slices.IndexFunc(all, func(c planstore.Conversation) bool { return c.ID == x.ID })
	if i < 0 {
		x.Used = at
		return append([]planstore.Conversation{x}, all...)
	}
	all = slices.Clone(all)
	all[i].Len, all[i].Chain, all[i].Used = x.Len, x.Chain, at
	return all
}

// PackLinks returns links as bytes.
func PackLinks(links []planstore.Link) []byte {
	packed := make([]byte, 0, len(links)*len(planstore.Link{}))
	for _, l := range links {
		packed = append(packed, l[:]...)
	}
	return packed
}

// UnpackLinks puts packed links, which begin with message from, into their places.
func UnpackLinks(to []planstore.Link, from int, packed []byte) []planstore.Link {
	l := planstore.Links{From: from}
	for part := range slices.Chunk(packed, len(planstore.Link{})) {
		var k planstore.Link
		copy(k[:], part)
		l.Links = append(l.Links, k)
	}
	return l.Put(to)
}
