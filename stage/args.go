package stage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/text"
)

// shortArgs returns the arguments of a call with long values cut, as a JSON
// object of at most about max bytes. Keys and short values stay: they name
// things. Other arguments become a JSON object that says so.
func shortArgs(args string, max int, handle string) string {
	for _, keep := range [...]int{400, 120, 40} {
		if s, ok := cutValues(args, keep, handle); ok && len(s) <= max {
			return s
		}
	}
	head := text.Head(args, min(max/2, 80))
	b, err := json.Marshal(map[string]string{"shortened": fmt.Sprintf("%s… (%d bytes; original: %s)", head, len(args), handle)})
	if err != nil {
		return "{}"
	}
	return string(b)
}

// cutValues rewrites a JSON object with every string longer than keep cut.
func cutValues(args string, keep int, handle string) (string, bool) {
	if !strings.HasPrefix(strings.TrimSpace(args), "{") {
		return "", false
	}
	dec := jsontext.NewDecoder(strings.NewReader(args), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		name := kind == '{' && n%2 == 0
		tok, err := dec.ReadToken()
		if err != nil {
			break
		}
		if tok.Kind() == '"' && !name {
			s := tok.String()
			if len(s) > keep+keep/2 {
				s = fmt.Sprintf("%s… [%d bytes; original: %s]", text.Head(s, keep), len(s), handle)
			}
			tok = jsontext.String(strings.ToValidUTF8(s, "\uFFFD"))
		}
		if err := enc.WriteToken(tok); err != nil {
			return "", false
		}
	}
	s := strings.TrimSpace(out.String())
	if !json.Valid([]byte(s)) || !strings.HasPrefix(s, "{") {
		return "", false
	}
	return s, true
}
