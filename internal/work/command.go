package work

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// readCommand reads the command line of a shell that is in a folder.
func (c *Call) readCommand(dir string, bare bool) {
	var list []step
	list, c.Folder, c.Clear = steps(c.Command, dir)
	for i, j := 0, 0; i < len(list); i = j {
		for j = i + 1; j < len(list) && list[j].piped; {
			j++
		}
		ops, out := pipeline(list[i:j])
		c.Ops, c.Streams = append(c.Ops, ops...), append(c.Streams, out)
	}
	if !bare {
		for i := range list {
			c.Effects = append(c.Effects, list[i].effects()...)
		}
	}
	if !c.Clear {
		c.Streams = nil
		c.Ops = append(c.Ops, Op{Kind: Run})
		for i := range c.Ops {
			c.Ops[i].doubt()
		}
	}
	for i := range c.Ops {
		c.Query = cmp.Or(c.Query, c.Ops[i].Query)
	}
}

// doubt leaves of an operation that may not have been done what is certain.
func (o *Op) doubt() {
	if o.Kind == Move || o.Kind == Copy {
		o.Path = o.New // what may have happened to the old one is an effect
	}
	if o.Changes() {
		*o = Op{Kind: Unclear, Path: o.Path, Unsure: o.Unsure}
	}
	o.Unsure = o.Unsure || o.Kind == Show
}

// pipeline returns what the programs of a pipe do, and what comes out of it.
func pipeline(list []step) (ops []Op, out Stream) {
	for k := range list {
		s := &list[k]
		own, prints := s.ops()
		if k == 0 {
			out = prints
		} else if !s.passOn(ops, &out) {
			out = Stream{}
			if (s.does == acts || s.does == seds) && len(ops) == 1 && ops[0].Kind == Show && len(own) == 0 {
				own = append(own, Op{Kind: Run}) // no longer the file's lines
			}
		}
		file, more, given := s.out()
		if given && file.text != "" {
			o := s.file(Unclear, file)
			o.Whole = !more
			if text, ok := s.prints(); ok && !o.Unsure {
				o = Op{Path: o.Path, New: text, Whole: !more}
				if more {
					o.Kind = Append
				}
			}
			own = append(own, o)
		}
		for i := range own {
			if !s.certain {
				own[i].doubt()
			}
		}
		if given || !s.certain {
			out = Stream{Silent: given && s.certain && k == len(list)-1}
		}
		ops = append(ops, own...)
	}
	ops = slices.DeleteFunc(ops, func(o Op) bool { return o.Path == "" && o.Kind != Run })
	if out.show && len(ops) == 1 && ops[0].Kind == Show && !ops[0].Unsure && ops[0].From >= 0 {
		out.setLines(&ops[0])
	} else if out.show {
		out = Stream{}
	}
	return ops, out
}

// ops returns what one program does to files, apart from where its output goes,
// and what it prints.
func (s *step) ops() (ops []Op, out Stream) {
	f := s.operands(s.valued)
	_, _, given := s.out()
	out.Silent = s.silent
	switch s.does {
	case idles:
	case says:
		out = s.echoes()
	case acts:
		ops = s.each(s.kind, f[min(s.skip, len(f)):])
	case shows:
		if !given { // else it copies or writes a here document, and the redirection says where
			ops = s.each(Show, s.orInput(f))
			out.show = s.isPlainShow() && len(ops) == 1
			out.Numbered = s.name == "nl" || s.name == "cat" && s.has("-n", "--number")
		}
	case ends:
		from, to, strict := s.headTail()
		ops = s.each(Show, s.orInput(f))
		for i := range ops {
			ops[i].From, ops[i].To = from, to
		}
		out.show = strict && len(ops) == 1
	case seds:
		ops, out = s.sed(given)
	case searches:
		ops, out = s.search(f)
	case lists:
		ops = s.list(f)
	case renames, copies:
		ops = s.moves(f)
	case tees:
		ops = s.each(Unclear, f)
		for i := range ops {
			ops[i].Whole = !s.has("-a", "--append")
		}
	case rewrites:
		if ops = []Op{{Kind: Run}}; s.inPlace() {
			ops = s.each(Unclear, f)
		}
	case patches:
		ops = s.patch()
	default:
		ops = s.others()
	}
	if len(ops) == 0 && slices.ContainsFunc(s.args, word.substitutes) {
		ops = append(ops, Op{Kind: Run})
	}
	return ops, out
}

// each returns an operation of one kind on each of the files.
func (s *step) each(kind Kind, files []word) []Op {
	var ops []Op
	for _, w := range files {
		// Patterns of what is removed can be matched with the files that are known.
		w.exact = w.exact || kind == Delete && !s.lost && strings.ContainsAny(w.text, "*?") && !strings.ContainsAny(w.text, "$`{~")
		ops = append(ops, s.file(kind, w))
	}
	return ops
}

// others returns what programs do that run and also change files that they are
// told: curl by an option, git checkout behind two dashes.
func (s *step) others() []Op {
	ops := []Op{{Kind: Run}}
	if w, ok := s.after("-o", "--output", "-O"); ok && s.does == fetches {
		o := s.file(Unclear, w)
		o.Whole = true
		ops = append(ops, o)
	}
	if i := slices.IndexFunc(s.args, func(w word) bool { return w.text == "--" }); i >= 0 && s.may == aBranch {
		ops = append(ops, s.each(Unclear, s.args[i+1:])...)
	}
	return ops
}

// orInput returns the files, or the one that the step reads as its input where
// there are none.
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

// list returns what programs look at that list files.
func (s *step) list(f []word) (ops []Op) {
	query := word{}
	if s.name == "find" {
		f = s.args
		if i := slices.IndexFunc(f, func(w word) bool { return strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!" }); i >= 0 {
			f = f[:i]
		}
		query, _ = s.after("-name", "-iname", "-path", "-regex")
		if s.has("-exec", "-execdir", "-ok", "-delete") {
			ops = append(ops, Op{Kind: Run})
		}
	}
	if len(f) == 0 {
		f = []word{{".", true}}
	}
	for _, o := range s.each(Search, f) {
		o.Query = query.text
		ops = append(ops, o)
	}
	return ops
}

// search returns what grep and its like look at, and what they print.
func (s *step) search(f []word) (ops []Op, out Stream) {
	pattern, given := s.after("-e", "--regexp")
	if !given && !s.has("--files") && len(f) > 0 {
		pattern, f = f[0], f[1:]
	}
	if len(f) == 0 && s.piped {
		return nil, Stream{}
	}
	if out.Found = s.linesNumbered() && !s.lost; out.Found {
		if out.Dir = s.dir; len(f) == 1 {
			out.Path = s.path(f[0])
		}
	}
	if len(f) == 0 {
		f = []word{{".", true}}
	}
	ops = s.each(Search, f)
	for i := range ops {
		ops[i].Query = pattern.text
	}
	return ops, out
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

// patch returns what patch and apply_patch do.
func (s *step) patch() []Op {
	doc, given := s.doc()
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
		at := s.file(o.Kind, word{o.Path, true})
		o.Path, o.Unsure = at.Path, at.Unsure
		if o.Kind == Move {
			o.New = s.path(word{o.New, true})
		}
		if !exact {
			o.doubt()
		}
	}
	return ops
}

// moves returns what mv and cp do. A target without a slash at its end may be a
// folder; it is taken for a file where it has the source's extension.
func (s *step) moves(f []word) (ops []Op) {
	if len(f) < 2 {
		return nil
	}
	kind := Move
	if s.does == copies {
		kind = Copy
	}
	to, from := f[len(f)-1], f[:len(f)-1]
	folder := strings.HasSuffix(to.text, "/") || len(from) > 1 || to.text == "." || to.text == ".." || s.has("-t")
	for _, w := range from {
		target := to
		if folder {
			target.text = path.Join(to.text, path.Base(w.text))
		}
		ext := path.Ext(target.text)
		source, made := s.file(kind, w), s.file(Unclear, target)
		plain := s.name == "cp" || s.does == renames
		if plain && !s.has("-t", "-r", "-R", "-a", "-n") && (folder || ext != "" && ext == path.Ext(w.text)) && !made.Unsure {
			source.New = made.Path
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
