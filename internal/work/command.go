package work

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
)

// readCommand reads the command line of a shell that is in a folder.
func (c *Call) readCommand(dir string, bare bool) {
	var list []step
	list, c.Folder, c.Clear = listSteps(c.Command, dir)
	for i, j := 0, 0; i < len(list); i = j {
		for j = i + 1; j < len(list) && list[j].piped; {
			j++
		}
		ops, out := pipelineOps(list[i:j])
		c.Ops, c.Streams = append(c.Ops, ops...), append(c.Streams, out...)
	}
	if !bare {
		for i := range list {
			if e, may := list[i].possibleEffect(); may {
				c.Effects = append(c.Effects, e)
			}
		}
	}
	if !c.Clear {
		c.Streams = nil
		c.Ops = append(c.Ops, Op{Kind: Run})
		for i := range c.Ops {
			c.Ops[i].keepCertain()
		}
	}
	for i := range c.Ops {
		c.Names = c.Names || c.Query == "" && c.Ops[i].Names
		c.Query, c.Only = cmp.Or(c.Query, c.Ops[i].Query), cmp.Or(c.Only, c.Ops[i].Only)
	}
}

// keepCertain leaves of an operation that may not have been done what is certain.
func (o *Op) keepCertain() {
	if o.Kind == Move || o.Kind == Copy {
		o.Path = o.New // what may have happened to the old one is an effect
	}
	if o.Changes() {
		*o = Op{Kind: Unclear, Path: o.Path, Unsure: o.Unsure}
	}
	o.Unsure = o.Unsure || o.Kind == Show
}

// pipelineOps returns what the programs of a pipe do, and what comes out of it.
func pipelineOps(list []step) (ops []Op, streams []Stream) {
	var out Stream
	for k := range list {
		s := &list[k]
		own, prints := s.fileOps()
		if k == 0 {
			out = prints
		} else if !s.passOn(ops, &out) {
			out = Stream{}
			if (s.does == acts || s.does == seds) && len(ops) == 1 && ops[0].Kind == Show && len(own) == 0 {
				own = append(own, Op{Kind: Run}) // no longer the file's lines
			}
		}
		file, more, given := s.outputFile()
		if given && file.text != "" {
			o := s.fileOp(Unclear, file)
			o.Whole = !more
			if text, ok := s.printedText(); ok && !o.Unsure {
				o = Op{Path: o.Path, New: text, Whole: !more}
				if more {
					o.Kind = Append
				}
			}
			own = append(own, o)
		}
		for i := range own {
			if own[i].Undo = s.tree == Undo; !s.certain {
				own[i].keepCertain()
			}
		}
		if given || !s.certain {
			out = Stream{Silent: (given || out.Silent) && k == len(list)-1}
		}
		ops = append(ops, own...)
	}
	ops = slices.DeleteFunc(ops, func(o Op) bool { return o.Path == "" && o.Kind != Run })
	if !out.show {
		return ops, []Stream{out}
	}
	last := 0
	for i := range ops {
		o := &ops[i]
		sorted := i == 0 || o.Path != ops[0].Path || o.From > last && last > 0 // else sed prints lines twice, or in another order
		if o.Kind != Show || o.Unsure || o.From < 0 || !sorted || out.Numbered && i > 0 {
			return ops, []Stream{{}}
		}
		out.setLines(o)
		streams = append(streams, out)
		last = o.To
	}
	return ops, streams
}

// fileOps returns what one program does to files, apart from where its output goes,
// and what it prints.
func (s *step) fileOps() (ops []Op, out Stream) {
	f := s.operands(s.valued)
	_, _, given := s.outputFile()
	out.Silent = s.silent && !s.has("-v", "--verbose") || s.tree != Stay && s.has("-q", "-qm", "-qam", "--quiet")
	switch s.does {
	case idles:
	case says:
		out = s.echoStream()
	case acts:
		ops = s.opOnEach(s.kind, f[min(s.skip, len(f)):])
	case shows:
		if !given { // else it copies or writes a here document, and the redirection says where
			ops = s.opOnEach(Show, s.orInput(f))
			out.show = s.isPlainShow() && len(ops) > 0
			out.Numbered = s.name == "nl" || s.has("-n", "--number")
		}
	case ends, seds:
		ops, out = s.pickOps(given)
	case searches:
		ops, out = s.searchOps()
	case lists:
		ops = s.listOps(f)
	case renames, copies:
		ops = s.moveOps(f)
	case tees:
		ops = s.opOnEach(Unclear, f)
		for i := range ops {
			ops[i].Whole = !s.has("-a", "--append")
		}
	case rewrites:
		if ops = []Op{{Kind: Run}}; s.inPlace() {
			ops, out.Silent = s.opOnEach(Unclear, f), !find.Any(s.joinWords(), "STD", "END", "warn")
		}
	case patches:
		ops = s.patchOps()
	default:
		if ops = s.otherOps(); s.name == "git-diff" && s.diffsFiles() && !s.lost {
			out = Stream{Found: true, Diff: true, Dir: s.dir}
		}
	}
	if len(ops) == 0 && slices.ContainsFunc(s.args, word.hasSubstitution) {
		ops = append(ops, Op{Kind: Run})
	}
	return ops, out
}

// opOnEach returns an operation of one kind on each of the files.
func (s *step) opOnEach(kind Kind, files []word) []Op {
	var ops []Op
	for _, w := range files {
		// Patterns of what is removed can be matched with the files that are known.
		w.exact = w.exact || kind == Delete && !s.lost && strings.ContainsAny(w.text, "*?") && !strings.ContainsAny(w.text, "$`{~")
		ops = append(ops, s.fileOp(kind, w))
	}
	return ops
}

// otherOps returns what programs do that run and also change files that they are
// told: curl by an option, git checkout behind two dashes.
func (s *step) otherOps() []Op {
	ops := []Op{{Kind: Run}}
	if w, ok := s.wordAfter("-o", "--output", "-O"); ok && s.does == fetches {
		o := s.fileOp(Unclear, w)
		o.Whole = true
		ops = append(ops, o)
	}
	if i := slices.IndexFunc(s.args, func(w word) bool { return w.text == "--" }); i >= 0 && s.may == aBranch {
		ops = append(ops, s.opOnEach(Unclear, s.args[i+1:])...)
	}
	return ops
}

// orInput returns the files, or without any the file that the step reads as its
// input.
func (s *step) orInput(files []word) []word {
	if len(files) > 0 {
		return files
	}
	for _, r := range s.redirs {
		if r.op == "<" && r.fd == 0 {
			return []word{r.target}
		}
	}
	return nil
}

// listOps returns what programs look at that list files.
func (s *step) listOps(f []word) (ops []Op) {
	var names []string
	if s.name == "find" {
		f = s.args
		if i := slices.IndexFunc(f, func(w word) bool { return strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!" }); i >= 0 {
			f = f[:i]
		}
		names = s.soughtNames()
		if s.has("-exec", "-execdir", "-ok", "-delete") {
			ops = append(ops, Op{Kind: Run})
		}
	}
	if len(f) == 0 {
		f = []word{{".", true}}
	}
	for _, o := range s.opOnEach(Search, f) {
		o.Query, o.Names = strings.Join(names, "|"), len(names) > 0
		ops = append(ops, o)
	}
	return ops
}

// soughtNames returns the patterns of the files that find looks for, without those
// that it leaves out.
func (s *step) soughtNames() (names []string) {
	for i := 1; i < len(s.args); i++ {
		switch s.args[i-1].text {
		case "-name", "-iname", "-path", "-regex":
			out := i > 1 && (s.args[i-2].text == "-not" || s.args[i-2].text == "!") || i+1 < len(s.args) && s.args[i+1].text == "-prune"
			if !out {
				names = append(names, s.args[i].text)
			}
		}
	}
	return names
}

// searchOps returns what grep and its like look at, and what they print.
func (s *step) searchOps() (ops []Op, out Stream) {
	pattern, f := s.searchWords()
	if f = s.orInput(f); len(f) == 0 && s.piped {
		return nil, Stream{}
	}
	if out.Found = s.linesNumbered() && !s.lost; out.Found {
		if out.Dir = s.dir; len(f) == 1 {
			out.Path = s.knownPath(f[0])
		}
	}
	if len(f) == 0 {
		f = []word{{".", true}}
	}
	ops = s.opOnEach(Search, f)
	for i := range ops {
		ops[i].Query, ops[i].Only = pattern, s.onlyFiles()
	}
	return ops, out
}

// onlyFiles returns the patterns or types of the files that a search looks at.
func (s *step) onlyFiles() string {
	var only []string
	for i, w := range s.args {
		name, value, given := strings.Cut(w.text, "=")
		if !given && i+1 < len(s.args) {
			value = s.args[i+1].text
		}
		if slices.Contains([]string{"--include", "--glob", "-g", "--type", "-t"}, name) && !strings.HasPrefix(value, "!") && !slices.Contains(only, value) {
			only = append(only, value)
		}
	}
	return strings.Join(only, ", ")
}

// searchWords returns what a search looks for, and the files that it is given.
func (s *step) searchWords() (pattern string, files []word) {
	files = s.operands(s.valued)
	if w, given := s.wordAfter("-e", "--regexp"); given {
		return w.text, files
	}
	if len(files) > 0 && !s.has("--files") {
		return files[0].text, files[1:]
	}
	return "", files
}

// linesNumbered reports whether a search prints whole lines with their numbers.
func (s *step) linesNumbered() bool {
	num := false
	for _, w := range s.args {
		switch t := w.text; {
		case numbering.MatchString(t):
			num = true
		case len(t) > 1 && t[0] == '-' && strings.IndexByte("clLoqhvzZM", t[1]) >= 0, strings.HasPrefix(t, "--") && !wholeLines.MatchString(t):
			return false
		}
	}
	return num
}

// The options that number the lines of a search, and long ones that leave them whole.
var (
	numbering  = regexp.MustCompile(`^(?:-[rRiEFHwxsISPU0-9ABC]*n[nrRiEFHwxsISPU0-9ABC]*|--line-number)$`)
	wholeLines = regexp.MustCompile(`^--(?:no-heading|hidden|color=never|ignore-case|fixed-strings|smart-case|no-ignore|include|exclude|exclude-dir|glob|type|type-not)(?:=|$)`)
)

// patchOps returns what patch and apply_patch do.
func (s *step) patchOps() []Op {
	doc, given := s.hereDocument()
	for _, w := range s.args {
		if IsPatch(w.text) {
			doc, given = w, true
		}
	}
	if !given || !IsPatch(doc.text) {
		return []Op{{Kind: Run}}
	}
	exact := doc.exact && !s.has("-R", "--reverse", "--cached")
	ops := readPatch(doc.text)
	for i := range ops {
		o := &ops[i]
		at := s.fileOp(o.Kind, word{o.Path, true})
		o.Path, o.Unsure = at.Path, at.Unsure
		if o.Kind == Move {
			o.New = s.knownPath(word{o.New, true})
		}
		if !exact {
			o.keepCertain()
		}
	}
	return ops
}

// moveOps returns what mv and cp do. A target without a slash at its end may be a
// folder; it is taken for a file where it has the source's extension. Without any
// extension the source may be a folder too: all below it moves along.
func (s *step) moveOps(f []word) (ops []Op) {
	if len(f) < 2 {
		return nil
	}
	kind := Move
	if s.does == copies {
		kind = Copy
	}
	to, from := f[len(f)-1], f[:len(f)-1]
	folder := strings.HasSuffix(to.text, "/") || len(from) > 1 || to.text == "." || to.text == ".." || s.has("-t")
	plain := (s.name == "cp" || s.does == renames) && !s.has("-t", "-r", "-R", "-a", "-n")
	for _, w := range from {
		target := to
		if folder {
			target.text = path.Join(to.text, path.Base(w.text))
		}
		ext := path.Ext(target.text)
		source, made := s.fileOp(kind, w), s.fileOp(Unclear, target)
		if plain && (folder || ext == path.Ext(w.text) && (ext != "" || kind == Move)) && !made.Unsure {
			source.New, source.All = made.Path, ext == "" && !folder
			ops = append(ops, source)
			continue
		}
		made.Whole = true
		if kind == Move {
			source.Kind = Delete
			ops = append(ops, source)
		}
		ops = append(ops, made)
	}
	return ops
}
