package work

import (
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
)

// Effect says that a program may have changed files which its command does not
// spell out: those below its folder whose names stand in Code, or those of its reach
// where none do. Where Script is set, the text of that file takes the place of Code,
// and what it changes depends on whether it writes files.
type Effect struct {
	Code   string // what the program was given or runs
	Script string // the file with the text that it runs
	Dir    string // the folder it runs in, "" where that is not known
	Tree   Tree   // what becomes of the changes since the last commit
	Reach  Reach
}

// Reach is which files a program may change that it does not name.
type Reach uint8

// The reaches of programs.
const (
	AnyFile Reach = iota
	NoOther       // none
	Edited        // those that were edited since: the others are formatted already
)

// Tree is what a program does with changes that are not committed, to the files that it
// names or to all.
type Tree uint8

// What becomes of the changes.
const (
	Stay    Tree = iota
	Undo         // they are gone
	Stash        // they are gone until they are brought back
	Unstash      // those that were stashed are back
	Commit       // they are there for good
)

// possibleEffects returns what the step may change besides its operations: at most one.
// Builds, tests and linters change nothing; what is not known is taken for one of
// them.
func (s *step) possibleEffects() []Effect {
	code, may := s.possibleEffect()
	tree := s.tree
	switch {
	case !s.certain || s.name == "git-reset" && slices.ContainsFunc(s.operands(""), func(w word) bool { return w.text != "HEAD" }):
		tree = Stay
	case tree == Stash && s.has("pop", "apply"):
		tree = Unstash
	}
	e := Effect{Code: code, Tree: tree, Dir: s.dir}
	if s.lost {
		e.Dir = ""
	}
	script := s.scriptFile()
	switch {
	case !may && tree != Commit && script == "":
		return nil
	case !may && tree != Commit:
		e.Script = script
	case s.may == itsFiles && !strings.ContainsAny(code, "$`"):
		e.Reach = NoOther
	case s.may != asTask && s.may != formats && s.may != nothing && !s.has("-m"):
	case code != "" && !strings.ContainsAny(code, "*?{["):
		e.Reach = NoOther
	case !nameHas(s.name+" "+s.joinWords(), generating):
		e.Reach = Edited
	}
	return []Effect{e}
}

// possibleEffect reports whether the step may change files besides its operations, and
// returns the text that names them, "" where it names none.
func (s *step) possibleEffect() (code string, may bool) {
	doc, _ := s.hereDocument()
	switch s.may {
	case noFile:
		return "", false
	case anyFile:
		return "", s.does != patches || !IsPatch(doc.text) && s.scriptFile() == ""
	case itsFiles: // what is certain the operations tell
		return s.joinWords(), !s.certain || slices.ContainsFunc(s.operands(s.valued), func(w word) bool { return !w.exact })
	case formats:
		files := s.operands("")
		if len(files) > 0 && slices.Contains(strings.Fields(write+" check lint"), files[0].text) {
			files = files[1:] // what it shall do
		}
		if len(files) > 0 && !slices.ContainsFunc(files, func(w word) bool { return len(path.Ext(w.text)) < 2 }) {
			code = s.joinWords() // no folders or packages
		}
		return code, true
	case aBranch: // not a new branch from here
		if s.has(".", ":/") {
			return "", true
		}
		return s.joinWords(), !s.has("-b", "-B", "-c", "-C", "--orphan") || len(s.operands("bBcC")) > 0
	case asTask:
		return s.runsTask()
	case asScript:
		return s.runsScript(doc.text)
	case asEach:
		return "", s.runsEach()
	}
	if s.does != runs || s.name == "" || strings.HasPrefix(s.name, "git") {
		return "", false
	}
	f := s.operands("")
	if len(f) == 0 || len(f[0].text) > 20 || !changesByName(f[0].text) {
		return "", changesByName(s.name)
	}
	if path.Ext(f[len(f)-1].text) != "" {
		code = s.joinWords()
	}
	return code, true
}

// joinWords returns the step's words as one text.
func (s *step) joinWords() string {
	var b strings.Builder
	for _, w := range s.args {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// runsTask judges a program that runs tasks: by the words of the task's name.
func (s *step) runsTask() (code string, may bool) {
	words := s.args
	if s.name == "go" && !s.has("run") {
		words = words[:min(1, len(words))] // the others are packages
	}
	for i, w := range words {
		switch w.text {
		case "install", "i", "add", "remove", "update", "upgrade", "ci", "sync", "lock", "uninstall", "get", "mod", "work":
			if i == 0 {
				return s.names, s.names != ""
			}
		case "--fix", "--write":
			return "", true
		}
		if programs[w.text].may == formats {
			t := newStep(w.text, s.args[i+1:], s)
			return t.possibleEffect()
		}
		if changesByName(w.text) && !strings.HasPrefix(w.text, "-") {
			return "", true
		}
	}
	return "", false
}

// changesByName reports whether the words of a task's or a program's name say that
// it changes files.
func changesByName(name string) bool { return nameHas(name, formatting) || nameHas(name, generating) }

// The words of tasks that rewrite what is there, and of those that write anew.
const (
	formatting = "fmt format fix autofix prettify tidy"
	generating = "generate gen codegen codemod migrate rewrite scaffold bump"
)

// nameHas reports whether a name has one of these words.
func nameHas(name, words string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }), func(w string) bool {
		return slices.Contains(strings.Fields(words), w)
	})
}

// runsEach judges a program that runs another one for each of many files.
func (s *step) runsEach() bool {
	for i, w := range s.args {
		if w.text == "-delete" {
			return true
		}
		name := path.Base(w.text)
		if p := programs[name]; name != "git" && (p.may == nothing || p.may == asEach) || s.name == "find" && !strings.HasPrefix(s.args[i-min(i, 1)].text, "-exec") {
			continue
		}
		t := newStep(name, s.args[i+1:], s)
		_, may := t.possibleEffect()
		return may
	}
	return false
}

// inPlace reports whether sed, perl or ruby was told to edit files in place.
func (s *step) inPlace() bool {
	for _, w := range s.args {
		t := w.text
		if strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place") || len(t) > 1 && len(t) < 6 && t[0] == '-' && t[1] != '-' && strings.Contains(t, "i") {
			return true
		}
	}
	return false
}

// runsScript judges an interpreter by the text that it runs.
func (s *step) runsScript(code string) (string, bool) {
	if w, ok := s.wordAfter("-c", "-e", "--eval", "-lc", "-Command"); ok {
		code += "\n" + w.text
	}
	switch s.name {
	case "bash", "sh", "zsh":
		if s.inner {
			return code, code != ""
		}
		list, _, clear := listSteps(code, s.dir)
		return code, !clear || slices.ContainsFunc(list, step.changesFiles)
	case "sed", "gsed": // what is certain the operations tell
		return s.joinWords(), s.inPlace() && !s.certain
	case "perl", "ruby":
		if s.inPlace() {
			return s.joinWords(), true
		}
	case "awk", "gawk":
		return "", s.has("inplace")
	}
	for i, w := range s.args {
		if w.text == "-m" && i+2 < len(s.args) {
			return s.joinWords(), changesByName(s.args[i+2].text)
		}
	}
	return code, WritesFiles(code)
}

// changesFiles reports whether a step of a command that another one runs may change
// files.
func (s step) changesFiles() bool {
	s.inner = true
	ops, _ := pipelineOps([]step{s})
	return len(s.possibleEffects()) > 0 || slices.ContainsFunc(ops, func(o Op) bool { return o.Changes() })
}

// scriptFile returns the file whose program an interpreter runs or whose patch is
// applied, "" where that is not known.
func (s *step) scriptFile() string {
	if s.does == patches {
		for _, w := range append(s.operands(""), s.orInput(nil)...) {
			return s.knownPath(w)
		}
	}
	if s.may != asScript || s.has("-m", "-c") || s.does != runs && s.does != rewrites {
		return ""
	}
	for _, w := range s.args {
		if !strings.HasPrefix(w.text, "-") {
			return s.knownPath(w)
		}
	}
	return ""
}

// WritesFiles reports whether a program's text writes to files.
func WritesFiles(code string) bool {
	if n := strings.Count(code, "write"); n > strings.Count(code, "stdout.write")+strings.Count(code, "stderr.write") {
		return true
	}
	return find.Any(code, "'w'", `"w"`, "'w+'", `"a"`, "'a'", "unlink", "rename(", "os.remove", "shutil.", "rmSync", "fileinput",
		"appendFile", "outputFile", "copyFile", "file_put_contents", "r+")
}
