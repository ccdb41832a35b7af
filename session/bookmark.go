package session

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// A bookmark is an entry that says nothing but where the leaf is: after its
// parent. The leaf is where the last record is, for pi too, so a move that
// writes nothing else needs one to outlive the process. Programs see none of
// it; the entries that come next follow the bookmark's parent. Where pi went on
// from a bookmark, the path leads through it.

// typeBookmark is the type that such entries have in the tree.
const typeBookmark Type = customLeaf

// isBookmark reports whether a custom entry is a bookmark.
func isBookmark(raw jsontext.Value) bool {
	return bytes.Contains(raw, []byte(customLeaf)) && decode.Str(raw, "customType") == customLeaf
}

// lastLeaf returns the leaf that the last record makes: itself, or the parent of a
// bookmark.
func (t *tree) lastLeaf() int32 {
	at := int32(len(t.nodes) - 1)
	if at >= 0 && t.nodes[at].kind == typeBookmark {
		return t.parentOf(at)
	}
	return at
}

// parentOf returns the nearest parent of a node that is not a bookmark, or a
// negative value as in node.up.
func (t *tree) parentOf(i int32) int32 {
	up := t.nodes[i].up
	for n := 0; up >= 0 && t.nodes[up].kind == typeBookmark && n <= t.marks; n++ {
		up = t.nodes[up].up
	}
	return up
}

// withoutBookmarks returns the nodes without bookmarks.
func (t *tree) withoutBookmarks(nodes []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(nodes), func(i int32) bool { return t.nodes[i].kind == typeBookmark })
}

// truncateTo takes away all nodes but the first n.
func (t *tree) truncateTo(n int) {
	for i := n; i < len(t.nodes); i++ {
		delete(t.orphans, int32(i))
		if t.nodes[i].kind == typeBookmark {
			t.marks--
		}
	}
	t.nodes = t.nodes[:n]
	t.indexAll(n)
}
