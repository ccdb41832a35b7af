package session

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// ParseHeader reads the first record of a session. The error wraps
// [ErrNotSession] for anything else, and says what it is.
func ParseHeader(raw []byte) (Header, error) {
	v := jsontext.Value(raw)
	if decode.Valid(raw) != nil || v.Kind() != '{' {
		return Header{}, fmt.Errorf("the first line is no JSON object: %w", ErrNotSession)
	}
	if decode.Str(v, "kind") == "header" {
		return Header{}, fmt.Errorf("this is a session of an experimental version 4, and only versions 1 to 3 can be read: %w", ErrNewer)
	}
	h := Header{Version: 1, Raw: raw}
	if decode.Str(v, "type") != "session" || decode.Member(v, "id").Kind() != '"' {
		return Header{}, fmt.Errorf("the first record is no session header: %w", ErrNotSession)
	}
	h.ID, h.Dir, h.Parent = decode.Str(v, "id"), decode.Str(v, "cwd"), decode.Str(v, "parentSession")
	h.Time = parseTime(decode.Member(v, "timestamp"))
	if n := decode.Member(v, "version"); n.Kind() == '0' {
		h.Version, _ = decode.Int(n)
	}
	if h.Version > Version {
		return Header{}, fmt.Errorf("this is a session of version %d, and only versions 1 to %d can be read: %w", h.Version, Version, ErrNewer)
	}
	if h.Version < 1 {
		return Header{}, fmt.Errorf("this is a session of version %d, and only versions 1 to %d can be read: %w", h.Version, Version, ErrNotSession)
	}
	return h, nil
}

// RecordTime returns when a record was written.
func RecordTime(raw []byte) time.Time { return parseTime(decode.Member(raw, "timestamp")) }
