package providersim

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object to be written: names and values in turn, in the order
// the provider writes them.
type object []any

// list is a JSON array to be written.
type list []any

// rawJSON is written as it is.
type rawJSON []byte

// set returns the object with one more member.
func (o object) set(name string, v any) object { return append(o, name, v) }

// encodeJSON returns the value as compact JSON.
func encodeJSON(v any) []byte { return appendJSON(nil, v) }

func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		// Invalid UTF-8 becomes U+FFFD, which is what a provider would send.
		dst, _ = jsontext.AppendQuote(dst, v)
		return dst
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	case rawJSON:
		return append(dst, v...)
	case object:
		dst = append(dst, '{')
		for i := 0; i+1 < len(v); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			name, _ := v[i].(string)
			dst = append(appendJSON(dst, name), ':')
			dst = appendJSON(dst, v[i+1])
		}
		return append(dst, '}')
	case list:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	}
	panic("providersim: cannot write this type as JSON")
}
