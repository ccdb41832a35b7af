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
	var b strings.Builder
	whole := eachScalar(text, func(key string, value jsontext.Token) {
		if k := value.Kind(); k != '"' && k != '0' {
			return
		}
		if keys && key != "" {
			b.WriteString(key + ": ")
		}
		b.WriteString(value.String() + "\n")
	})
	if !whole {
		return text
	}
	return b.String()
}

// eachScalar calls f with the values in a JSON object or array that are neither, each
// with the last key before it. It reports whether the text is one such document and no
// more: what follows one is a log.
func eachScalar(text string, f func(key string, value jsontext.Token)) (whole bool) {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return false
	}
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	key := ""
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		name := kind == '{' && n%2 == 0
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		switch k := token.Kind(); {
		case k == '}' || k == ']':
			if dec.StackDepth() == 0 {
				return dec.InputOffset() == int64(len(text))
			}
		case k == '{' || k == '[':
		case name:
			key = token.String()
		default:
			f(key, token)
		}
	}
}

// wordsOf returns all words of a sentence in lower case, for finding it again.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '\''
	})
}
