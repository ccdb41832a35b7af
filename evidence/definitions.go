package evidence

import "strings"

// definitions adds the names that lines of source code define.
func (s *skeleton) definitions() {
	text := s.text
	s.bonus = 1
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			n = len(text) - i
		}
		if n > 5 {
			if at := definitionStart(text[i : i+n]); at >= 0 {
				s.definition(text[i:i+n], at, i)
			}
		}
		i += n + 1
	}
	s.bonus = 0
}

// definitionStart returns where the first word of a line stands, behind a
// line's number and blanks, if it can be one that starts a definition; else -1.
func definitionStart(line string) int {
	i := skipBlanks(line, 0)
	k := i
	for k < len(line) && class[line[k]] == cDigit {
		k++
	}
	if k > i && k < len(line) {
		switch line[k] {
		case '\t', ':', '|', '-', ' ':
			k++
		case 0xe2: // an arrow
			k += 3
		}
		if k >= len(line) {
			return -1
		}
		i = skipBlanks(line, k)
	}
	if i+4 > len(line) || definers[line[i]&31]>>(line[i+1]&31)&1 == 0 || class[line[i]] != cLower {
		return -1
	}
	return i
}

// definition adds the name that a line defines, if there is one.
func (s *skeleton) definition(line string, i, at int) {
	if name, start := definedName(line, i); name != "" {
		s.entity(&entity{kind: IdentEntity, value: name, whole: name}, at+start)
	}
}

// definedName returns the name that follows a defining word among the first
// words of a line from i on, and where it stands; "" where there is none.
func definedName(line string, i int) (string, int) {
	for range 4 {
		start, end, mask := nextToken(line, i)
		if start == len(line) || start > i+1 {
			return "", 0
		}
		i = end
		if mask != cLower {
			return "", 0
		}
		if !definer(line[start:end]) {
			continue
		}
		// A receiver in parentheses comes before the name of a method.
		start = skipBlanks(line, end)
		if start < len(line) && line[start] == '(' {
			if n := strings.IndexByte(line[start:], ')'); n > 0 {
				start += n + 1
			}
		}
		start, end, mask = nextToken(line, start)
		if name := trimToken(line[start:end]); len(name) > 2 && len(name) <= 60 && mask&^(cLetters|cDigit|cUnder|cColon) == 0 {
			return name, start
		}
		return "", 0
	}
	return "", 0
}

// definers has, by first letter, a bit for each second letter of the words
// that stand at the start of definitions.
var definers = func() (t [32]uint32) {
	for _, w := range strings.Fields("func fn def fun class type enum const trait macro struct module record function interface namespace export public private protected internal static async abstract final pub impl default declare") {
		t[w[0]&31] |= 1 << (w[1] & 31)
	}
	return t
}()

// definer reports whether a word introduces the name of something defined.
func definer(w string) bool {
	switch len(w) {
	case 2:
		return w == "fn"
	case 3:
		return w == "def" || w == "fun"
	case 4:
		return w == "func" || w == "type" || w == "enum"
	case 5:
		return w == "class" || w == "const" || w == "trait" || w == "macro"
	case 6:
		return w == "struct" || w == "module" || w == "record"
	case 8:
		return w == "function"
	case 9:
		return w == "interface" || w == "namespace"
	}
	return false
}

// Defined returns the name that a line of source code defines, "" where it
// defines none.
func Defined(line string) string {
	at := definitionStart(line)
	if len(line) <= 5 || at < 0 {
		return ""
	}
	name, _ := definedName(line, at)
	return name
}
