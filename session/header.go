package session

import (
	"cmp"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// ParseHeader reads the first record of a session. The error wraps
// [ErrNotSession] for anything else, and says what it is.
func ParseHeader(raw []byte) (Header, error) {
	v := jsontext.Value(raw)
	if decode.Valid(raw) != nil || v.Kind() != '{' {
		return Header{}, fmt.Errorf("the first line is not a JSON object: %w", ErrNotSession)
	}
	if decode.Str(v, "kind") == "header" {
		return Header{}, fmt.Errorf("this is a session of an experimental version 4, and only versions 1 to 3 can be read: %w", ErrNewer)
	}
	p, ok := pifile.ParseHeader(v)
	if !ok {
		return Header{}, fmt.Errorf("the first record is not a session header: %w", ErrNotSession)
	}
	h := Header{ID: p.ID, Dir: p.Dir, Parent: p.Parent, Time: p.Time, Version: p.Version, Raw: raw}
	if h.Version > Version {
		return Header{}, fmt.Errorf("this is a session of version %d, and only versions 1 to %d can be read: %w", h.Version, Version, ErrNewer)
	}
	if h.Version < 1 {
		return Header{}, fmt.Errorf("this is a session of version %d, and only versions 1 to %d can be read: %w", h.Version, Version, ErrNotSession)
	}
	return h, nil
}

// RecordTime returns when a record was written.
func RecordTime(raw []byte) time.Time { return pifile.Time(decode.Member(raw, "timestamp")) }

// withTimeAndID returns the header with a time and an id, where it has none.
func (h Header) withTimeAndID(now time.Time) Header {
	if h.Time.IsZero() {
		h.Time = now
	}
	h.ID = cmp.Or(h.ID, newID(h.Time))
	return h
}
