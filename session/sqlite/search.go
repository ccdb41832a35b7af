package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/session"
)

// maxIndexed is how many bytes of an entry's words are indexed. What follows
// in a longer one is mostly more of the same tool output.
const maxIndexed = 256 << 10

// Search returns the entries in which all words of the query stand, best first.
// Words are compared without case and accents; a star at the end of a word
// stands for any ending.
func (s *Store) Search(ctx context.Context, query string, limit int) ([]session.Hit, error) {
	match, words := matchQuery(query)
	if match == "" {
		return nil, &session.Error{Op: "search", Session: s.path, Problem: "the query has no words", Hint: "give one or more words"}
	}
	if limit <= 0 {
		limit = 50
	}
	if err := s.index(ctx); err != nil {
		return nil, s.fail("search", "", err)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT sessions.id, entries.raw FROM words
		JOIN entries ON entries.row = words.rowid JOIN sessions ON sessions.key = entries.session
		WHERE words MATCH ? ORDER BY words.rank, entries.row DESC LIMIT ?`, match, limit)
	if err != nil {
		return nil, s.fail("search", "", err)
	}
	defer rows.Close()
	var hits []session.Hit
	for rows.Next() {
		var h session.Hit
		var raw []byte
		if err := rows.Scan(&h.Session, &raw); err != nil {
			return nil, s.fail("search", "", err)
		}
		h.Entry = decode.Str(raw, "id")
		h.Time = session.RecordTime(raw).UnixMilli()
		h.Snippet = snippet(session.RecordText(raw), words)
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail("search", "", err)
	}
	return hits, nil
}

// matchQuery makes a query of words, so that nothing in them is taken for an
// operator.
func matchQuery(query string) (match string, words []string) {
	var parts []string
	for w := range strings.FieldsSeq(query) {
		star := ""
		if strings.HasSuffix(w, "*") {
			w, star = strings.TrimRight(w, "*"), "*"
		}
		if strings.IndexFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
			continue
		}
		parts = append(parts, `"`+strings.ReplaceAll(w, `"`, `""`)+`"`+star)
		words = append(words, w)
	}
	return strings.Join(parts, " "), words
}

// index takes in what was added since the last search, a piece at a time so
// that writers do not wait long.
func (s *Store) index(ctx context.Context) error {
	const piece = 500
	for {
		done := false
		err := s.transact(ctx, func(tx *sql.Tx) error {
			rows, err := tx.QueryContext(ctx, "SELECT row, raw FROM entries WHERE row > (SELECT up_to FROM indexed) ORDER BY row LIMIT ?", piece)
			if err != nil {
				return err
			}
			type entry struct {
				row  int64
				text string
			}
			var list []entry
			for rows.Next() {
				var e entry
				var raw sql.RawBytes
				if err := rows.Scan(&e.row, &raw); err != nil {
					rows.Close()
					return err
				}
				e.text = cut(session.RecordText(raw), maxIndexed)
				list = append(list, e)
			}
			if err := rows.Err(); err != nil {
				return err
			}
			rows.Close()
			if done = len(list) < piece; len(list) == 0 {
				return nil
			}
			insert, err := tx.PrepareContext(ctx, "INSERT INTO words (rowid, text) VALUES (?, ?)")
			if err != nil {
				return err
			}
			defer insert.Close()
			for _, e := range list {
				if e.text == "" {
					continue
				}
				if _, err := insert.ExecContext(ctx, e.row, e.text); err != nil {
					return err
				}
			}
			_, err = tx.ExecContext(ctx, "UPDATE indexed SET up_to = ?", list[len(list)-1].row)
			return err
		})
		if err != nil || done {
			return err
		}
	}
}

// cut returns the first n bytes of a text, to the end of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// snippet returns the place in a text where the first of the words stands.
func snippet(text string, words []string) string {
	const around = 60
	low := strings.ToLower(text)
	at := -1
	for _, w := range words {
		if i := strings.Index(low, strings.ToLower(w)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 || len(low) != len(text) {
		at = 0
	}
	from, to := max(0, at-around), min(len(text), at+2*around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	s := strings.Join(strings.Fields(text[from:to]), " ")
	if from > 0 {
		s = "…" + s
	}
	if to < len(text) {
		s += "…"
	}
	return s
}
