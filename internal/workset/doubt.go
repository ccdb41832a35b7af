package workset

import (
	"path"
	"strings"
)

// effect is what a program may do to files that its command does not spell out.
type effect struct {
	all   bool   // any file may have changed
	files []word // these files, or those below these folders
	names []string
}

// effect judges a program. Builds, tests and linters change nothing; what is not
// known is taken for one of them.
func (s *step) effect() effect {
	switch s.name {
	case "git":
		return s.gitEffect()
	case "patch", "jj", "hg", "svn", "unzip", "tar", "rsync":
		if s.name == "patch" {
			if doc, _, given := s.doc(); given && isPatch(doc) {
				return effect{}
			}
		}
		if s.name == "tar" && !(len(s.args) > 0 && strings.Contains(s.args[0].text, "x")) {
			return effect{}
		}
		return effect{all: true}
	case "gofmt", "goimports", "gofumpt", "gci", "golines":
		if s.has("-w", "write", "--write") || s.name == "gofumpt" && s.has("-w") {
			return effect{all: len(s.operands("")) == 0, files: s.operands("")}
		}
	case "prettier", "biome", "eslint", "stylelint", "oxlint", "dprint", "ruff", "autopep8", "autoflake", "clang-format", "swiftformat", "ktlint", "shfmt", "rustfmt", "black", "isort", "yapf", "docformatter", "rubocop", "ultracite", "markdownlint", "buildifier":
		return s.formats()
	case "go":
		return s.goEffect()
	case "golangci-lint":
		if s.has("--fix", "fmt") {
			return effect{all: true}
		}
	case "cargo":
		if s.has("fmt", "fix", "--fix") {
			return effect{all: true}
		}
		return effect{names: []string{"Cargo.toml", "Cargo.lock"}}
	case "npx", "bunx", "pnpx", "uvx", "poetry", "uv", "pdm", "hatch", "mise", "task", "just", "make", "npm", "pnpm", "yarn", "bun", "deno", "turbo", "nx", "rake", "bundle", "composer", "gradle", "./gradlew", "gradlew", "mvn", "dotnet":
		return s.runs()
	case "sed", "gsed", "perl", "ruby", "python", "python3", "node", "tsx", "ts-node", "php", "awk", "bash", "sh", "zsh", "osascript", "pwsh", "powershell":
		return s.scripts()
	case "xargs", "find", "parallel":
		for i, w := range s.args {
			switch path.Base(w.text) {
			case "sed", "perl", "rm", "mv", "cp", "gofmt", "prettier", "goimports", "gofumpt":
				if s.name != "find" || i > 0 && strings.HasPrefix(s.args[i-1].text, "-exec") {
					t := step{name: path.Base(w.text), args: s.args[i+1:], dir: s.dir, lost: s.lost}
					if t.name != "sed" && t.name != "perl" || t.has("-i", "-pi", "-i.bak", "-i ''", "-pie") || strings.Contains(t.args[0].text, "i") {
						return effect{all: true}
					}
				}
			case "-delete":
				return effect{all: true}
			}
		}
	case "mv", "cp", "rm", "tee", "truncate", "ed", "ex", "ln", "install", "dd":
		for _, w := range s.operands("") {
			if !w.exact || s.lost && !isAbs(w.text) {
				return effect{all: true}
			}
		}
		return effect{files: s.operands("")}
	case "":
		return effect{}
	default:
		if hasVerb(strings.ToLower(s.name)) {
			return effect{all: true}
		}
		if f := s.operands(""); len(f) > 0 && len(f[0].text) < 20 && hasVerb(strings.ToLower(f[0].text)) {
			return effect{all: true}
		}
	}
	return effect{}
}

// formats judges a formatter: it writes when it is told to, or unless it is told
// to check only.
func (s *step) formats() effect {
	writes := s.has("--write", "--fix", "-w", "-i", "-a", "--apply", "--apply-unsafe", "--fix-dry-run", "--in-place", "-l")
	switch s.name {
	case "black", "isort", "yapf", "rustfmt", "swiftformat", "docformatter":
		writes = !s.has("--check", "--diff", "-c", "--lint")
	case "ruff", "dprint", "ultracite":
		writes = writes || (s.has("format", "fmt", "fix") && !s.has("--check", "--diff"))
	}
	if !writes {
		return effect{}
	}
	f := s.operands("")
	return effect{all: len(f) == 0, files: f}
}

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
		if t.has("-b", "-B", "--orphan") && len(t.operands("bB")) == 0 || t.has("--") {
			return effect{}
		}
		return effect{all: true}
	case "switch":
		if t.has("-c", "-C", "--create") && len(t.operands("cC")) == 0 {
			return effect{}
		}
		return effect{all: true}
	case "stash":
		if t.has("list", "show", "drop", "create") {
			return effect{}
		}
		return effect{all: true}
	case "reset":
		if t.has("--hard", "--merge", "--keep") {
			return effect{all: true}
		}
	case "apply":
		if t.has("--check", "--stat", "--numstat", "--summary") {
			return effect{}
		}
		if doc, _, given := s.doc(); given && isPatch(doc) {
			return effect{}
		}
		return effect{all: true}
	case "pull", "merge", "rebase", "cherry-pick", "revert", "am", "clean", "submodule", "bisect", "filter-branch", "read-tree", "lfs", "sparse-checkout", "subtree":
		return effect{all: true}
	}
	return effect{}
}

func (s *step) goEffect() effect {
	if len(s.args) == 0 {
		return effect{}
	}
	switch s.args[0].text {
	case "fmt", "generate", "fix":
		return effect{all: true}
	case "get", "mod", "work":
		return effect{names: []string{"go.mod", "go.sum", "go.work", "go.work.sum"}}
	case "run":
		for _, w := range s.args {
			if hasVerb(strings.ToLower(w.text)) {
				return effect{all: true}
			}
		}
	}
	return effect{}
}

// runs judges a program that runs tasks: by the words of the task's name.
func (s *step) runs() effect {
	for i, w := range s.args {
		t := strings.ToLower(w.text)
		switch t {
		case "install", "i", "add", "remove", "update", "upgrade", "ci", "sync", "lock", "uninstall":
			if i == 0 {
				return effect{names: []string{"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "pyproject.toml", "uv.lock", "poetry.lock"}}
			}
		case "prettier", "biome", "eslint", "black", "ruff", "stylelint", "oxlint", "ultracite", "rustfmt", "isort":
			return (&step{name: t, args: s.args[i+1:], dir: s.dir, lost: s.lost}).effect()
		}
		if strings.HasPrefix(t, "-") {
			if t == "--fix" || t == "--write" {
				return effect{all: true}
			}
			continue
		}
		if hasVerb(t) {
			return effect{all: true}
		}
	}
	return effect{}
}

// hasVerb reports whether a name says that something is rewritten.
func hasVerb(name string) bool {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && r != '&' }) {
		switch w {
		case "fmt", "format", "fix", "generate", "gen", "codegen", "codemod", "migrate", "rewrite", "autofix", "scaffold", "bump", "prettify", "tidy":
			return true
		}
	}
	return false
}

// scripts judges an interpreter by the text that it runs.
func (s *step) scripts() effect {
	doc, _, given := s.doc()
	code := ""
	if given {
		code = doc
	}
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
		list, _, clear := steps(code, s.dir)
		e := effect{all: !clear}
		for i := range list {
			one := list[i].effect()
			e.all = e.all || one.all || len(list[i].edits()) > 0
			e.files = append(e.files, one.files...)
		}
		return e
	case "sed", "gsed", "awk", "perl", "ruby":
		in, files := inPlace(s)
		if s.name == "awk" {
			in = s.has("inplace")
		}
		if s.name == "sed" || s.name == "gsed" {
			in = false
			for _, w := range s.args {
				if strings.HasPrefix(w.text, "-i") || strings.HasPrefix(w.text, "--in-place") || len(w.text) < 4 && strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "i") {
					in = true
				}
			}
			files = s.operands("e")
		}
		if in {
			e := effect{files: files}
			for _, w := range files {
				if p := strings.Trim(w.text, "'"); !w.exact && !strings.ContainsAny(p, "/\\ ") || s.lost {
					e.all = true
				}
				e.all = e.all || !w.exact
			}
			return e
		}
	}
	for i, w := range s.args {
		if w.text == "-m" && i+2 < len(s.args) && hasVerb(strings.ToLower(s.args[i+2].text)) {
			return effect{all: true}
		}
	}
	if writesFiles(code) {
		return effect{all: true}
	}
	return effect{}
}

// writesFiles reports whether a program's text writes to files.
func writesFiles(code string) bool {
	for _, w := range [...]string{"write", "'w'", `"w"`, "'w+'", `"a"`, "'a'", "unlink", "rename(", "os.remove", "shutil.", "rmSync", "replace_in", "fileinput", "appendFile", "outputFile", "copyFile", "file_put_contents", "r+"} {
		if strings.Contains(code, w) && !(w == "write" && onlyStdout(code)) {
			return true
		}
	}
	return false
}

// onlyStdout reports whether all writing in a program's text is to its output.
func onlyStdout(code string) bool {
	n := strings.Count(code, "write")
	return n == strings.Count(code, "stdout.write")+strings.Count(code, "stderr.write")
}
