package session

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// A log of more than heldBytes is read in pieces of pieceBytes, and the records of
// its messages are not held beside the messages that they are decoded to. They are
// variables for tests.
var (
	heldBytes  int64 = 16 << 20
	pieceBytes       = 1 << 20
)

// rereader is a log whose records can be read again.
type rereader interface {
	LoadPiece(ctx context.Context, size int) ([]Record, error)
	Reread(at int64, raw []byte) error
}

// again reads records again that are not held.
type again struct {
	log rereader

	mu  sync.Mutex
	err error // the first that was met
}

// letGo takes the records of messages from nodes, and what holds their piece from
// the others.
func letGo(nodes []node) {
	for i := range nodes {
		if n := &nodes[i]; n.kind == TypeMessage && n.at > 0 {
			n.size, n.held = int32(len(n.raw())), nil
		} else {
			n.hold(bytes.Clone(n.raw()))
		}
	}
}

// recordPlace is a record, or where it can be read again. There may be a million.
type recordPlace struct {
	held *jsontext.Value // nil where it is read again
	at   int64           // where it begins
	size int32           // how many bytes it has there
	line int32
}

func (p *recordPlace) hold(raw jsontext.Value) { p.held = &raw }

// raw returns a record that is held, nil for any other.
func (p *recordPlace) raw() jsontext.Value {
	if p.held == nil {
		return nil
	}
	return *p.held
}

// read returns a record.
func (a *again) read(p *recordPlace) (jsontext.Value, error) {
	if p.held != nil {
		return *p.held, nil
	}
	raw := make(jsontext.Value, p.size)
	if err := a.log.Reread(p.at, raw); err != nil {
		return nil, err
	}
	if raw[0] != '{' || decode.Valid(raw) != nil {
		return nil, fmt.Errorf("record %d was changed by another program while the session was open", p.line)
	}
	return raw, nil
}

// record returns the record of a node. Where it cannot be read again it returns
// nothing, and failed says why.
func (t *tree) record(i int32) jsontext.Value {
	raw, err := t.again.read(&t.nodes[i].recordPlace)
	if err != nil {
		t.again.mu.Lock()
		defer t.again.mu.Unlock()
		if t.again.err == nil {
			t.again.err = err
		}
	}
	return raw
}

// records ranges over the records of nodes, as the tree is now: it may grow, and
// what failed to be added to it be taken away again.
func (t *tree) records(nodes []int32) iter.Seq2[[]byte, error] {
	now := make([]recordPlace, len(nodes))
	for k, i := range nodes {
		now[k] = t.nodes[i].recordPlace
	}
	again := t.again
	return func(yield func([]byte, error) bool) {
		for i := range now {
			if !yield(again.read(&now[i])) {
				return
			}
		}
	}
}

// failed returns why a record could not be read again.
func (t *tree) failed() error {
	if t.again == nil {
		return nil
	}
	t.again.mu.Lock()
	defer t.again.mu.Unlock()
	return t.again.err
}
