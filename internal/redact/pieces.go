package redact

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// A text that was shortened may hold a piece of a secret that no form knows any
// more: the last lines of a private key, the second half of a token. A caller that
// shortens texts asks the whole text for its secrets, with [Redactor.Secrets], and
// takes their pieces out of the shortened one, with [Without].

// Secrets returns the secrets that stand in a text.
func (r *Redactor) Secrets(s string) []string {
	var found []string
	for _, v := range r.Values {
		if v != "" && strings.Contains(s, v) {
			found = append(found, v)
		}
	}
	lower := strings.ToLower(s)
	add := func(all [][]string) {
		for _, m := range all {
			found = append(found, m[len(m)-1]) // the group where there is one
		}
	}
	for i := range forms {
		f := &forms[i]
		if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
			add(f.re.FindAllStringSubmatch(s, -1))
		}
	}
	for _, re := range r.Patterns {
		add(re.FindAllStringSubmatch(s, -1))
	}
	return found
}

// piece is the length of the pieces of a secret that are looked for, each at a
// multiple of it. So nothing of twice that length is overlooked.
const piece = 10

// Without returns a text without the secrets and their pieces, and how many there
// were. Lines of a secret are looked for by themselves, as they may be quoted apart.
func Without(s string, secrets []string) (string, int) {
	n := 0
	for _, secret := range secrets {
		for line := range strings.FieldsFuncSeq(strings.ReplaceAll(secret, `\n`, "\n"), func(r rune) bool { return r == '\n' || r == '\r' }) {
			for from := 0; looksRandom(line) && from+piece <= len(line); from += piece {
				s, n = cutSecret(s, n, line, from)
			}
		}
	}
	return s, n
}

// looksRandom reports whether a line looks like part of a key. What stands behind the
// word "secret" may be code instead, such as process.env.API_KEY, whose pieces stand
// in many texts.
func looksRandom(line string) bool {
	return len(line) >= 2*piece && strings.ContainsAny(line, "0123456789") && strings.ToUpper(line) != line && strings.ToLower(line) != line &&
		!strings.ContainsAny(line, " \t()[]{}<>$'\"`;,")
}

// cutSecret takes out what stands in the text of a line, around the piece of it that
// begins at from.
func cutSecret(s string, n int, line string, from int) (string, int) {
	for at := 0; ; {
		i := strings.Index(s[at:], line[from:from+piece])
		if i < 0 {
			return s, n
		}
		a, b := at+i, at+i+piece
		for k := from; k > 0 && a > 0 && s[a-1] == line[k-1]; k-- {
			a--
		}
		for k := from + piece; k < len(line) && b < len(s) && s[b] == line[k]; k++ {
			b++
		}
		s = s[:a] + redactionMark("secret") + s[b:]
		at = a + len(redactionMark("secret"))
		n++
	}
}

// leastEncoded is the length from which on a text may be a file in base64.
const leastEncoded = 64

// redactEncoded takes secrets out of a text file in base64, with or without the prefix
// of a data URL, and returns it encoded again.
func (r *Redactor) redactEncoded(s string) (string, int) {
	head, data := "", s
	if strings.HasPrefix(s, "data:") {
		if i := strings.Index(s, ";base64,"); i > 0 {
			head, data = s[:i+len(";base64,")], s[i+len(";base64,"):]
		}
	}
	if len(data) < leastEncoded || strings.ContainsAny(data[:leastEncoded], " \n{<") {
		return s, 0
	}
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !utf8.Valid(text) {
		return s, 0
	}
	clean, n := r.Text(string(text))
	if n == 0 {
		return s, 0
	}
	return head + base64.StdEncoding.EncodeToString([]byte(clean)), n
}
