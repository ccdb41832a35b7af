package work

import (
	"path"
	"slices"
	"strings"
)

// Effect is what a program may do to files that its command does not spell out.
type Effect struct {
	All    bool     // any file of the project may have changed
	Files  []string // these files, or those below these folders; "" is one that is not known
	Code   string   // a program's text that writes to files: those that it names
	Script string   // the file that holds the program's text
	Dir    string   // the folder that the program runs in
	Lost   bool     // that folder is not known
}

// effects returns what the step may change besides its operations: at most one.
// Builds, tests and linters change nothing; what is not known is taken for one of
// them.
func (s *step) effects() []Effect {
	e := s.effect()
	if s.may == asScript {
		e.Script = s.scriptFile()
	}
	if !e.isAny() && e.Script == "" {
		return nil
	}
	e.Dir, e.Lost = s.dir, s.lost
	return []Effect{e}
}

// isAny reports whether something may have changed.
func (e *Effect) isAny() bool { return e.All || len(e.Files) > 0 || e.Code != "" }

func (s *step) effect() Effect {
	doc, _ := s.doc()
	f := s.operands("")
	switch s.may {
	case noFile:
		return Effect{}
	case anyFile:
		return Effect{All: s.does != patches || !IsPatch(doc.text)}
	case itsFiles:
		return Effect{Files: s.paths(f, s.kind != Unclear)}
	case formats:
		for len(f) > 0 && strings.Contains(" format check lint fix fmt run write ", " "+f[0].text+" ") {
			f = f[1:]
		}
		return Effect{All: len(f) == 0, Files: s.paths(f, false)}
	case aBranch:
		if s.has("-b", "-B", "-c", "-C", "--orphan") && len(s.operands("bBcC")) == 0 || s.has("--") {
			return Effect{} // a new branch from here; or files, which the operations tell
		}
		return Effect{All: !s.has("--ours", "--theirs"), Files: s.paths(f, false)}
	case asTask:
		return s.runsTask()
	case asScript:
		return s.runsScript(doc.text)
	case asEach:
		return s.runsEach()
	}
	if s.does != runs || s.name == "" || strings.HasPrefix(s.name, "git") {
		return Effect{}
	}
	return Effect{All: changesByName(s.name) || len(f) > 0 && len(f[0].text) <= 20 && changesByName(f[0].text)}
}

// paths returns the files that words name. Told leaves those out of which the
// step's operations say more.
func (s *step) paths(words []word, told bool) []string {
	var files []string
	for _, w := range words {
		switch {
		case strings.HasSuffix(w.text, "..."): // packages
			files = append(files, "")
		case !told || !s.certain || !w.exact:
			files = append(files, s.path(w))
		}
	}
	return files
}

// named returns the files with these names in the folder of the step.
func (s *step) named(names string) (files []string) {
	for name := range strings.FieldsSeq(names) {
		files = append(files, s.path(word{name, true}))
	}
	return files
}

// runsTask judges a program that runs tasks: by the words of the task's name.
func (s *step) runsTask() Effect {
	words := s.args
	if s.name == "go" && !s.has("run") {
		words = words[:min(1, len(words))] // the others are packages
	}
	for i, w := range words {
		switch w.text {
		case "install", "i", "add", "remove", "update", "upgrade", "ci", "sync", "lock", "uninstall", "get", "mod", "work":
			if i == 0 {
				return Effect{Files: s.named(s.names)}
			}
		case "--fix", "--write":
			return Effect{All: true}
		}
		if programs[w.text].may == formats {
			t := newStep(w.text, s.args[i+1:], s)
			return t.effect()
		}
		if changesByName(w.text) && !strings.HasPrefix(w.text, "-") {
			return Effect{All: true}
		}
	}
	return Effect{}
}

// changesByName reports whether the words of a task's or a program's name say that
// it changes files.
func changesByName(name string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "fmt", "format", "fix", "autofix", "prettify", "tidy", "generate", "gen", "codegen", "codemod", "migrate", "rewrite", "scaffold", "bump":
			return true
		}
	}
	return false
}

// runsEach judges a program that runs another one for each of many files.
func (s *step) runsEach() Effect {
	for i, w := range s.args {
		if w.text == "-delete" {
			return Effect{All: true}
		}
		name := path.Base(w.text)
		if p := programs[name]; name != "git" && (p.may == nothing || p.may == asEach) || s.name == "find" && !strings.HasPrefix(s.args[i-min(i, 1)].text, "-exec") {
			continue
		}
		t := newStep(name, s.args[i+1:], s)
		e := t.effect()
		return Effect{All: e.isAny() || t.may == itsFiles}
	}
	return Effect{}
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
func (s *step) runsScript(code string) Effect {
	if w, ok := s.after("-c", "-e", "--eval", "-lc", "-Command"); ok {
		code += "\n" + w.text
	}
	switch s.name {
	case "bash", "sh", "zsh":
		return s.runsShell(code)
	case "sed", "gsed", "perl", "ruby":
		if s.inPlace() {
			return Effect{Files: s.paths(s.operands("e"), s.does == seds)}
		}
	case "awk", "gawk":
		return Effect{All: s.has("inplace")}
	}
	for i, w := range s.args {
		if w.text == "-m" && i+2 < len(s.args) {
			return Effect{All: changesByName(s.args[i+2].text)}
		}
	}
	if WritesFiles(code) {
		return Effect{Code: code}
	}
	return Effect{}
}

// runsShell judges a shell that runs a script.
func (s *step) runsShell(code string) Effect {
	if code == "" || s.nested >= maxNested {
		return Effect{All: code != ""}
	}
	list, _, clear := steps(code, s.dir)
	e := Effect{All: !clear}
	for i := range list {
		t := &list[i]
		t.nested = s.nested + 1
		one := t.effect()
		ops, _ := pipeline(list[i : i+1])
		e.All = e.All || one.isAny() || slices.ContainsFunc(ops, func(o Op) bool { return o.Changes() })
	}
	return e
}

// scriptFile returns the file whose program an interpreter runs, "" where that is
// not known.
func (s *step) scriptFile() string {
	if s.has("-m", "-c") || s.does != runs && s.does != rewrites {
		return ""
	}
	for _, w := range s.args {
		if !strings.HasPrefix(w.text, "-") {
			return s.path(w)
		}
	}
	return ""
}

// WritesFiles reports whether a program's text writes to files.
func WritesFiles(code string) bool {
	if n := strings.Count(code, "write"); n > strings.Count(code, "stdout.write")+strings.Count(code, "stderr.write") {
		return true
	}
	return containsAny(code, "'w'", `"w"`, "'w+'", `"a"`, "'a'", "unlink", "rename(", "os.remove", "shutil.", "rmSync", "fileinput",
		"appendFile", "outputFile", "copyFile", "file_put_contents", "r+")
}

// FindsFiles reports whether a program's text looks for the files that it
// changes, or is told them.
func FindsFiles(code string) bool {
	return containsAny(code, "glob", "os.walk", "argv", "readdir", "listdir", "iterdir", "scandir", "subprocess", "os.system", "exec(")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
