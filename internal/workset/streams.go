package workset

import (
	"strconv"
	"strings"
)

// stream is what one pipeline of a command line prints, as far as that is known.
type stream struct {
	path string // the file whose lines it prints, "" for anything else

	from  int  // the first line
	count int  // how many lines it prints at most; -1 for up to the file's end
	nums  bool // each line carries its number

	literal []string // the lines that it prints, where they stand in the command
	fixed   bool     // literal is all that it prints
	grep    bool     // lines of files, each with its number or with path and number
	silent  bool     // it prints nothing
	dir     string
}

const toEnd = -1

// streams lists what the pipelines of a command line print, in order.
func streams(list []step) []stream {
	var out []stream
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && list[j].piped {
			j++
		}
		out = append(out, pipeline(list[i:j]))
		i = j
	}
	return out
}

// pipeline follows a file's lines through a pipe.
func pipeline(list []step) stream {
	s := list[0].prints1()
	for k := range list {
		if !list[k].certain {
			return stream{}
		}
		if _, _, given := list[k].out(); given {
			if k == len(list)-1 {
				return stream{silent: true}
			}
			return stream{}
		}
	}
	for k := 1; k < len(list); k++ {
		if !list[k].narrows(&s) {
			return stream{}
		}
	}
	return s
}

// prints1 is what the first program of a pipe prints.
func (s *step) prints1() stream {
	one := func(valued string) (string, bool) {
		f := s.operands(valued)
		if len(f) == 0 {
			if in := s.in(); in.text != "" {
				f = []word{in}
			}
		}
		if len(f) != 1 {
			return "", false
		}
		p := s.path(f[0])
		return p, p != ""
	}
	switch s.name {
	case "cat", "bat":
		p, ok := one("")
		if !ok || s.has("-A", "-e", "-v", "-t", "-E", "-T", "-s", "-b") || s.name == "bat" {
			return stream{}
		}
		return stream{path: p, from: 1, count: toEnd, nums: s.has("-n", "--number")}
	case "nl":
		if p, ok := one("bvws"); ok && (s.has("-ba") || s.has("-b") && s.has("a")) && !s.has("-s", "-w", "-v", "-n") {
			return stream{path: p, from: 1, count: toEnd, nums: true}
		}
	case "head", "tail":
		a, n, ok := headTail(s)
		p, one := one("n")
		if ok && one {
			return stream{path: p, from: a, count: n}
		}
	case "sed", "gsed":
		a, n, rest, ok := sedPrint(s)
		if ok && len(rest) == 1 {
			if p := s.path(rest[0]); p != "" {
				return stream{path: p, from: a, count: n}
			}
		}
	case "echo", "printf":
		return s.echoes()
	case "grep", "rg", "egrep", "fgrep", "ggrep":
		if s.linesNumbered() {
			st := stream{grep: true, dir: s.dir}
			if s.lost {
				return stream{}
			}
			if f := s.operands("eABCmgtT"); len(f) == 2 || len(f) == 1 && s.has("-e") {
				st.path = s.path(f[len(f)-1])
			}
			return st
		}
	case "true", ":", "mkdir", "export", "touch", "rm", "sleep", "chmod", "set", "unset", "mv", "cp":
		return stream{silent: true}
	}
	return stream{}
}

// echoes is what echo and printf print.
func (s *step) echoes() stream {
	if len(s.args) == 0 {
		return stream{literal: []string{""}, fixed: s.name == "echo"}
	}
	for _, w := range s.args {
		if !w.exact {
			return stream{}
		}
	}
	var text string
	if s.name == "echo" {
		t, ok := s.prints()
		if !ok {
			return stream{}
		}
		text = t
	} else {
		args := s.args
		if args[0].text == "--" {
			args = args[1:]
		}
		if len(args) != 1 || strings.Contains(args[0].text, "%") {
			return stream{}
		}
		text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(args[0].text)
		if strings.Contains(text, `\`) || !strings.HasSuffix(text, "\n") {
			return stream{}
		}
	}
	return stream{literal: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), fixed: true}
}

// narrows applies a program in a pipe to what comes in, and reports whether the
// lines are still known.
func (s *step) narrows(in *stream) bool {
	switch s.name {
	case "head":
		a, n, ok := headTail(s)
		if !ok || len(s.operands("n")) > 0 {
			return false
		}
		if in.grep || in.path == "" {
			return in.grep
		}
		return a == 1 && in.narrow(1, n)
	case "tail":
		a, n, ok := headTail(s)
		return ok && in.path != "" && !in.grep && len(s.operands("n")) == 0 && in.narrow(a, n)
	case "sed", "gsed":
		a, n, rest, ok := sedPrint(s)
		return ok && in.path != "" && !in.grep && len(rest) == 0 && in.narrow(a, n)
	case "nl":
		if in.path == "" || in.grep || in.nums || in.from != 1 || !s.has("-ba") || len(s.args) != 1 {
			return false
		}
		in.nums = true
		return true
	case "cat":
		if in.path != "" && !in.grep && !in.nums && in.from == 1 && len(s.args) == 1 && s.args[0].text == "-n" {
			in.nums = true
			return true
		}
		return len(s.args) == 0
	case "grep", "rg":
		// What is left of numbered lines is still numbered.
		if in.grep && in.path == "" && !s.has("-c", "-o", "-n") {
			return true
		}
		return false
	}
	return false
}

// narrow keeps n lines from line a of the stream on.
func (in *stream) narrow(a, n int) bool {
	if a < 1 {
		return false
	}
	if in.count != toEnd {
		left := max(in.count-(a-1), 0)
		if n == toEnd || n > left {
			n = left
		}
	}
	in.from, in.count = in.from+a-1, n
	return true
}

// headTail reads the lines that head and tail show: from line a on, n of them.
func headTail(s *step) (a, n int, ok bool) {
	a, n = 1, 10
	given := s.name == "head"
	for i := 0; i < len(s.args); i++ {
		w := s.args[i].text
		v := ""
		switch {
		case (w == "-n" || w == "--lines") && i+1 < len(s.args):
			i++
			v = s.args[i].text
		case strings.HasPrefix(w, "-n"):
			v = w[2:]
		case strings.HasPrefix(w, "--lines="):
			v = w[8:]
		case len(w) > 1 && w[0] == '-' && w[1] >= '0' && w[1] <= '9':
			v = w[1:]
		case strings.HasPrefix(w, "-"):
			return 0, 0, false
		default:
			continue
		}
		k, err := strconv.Atoi(strings.TrimPrefix(v, "+"))
		if err != nil || k < 0 || k > 1<<30 || s.name == "tail" && !strings.HasPrefix(v, "+") {
			return 0, 0, false
		}
		if s.name == "tail" {
			a, n, given = max(k, 1), toEnd, true
		} else {
			n = k
		}
	}
	return a, n, given
}

// sedPrint reads sed -n 'A,Bp' with one range.
func sedPrint(s *step) (a, n int, rest []word, ok bool) {
	quiet, script := false, ""
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		switch {
		case w.text == "-n" || w.text == "--quiet" || w.text == "-ne" || w.text == "-nE":
			quiet = true
		case w.text == "-e":
		case strings.HasPrefix(w.text, "-"):
			return 0, 0, nil, false
		case script == "":
			if !w.exact {
				return 0, 0, nil, false
			}
			script = strings.TrimSpace(w.text)
		default:
			rest = append(rest, w)
		}
	}
	body, isPrint := strings.CutSuffix(strings.TrimSuffix(script, ";"), "p")
	from, to, ranged := strings.Cut(body, ",")
	a, err := strconv.Atoi(strings.TrimSpace(from))
	if !quiet || !isPrint || err != nil || a < 1 || a > 1<<30 {
		return 0, 0, nil, false
	}
	if !ranged {
		return a, 1, rest, true
	}
	to = strings.TrimSpace(to)
	if to == "$" {
		return a, toEnd, rest, true
	}
	b, err := strconv.Atoi(strings.TrimPrefix(to, "+"))
	if err != nil || b > 1<<30 {
		return 0, 0, nil, false
	}
	if strings.HasPrefix(to, "+") {
		b += a
	}
	return a, max(b-a+1, 1), rest, true
}

// linesNumbered reports whether a search prints whole lines with their numbers.
func (s *step) linesNumbered() bool {
	num := false
	for _, w := range s.args {
		t := w.text
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		if t[1] == '-' {
			switch t {
			case "--line-number":
				num = true
			case "--no-heading", "--hidden", "--color=never", "--ignore-case", "--fixed-strings", "--smart-case", "--no-ignore":
			default:
				if !strings.HasPrefix(t, "--include") && !strings.HasPrefix(t, "--exclude") && !strings.HasPrefix(t, "--glob") && !strings.HasPrefix(t, "--type") {
					return false
				}
			}
			continue
		}
		num = num || strings.Contains(t, "n") && strings.Trim(t[1:], "nrRiEFHwxsISPU0123456789ABC") == ""
		if strings.ContainsAny(t[1:2], "clLoqhvzZM") {
			return false
		}
	}
	return num
}
