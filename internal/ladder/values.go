package ladder

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/quote"
)

// jsonValues returns the values of a JSON document by their names, each once and up to n
// bytes in all: first reasons and values with digits, which calls refer to, then words,
// then the beginnings of texts. A name that comes again elsewhere stands with its owner.
// It is "" where the text is something else.
func jsonValues(text, told string, n int) string {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return ""
	}
	if list := recordsIn(text); len(list) > 1 {
		return tellRecords(list, n)
	}
	names, values := readValues(text, told, n/3)
	return writeValues(names, values, n, rankValue)
}

// readValues returns the values of a JSON document, each clipped to most bytes, by their
// names, and these in their order; none where the text is something else.
func readValues(text, told string, most int) (names []string, values map[string][]string) {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	values = map[string][]string{}
	owners := map[string]string{}
	for dec.InputOffset() < 16<<10 {
		tok, err := dec.ReadToken()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return nil, nil
			}
			break
		}
		v := tok.String()
		kind, at := dec.StackIndex(dec.StackDepth())
		if k := tok.Kind(); k != '"' && k != '0' && k != 'f' && k != 't' || kind == '{' && at%2 == 1 || len(v) < 3 {
			continue
		}
		path := slices.DeleteFunc(strings.Split("//"+string(dec.StackPointer()), "/")[1:], func(t string) bool {
			return t != "" && strings.Trim(t, "0123456789") == "" // the place in a list
		})
		name, owner := path[len(path)-1], path[len(path)-2]
		if owner != "" && (name == "name" || name == "value") { // priority: Low
			name, owner = owner, ""
		}
		if serves.MatchString(name + ": " + v) { // the service, not who calls it
			continue
		}
		if first, ok := owners[name]; !ok {
			owners[name] = owner
		} else if first != owner {
			name = owner + "." + name
		}
		if strings.Contains(told, v) {
			continue
		}
		if v = quote.ClipLine(v, most); !slices.Contains(values[name], v) {
			if values[name] == nil {
				names = append(names, name)
			}
			values[name] = append(values[name], v)
		}
	}
	return names, values
}

// writeValues writes values by their names, those of the lowest rank first, up to n bytes.
func writeValues(names []string, values map[string][]string, n int, rankOf func(name, v string) int) string {
	var b strings.Builder
	for rank := range 3 {
		for _, name := range names {
			list := slices.DeleteFunc(slices.Clone(values[name]), func(v string) bool {
				return rankOf(name, v) != rank || strings.Contains(b.String(), v)
			})
			if l := quote.ClipLine(strings.TrimPrefix(name+": ", ": ")+strings.Join(list, ", "), n/2); len(list) > 0 && b.Len()+len(l) < n {
				b.WriteString(l + "\n")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// recordsIn returns the objects of a list, nil where the text is something else.
func recordsIn(text string) (list []string) {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil
	}
	for dec.PeekKind() == '{' && dec.InputOffset() < 16<<10 {
		v, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		list = append(list, string(v))
	}
	return list
}

// tellRecords tells each record of a list by its values in one line, up to n bytes in all.
func tellRecords(list []string, n int) string {
	var b strings.Builder
	for i, v := range list {
		names, values := readValues(v, "", n/9)
		told := writeValues(names, values, n/3, func(name, v string) int {
			if strings.Contains(name, ".") { // of something within
				return 2
			}
			return rankValue(name, v)
		})
		l := "{" + strings.ReplaceAll(told, "\n", "; ") + "}\n"
		if i > 0 && b.Len()+len(l) > n {
			b.WriteString("(… more records)")
			break
		}
		b.WriteString(l)
	}
	return strings.TrimSpace(b.String())
}

// serves are values of which a service keeps its own account: when a record was
// written, the keys of what it refers to, and where its own lists are.
var serves = regexp.MustCompile(`(?i)^(?:created|updated|modified|\w+_?At): \d{4}-\d\d-\d\dT|^\w*[a-z]_?Id: [0-9a-f]{8}-[0-9a-f]{4}-|^(?:avatar_?url|node_?id|\w+s_url): `)

// rankValue says how soon a value is told.
func rankValue(name, v string) int {
	switch {
	case reasons.MatchString(name):
		return 0
	case len(v) > 60:
		return 2
	case strings.ContainsAny(v, "0123456789"):
		return 0
	}
	return 1
}

// reasons are the names of texts that say why something is as it is.
var reasons = regexp.MustCompile(`(?i)\b(?:reason(?:ing)?|error|message)$`)
