package workset

import (
	"path"
	"strings"
)

// step is one program that a command line runs.
type step struct {
	name   string
	args   []word
	redirs []redirect

	dir     string // the folder it runs in, "" where the session's is meant
	lost    bool   // the folder is not known
	certain bool   // it runs, and once, if the command line succeeds
	piped   bool   // it reads what the step before it wrote
	pipes   bool   // the step after it reads what it writes
	nested  int    // scripts around it
}

// steps lists the programs that a command line runs, in order. The folder is
// where the line ends up. Clear is false where the line could not be read.
func steps(src, dir string) (list []step, folder string, clear bool) {
	cmds, clear := parseShell(src)
	lost := false
	type place struct {
		dir  string
		lost bool
	}
	var outer []place
	nested := 0 // loops and conditions
	for i := range cmds {
		c := &cmds[i]
		words := c.words
		if len(words) == 1 && words[0].exact && words[0].text == "(" {
			outer = append(outer, place{dir, lost})
			continue
		}
		if len(words) == 1 && words[0].exact && words[0].text == ")" {
			if n := len(outer); n > 0 {
				dir, lost = outer[n-1].dir, outer[n-1].lost
				outer = outer[:n-1]
			}
			continue
		}
		words = program(words, &nested)
		s := step{redirs: c.redirs, dir: dir, lost: lost, piped: c.before == '|'}
		s.pipes = i+1 < len(cmds) && cmds[i+1].before == '|'
		s.certain = nested == 0 && c.before != 'o' && (i+1 >= len(cmds) || cmds[i+1].before != 'o' && cmds[i+1].before != 'b')
		if len(words) > 0 {
			s.name, s.args = path.Base(words[0].text), words[1:]
			if !words[0].exact {
				s.name = ""
			}
		}
		if s.name == "cd" || s.name == "pushd" {
			dir, lost = changeDir(&s)
			continue
		}
		if s.name == "popd" {
			lost = true
			continue
		}
		if len(words) > 0 || len(s.redirs) > 0 {
			list = append(list, s)
		}
	}
	if lost {
		dir = "?"
	}
	return list, dir, clear
}

// changeDir returns the folder after a cd.
func changeDir(s *step) (dir string, lost bool) {
	args := s.args
	for len(args) > 0 && (args[0].text == "-P" || args[0].text == "-L" || args[0].text == "--") {
		args = args[1:]
	}
	if len(args) != 1 || !args[0].exact || args[0].text == "-" || args[0].text == "" {
		return s.dir, true
	}
	to := args[0].text
	if !isAbs(to) && s.lost {
		return s.dir, true
	}
	return join(s.dir, to), !s.certain && s.dir != join(s.dir, to)
}

// program removes what stands before a program's name: assignments, words that
// run another program, and the words of loops and conditions, which it counts.
func program(words []word, nested *int) []word {
	for len(words) > 0 {
		switch w := words[0].text; {
		case w == "if" || w == "while" || w == "until" || w == "for" || w == "case" || w == "select" || w == "function":
			*nested++
			if w == "for" || w == "case" || w == "select" || w == "function" {
				return nil
			}
			words = words[1:]
		case w == "fi" || w == "done" || w == "esac":
			*nested = max(*nested-1, 0)
			return nil
		case w == "then" || w == "do" || w == "else" || w == "elif" || w == "{" || w == "!" || w == "}":
			words = words[1:]
		case w == "sudo" || w == "env" || w == "time" || w == "nohup" || w == "command" || w == "builtin" || w == "exec":
			if len(words) == 1 {
				return words
			}
			words = words[1:]
		case w == "timeout" || w == "nice":
			words = words[1:]
			for len(words) > 0 && (strings.HasPrefix(words[0].text, "-") || strings.Trim(words[0].text, "0123456789.smhd") == "") {
				words = words[1:]
			}
		case isAssignment(w):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" && (name[0] < '0' || name[0] > '9')
}

// out is the file that takes the step's output. Given is true also where that
// is a device.
func (s *step) out() (file word, more, given bool) {
	for _, r := range s.redirs {
		if r.fd != 1 || r.op != ">" && r.op != ">>" && r.op != "&>" {
			continue
		}
		if strings.HasPrefix(r.target.text, "/dev/") {
			given = true
			continue
		}
		file, more, given = r.target, r.op == ">>", true
	}
	return file, more, given
}

// doc is the here document or here string that the step reads.
func (s *step) doc() (text string, exact, given bool) {
	for _, r := range s.redirs {
		switch r.op {
		case "<<":
			text, exact, given = r.target.text, r.target.exact, true
		case "<<<":
			text, exact, given = r.target.text+"\n", r.target.exact, true
		}
	}
	return text, exact, given
}

// in is the file that the step reads as its input.
func (s *step) in() word {
	for _, r := range s.redirs {
		if r.op == "<" && r.fd == 0 {
			return r.target
		}
	}
	return word{}
}

// path returns the full path of a file that the step names, "" where it depends
// on a variable, a pattern or a folder that is not known.
func (s *step) path(w word) string {
	if w.text == "" || !w.exact && !strings.HasPrefix(w.text, "~/") || s.lost && !isAbs(w.text) {
		return ""
	}
	return join(s.dir, tidy(w.text))
}

// operands returns the words that are not options. Options whose letter is in
// valued take the word after them along.
func (s *step) operands(valued string) []word {
	var f []word
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		if w.text == "--" {
			return append(f, s.args[i+1:]...)
		}
		if len(w.text) > 1 && w.text[0] == '-' {
			if len(w.text) == 2 && strings.IndexByte(valued, w.text[1]) >= 0 {
				i++
			}
			continue
		}
		f = append(f, w)
	}
	return f
}

// has reports whether the step was given an option.
func (s *step) has(options ...string) bool {
	for _, w := range s.args {
		for _, o := range options {
			if w.text == o {
				return true
			}
		}
	}
	return false
}
