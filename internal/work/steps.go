package work

import (
	"path"
	"slices"
	"strings"
)

// step is one program that a command line runs.
type step struct {
	program
	name   string
	args   []word
	redirs []redirect

	dir     string // the folder it runs in, "" where the session's is meant
	lost    bool   // the folder is not known
	certain bool   // it runs, and once, if the command line succeeds
	piped   bool   // it reads what the step before it wrote
	inner   bool   // a command runs it that another one was given
}

// newStep returns the step that runs a program with these words where another
// step runs. The commands of git are programs of their own.
func newStep(name string, args []word, beside *step) step {
	s := step{name: name, args: args, dir: beside.dir, lost: beside.lost, inner: beside.inner}
	if name == "git" {
		s.useSubcommand()
	}
	s.program = programs[s.name]
	if s.when != "" && !s.has(strings.Fields(s.when)...) || s.unless != "" && s.has(strings.Fields(s.unless)...) && !s.has("--worktree", "-W") {
		s.program = program{may: noFile}
	}
	return s
}

// useSubcommand makes git's own command the program that runs.
func (s *step) useSubcommand() {
	for len(s.args) > 1 && strings.HasPrefix(s.args[0].text, "-") {
		switch s.args[0].text {
		case "-C":
			s.lost = s.lost || !s.args[1].exact || len(s.dir) > 4096
			s.dir = Join(s.dir, s.args[1].text)
			fallthrough
		case "-c":
			s.args = s.args[1:]
		}
		s.args = s.args[1:]
	}
	if len(s.args) > 0 {
		s.name, s.args = "git-"+s.args[0].text, s.args[1:]
	}
}

// listSteps lists the programs that a command line runs, in order. The folder is
// where the line ends up. Clear is false where the line could not be read.
func listSteps(src, dir string) (list []step, folder string, clear bool) {
	cmds, clear := parseShell(src)
	at := step{dir: dir}
	var outer []step
	nested := 0 // loops and conditions
	for i := range cmds {
		c := &cmds[i]
		words := c.words
		if len(words) == 1 && words[0].exact {
			switch words[0].text {
			case "(":
				outer = append(outer, at)
				continue
			case ")":
				if n := len(outer); n > 0 {
					at, outer = outer[n-1], outer[:n-1]
				}
				continue
			}
		}
		words = stripPrefix(words, &nested)
		name, args := "", []word(nil)
		if len(words) > 0 {
			if args = words[1:]; words[0].exact {
				name = path.Base(words[0].text)
			}
		}
		s := newStep(name, args, &at)
		s.redirs, s.piped = c.redirs, c.before == '|'
		s.certain = nested == 0 && c.before != 'o' && (i+1 >= len(cmds) || cmds[i+1].before != 'o' && cmds[i+1].before != 'b')
		switch {
		case name == "cd" || name == "pushd":
			at.dir, at.lost = s.changeDir()
		case name == "popd":
			at.lost = true
		case len(words) > 0 || len(s.redirs) > 0:
			list = append(list, s)
		}
	}
	if at.lost {
		return list, "?", clear
	}
	return list, at.dir, clear
}

// changeDir returns the folder after a cd.
func (s *step) changeDir() (dir string, lost bool) {
	args := s.args
	if len(args) != 1 || !args[0].exact || args[0].text == "-" || args[0].text == "" || s.lost && !IsAbs(args[0].text) {
		return s.dir, true
	}
	dir = Join(s.dir, args[0].text)
	return dir, !s.certain && s.dir != dir
}

// stripPrefix removes what stands before a program's name: assignments, words
// that run another program, and the words of loops and conditions, which it
// counts.
func stripPrefix(words []word, nested *int) []word {
	for len(words) > 0 {
		switch w := words[0].text; w {
		case "for", "case", "select", "function":
			*nested++
			return nil
		case "if", "while", "until":
			*nested++
		case "fi", "done", "esac":
			*nested = max(*nested-1, 0)
			return nil
		case "then", "do", "else", "elif", "{", "!", "}":
		case "sudo", "env", "time", "nohup", "command", "builtin", "exec":
			if len(words) == 1 {
				return words
			}
		case "timeout", "nice":
			for len(words) > 1 && (strings.HasPrefix(words[1].text, "-") || strings.Trim(words[1].text, "0123456789.smhd") == "") {
				words = words[1:]
			}
		default:
			if !isAssignment(w) {
				return words
			}
		}
		words = words[1:]
	}
	return nil
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" && (name[0] < '0' || name[0] > '9')
}

// outputFile returns the file that takes the step's output. Given is true also where that
// is a device.
func (s *step) outputFile() (file word, more, given bool) {
	for _, r := range s.redirs {
		if r.fd != 1 || r.op != ">" && r.op != ">>" && r.op != "&>" {
			continue
		}
		given = true
		if !strings.HasPrefix(r.target.text, "/dev/") {
			file, more = r.target, r.op == ">>"
		}
	}
	return file, more, given
}

// hereDocument returns the here document or here string that the step reads.
func (s *step) hereDocument() (doc word, given bool) {
	for _, r := range s.redirs {
		switch r.op {
		case "<<":
			doc, given = r.target, true
		case "<<<":
			doc, given = word{r.target.text + "\n", r.target.exact}, true
		}
	}
	return doc, given
}

// fileOp returns an operation on a file that the step names. It is unsure where
// the path depends on a variable, a pattern or a folder that is not known, and
// has no path where the word names no file.
func (s *step) fileOp(kind Kind, w word) Op {
	p := tidyPath(w.text)
	if p == "-" || strings.HasPrefix(p, "/dev/") || !w.exact && (strings.ContainsAny(p, "`") || strings.HasPrefix(p, "$") && !strings.Contains(p, "/")) {
		return Op{Kind: kind}
	}
	o := Op{Kind: kind, Path: p, Unsure: !w.exact && !strings.HasPrefix(p, "~/") || s.lost && !IsAbs(p)}
	if !s.lost && !strings.HasPrefix(p, "$") {
		o.Path = Join(s.dir, p)
	}
	return o
}

// knownPath returns the path of a file that the step names, "" where that is not known.
func (s *step) knownPath(w word) string {
	if o := s.fileOp(Run, w); !o.Unsure {
		return o.Path
	}
	return ""
}

// operands returns the words that are not options. Options whose letter is in
// valued take the word after them along.
func (s *step) operands(valued string) []word {
	var f []word
	for i := 0; i < len(s.args); i++ {
		w := s.args[i]
		switch {
		case w.text == "--":
			return append(f, s.args[i+1:]...)
		case len(w.text) > 1 && w.text[0] == '-' && w.text[1] != ' ':
			if len(w.text) == 2 && strings.IndexByte(valued, w.text[1]) >= 0 {
				i++
			}
		default:
			f = append(f, w)
		}
	}
	return f
}

// has reports whether the step was given one of these words.
func (s *step) has(options ...string) bool {
	return slices.ContainsFunc(s.args, func(w word) bool { return slices.Contains(options, w.text) })
}

// wordAfter returns the word that follows an option.
func (s *step) wordAfter(options ...string) (word, bool) {
	for i := range len(s.args) - 1 {
		if slices.Contains(options, s.args[i].text) {
			return s.args[i+1], true
		}
	}
	return word{}, false
}
