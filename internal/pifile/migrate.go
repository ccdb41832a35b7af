package pifile

import (
	"bytes"
	"cmp"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// WithPlace puts id and parent into a record of version 1, and the id of the
// entry that a compaction keeps first. There a compaction counts all records, the
// header first; byIndex are their ids. Every other byte stays.
func WithPlace(raw []byte, id, parent string, byIndex []string) []byte {
	kind := cmp.Or(string(decode.Member(raw, "type")), `""`)
	members := []any{"type", []byte(kind), "id", id, "parentId", parentOrNull(parent)}
	for k, v := range decode.Members(raw) {
		switch k {
		case "type", "id", "parentId":
		case "firstKeptEntryIndex":
			kept := id // what is not there: nothing is kept
			if n, err := decode.Int(v); err == nil && n > 0 && n < len(byIndex) {
				kept = byIndex[n]
			}
			members = append(members, "firstKeptEntryId", kept)
		default:
			members = append(members, k, []byte(v))
		}
	}
	return jsonwrite.Of(members...)
}

// WithoutHookRole gives a record of version 1 or 2 the name that version 3 has
// for the one role that it renamed.
func WithoutHookRole(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("hookMessage")) {
		return raw
	}
	role := decode.Path(raw, "message", "role")
	if decode.Str(role) != "hookMessage" {
		return raw
	}
	at := indexOf(raw, role)
	if at < 0 {
		return raw
	}
	out := append([]byte(nil), raw[:at]...)
	out = append(out, `"custom"`...)
	return append(out, raw[at+len(role):]...)
}

// indexOf returns where a value that was cut out of raw stands in it, or -1.
func indexOf(raw, part []byte) int {
	for at := 0; len(part) > 0; at++ {
		i := bytes.Index(raw[at:], part)
		if i < 0 {
			break
		}
		if at += i; &raw[at] == &part[0] {
			return at
		}
	}
	return -1
}
