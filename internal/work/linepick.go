package work

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// linePick is which lines a program prints of what it reads.
type linePick struct {
	ranges [][2]int // from and to; none where it prints, or does, something else
	files  []word
	strict bool // no option was given that says more

	edits []Op // what it does in place to each file
}

// pickLines reads which lines head, tail or sed print.
func (s *step) pickLines() linePick {
	if s.does == ends {
		from, to, strict := s.headTail()
		return linePick{ranges: [][2]int{{from, to}}, files: s.operands(s.valued), strict: strict}
	}
	p := linePick{files: s.operands("e"), strict: true}
	quiet, scripts := false, []word(nil)
	for i, w := range s.args {
		letters, isOption := strings.CutPrefix(w.text, "-")
		switch {
		case w.text == "-e" && i+1 < len(s.args):
			scripts = append(scripts, s.args[i+1])
		case isOption:
			quiet = quiet || !strings.HasPrefix(letters, "-") && strings.Contains(letters, "n")
			p.strict = p.strict && strings.Trim(letters, "nieEru") == ""
		}
	}
	if len(scripts) == 0 && len(p.files) > 0 {
		if s.inPlace() && p.files[0].text == "" {
			p.files = p.files[1:] // BSD's suffix
		}
		n := min(1, len(p.files))
		scripts, p.files = p.files[:n], p.files[n:]
	}
	for _, w := range scripts {
		p.strict = p.strict && w.exact
	}
	switch {
	case !s.inPlace() && quiet:
		p.ranges = printedRanges(scripts)
	case s.inPlace():
		plain := p.strict && !slices.ContainsFunc(s.args, func(w word) bool { return strings.HasPrefix(w.text, "-") && w.text != "-i" && w.text != "-e" })
		for _, w := range scripts {
			edits := plainReplacements(w.text)
			plain = plain && edits != nil
			p.edits = append(p.edits, edits...)
		}
		if !plain {
			p.edits = []Op{{Kind: Unclear}}
		}
	}
	return p
}

// plainReplacements reads a script of sed's that replaces plain texts by others, in all
// lines or in some: s/a/b/g; 12,14s/c/d/. It returns nil where the script does more.
func plainReplacements(script string) (edits []Op) {
	for script = strings.TrimLeft(script, " ;\n"); script != ""; script = strings.TrimLeft(script, " ;\n") {
		m := replacing.FindStringSubmatch(script)
		if m == nil {
			return nil
		}
		o := Op{Kind: Change, InLines: true}
		o.From, _ = strconv.Atoi(m[1])
		o.To, _ = strconv.Atoi(cmp.Or(m[2], m[1]))
		if o.Old, o.New, script = plainTexts(script[len(m[0]):], m[3][0]); o.Old == "" {
			return nil
		}
		script, o.All = strings.CutPrefix(script, "g")
		if script != "" && !strings.ContainsAny(script[:1], " ;\n") {
			return nil
		}
		edits = append(edits, o)
	}
	return edits
}

// replacing is how a replacement begins in a script of sed's: with the lines it is for.
var replacing = regexp.MustCompile(`^(?:([1-9]\d{0,8})(?:,([1-9]\d{0,8}))?)?s([/|#,:@!%])`)

// plainTexts reads the two texts of a replacement, each with a mark behind it. They are
// empty where one is more than a text.
func plainTexts(s string, mark byte) (old, now, rest string) {
	special, escaped := `.*[]^$`, `.*[]^$\`
	text, second := "", false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == mark && second:
			return old, text, s[i+1:]
		case c == mark:
			old, text, second = text, "", true
			special, escaped = "&", `&\`
			continue
		case c == '\\' && i+1 < len(s) && (s[i+1] == mark || strings.IndexByte(escaped, s[i+1]) >= 0):
			i++
		case c == '\\' || c == '\n' || strings.IndexByte(special, c) >= 0:
			return "", "", ""
		}
		text += s[i : i+1]
	}
	return "", "", ""
}

// printedRanges returns the ranges of lines that sed -n prints, where its script is
// nothing else: 10,20p;30p.
func printedRanges(scripts []word) (ranges [][2]int) {
	for _, script := range scripts {
		for one := range strings.FieldsFuncSeq(script.text, func(r rune) bool { return r == ';' || r == '\n' }) {
			m := printing.FindStringSubmatch(one)
			if m == nil {
				return nil
			}
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(strings.TrimPrefix(m[2], "+")) // 0 for $
			if strings.HasPrefix(m[2], "+") {
				to += from
			} else if m[2] != "$" {
				to = max(to, from)
			}
			ranges = append(ranges, [2]int{from, to})
		}
	}
	return ranges
}

// printing is a command of sed's that prints lines by their numbers.
var printing = regexp.MustCompile(`^\s*([1-9]\d{0,8})\s*(?:,\s*(\+?\d{1,9}|\$))?\s*p\s*$`)

// headTail reads the lines that head and tail show. Strict is false where the
// options say something else too.
func (s *step) headTail() (from, to int, strict bool) {
	count, options := "10", 0
	if m := lineCount.FindStringSubmatch(s.joinWords()); m != nil {
		count, options = m[1], 1
	}
	for _, w := range s.args {
		if strings.HasPrefix(w.text, "-") {
			options--
		}
	}
	digits, plus := strings.CutPrefix(count, "+")
	n, _ := strconv.Atoi(digits)
	switch {
	case options != 0 || n == 0 && !plus:
		return 1, 1, false // less than a line is claimed
	case s.name == "head":
		return 1, n, true
	case plus:
		return max(n, 1), 0, true
	}
	return -n, -1, false
}

// lineCount is an option that says how many lines are shown, or from which on.
var lineCount = regexp.MustCompile(`(?:^| )-(?:n ?|-lines[= ])?(\+?[0-9]{1,9}) `)

// pickOps returns what head, tail and sed do to files. What a script of sed's changes in
// them is only read where it is plain.
func (s *step) pickOps(redirected bool) (ops []Op, out Stream) {
	p := s.pickLines()
	files := s.orInput(p.files)
	switch {
	case s.does == seds && s.inPlace():
		for _, o := range s.opOnEach(Unclear, files) {
			for _, e := range p.edits {
				e.Path, e.Unsure = o.Path, o.Unsure
				ops = append(ops, e)
			}
		}
		return ops, Stream{Silent: true}
	case redirected: // the redirection says where its output is
		return nil, out
	case len(p.ranges) == 0:
		return s.opOnEach(Search, files), out
	}
	for _, r := range p.ranges {
		for _, o := range s.opOnEach(Show, files) {
			o.From, o.To = r[0], r[1]
			ops = append(ops, o)
		}
	}
	out.show = p.strict && len(files) == 1
	return ops, out
}
