package replay

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// eachText calls f with the texts of a message. Thinking is left out: it is
// shown to nobody and rarely sent again. Arguments of calls are one text with a
// line for each value, results that are JSON one with a `key: value` line each.
func eachText(m *chat.Message, f func(text string)) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case chat.Text, chat.Document:
			f(p.Text)
		case chat.ToolCall:
			f(flattenJSON(p.Args, false))
		case chat.ToolResult:
			f(flattenJSON(p.Text, true))
		}
	}
}

// flattenJSON turns JSON into lines: with keys as `key: value`, else values alone.
// Any text but a JSON object or array comes back as it is.
func flattenJSON(text string, keys bool) string {
	t := strings.TrimSpace(text)
	if len(t) < 2 || t[0] != '{' && t[0] != '[' {
		return text
	}
	dec := jsontext.NewDecoder(strings.NewReader(t), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var b strings.Builder
	key := ""
	for depth := 0; ; {
		kind, n := dec.StackIndex(dec.StackDepth())
		name := kind == '{' && n%2 == 0
		tok, err := dec.ReadToken()
		if err != nil {
			return text
		}
		switch k := tok.Kind(); {
		case k == '{' || k == '[':
			depth++
		case k == '}' || k == ']':
			if depth--; depth == 0 {
				if dec.InputOffset() < int64(len(t)) {
					return text // more follows: a log, not a document
				}
				return b.String()
			}
		case name:
			key = tok.String()
		case k == 'n' || k == 't' || k == 'f':
		default:
			if keys && key != "" {
				b.WriteString(key)
				b.WriteString(": ")
			}
			b.WriteString(tok.String())
			b.WriteByte('\n')
		}
	}
}

// wordsOf returns all words of a sentence in lower case, for finding it again.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '\''
	})
}
