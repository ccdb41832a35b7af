package decode

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Millis returns a time in milliseconds since 1970: from an ISO string, or from
// a number of seconds or milliseconds. What it cannot read is 0.
func Millis(v jsontext.Value) int64 {
	switch v.Kind() {
	case '"':
		s, _ := String(v)
		for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
			if t, err := time.Parse(layout, s); err == nil {
				return t.UnixMilli()
			}
		}
	case '0':
		f, err := strconv.ParseFloat(string(v), 64)
		switch {
		case err != nil || f < 0 || f > 1e15:
		case f > 1e11:
			return int64(f)
		default:
			return int64(f * 1000)
		}
	}
	return 0
}
