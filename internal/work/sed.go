package work

import (
	"strconv"
	"strings"
)

// sedCall is how sed was called.
type sedCall struct {
	quiet, inPlace bool
	strict         bool // no option was given that changes how scripts are read
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

// sed returns what sed does to its files. What a script changes in them is not
// read.
func (s *step) sed(redirected bool) (ops []Op, out Stream) {
	c := s.sedCall()
	ranges, prints := c.prints()
	for _, w := range c.files {
		o := s.file(Search, w)
		switch {
		case c.inPlace:
			o.Kind = Unclear
			ops = append(ops, o)
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
