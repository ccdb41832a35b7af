package work

import "strings"

// word is one word of a command, without its quotes. It is exact where the shell
// would take it as it stands, without variables, substitutions or patterns.
type word struct {
	text  string
	exact bool
}

// isPath reports whether the word is the path of one file: as it stands, or below the
// user's home.
func (w word) isPath() bool {
	return w.exact || strings.HasPrefix(w.text, "~/") && !strings.ContainsAny(w.text, "*?[{$`")
}

// hasSubstitution reports whether a program runs to make the word.
func (w word) hasSubstitution() bool {
	return !w.exact && (w.text == "" || strings.Contains(w.text, "$(") || strings.Contains(w.text, "`"))
}

// redirect is one redirection: of stream fd to or from target. A here document
// has its text in target.
type redirect struct {
	fd     int
	op     string // > >> < << <<< >& &>
	target word
}

// command is one simple command.
type command struct {
	words  []word
	redirs []redirect

	// before is how the command is joined to the one before it: ';' after an
	// end, '&' after &&, 'o' after ||, '|' in a pipe, 'b' after one that was
	// sent to the background.
	before byte
}

// maxCommands bounds the commands of one line.
const maxCommands = 512

// maxNested bounds how deep substitutions may stand inside each other.
const maxNested = 32

// parseShell cuts a command line into simple commands. Parentheses and braces
// are commands of their own. It reports false where a quote or a here document
// has no end.
func parseShell(src string) ([]command, bool) {
	p := shellReader{src: src, ok: true, join: ';'}
	for p.i < len(p.src) && len(p.list) < maxCommands {
		p.readNext()
	}
	p.endCommand(';')
	p.readDocuments()
	return p.list, p.ok && len(p.list) < maxCommands
}

type shellReader struct {
	src  string
	i    int
	list []command
	cur  command
	join byte // before the current command
	ok   bool
	docs []*docRef

	nested int // substitutions around it
}

// docRef is a here document whose text is still to come.
type docRef struct {
	cmd, redir int
	delim      string
	quoted     bool
}

// joins are the operators that end a command, and how the next one is joined.
var joins = [...]struct {
	text string
	next byte
}{{"&&", '&'}, {"||", 'o'}, {"|&", '|'}, {"|", '|'}, {"&", 'b'}, {";", ';'}}

// readNext reads one word or operator.
func (p *shellReader) readNext() {
	rest := p.src[p.i:]
	switch c := rest[0]; c {
	case ' ', '\t', '\r':
		p.i++
	case '\n':
		p.i++
		p.endCommand(';')
		p.readDocuments()
	case '#':
		line, _, _ := strings.Cut(rest, "\n")
		p.i += len(line)
	case '(', ')':
		p.i++
		p.endCommand(p.join)
		p.cur.words = append(p.cur.words, word{rest[:1], true})
		p.endCommand(p.join)
	case '<', '>':
		p.readRedirect(-1)
	case ';', '&', '|':
		if strings.HasPrefix(rest, "&>") {
			p.i += len(rest) - len(strings.TrimLeft(rest[1:], ">"))
			p.cur.redirs = append(p.cur.redirs, redirect{1, "&>", p.readWord()})
			return
		}
		for _, o := range joins {
			if strings.HasPrefix(rest, o.text) {
				p.i += len(o.text)
				p.endCommand(o.next)
				return
			}
		}
	default:
		start := p.i
		w := p.readWord()
		switch next := p.src[p.i:]; {
		case p.i == start+1 && next != "" && (next[0] == '<' || next[0] == '>') && w.text >= "0" && w.text <= "9":
			p.readRedirect(int(w.text[0] - '0'))
		default:
			p.cur.words = append(p.cur.words, w)
		}
	}
}

// endCommand closes the current command; next is how the one after it is joined.
func (p *shellReader) endCommand(next byte) {
	if len(p.cur.words) > 0 || len(p.cur.redirs) > 0 {
		p.cur.before = p.join
		p.list = append(p.list, p.cur)
		p.cur = command{}
		p.join = next
		return
	}
	if next != ';' {
		p.join = next
	}
}

func (p *shellReader) readRedirect(fd int) {
	op := ""
	for _, o := range [...]string{"<<<", "<<-", "<<", ">>", ">&", "<&", ">|", "<(", ">(", "<", ">"} {
		if op == "" && strings.HasPrefix(p.src[p.i:], o) {
			op = o
		}
	}
	if op == "<(" || op == ">(" { // a process in place of a file
		p.i = p.skipSubstitution(p.i + 1)
		p.cur.words = append(p.cur.words, word{"", false})
		return
	}
	p.i += len(op)
	if fd < 0 {
		fd = 1
		if op[0] == '<' {
			fd = 0
		}
	}
	start := p.skipBlanks(p.i)
	w := p.readWord()
	switch op {
	case "<<", "<<-":
		quoted := strings.ContainsAny(p.src[start:p.i], `'"\`)
		p.docs = append(p.docs, &docRef{len(p.list), len(p.cur.redirs), w.text, quoted})
		p.ok = p.ok && op == "<<" // which takes no tabs off
		op = "<<"
	case ">|":
		op = ">"
	}
	p.cur.redirs = append(p.cur.redirs, redirect{fd, op, w})
}

// readDocuments reads the here documents that the line before announced.
func (p *shellReader) readDocuments() {
	for _, d := range p.docs {
		start, end := p.i, -1
		for p.i < len(p.src) {
			at := p.i
			line, _, _ := strings.Cut(p.src[p.i:], "\n")
			p.i = min(p.i+len(line)+1, len(p.src))
			if strings.TrimSuffix(line, "\r") == d.delim {
				end = at
				break
			}
		}
		if end < 0 || d.cmd >= len(p.list) {
			p.ok = false
			continue
		}
		text := p.src[start:end]
		p.list[d.cmd].redirs[d.redir].target = word{text, d.quoted || !strings.ContainsAny(text, "$`\\")}
	}
	p.docs = nil
}

func (p *shellReader) skipBlanks(i int) int {
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	return i
}

// readWord reads one word and takes its quotes off.
func (p *shellReader) readWord() word {
	p.i = p.skipBlanks(p.i)
	s := p.src
	start := p.i
	exact := true
	if n := strings.IndexAny(s[start:], special); n >= 0 && strings.IndexByte(wordEnds, s[start+n]) >= 0 {
		p.i += n
		return word{s[start:p.i], true} // nearly always
	}
	var b strings.Builder
	for p.i < len(s) {
		c := s[p.i]
		switch c {
		case ' ', '\t', '\n', '\r', ';', '&', '|', '<', '>', '(', ')': // wordEnds
			return word{b.String(), exact}
		case '\'':
			n := strings.IndexByte(s[p.i+1:], '\'')
			if n < 0 {
				p.ok, p.i = false, len(s)
				return word{b.String(), false}
			}
			b.WriteString(s[p.i+1 : p.i+1+n])
			p.i += n + 2
		case '"':
			exact = p.readDoubleQuoted(&b) && exact
		case '\\':
			p.readEscape(&b, "")
		case '$', '`':
			exact = false
			from := p.i
			p.skipExpansion()
			b.WriteString(s[from:p.i])
		default:
			if strings.IndexByte("*?[{~", c) >= 0 {
				exact = exact && c == '~' && p.i > start
			}
			b.WriteByte(c)
			p.i++
		}
	}
	return word{b.String(), exact}
}

// wordEnds are the characters that end a word, special those and others that mean
// something to the shell.
const (
	wordEnds = " \t\n\r;&|<>()"
	special  = wordEnds + "\"'\\$`*?[{~"
)

// readDoubleQuoted reads a text in double quotes and reports whether it is exact.
func (p *shellReader) readDoubleQuoted(b *strings.Builder) bool {
	s := p.src
	exact := true
	for p.i++; p.i < len(s); {
		switch c := s[p.i]; c {
		case '"':
			p.i++
			return exact
		case '\\':
			p.readEscape(b, "\"\\$`\n")
		case '$', '`':
			from := p.i
			p.skipExpansion()
			exact = exact && p.i == from+1 && c == '$' && (p.i >= len(s) || strings.IndexByte(" \"\n.,)", s[p.i]) >= 0)
			b.WriteString(s[from:p.i])
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	p.ok = false
	return false
}

// readEscape reads a backslash and what it escapes: any character, or one of these.
// Before others it stands for itself.
func (p *shellReader) readEscape(b *strings.Builder, only string) {
	if p.i++; p.i == len(p.src) {
		return
	}
	c := p.src[p.i]
	if only != "" && strings.IndexByte(only, c) < 0 {
		b.WriteByte('\\')
	}
	if c != '\n' {
		b.WriteByte(c)
	}
	p.i++
}

// skipExpansion jumps over a variable's dollar sign or over a whole substitution.
func (p *shellReader) skipExpansion() {
	s := p.src
	if s[p.i] == '`' {
		n := strings.IndexByte(s[p.i+1:], '`')
		if n < 0 {
			p.ok, p.i = false, len(s)
			return
		}
		p.i += n + 2
		return
	}
	p.i++
	if p.i >= len(s) {
		return
	}
	switch s[p.i] {
	case '(':
		p.i = p.skipSubstitution(p.i)
	case '{':
		if n := strings.IndexByte(s[p.i:], '}'); n >= 0 {
			p.i += n + 1
		}
	}
}

// skipSubstitution returns the index after the parentheses that open at i. What
// stands inside is a command line of its own.
func (p *shellReader) skipSubstitution(i int) int {
	if p.nested >= maxNested {
		p.ok = false
		return len(p.src)
	}
	sub := shellReader{src: p.src, i: i + 1, ok: true, nested: p.nested + 1}
	for open := 1; sub.i < len(sub.src) && sub.ok; sub.readNext() {
		switch sub.src[sub.i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return sub.i + 1
			}
		}
	}
	p.ok = false
	return len(p.src)
}
