package session

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

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
	id   string
	kind Type
	recordPlace
	up int32 // the parent's index, or one of the values below
}

const (
	none    = -1 // a root
	missing = -2 // the parent is not there
)

// tree is all entries of a session, in the order of their records.
type tree struct {
	nodes    []node
	slots    []int32 // finds nodes by their ids
	problems []Problem
	orphans  map[int32]string // nodes whose parent is not there, with its id
	mend     bool             // such a node follows the one before it
	marks    int              // bookmarks

	again *again // nil where all records are held
}

// addPieces takes the records of a large log in, piece by piece, and lets go of
// those of messages.
func (t *tree) addPieces(ctx context.Context, log rereader, size int64) error {
	t.again = &again{log: log}
	mend := t.mend
	t.mend = false // a parent may stand in a piece to come
	for {
		recs, err := log.LoadPiece(ctx, pieceBytes)
		if err != nil || len(recs) == 0 {
			t.mend = mend
			t.linkOrphans()
			return err
		}
		if len(t.nodes) == 0 { // so that nothing is moved when the next ones come
			n, read := int64(len(recs)), int64(1)
			for i := range recs {
				read += int64(len(recs[i].Raw))
			}
			n = min(size, n*size/read)
			t.nodes = make([]node, 0, n+n/16)
			t.indexAll(int(n))
		}
		first := t.addRecords(recs)
		letGo(t.nodes[first:])
	}
}

// addRecords takes records in and returns the index of the first new node.
func (t *tree) addRecords(recs []Record) int {
	first := len(t.nodes)
	fresh, parents := make([]node, len(recs)), make([]string, len(recs))
	eachParallel(len(recs), 2048, func(i int) {
		r := &recs[i]
		n := &fresh[i]
		n.hold(r.Raw)
		n.at, n.line = r.At, int32(r.Line)
		seen := 0
		for k, v := range decode.Members(r.Raw) {
			switch k {
			case "type":
				if n.kind = TypeMessage; string(v) != `"message"` { // a million share one word
					n.kind = Type(decode.Str(v))
				}
				seen |= 1
			case "id":
				n.id = decode.Str(v)
				seen |= 2
			case "parentId":
				parents[i] = decode.Str(v)
				seen |= 4
			}
			if seen == 7 {
				break
			}
		}
		if n.kind == TypeCustom && isBookmark(n.raw()) {
			n.kind = typeBookmark
		}
	})
	t.nodes = slices.Grow(t.nodes, len(fresh))
	for i := range fresh {
		n := &fresh[i]
		if n.kind == "session" {
			continue
		}
		if n.id == "" {
			t.noteProblem("", "an entry in record %d has no id: it is left out", n.line)
			continue
		}
		if k, twice := t.find(n.id); twice {
			if string(t.record(k)) != string(n.raw()) {
				t.noteProblem(n.id, "two entries have this id: the second, in record %d, is left out", n.line)
			}
			continue
		}
		t.linkParent(int32(len(t.nodes)), n, parents[i])
		t.nodes = append(t.nodes, *n)
		t.indexLast()
		if n.kind == typeBookmark {
			t.marks++
		}
	}
	t.linkOrphans()
	return first
}

// linkParent finds the parent of node i among those before it.
func (t *tree) linkParent(i int32, n *node, parent string) {
	n.up = none
	if parent == "" {
		return
	}
	k, ok := t.find(parent)
	if n.up = k; ok {
		return
	}
	n.up, t.orphans[i] = missing, parent
}

// linkOrphans looks for parents among all nodes. A parent may stand after its child
// only in a damaged file, and only there can circles be.
func (t *tree) linkOrphans() {
	for _, i := range slices.Sorted(maps.Keys(t.orphans)) {
		k, ok := t.find(t.orphans[i])
		switch {
		case ok:
			t.nodes[i].up = k
		case t.mend:
			t.bridgeLost(i)
		default:
			continue
		}
		delete(t.orphans, i)
	}
}

// bridgeLost lets a node whose parent was lost follow the node written before it:
// in a session without branches that is the entry before the lost one.
func (t *tree) bridgeLost(i int32) {
	n := &t.nodes[i]
	n.up = i - 1
	if i == 0 {
		t.noteProblem(n.id, "its parent %s is not in the session: the session starts with it", t.orphans[i])
		return
	}
	t.noteProblem(n.id, "its parent %s is not in the session: it follows %s, the entry before it", t.orphans[i], t.nodes[i-1].id)
}

func (t *tree) noteProblem(id, format string, args ...any) {
	if len(t.problems) < 100 {
		t.problems = append(t.problems, Problem{id, fmt.Sprintf(format, args...)})
	}
}

// pathTo returns the nodes from the root to the leaf, and what is wrong with it:
// nothing, a parent that is not there, or a circle. The path ends where the parents
// come round.
func (t *tree) pathTo(leaf int32) (path []int32, wrong string) {
	seen := make([]bool, len(t.nodes))
	for at := leaf; at >= 0; at = t.nodes[at].up {
		if seen[at] {
			wrong = fmt.Sprintf("the parents of entry %s form a circle", t.nodes[leaf].id)
			break
		}
		seen[at], path = true, append(path, at)
		if n := &t.nodes[at]; n.up == missing {
			wrong = fmt.Sprintf("the parent %s of entry %s is not in the session", t.orphans[at], n.id)
		}
	}
	slices.Reverse(path)
	return path, wrong
}

// findProblems looks at every entry and returns all problems of the tree.
func (t *tree) findProblems() []Problem {
	out := append([]Problem(nil), t.problems...)
	seen := make([]int, len(t.nodes)) // by node: the number, from 1, of the one whose parents led there first
	for i := range t.nodes {
		at := int32(i)
		for ; at >= 0 && seen[at] == 0; at = t.nodes[at].up {
			seen[at] = i + 1
			if n := &t.nodes[at]; n.up == missing {
				out = append(out, Problem{n.id, "its parent " + t.orphans[at] + " is not in the session"})
			}
		}
		if at >= 0 && seen[at] == i+1 {
			out = append(out, Problem{t.nodes[at].id, "its parents form a circle"})
		}
	}
	return out
}

// decodeMessage decodes what the model sees of a node by itself; nil for nothing.
func (t *tree) decodeMessage(i int32) *chat.Message {
	n := &t.nodes[i]
	switch n.kind {
	case TypeMessage:
		var at time.Time
		for k, v := range decode.Members(t.record(i)) {
			if k == "timestamp" {
				at = pifile.Time(v)
			}
			if k == "message" {
				return parseMessage(v, n.id, at)
			}
		}
	case TypeCustomMessage, TypeBranchSummary:
		return parseEntry(n.raw()).Message
	}
	return nil
}

// eachParallel calls f for 0 to n-1, on several goroutines when there is enough to do.
// f must touch only what belongs to its index.
func eachParallel(n, few int, f func(i int)) {
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
