package wire

import (
	"bytes"
	"io"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// leastResumed is the size of a common beginning below which it is quicker to
// read a body from its start. Only tests change it, so that short bodies are
// read on too.
var leastResumed = 4 << 10

// scanNext scans a body that continues another one, as [scanLayout] does: their
// common beginning was scanned already, so the scan starts after the last message
// in it.
func scanNext(d Dialect, raw []byte, prev *Body) (*layout, error) {
	if l := resumeLayout(d, raw, prev); l != nil {
		return l, nil
	}
	return scanLayout(d, raw)
}

// resumeLayout returns the layout of a body that begins like prev; nil where that
// does not help, or where something is wrong with the rest: then a scan from the
// start tells what.
func resumeLayout(d Dialect, raw []byte, prev *Body) *layout {
	if prev == nil || prev.wrapped || prev.list.From < 0 || prev.raw[prev.list.From] != '[' {
		return nil
	}
	common := text.Common(prev.raw, raw)
	// The byte after an element must be the same too: only then it ends there.
	same := len(prev.elems)
	for same > 0 && prev.elems[same-1].To >= common {
		same--
	}
	if same == 0 || prev.elems[same-1].To < leastResumed {
		return nil
	}
	at := prev.elems[same-1].To
	l := &layout{bare: prev.bare, same: same, list: span{From: prev.list.From}}
	l.elems = append(make([]span, 0, len(prev.elems)+16), prev.elems[:same]...)
	for _, f := range prev.fields {
		if f.val.To < prev.list.From {
			l.fields = append(l.fields, f)
		}
	}
	// The decoder is brought to the same place by a short beginning of our own.
	head := "[0"
	if !l.bare {
		head = string(appendQuoted([]byte{'{'}, d.listMember())) + ":[0"
	}
	dec := newDecoder(io.MultiReader(strings.NewReader(head), bytes.NewReader(raw[at:])))
	shift := at - len(head)
	for range strings.Count(head, "[") + 2*strings.Count(head, "{") { // [ and { and the name
		if _, err := dec.ReadToken(); err != nil {
			return nil
		}
	}
	if _, err := dec.ReadToken(); err != nil { // the element that stands for all
		return nil
	}
	if l.readElements(dec, shift) != nil {
		return nil
	}
	if !l.bare && l.readMembers(dec, d, shift) != nil {
		return nil
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil
	}
	return l
}
