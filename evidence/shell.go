package evidence

import (
	"path"
	"strconv"
	"strings"
)

// shell reads a command line: what it does to which files. It knows the usual
// programs that show, search, change and remove files, redirections, here
// documents and pipes. It does not expand variables or run anything.
func (a *Access) shell(command, dir string) {
	a.Command = command
	p := shellParser{src: command, dir: dir}
	for p.next() {
		p.judge(a)
	}
	if p.patch != "" {
		patchOps(p.patch, func(o Op) {
			o.Path = joinDir(p.dir, o.Path)
			a.Ops = append(a.Ops, o)
		})
	}
	ops := a.Ops
	same := !p.unknown && len(ops) > 0
	for _, o := range ops {
		same = same && o.Kind == ops[0].Kind && (o.Kind != Read || o.Path == ops[0].Path)
	}
	if same {
		a.fromOps(Shell)
		if a.Kind == Read && len(ops) > 1 {
			a.From, a.To = 0, 0 // several ranges of one file: see Ops
			for i, o := range ops {
				if i == 0 || o.From < a.From {
					a.From = o.From
				}
				a.To = max(a.To, o.To)
			}
		}
		return
	}
	a.Kind = Shell
	for _, o := range ops {
		if !contains(a.Paths, o.Path) {
			a.Paths = append(a.Paths, o.Path)
		}
	}
}

// shellParser cuts a command line into simple commands.
type shellParser struct {
	src string
	i   int
	dir string

	argv    [40]string
	n       int
	out     string // file of a > redirection
	more    string // file of a >> redirection
	in      string // file of a < redirection
	piped   bool   // reads what the command before it wrote
	pipes   bool   // the next one does
	here    [4]string
	hereN   int
	doc     string // the last here document
	patch   string
	unknown bool // something ran whose output or effect is not known
	last    int  // index in Ops of the read that a pipe carries, plus one
}

// next reads one simple command with its redirections.
func (p *shellParser) next() bool {
	p.n, p.out, p.more, p.in = 0, "", "", ""
	p.piped, p.pipes = p.pipes, false
	if !p.piped {
		p.last = 0
	}
	for p.i < len(p.src) {
		switch c := p.src[p.i]; c {
		case ' ', '\t', '\r', '(', ')':
			p.i++
		case '\\':
			if p.i+1 < len(p.src) && p.src[p.i+1] == '\n' {
				p.i += 2
				continue
			}
			p.addWord()
		case '#':
			n := strings.IndexByte(p.src[p.i:], '\n')
			if n < 0 {
				n = len(p.src) - p.i
			}
			p.i += n
		case '\n':
			p.i++
			p.skipHere()
			if p.ended() {
				return true
			}
		case ';':
			p.i++
			if p.ended() {
				return true
			}
		case '&':
			if strings.HasPrefix(p.src[p.i:], "&>") {
				p.i++
				continue
			}
			p.i++
			if p.i < len(p.src) && p.src[p.i] == '&' {
				p.i++
			}
			if p.ended() {
				return true
			}
		case '|':
			p.i++
			if p.i < len(p.src) && p.src[p.i] == '|' {
				p.i++
			} else {
				p.pipes = true
				if p.i < len(p.src) && p.src[p.i] == '&' {
					p.i++
				}
			}
			if p.ended() {
				return true
			}
			p.pipes = false
		case '<', '>':
			p.redirect(1)
		default:
			p.addWord()
		}
	}
	p.skipHere()
	return p.ended()
}

func (p *shellParser) ended() bool { return p.n > 0 || p.out != "" || p.more != "" }

// redirect reads one redirection; fd is the stream it is for.
func (p *shellParser) redirect(fd int) {
	c := p.src[p.i]
	p.i++
	switch {
	case c == '<' && strings.HasPrefix(p.src[p.i:], "<<"):
		p.i += 2
		p.word()
	case c == '<' && strings.HasPrefix(p.src[p.i:], "<"):
		p.i++
		if p.i < len(p.src) && p.src[p.i] == '-' {
			p.i++
		}
		if w := p.word(); w != "" && p.hereN < len(p.here) {
			p.here[p.hereN] = w
			p.hereN++
		}
	case c == '<':
		if p.i < len(p.src) && p.src[p.i] == '(' {
			return
		}
		p.in = p.word()
	default:
		again := p.i < len(p.src) && p.src[p.i] == '>'
		if again || p.i < len(p.src) && p.src[p.i] == '|' {
			p.i++
		}
		if p.i < len(p.src) && p.src[p.i] == '&' {
			p.i++
			p.word()
			return
		}
		w := p.word()
		if fd == 2 || w == "" || strings.HasPrefix(w, "/dev/") || strings.ContainsAny(w, "$*") {
			return
		}
		if again {
			p.more = w
		} else {
			p.out = w
		}
	}
}

// skipHere jumps over the here documents that start on this line.
func (p *shellParser) skipHere() {
	for k := range p.hereN {
		start := p.i
		p.doc = p.src[start:]
		for p.i < len(p.src) {
			line, _ := cutLine(p.src[p.i:])
			n := strings.IndexByte(p.src[p.i:], '\n')
			end := p.i
			if n < 0 {
				p.i = len(p.src)
			} else {
				p.i += n + 1
			}
			if strings.TrimLeft(line, "\t") == p.here[k] {
				p.doc = p.src[start:end]
				break
			}
		}
		if doc := p.doc; looksLikePatch(doc) && p.n > 0 && (strings.Contains(p.argv[0], "patch") || p.argv[0] == "git") {
			p.patch = doc
		}
	}
	p.hereN = 0
}

func (p *shellParser) addWord() {
	start := p.i
	w := p.word()
	if p.i == start {
		p.i++ // a lone character that starts no word
		return
	}
	if p.i < len(p.src) && (p.src[p.i] == '>' || p.src[p.i] == '<') && len(w) == 1 && w[0] >= '0' && w[0] <= '9' {
		p.redirect(int(w[0] - '0'))
		return
	}
	if p.n < len(p.argv) {
		p.argv[p.n] = w
		p.n++
	}
}

// word reads one word and takes its quotes off. A word without quotes or with
// quotes all around is a piece of the source.
func (p *shellParser) word() string {
	p.i = skipBlanks(p.src, p.i)
	s, start := p.src, p.i
	var b []byte
	used := start
	for p.i < len(s) {
		switch c := s[p.i]; c {
		case ' ', '\t', '\n', '\r', ';', '&', '|', '<', '>', '(', ')':
			return p.finish(b, used)
		case '\'', '"':
			end := p.closing(c)
			if p.i == start && b == nil && (end+1 >= len(s) || strings.IndexByte(" \t\n;&|<>)", s[end+1]) >= 0) &&
				(c == '\'' || strings.IndexByte(s[p.i:end], '\\') < 0) {
				p.i = min(end+1, len(s))
				return s[start+1 : end]
			}
			b = append(b, s[used:p.i]...)
			if c == '\'' {
				b = append(b, s[p.i+1:end]...)
			} else {
				b = appendUnescaped(b, s[p.i+1:end])
			}
			p.i = min(end+1, len(s))
			used = p.i
		case '\\':
			b = append(b, s[used:p.i]...)
			p.i = min(p.i+2, len(s))
			used = p.i - 1
			if used > start && used < len(s) && s[used] == '\n' {
				used++
			}
		case '$':
			if p.i+1 < len(s) && s[p.i+1] == '(' {
				p.unknown = true
				p.i = p.substitution()
				continue
			}
			p.i++
		case '`':
			p.unknown = true
			p.i = min(p.closing('`')+1, len(s))
		default:
			p.i++
		}
	}
	return p.finish(b, used)
}

func (p *shellParser) finish(b []byte, used int) string {
	if b == nil {
		return p.src[used:p.i]
	}
	return string(append(b, p.src[min(used, p.i):p.i]...))
}

// closing returns the index of the quote that closes the one at p.i.
func (p *shellParser) closing(q byte) int {
	for k := p.i + 1; k < len(p.src); k++ {
		switch {
		case p.src[k] == q:
			return k
		case p.src[k] == '\\' && q != '\'':
			k++
		}
	}
	return len(p.src)
}

// substitution returns the index after the $( ) at p.i.
func (p *shellParser) substitution() int {
	depth := 0
	for k := p.i + 1; k < len(p.src); k++ {
		switch p.src[k] {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return k + 1
			}
		}
	}
	return len(p.src)
}

func appendUnescaped(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`\n", s[i+1]) >= 0 {
			i++
		}
		b = append(b, s[i])
	}
	return b
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// sedRanges calls f with each range that a sed script of the form 10,20p
// prints, and reports whether the script is nothing else.
func sedRanges(script string, f func(from, to int)) bool {
	any := false
	for script != "" {
		one := script
		if i := strings.IndexAny(script, ";\n"); i >= 0 {
			one, script = script[:i], script[i+1:]
		} else {
			script = ""
		}
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		if !strings.HasSuffix(one, "p") {
			return false
		}
		a, b, ranged := strings.Cut(strings.TrimSpace(one[:len(one)-1]), ",")
		from, err := strconv.Atoi(strings.TrimSpace(a))
		if err != nil || from < 1 {
			return false
		}
		to := from
		if ranged {
			switch b = strings.TrimSpace(b); {
			case b == "$":
				to = 0
			case strings.HasPrefix(b, "+"):
				n, err := strconv.Atoi(b[1:])
				if err != nil {
					return false
				}
				to = from + n
			default:
				if to, err = strconv.Atoi(b); err != nil || to < from {
					return false
				}
			}
		}
		f(from, to)
		any = true
	}
	return any
}

func program(word string) string {
	if strings.IndexByte(word, '/') >= 0 {
		return path.Base(word)
	}
	return word
}
