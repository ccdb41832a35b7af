package evidence

import (
	"strconv"
	"strings"
)

// judge adds what the simple command just read does to files.
func (p *shellParser) judge(a *Access) {
	args := p.argv[:p.n]
	for len(args) > 0 && isAssignment(args[0]) {
		args = args[1:]
	}
	for len(args) > 1 {
		switch args[0] {
		case "sudo", "env", "time", "nohup", "command", "builtin", "exec", "then", "do", "else", "!", "{":
			args = args[1:]
			for len(args) > 1 && isAssignment(args[0]) {
				args = args[1:]
			}
			continue
		case "timeout", "nice":
			args = args[1:]
			for len(args) > 1 && (args[0][:min(1, len(args[0]))] == "-" || isDuration(args[0])) {
				args = args[1:]
			}
			continue
		}
		break
	}
	add := func(kind ToolKind, file string, from, to int) {
		if file == "" || file == "-" || strings.HasPrefix(file, "/dev/") || strings.ContainsAny(file, "\n`") || len(file) > 1024 {
			return
		}
		if file[0] == '$' && !strings.ContainsRune(file, '/') {
			return
		}
		if file = cleanPath(file); file != "" {
			a.Ops = append(a.Ops, Op{kind, joinDir(p.dir, file), from, to})
		}
	}
	writes := p.out != "" || p.more != ""
	if len(args) > 0 {
		p.run(a, args, writes, add)
	}
	if p.out != "" {
		add(Write, p.out, 0, 0)
	}
	if p.more != "" {
		add(Edit, p.more, 0, 0)
	}
}

func (p *shellParser) run(a *Access, args []string, writes bool, add func(ToolKind, string, int, int)) {
	name := program(args[0])
	args = args[1:]
	before := len(a.Ops)
	switch name {
	case "cd", "pushd":
		if len(args) > 0 && args[0] != "-" && !strings.ContainsAny(args[0], "$`") {
			p.dir = joinDir(p.dir, args[0])
		}
	case "echo", "printf", "true", ":", "export", "set", "pwd", "source", ".", "test", "[", "[[", "if", "fi", "done", "for", "while", "sleep", "wait", "mkdir", "}", "exit", "which", "chmod", "date", "unset", "shopt", "ulimit", "umask", "popd", "local", "then", "else", "do", "esac", "case":
	case "cat", "bat", "batcat", "nl", "less", "more", "tac", "xxd", "hexdump", "od", "strings", "fold", "fmt", "expand", "glow":
		if writes && p.n > 0 {
			break // copies or writes a here document; the redirection says where
		}
		p.show(args, 0, 0, "", add)
	case "head", "tail":
		p.headTail(a, name, args, add)
	case "sed", "gsed":
		p.sed(a, args, writes, add)
	case "awk", "gawk", "jq", "yq", "cut", "sort", "uniq", "column", "tr", "diff", "cmp", "wc", "md5sum", "sha256sum", "sha1sum", "rev", "paste", "comm", "perl", "ruby":
		p.filter(name, args, add)
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep":
		p.grep(a, args, add)
	case "ls", "dir", "tree", "find", "fd", "fdfind", "stat", "file", "du", "exa", "eza", "realpath":
		p.list(a, name, args, add)
	case "rm", "unlink", "rmdir", "shred", "del", "trash":
		for _, f := range files(args, "") {
			add(Delete, f, 0, 0)
		}
	case "mv", "cp", "ln", "install", "rsync", "rename", "scp":
		moved(name, args, add)
	case "touch", "truncate":
		for _, f := range files(args, "sdrt") {
			add(Write, f, 0, 0)
		}
	case "tee":
		kind := Write
		for _, w := range args {
			if w == "-a" || w == "--append" {
				kind = Edit
			}
		}
		for _, f := range files(args, "") {
			add(kind, f, 0, 0)
		}
	case "dd":
		for _, w := range args {
			if strings.HasPrefix(w, "of=") {
				add(Write, w[3:], 0, 0)
			}
		}
	case "curl", "wget":
		p.unknown = true
		for i, w := range args {
			if (w == "-o" || w == "-O" && name == "wget" || w == "--output") && i+1 < len(args) {
				add(Write, args[i+1], 0, 0)
			}
		}
	case "git":
		p.git(a, args, add)
	case "patch", "apply_patch", "applypatch":
		for _, w := range args {
			if looksLikePatch(strings.TrimLeft(w, " \n")) {
				p.patch = w
			}
		}
		if p.patch == "" {
			p.unknown = true
		}
	case "open", "view", "create": // editors of agents that live in a shell
		if f := files(args, ""); len(f) > 0 && name == "create" {
			add(Write, f[0], 0, 0)
		} else if len(f) > 0 {
			from := 0
			if len(f) > 1 {
				from, _ = strconv.Atoi(f[1])
			}
			add(Read, f[0], from, 0)
		}
	default:
		p.unknown = true
	}
	if len(a.Ops) == before+1 && a.Ops[before].Kind == Read {
		p.last = before + 1
	} else if len(a.Ops) > before {
		p.last = 0
	}
}

// show adds reads of the files named.
func (p *shellParser) show(args []string, from, to int, valued string, add func(ToolKind, string, int, int)) {
	for _, f := range files(args, valued) {
		add(Read, f, from, to)
	}
	if p.in != "" {
		add(Read, p.in, from, to)
	}
}

func (p *shellParser) headTail(a *Access, name string, args []string, add func(ToolKind, string, int, int)) {
	n, bytes, plus := 10, false, false
	for i, w := range args {
		v := ""
		switch {
		case w == "-n" || w == "-c" || w == "--lines" || w == "--bytes":
			if i+1 < len(args) {
				v = args[i+1]
			}
		case strings.HasPrefix(w, "-n") || strings.HasPrefix(w, "-c"):
			v = w[2:]
		case strings.HasPrefix(w, "--lines=") || strings.HasPrefix(w, "--bytes="):
			v = w[8:]
		case len(w) > 1 && w[0] == '-' && w[1] >= '0' && w[1] <= '9':
			v = w[1:]
		case len(w) > 1 && w[0] == '+' && name == "tail":
			v = w
		default:
			continue
		}
		bytes = bytes || strings.HasPrefix(w, "-c") || strings.HasPrefix(w, "--bytes")
		plus = strings.HasPrefix(v, "+")
		if k, err := strconv.Atoi(strings.TrimLeft(v, "+-")); err == nil {
			n = k
		}
	}
	from, to := 1, n
	switch {
	case bytes:
		from, to = 1, 1 // less than a line is claimed
	case name == "tail" && plus:
		from, to = n, 0
	case name == "tail":
		from, to = -n, -1
	}
	f := files(args, "nc")
	if len(f) == 0 && p.in == "" {
		p.narrow(a, from, to)
		return
	}
	p.show(args, from, to, "nc", add)
}

// narrow applies a range to the read that comes through the pipe. Only a read
// of a whole file can be narrowed to known lines.
func (p *shellParser) narrow(a *Access, from, to int) {
	if !p.piped || p.last == 0 {
		return // cuts the output of something else: that was judged already
	}
	o := &a.Ops[p.last-1]
	switch {
	case o.From == 0 && o.To == 0:
		o.From, o.To = from, to
	case from == 1 && o.From > 0 && (o.To == 0 || o.From+to-1 < o.To):
		o.To = o.From + to - 1
	case from == 1:
	default:
		p.unknown = true
	}
}

func (p *shellParser) sed(a *Access, args []string, writes bool, add func(ToolKind, string, int, int)) {
	quiet, inPlace, script, given := false, false, "", false
	var rest []string
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w == "-e" || w == "--expression" || w == "-f":
			if i+1 < len(args) {
				script, given = script+";"+args[i+1], true
				i++
			}
		case strings.HasPrefix(w, "-i") || w == "--in-place":
			inPlace = true
			if w == "-i" && i+1 < len(args) && (args[i+1] == "" || strings.HasPrefix(args[i+1], ".bak")) {
				i++
			}
		case len(w) > 1 && w[0] == '-':
			quiet = quiet || strings.Contains(w, "n")
			inPlace = inPlace || w[1] != '-' && strings.Contains(w, "i")
		case !given:
			script, given = w, true
		default:
			rest = append(rest, w)
		}
	}
	if inPlace {
		for _, f := range rest {
			add(Edit, f, 0, 0)
		}
		return
	}
	if writes {
		return
	}
	any := false
	if quiet {
		any = sedRanges(script, func(from, to int) {
			if len(rest) == 0 {
				p.narrow(a, from, to)
			}
			for _, f := range rest {
				add(Read, f, from, to)
			}
		})
	}
	if !any {
		p.filter("sed", append([]string{script}, rest...), add)
	}
}

// filter is a program that shows something made of a file, not its lines: the
// file was looked at, but the output does not stand for it.
func (p *shellParser) filter(name string, args []string, add func(ToolKind, string, int, int)) {
	f := files(args, "dfktnFv")
	switch name {
	case "awk", "gawk", "jq", "yq", "sed", "tr", "perl", "ruby":
		if len(f) > 0 {
			f = f[1:]
		}
		if name == "perl" || name == "ruby" {
			for _, w := range args {
				if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "i") {
					for _, x := range f {
						add(Edit, x, 0, 0)
					}
					return
				}
			}
			p.unknown = true
			return
		}
	}
	for _, x := range f {
		add(Search, x, 0, 0)
	}
	if p.piped {
		p.unknown = p.unknown || p.last > 0 // no longer the file's lines
	}
}

func (p *shellParser) grep(a *Access, args []string, add func(ToolKind, string, int, int)) {
	pattern, given := "", false
	for i, w := range args {
		if (w == "-e" || w == "--regexp") && i+1 < len(args) && !given {
			pattern, given = args[i+1], true
		}
	}
	f := files(args, "eABCmgtTfdj")
	if !given && len(f) > 0 {
		for _, w := range args {
			if w == "--files" {
				given = true
			}
		}
		if !given {
			pattern, f = f[0], f[1:]
		}
	}
	if a.Query == "" {
		a.Query = pattern
	}
	if len(f) == 0 && p.piped {
		if p.last > 0 {
			a.Ops[p.last-1].Kind = Search
			a.Ops[p.last-1].From, a.Ops[p.last-1].To = 0, 0
		}
		return
	}
	if len(f) == 0 {
		f = []string{"."}
	}
	for _, x := range f {
		add(Search, x, 0, 0)
	}
}

func (p *shellParser) list(a *Access, name string, args []string, add func(ToolKind, string, int, int)) {
	var f []string
	if name == "find" {
		for i, w := range args {
			if strings.HasPrefix(w, "-") || w == "(" || w == "!" {
				for k := i; k+1 < len(args); k++ {
					switch args[k] {
					case "-name", "-iname", "-path", "-regex":
						if a.Query == "" {
							a.Query = args[k+1]
						}
					case "-exec", "-execdir", "-ok":
						p.unknown = true
					}
					if args[k] == "-delete" {
						p.unknown = true
					}
				}
				break
			}
			f = append(f, w)
		}
	} else {
		f = files(args, "LIefc")
	}
	if len(f) == 0 {
		f = []string{"."}
	}
	for _, x := range f {
		add(Search, x, 0, 0)
	}
}

// moved adds what mv and cp do: the last file is the new one.
func moved(name string, args []string, add func(ToolKind, string, int, int)) {
	f := files(args, "t")
	if len(f) < 2 {
		return
	}
	to := f[len(f)-1]
	from := f[:len(f)-1]
	if name == "mv" {
		for _, x := range from {
			add(Delete, x, 0, 0)
		}
	}
	folder := strings.HasSuffix(to, "/") || len(from) > 1 || to == "." || to == ".."
	for _, x := range from {
		if folder {
			add(Write, strings.TrimSuffix(to, "/")+"/"+program(x), 0, 0)
		} else {
			add(Write, to, 0, 0)
		}
	}
}

func (p *shellParser) git(a *Access, args []string, add func(ToolKind, string, int, int)) {
	for len(args) > 1 && (args[0] == "-C" || args[0] == "-c" || args[0] == "--no-pager") {
		if args[0] == "--no-pager" {
			args = args[1:]
			continue
		}
		if args[0] == "-C" {
			dir := p.dir
			p.dir = joinDir(p.dir, args[1])
			defer func() { p.dir = dir }()
		}
		args = args[2:]
	}
	if len(args) == 0 {
		return
	}
	sub := args[0]
	args = args[1:]
	switch sub {
	case "mv":
		moved("mv", args, add)
	case "rm":
		for _, f := range files(args, "") {
			add(Delete, f, 0, 0)
		}
	case "grep":
		p.grep(a, args, add)
	case "ls-files":
		p.list(a, "ls", args, add)
	case "restore":
		for _, f := range files(args, "s") {
			add(Edit, f, 0, 0)
		}
		p.unknown = true
	case "checkout":
		for i, w := range args {
			if w == "--" {
				for _, f := range args[i+1:] {
					add(Edit, f, 0, 0)
				}
			}
		}
		p.unknown = true
	default:
		p.unknown = true
	}
}

// files returns the words that are no options. Options whose letter is in
// valued take the word after them along.
func files(args []string, valued string) []string {
	var f []string
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w == "--" {
			return append(f, args[i+1:]...)
		}
		if len(w) > 1 && w[0] == '-' {
			if len(w) == 2 && strings.IndexByte(valued, w[1]) >= 0 {
				i++
			}
			continue
		}
		if w == "" || w == "}" || w == "{" {
			continue
		}
		f = append(f, w)
	}
	return f
}

func isAssignment(w string) bool {
	eq := strings.IndexByte(w, '=')
	if eq <= 0 {
		return false
	}
	for i := range eq {
		c := w[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isDuration(w string) bool {
	return w != "" && strings.Trim(w, "0123456789.smhd") == ""
}
