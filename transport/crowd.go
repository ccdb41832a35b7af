package transport

import (
	"bytes"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonspan"
)

// What a request costs here is not a matter of its bytes alone. Two million
// messages of one letter are 60 MB, pack to 160 KB, and take gigabytes when
// they are read. So messages and values are counted before a body is read, which
// takes a moment and no memory. No model has a window for more than these.
const (
	maxMessages = 100_000
	maxValues   = 1_000_000

	// maxParts is how many parts one message may have. Some of the work on
	// calls and results compares those of a message with each other.
	maxParts = 5_000
)

// isCrowded reports whether a body holds more messages or values than are read.
func isCrowded(raw []byte) bool {
	// Each value but the first of a list follows a comma, and the first a
	// bracket. Where there are few of them, in texts too, nothing need be told
	// apart.
	if bytes.Count(raw, []byte{','})+bytes.Count(raw, []byte{'['})+bytes.Count(raw, []byte{'{'}) <= maxMessages {
		return false
	}
	const lists = 2 // the depth of what stands directly in a list of the request
	depth, values, messages := 0, 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			if i = jsonspan.EndOfString(raw, i) - 1; i < 0 {
				return false
			}
		case '[', '{':
			depth++
			values++
			if depth == lists {
				messages = 1
			}
		case ']', '}':
			depth--
		case ',':
			values++
			if depth == lists {
				messages++
			}
		}
		if values > maxValues || messages > maxMessages {
			return true
		}
	}
	return false
}

// hasPackedMessage reports whether a message has more parts than are worked on.
func hasPackedMessage(h chat.History) bool {
	for _, m := range h.All() {
		if len(m.Parts) > maxParts {
			return true
		}
	}
	return false
}
