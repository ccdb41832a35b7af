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

// possibleEffect returns what the step may change besides its operations. Builds, tests
// and linters change nothing; what is not known is taken for one of them.
func (s *step) possibleEffect() (Effect, bool) {
	e, may := s.effectOfProgram()
	e.Tree = s.tree
	switch {
	case !s.certain || s.name == "git-reset" && slices.ContainsFunc(s.operands(""), func(w word) bool { return w.text != "HEAD" }):
		e.Tree = Stay
	case e.Tree == Stash && s.has("pop", "apply"):
		e.Tree = Unstash
	}
	if !may && e.Tree != Commit {
		e.Code, e.Script = "", s.scriptFile()
	}
	if !s.lost {
		e.Dir = s.dir
	}
	return e, may || e.Tree == Commit || e.Script != ""
}

// effectOfProgram returns what the step's program may change besides its operations.
func (s *step) effectOfProgram() (e Effect, may bool) {
	doc, _ := s.hereDocument()
	switch s.may {
	case noFile:
		return e, false
	case anyFile:
		return e, s.does != patches || !IsPatch(doc.text) && s.scriptFile() == ""
	case itsFiles: // what is certain the operations tell
		if e.Code = s.joinWords(); !strings.ContainsAny(e.Code, "$`") {
			e.Reach = NoOther
		}
		files := s.operands(s.valued)
		if n := len(files); s.does == copies && n > 1 && !s.has("-t") {
			files = files[n-1:] // the others stay as they are
			e.Code, e.Reach = files[0].text, NoOther
		}
		return e, !s.certain || slices.ContainsFunc(files, func(w word) bool { return !w.isPath() })
	case formats:
		return s.rework(), true
	case aBranch: // not a new branch from here
		if s.has(".", ":/") {
			return e, true
		}
		e.Code = s.joinWords()
		return e, !s.has("-b", "-B", "-c", "-C", "--orphan") || len(s.operands("bBcC")) > 0
	case asTask:
		return s.runsTask(s.args)
	case asScript:
		return s.runsScript(doc.text)
	case asEach:
		return e, s.runsEach()
	}
	if s.does != runs || strings.HasPrefix(s.name, "git") {
		return e, false
	}
	words := []word{{s.name, true}}
	if f := s.operands(""); len(f) > 0 && len(f[0].text) <= 20 {
		words = append(words, f[0])
	}
	return s.runsTask(words)
}

// rework returns the effect of a program that rewrites the files that it is given, or, where
// it is given folders, patterns or nothing, those that were edited since it last did. One that
// makes files may change any.
func (s *step) rework() Effect {
	code, files, before := s.joinWords(), 0, ""
	tasks := strings.Fields(write + " check lint")
	for _, w := range s.args {
		isOption := strings.HasPrefix(w.text, "-")
		switch {
		case isOption && strings.Contains(w.text, "conf"): // a file of settings
			files = -len(s.args)
		case isOption || slices.Contains(tasks, w.text):
		case len(path.Ext(w.text)) > 1:
			files++
		case !strings.HasPrefix(before, "--") || slices.Contains(tasks, before): // no option's value
			files = -len(s.args)
		}
		before = w.text
	}
	switch {
	case nameHas(s.name+" "+code, generating):
		return Effect{}
	case files <= 0 || strings.ContainsAny(code, "*?{["):
		return Effect{Reach: Edited}
	}
	return Effect{Code: code, Reach: NoOther}
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

// runsTask judges a program that runs tasks, by the words of the task's name.
func (s *step) runsTask(words []word) (Effect, bool) {
	if s.name == "go" && !s.has("run") {
		words = words[:min(1, len(words))] // the others are packages
	}
	for i, w := range words {
		switch {
		case i == 0 && slices.Contains(packaging, w.text):
			return Effect{Code: s.names, Reach: NoOther}, s.names != ""
		case programs[w.text].may == formats:
			at := slices.Index(s.args, w)
			t := newStep(w.text, s.args[at+1:], s)
			return t.effectOfProgram()
		case w.text == "--fix" || w.text == "--write" || nameHas(w.text, formatting+" "+generating) && w.text[0] != '-':
			return s.rework(), true
		}
	}
	return Effect{}, false
}

// packaging are the commands of package managers that write down what is needed.
var packaging = strings.Fields("install i add remove update upgrade ci sync lock uninstall get mod work")

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
		if s.name == "find" && (i == 0 || !strings.HasPrefix(s.args[i-1].text, "-exec")) {
			continue
		}
		if t := newStep(path.Base(w.text), s.args[i+1:], s); t.may != nothing && t.may != asEach {
			_, may := t.effectOfProgram()
			return may
		}
	}
	return s.has("-delete")
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
func (s *step) runsScript(code string) (e Effect, may bool) {
	if w, ok := s.wordAfter("-c", "-e", "--eval", "-lc", "-Command"); ok {
		code += "\n" + w.text
	}
	e.Code = s.joinWords()
	switch s.name {
	case "bash", "sh", "zsh":
		if e.Code = code; s.inner {
			return e, code != ""
		}
		list, _, clear := listSteps(code, s.dir)
		return e, !clear || slices.ContainsFunc(list, step.changesFiles)
	case "sed", "gsed": // what is certain the operations tell
		return e, s.inPlace() && !s.certain
	case "perl", "ruby":
		if s.inPlace() {
			return e, true
		}
	case "awk", "gawk":
		return Effect{}, s.has("inplace")
	}
	if i := slices.IndexFunc(s.args, func(w word) bool { return w.text == "-m" }); i >= 0 && i+1 < len(s.args) {
		t := newStep(s.args[i+1].text, s.args[i+2:], s)
		return t.effectOfProgram()
	}
	e.Code = code
	return e, WritesFiles(code)
}

// changesFiles reports whether a step of a command that another one runs may change
// files.
func (s step) changesFiles() bool {
	s.inner = true
	ops, _ := pipelineOps([]step{s})
	_, may := s.possibleEffect()
	return may || slices.ContainsFunc(ops, func(o Op) bool { return o.Changes() })
}

// scriptFile returns the file whose program an interpreter runs or whose patch is
// applied, "" where that is not known.
func (s *step) scriptFile() string {
	if s.does == patches {
		for _, w := range append(s.operands(""), s.orInput(nil)...) {
			return s.knownPath(w)
		}
	}
	if s.may != asScript || s.has("-m", "-c", "-e") || s.does != runs && s.does != rewrites {
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
