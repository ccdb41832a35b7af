// Package rows has what session stores share that keep records as rows of a
// database.
package rows

import (
	"bytes"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/session"
)

// Reader collects records that come row by row. It has one allocation for many
// of them.
type Reader struct {
	Records []session.Record
	arena   []byte
}

// Add copies a row: its bytes may be the driver's own.
func (r *Reader) Add(seq int64, raw []byte) {
	if cap(r.arena)-len(r.arena) < len(raw) {
		r.arena = make([]byte, 0, max(1<<20, len(raw)))
	}
	from := len(r.arena)
	r.arena = append(r.arena, raw...)
	r.Records = append(r.Records, session.Record{Raw: r.arena[from:len(r.arena):len(r.arena)], Line: int(seq)})
}

// Name returns the name that records give their session, the last one where
// there are several; nil where they give none.
func Name(recs [][]byte) *string {
	for i := len(recs) - 1; i >= 0; i-- {
		if bytes.HasPrefix(recs[i], []byte(`{"type":"session_info"`)) {
			name := decode.Str(recs[i], "name")
			return &name
		}
	}
	return nil
}

// Size is how many bytes records have as lines of a file.
func Size(recs [][]byte) int {
	n := 0
	for _, r := range recs {
		n += len(r) + 1
	}
	return n
}

// Deleted says that a session is gone to which somebody adds.
func Deleted(id string) error {
	return &session.Error{Op: "append to", Session: id, Problem: "it was deleted", Hint: "list the sessions", Err: session.ErrNotFound}
}
