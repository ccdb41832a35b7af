package work

import (
	"strconv"
	"strings"
)

// sedCall is how sed was called.
type sedCall struct {
	quiet, inPlace bool
	strict         bool // no option was given that changes how scripts are read
	extended       bool
	scripts, files []word
}

func (s *step) sedCall() sedCall {
	c := sedCall{strict: true}
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		t := w.text
		switch {
		case t == "--quiet" || t == "--silent":
			c.quiet = true
		case strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place"):
			c.inPlace = true
			if t == "-i" && i+1 < len(s.args) && (s.args[i+1].text == "" || strings.HasPrefix(s.args[i+1].text, ".bak")) {
				i++ // BSD's suffix
			}
		case t == "--expression" || len(t) > 1 && t[0] == '-' && t[1] != '-':
			letters := strings.TrimLeft(t, "-")
			c.quiet = c.quiet || strings.Contains(letters, "n")
			c.inPlace = c.inPlace || t[1] != '-' && strings.Contains(letters, "i")
			c.extended = c.extended || strings.ContainsAny(letters, "Er") && t[1] != '-'
			c.strict = c.strict && (t[1] == '-' || strings.Trim(letters, "nieEru") == "")
			if (t[1] == '-' || strings.HasSuffix(letters, "e")) && i+1 < len(s.args) {
				i++
				c.scripts = append(c.scripts, s.args[i])
			}
		case len(t) > 1 && t[0] == '-':
			c.strict = false
		case len(c.scripts) == 0:
			c.scripts = append(c.scripts, w)
		default:
			c.files = append(c.files, w)
		}
	}
	for _, w := range c.scripts {
		c.strict = c.strict && w.exact
	}
	return c
}

// prints returns the ranges of lines that sed -n prints, where its script is
// nothing else: 10,20p;30p.
func (c *sedCall) prints() (ranges [][2]int, ok bool) {
	if !c.quiet || c.inPlace {
		return nil, false
	}
	for _, script := range c.scripts {
		for one := range strings.FieldsFuncSeq(script.text, func(r rune) bool { return r == ';' || r == '\n' }) {
			body, isPrint := strings.CutSuffix(strings.TrimSpace(one), "p")
			a, b, ranged := strings.Cut(body, ",")
			b = strings.TrimSpace(b)
			from, err := strconv.Atoi(strings.TrimSpace(a))
			if !isPrint || err != nil || from < 1 || from > 1<<30 {
				return nil, false
			}
			to := from
			if ranged && b == "$" {
				to = 0
			} else if ranged {
				if to, err = strconv.Atoi(strings.TrimPrefix(b, "+")); err != nil || to < 0 || to > 1<<30 {
					return nil, false
				}
				if b[0] == '+' {
					to += from
				}
				to = max(to, from)
			}
			ranges = append(ranges, [2]int{from, to})
		}
	}
	return ranges, len(ranges) > 0
}

// sed returns what sed does to its files. Of the scripts that change them only
// those are read whose effect is plain: one substitution of a text without
// special characters, one range of lines that is deleted, one line that is put
// in.
func (s *step) sed(redirected bool) (ops []Op, out Stream) {
	c := s.sedCall()
	ranges, prints := c.prints()
	e, clear := Op{Kind: Unclear}, false
	if c.inPlace && c.strict && !c.extended && !c.quiet && len(c.scripts) == 1 {
		if e, clear = sedScript(c.scripts[0].text); !clear {
			e = Op{Kind: Unclear}
		}
	}
	for _, w := range c.files {
		o := s.file(Search, w)
		switch {
		case c.inPlace:
			e.Path, e.Unsure = o.Path, o.Unsure
			ops = append(ops, e)
		case redirected: // the redirection says where its output is
		case prints:
			for _, r := range ranges {
				o.Kind, o.From, o.To = Show, r[0], r[1]
				ops = append(ops, o)
			}
		default:
			ops = append(ops, o)
		}
	}
	out.show = prints && c.strict && len(ops) == 1
	return ops, out
}

// sedScript reads a script of one command.
func sedScript(script string) (Op, bool) {
	from, to, rest := sedAddress(strings.TrimSpace(script))
	if rest == "" {
		return Op{}, false
	}
	switch c := rest[0]; c {
	case 'd':
		return Op{From: from, To: to, Lines: true}, rest == "d" && from > 0
	case 'i', 'a':
		text := strings.TrimPrefix(rest[1:], `\`)
		text = strings.TrimPrefix(text, "\n")
		if rest[1:] == text { // the form of one line drops blanks before the text
			text = strings.TrimLeft(text, " \t")
		}
		e := Op{Kind: Insert, From: from, New: text + "\n", Lines: true}
		if c == 'i' {
			e.From--
		}
		return e, from > 0 && to == from && text != "" && !strings.ContainsAny(text, "\\\n")
	case 's':
		old, now, flags, ok := sedParts(rest[1:])
		plain := old != "" && !strings.ContainsAny(old, `.[]*^$\`) && !strings.ContainsAny(now, "&\\\n")
		return Op{Old: old, New: now, From: from, To: to, All: flags == "g", PerLine: true}, ok && plain && (flags == "" || flags == "g")
	}
	return Op{}, false
}

// sedAddress reads the lines in front of a command: 12 or 12,20.
func sedAddress(s string) (from, to int, rest string) {
	rest = strings.TrimLeft(s, "0123456789,")
	a, b, ranged := strings.Cut(s[:len(s)-len(rest)], ",")
	from, _ = strconv.Atoi(a)
	to = from
	if ranged {
		to, _ = strconv.Atoi(b)
	}
	if len(rest) < len(s) && (from == 0 || to < from) {
		return 0, 0, ""
	}
	return from, to, rest
}

// sedParts splits /old/new/flags at its delimiter, whichever it is.
func sedParts(s string) (old, now, flags string, ok bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' {
		return "", "", "", false
	}
	d := s[0]
	var part [2]strings.Builder
	k := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == d:
			i++
			part[k].WriteByte(d)
		case s[i] == '\\' && i+1 < len(s):
			part[k].WriteString(s[i : i+2])
			i++
		case s[i] == d:
			if k++; k == 2 {
				return part[0].String(), part[1].String(), strings.TrimSpace(s[i+1:]), true
			}
		default:
			part[k].WriteByte(s[i])
		}
	}
	return "", "", "", false
}
