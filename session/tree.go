package session

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// Problem is something that is wrong with a session's tree.
type Problem struct {
	Entry string `json:"entry"`
	What  string `json:"what"`
}

// node is an entry in the tree. Its record is decoded when it is needed.
type node struct {
	id, parent string
	kind       Type
	raw        jsontext.Value
	up         int32 // the parent's index, or one of the values below
	line       int32
}

const (
	none    = -1 // a root
	missing = -2 // the parent is not there
)

// tree is all entries of a session, in the order of their records.
type tree struct {
	nodes    []node
	byID     map[string]int32
	problems []Problem
	orphans  int  // nodes whose parent is not there yet
	mend     bool // such a node follows the one before it
	marks    int  // bookmarks
}

// add takes records in and returns the index of the first new node.
func (t *tree) add(recs []Record) int {
	first := len(t.nodes)
	fresh := make([]node, len(recs))
	each(len(recs), 2048, func(i int) {
		r := &recs[i]
		n := &fresh[i]
		n.raw, n.line = r.Raw, int32(r.Line)
		seen := 0
		for k, v := range decode.Members(n.raw) {
			switch k {
			case "type":
				n.kind = internType(v)
				seen |= 1
			case "id":
				n.id = decode.Str(v)
				seen |= 2
			case "parentId":
				n.parent = decode.Str(v)
				seen |= 4
			}
			if seen == 7 {
				break
			}
		}
		if n.kind == TypeCustom && isBookmark(n.raw) {
			n.kind = typeBookmark
		}
	})
	if t.byID == nil {
		t.byID = make(map[string]int32, len(fresh))
	}
	if cap(t.nodes)-len(t.nodes) < len(fresh) {
		grown := make([]node, len(t.nodes), len(t.nodes)+len(fresh)+len(fresh)/4+16)
		copy(grown, t.nodes)
		t.nodes = grown
	}
	for i := range fresh {
		n := &fresh[i]
		if n.kind == "session" {
			continue
		}
		if n.id == "" {
			t.note("", "an entry in record %d has no id: it is left out", n.line)
			continue
		}
		if k, twice := t.byID[n.id]; twice {
			if string(t.nodes[k].raw) != string(n.raw) {
				t.note(n.id, "two entries have this id: the second, in record %d, is left out", n.line)
			}
			continue
		}
		t.byID[n.id] = int32(len(t.nodes))
		n.up = missing
		t.nodes = append(t.nodes, *n)
		if n.kind == typeBookmark {
			t.marks++
		}
	}
	t.link(first)
	return first
}

// link finds the parents of the nodes from first on. A parent may stand after
// its child only in a damaged file, and only there can circles be.
func (t *tree) link(first int) {
	if t.orphans > 0 {
		first = 0
	}
	t.orphans = 0
	for i := first; i < len(t.nodes); i++ {
		n := &t.nodes[i]
		if n.parent == "" {
			n.up = none
			continue
		}
		k, ok := t.byID[n.parent]
		if !ok && t.mend {
			t.bridge(i)
			continue
		}
		if !ok {
			n.up = missing
			t.orphans++
			continue
		}
		n.up = k
	}
}

// bridge lets a node whose parent was lost follow the one that was written before
// it: in a session without branches that is the one before the lost entry.
func (t *tree) bridge(i int) {
	n := &t.nodes[i]
	if i == 0 {
		n.up = none
		t.note(n.id, "its parent %s is not in the session: the session starts with it", n.parent)
		return
	}
	n.up = int32(i - 1)
	t.note(n.id, "its parent %s is not in the session: it follows %s, the entry before it", n.parent, t.nodes[i-1].id)
}

func (t *tree) note(id, format string, args ...any) {
	if len(t.problems) < 100 {
		t.problems = append(t.problems, Problem{id, fmt.Sprintf(format, args...)})
	}
}

// path returns the nodes from the root to the leaf, and what is wrong with it:
// nothing, a parent that is not there, or a circle.
func (t *tree) path(leaf int32) (path []int32, wrong string) {
	for at := leaf; at >= 0; at = t.nodes[at].up {
		if len(path) > len(t.nodes) {
			return nil, fmt.Sprintf("the parents of entry %s form a circle", t.nodes[leaf].id)
		}
		path = append(path, at)
		if n := &t.nodes[at]; n.up == missing {
			wrong = fmt.Sprintf("the parent %s of entry %s is not in the session", n.parent, n.id)
		}
	}
	slices.Reverse(path)
	return path, wrong
}

// check looks at every entry and returns all problems of the tree.
func (t *tree) check() []Problem {
	out := append([]Problem(nil), t.problems...)
	const (
		unknown = iota
		under
		good
	)
	state := make([]uint8, len(t.nodes))
	var stack []int32
	for i := range t.nodes {
		stack = stack[:0]
		for at := int32(i); at >= 0 && state[at] != good; at = t.nodes[at].up {
			if state[at] == under {
				out = append(out, Problem{t.nodes[at].id, "its parents form a circle"})
				break
			}
			state[at] = under
			stack = append(stack, at)
			if n := &t.nodes[at]; n.up == missing {
				out = append(out, Problem{n.id, "its parent " + n.parent + " is not in the session"})
			}
		}
		for _, at := range stack {
			state[at] = good
		}
	}
	return out
}

// message decodes what the model sees of a node by itself; nil for nothing.
func (t *tree) message(i int32) *chat.Message {
	n := &t.nodes[i]
	switch n.kind {
	case TypeMessage:
		var at time.Time
		for k, v := range decode.Members(n.raw) {
			if k == "timestamp" {
				at = pifile.Time(v)
			}
			if k == "message" {
				return parseMessage(v, n.id, at)
			}
		}
	case TypeCustomMessage, TypeBranchSummary:
		return parseEntry(n.raw).Message
	}
	return nil
}

// each calls f for 0 to n-1, on several goroutines when there is enough to do.
// f must touch only what belongs to its index.
func each(n, few int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), 8, n/few)
	if workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := n * w / workers; i < n*(w+1)/workers; i++ {
				f(i)
			}
		})
	}
	wg.Wait()
}

// internType returns a type without a new string for the usual ones.
func internType(v jsontext.Value) Type {
	if n := len(v); n > 2 {
		switch string(v[1 : n-1]) {
		case "message":
			return TypeMessage
		case "custom":
			return TypeCustom
		case "compaction":
			return TypeCompaction
		case "custom_message":
			return TypeCustomMessage
		case "context_edit":
			return TypeContextEdit
		}
	}
	return Type(decode.Str(v))
}

// untilCircle returns the path to a leaf up to where its parents come round.
func (t *tree) untilCircle(leaf int32) []int32 {
	seen := make(map[int32]bool)
	var path []int32
	for at := leaf; at >= 0 && !seen[at]; at = t.nodes[at].up {
		seen[at] = true
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}
