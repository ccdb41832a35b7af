package workset

import (
	"path"
	"strings"
)

// effect is what a program may do to files that its command does not spell out.
type effect struct {
	all    bool     // any file of the project may have changed
	format bool     // files that were edited since they were last formatted may have
	files  []word   // these files, or those below these folders
	names  []string // files with these names, wherever they are
	code   string   // a program's text that writes to files: those that it names
}

// effect judges a program. Builds, tests and linters change nothing; what is not
// known is taken for one of them.
func (s *step) effect() effect {
	switch s.name {
	case "git":
		return s.gitEffect()
	case "jj", "hg", "svn", "unzip", "rsync":
		return effect{all: true}
	case "patch":
		doc, _, given := s.doc()
		return effect{all: !given || !isPatch(doc)}
	case "tar":
		return effect{all: len(s.args) > 0 && strings.Contains(s.args[0].text, "x") && !strings.Contains(s.args[0].text, "O")}
	case "gofmt", "goimports", "gofumpt", "gci", "golines":
		if s.has("-w", "write", "--write") {
			return s.formatted()
		}
	case "prettier", "biome", "eslint", "stylelint", "oxlint", "dprint", "ruff", "autopep8", "autoflake", "clang-format", "swiftformat",
		"ktlint", "shfmt", "rustfmt", "black", "isort", "yapf", "docformatter", "rubocop", "ultracite", "markdownlint", "buildifier":
		return s.formats()
	case "go":
		return s.goEffect()
	case "golangci-lint":
		return effect{format: s.has("--fix", "fmt")}
	case "cargo":
		if s.has("fmt", "fix", "--fix") {
			return effect{format: true}
		}
		return effect{names: []string{"Cargo.toml", "Cargo.lock"}}
	case "npx", "bunx", "pnpx", "uvx", "poetry", "uv", "pdm", "hatch", "mise", "task", "just", "make", "npm", "pnpm", "yarn", "bun", "deno",
		"turbo", "nx", "rake", "bundle", "composer", "gradle", "gradlew", "mvn", "dotnet":
		return s.runs()
	case "sed", "gsed", "perl", "ruby", "python", "python3", "node", "tsx", "ts-node", "php", "awk", "gawk", "bash", "sh", "zsh", "osascript", "pwsh", "powershell":
		return s.scripts()
	case "xargs", "find", "parallel":
		return s.runsEach()
	case "mv", "cp", "rm", "tee", "truncate", "ed", "ex", "ln", "install", "dd":
		return effect{files: s.operands("")}
	case "":
	default:
		f := s.operands("")
		if e := verbs(s.name); e.all || e.format || len(f) == 0 || len(f[0].text) > 20 {
			return e
		}
		return verbs(f[0].text)
	}
	return effect{}
}

// formats judges a formatter: it writes when it is told to, or unless it is told
// to check only.
func (s *step) formats() effect {
	writes := s.has("--write", "--fix", "-w", "-i", "-a", "--apply", "--apply-unsafe", "--in-place")
	switch s.name {
	case "black", "isort", "yapf", "rustfmt", "swiftformat", "docformatter":
		writes = !s.has("--check", "--diff", "-c", "--lint")
	case "ruff", "dprint", "ultracite":
		writes = writes || s.has("format", "fmt", "fix") && !s.has("--check", "--diff")
	}
	if !writes {
		return effect{}
	}
	return s.formatted()
}

// formatted is the effect of formatting the files named, or all.
func (s *step) formatted() effect {
	f := s.operands("")
	for len(f) > 0 && (f[0].text == "format" || f[0].text == "check" || f[0].text == "lint" || f[0].text == "fix" || f[0].text == "fmt") {
		f = f[1:]
	}
	return effect{format: true, files: f}
}

// gitEffect judges git.
func (s *step) gitEffect() effect {
	args := s.args
	for len(args) > 1 && strings.HasPrefix(args[0].text, "-") {
		if args[0].text == "-C" || args[0].text == "-c" {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return effect{}
	}
	t := step{args: args[1:]}
	switch args[0].text {
	case "checkout":
		switch {
		case t.has("-b", "-B", "--orphan") && len(t.operands("bB")) == 0, t.has("--"):
			return effect{} // a new branch from here; or files, which the edits tell
		case t.has("--ours", "--theirs"):
			return effect{files: t.operands("")}
		}
		return effect{all: true, files: t.operands("")} // a branch, or files
	case "switch":
		return effect{all: !t.has("-c", "-C", "--create") || len(t.operands("cC")) > 0}
	case "stash":
		return effect{all: !t.has("list", "show", "drop", "create", "clear")}
	case "reset":
		return effect{all: t.has("--hard", "--merge", "--keep")}
	case "apply":
		doc, _, given := s.doc()
		return effect{all: !t.has("--check", "--stat", "--numstat", "--summary") && !(given && isPatch(doc))}
	case "pull", "merge", "rebase", "cherry-pick", "revert", "am", "clean", "submodule", "bisect", "filter-branch", "lfs", "sparse-checkout", "subtree":
		return effect{all: true}
	}
	return effect{}
}

// unchanged reports whether a command's output says that nothing was changed.
func unchanged(out string) bool {
	for _, w := range [...]string{"Already up to date", "Already up-to-date", "No local changes to save", "is up to date.", "No fixes applied"} {
		if strings.Contains(out, w) {
			return true
		}
	}
	return false
}

func (s *step) goEffect() effect {
	if len(s.args) == 0 {
		return effect{}
	}
	switch s.args[0].text {
	case "fmt", "fix":
		return effect{format: true}
	case "generate":
		return effect{all: true}
	case "get", "mod", "work":
		return effect{names: []string{"go.mod", "go.sum", "go.work", "go.work.sum"}}
	case "run":
		for _, w := range s.args {
			if e := verbs(w.text); e.all || e.format {
				return effect{all: true}
			}
		}
	}
	return effect{}
}

// runs judges a program that runs tasks: by the words of the task's name.
func (s *step) runs() effect {
	for i, w := range s.args {
		switch w.text {
		case "install", "i", "add", "remove", "update", "upgrade", "ci", "sync", "lock", "uninstall":
			if i == 0 {
				return effect{names: []string{
					"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
					"pyproject.toml", "uv.lock", "poetry.lock", "Gemfile.lock", "composer.lock",
				}}
			}
		case "prettier", "biome", "eslint", "black", "ruff", "stylelint", "oxlint", "ultracite", "rustfmt", "isort":
			t := step{name: w.text, args: s.args[i+1:], dir: s.dir, lost: s.lost, nested: s.nested}
			return t.effect()
		case "--fix", "--write":
			return effect{format: true}
		}
		if strings.HasPrefix(w.text, "-") {
			continue
		}
		if e := verbs(w.text); e.all || e.format {
			return e
		}
	}
	return effect{}
}

// verbs judges a task or a program by the words of its name.
func verbs(name string) effect {
	var e effect
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "fmt", "format", "fix", "autofix", "prettify", "tidy":
			e.format = true
		case "generate", "gen", "codegen", "codemod", "migrate", "rewrite", "scaffold", "bump":
			e.all = true
		}
	}
	return e
}

// runsEach judges a program that runs another one for each of many files.
func (s *step) runsEach() effect {
	for i, w := range s.args {
		if w.text == "-delete" {
			return effect{all: true}
		}
		switch name := path.Base(w.text); name {
		case "sed", "gsed", "perl", "rm", "mv", "cp", "gofmt", "prettier", "goimports", "gofumpt", "sh", "bash":
			if s.name == "find" && !strings.HasPrefix(s.args[i-min(i, 1)].text, "-exec") {
				continue
			}
			t := step{name: name, args: s.args[i+1:], dir: s.dir, lost: s.lost, nested: s.nested}
			e := t.effect()
			return effect{all: e.all || e.format || e.code != "" || len(e.files) > 0}
		}
	}
	return effect{}
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

// scripts judges an interpreter by the text that it runs.
func (s *step) scripts() effect {
	code, _, _ := s.doc()
	for i, w := range s.args {
		if (w.text == "-c" || w.text == "-e" || w.text == "--eval" || w.text == "-lc" || w.text == "-Command") && i+1 < len(s.args) {
			code += "\n" + s.args[i+1].text
		}
	}
	switch s.name {
	case "bash", "sh", "zsh":
		if code == "" {
			return effect{}
		}
		if s.nested >= maxNested {
			return effect{all: true}
		}
		list, _, clear := steps(code, s.dir)
		e := effect{all: !clear}
		for i := range list {
			list[i].nested = s.nested + 1
			one := list[i].effect()
			e.all = e.all || one.all || one.code != "" || len(list[i].edits()) > 0
			e.format = e.format || one.format
			e.files = append(e.files, one.files...)
		}
		return e
	case "sed", "gsed", "perl", "ruby":
		if s.inPlace() {
			return effect{files: s.operands("e")}
		}
	case "awk", "gawk":
		return effect{all: s.has("inplace")}
	}
	for i, w := range s.args {
		if w.text == "-m" && i+2 < len(s.args) {
			return verbs(s.args[i+2].text)
		}
	}
	if writesFiles(code) {
		return effect{code: code}
	}
	return effect{}
}

// writesFiles reports whether a program's text writes to files.
func writesFiles(code string) bool {
	for _, w := range [...]string{
		"write", "'w'", `"w"`, "'w+'", `"a"`, "'a'", "unlink", "rename(", "os.remove", "shutil.", "rmSync", "fileinput",
		"appendFile", "outputFile", "copyFile", "file_put_contents", "r+",
	} {
		if strings.Contains(code, w) && (w != "write" || !onlyStdout(code)) {
			return true
		}
	}
	return false
}

// onlyStdout reports whether all writing in a program's text is to its output.
func onlyStdout(code string) bool {
	return strings.Count(code, "write") == strings.Count(code, "stdout.write")+strings.Count(code, "stderr.write")
}

// finds reports whether a program's text looks for the files that it changes, or
// is told them.
func finds(code string) bool {
	for _, w := range [...]string{"glob", "os.walk", "argv", "readdir", "listdir", "iterdir", "scandir", "subprocess", "os.system", "exec("} {
		if strings.Contains(code, w) {
			return true
		}
	}
	return false
}
