package work

import (
	"regexp"
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
	c := sedCall{strict: true, inPlace: s.inPlace(), files: s.operands("e")}
	for i, w := range s.args {
		letters, isOption := strings.CutPrefix(w.text, "-")
		switch {
		case (w.text == "-e" || w.text == "--expression") && i+1 < len(s.args):
			c.scripts = append(c.scripts, s.args[i+1])
		case w.text == "--quiet" || w.text == "--silent":
			c.quiet = true
		case isOption:
			c.quiet = c.quiet || letters[:min(1, len(letters))] != "-" && strings.Contains(letters, "n")
			c.strict = c.strict && strings.Trim(letters, "nieEru") == ""
		}
	}
	if len(c.scripts) == 0 && len(c.files) > 0 {
		if c.inPlace && c.files[0].text == "" {
			c.files = c.files[1:] // BSD's suffix
		}
		n := min(1, len(c.files))
		c.scripts, c.files = c.files[:n], c.files[n:]
	}
	for _, w := range c.scripts {
		c.strict = c.strict && w.exact
	}
	return c
}

// printedRanges returns the ranges of lines that sed -n prints, where its script is
// nothing else: 10,20p;30p.
func (c *sedCall) printedRanges() (ranges [][2]int, ok bool) {
	if !c.quiet || c.inPlace {
		return nil, false
	}
	for _, script := range c.scripts {
		for one := range strings.FieldsFuncSeq(script.text, func(r rune) bool { return r == ';' || r == '\n' }) {
			m := printing.FindStringSubmatch(one)
			if m == nil {
				return nil, false
			}
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(strings.TrimPrefix(m[2], "+")) // 0 for $
			if strings.HasPrefix(m[2], "+") {
				to += from
			}
			if m[2] != "$" {
				to = max(to, from)
			}
			ranges = append(ranges, [2]int{from, to})
		}
	}
	return ranges, len(ranges) > 0
}

// printing is a command of sed's that prints lines by their numbers.
var printing = regexp.MustCompile(`^\s*([1-9]\d{0,8})\s*(?:,\s*(\+?\d{1,9}|\$))?\s*p\s*$`)

// sedOps returns what sed does to its files. What a script changes in them is not
// read.
func (s *step) sedOps(redirected bool) (ops []Op, out Stream) {
	c := s.sedCall()
	ranges, prints := c.printedRanges()
	for _, w := range c.files {
		o := s.fileOp(Search, w)
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
	out.show = prints && c.strict && len(c.files) == 1
	return ops, out
}
