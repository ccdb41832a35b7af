package postgres

import (
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/session/internal/find"
	"golang.org/x/text/unicode/norm"
)

const searchWords = `select s.id, e.raw from winnow.words w
	join winnow.entries e on e.session = w.session and e.seq = w.seq join winnow.sessions s on s.key = w.session, to_tsquery('simple', $1) q
	where w.words @@ q order by ts_rank(w.words, q) desc, w.session desc, w.seq desc limit $2`

const addWords = `insert into winnow.words (session, seq, words) values ($1, $2, to_tsvector('simple', $3)) on conflict do nothing`

// indexWords returns the words of a text as they are indexed: in lower case,
// without accents, and nothing else that the database could read as something.
func indexWords(s string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(strings.ToValidUTF8(s, " ")))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// matchQuery makes a query of words. Those that belong together, such as
// main.go, must follow one another.
func matchQuery(q find.Query) string {
	var all []string
	for _, w := range q.Words {
		parts := indexWords(w.Text)
		if len(parts) == 0 {
			continue
		}
		for i := range parts {
			parts[i] = "'" + parts[i] + "'"
		}
		if w.Prefix {
			parts[len(parts)-1] += ":*"
		}
		all = append(all, "("+strings.Join(parts, " <-> ")+")")
	}
	return strings.Join(all, " & ")
}
