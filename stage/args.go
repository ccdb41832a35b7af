package stage

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
)

// shortArgs returns the arguments of a call with long values cut, as a JSON
// object of at most about max bytes. Keys and short values stay: they name
// things. Other arguments become a JSON object that says so.
func shortArgs(args string, max int, handle string) string {
	for _, keep := range [...]int{400, 120, 40} {
		var members []string
		object := work.RawMembers(args, func(key, raw string) bool {
			if len(raw) > keep+keep/2 || !json.Valid([]byte(raw)) {
				raw = quoteJSON(fmt.Sprintf("%s… [%d bytes; original: %s]", text.Head(work.Text(raw), keep), len(raw), handle))
			}
			members = append(members, quoteJSON(key)+":"+raw)
			return true
		})
		if s := "{" + strings.Join(members, ",") + "}"; object && len(s) <= max {
			return s
		}
	}
	head := text.Head(args, min(max/2, 80))
	return `{"shortened":` + quoteJSON(fmt.Sprintf("%s… (%d bytes; original: %s)", head, len(args), handle)) + "}"
}

func quoteJSON(s string) string {
	b, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	return string(b)
}
