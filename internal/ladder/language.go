package ladder

import (
	"regexp"
	"strings"
)

// language says how the lines of a kind of file are read. Words are separated by
// blanks.
type language struct {
	files    string // endings of names, without the dot
	comments string // what comments begin with
	heads    string // words before the name of the whole
	imports  string // words before an import
	defines  string // words before what is defined, behind modifiers
	values   string // words before a value
	depth    int    // the deepest that a definition is indented
	methods  bool   // a line with a parameter list and no defining word defines too
	columns  bool   // words in any case, and lines in parentheses are columns
	flat     int    // for data: lines indented no deeper than this all count; -1 elsewhere

	// parse takes the place of the rules where there is a parser.
	parse func(*language, []string) []mark
}

// modifiers may stand before a defining word.
const modifiers = "export default pub public private protected internal static final abstract async unsafe extern virtual override sealed partial readonly declare inline open data suspend"

// control are words before a parenthesis that calls or decides, and defines
// nothing.
const control = "if else for foreach while switch catch return case do try with new throw await yield using lock assert delete typeof elif until when echo print super this"

var languages = []language{
	{files: "go", comments: "// /* *", heads: "package", imports: "import", defines: "func type", values: "const var", depth: 0, flat: -1, parse: parseGo},
	{files: "ts tsx mts cts js jsx mjs cjs vue svelte", comments: "// /* * <!--", heads: "module", imports: "import require", defines: "function class interface type enum namespace constructor get set", values: "const let var", depth: 4, methods: true, flat: -1},
	{files: "py pyi", comments: "#", imports: "import from", defines: "def class", depth: 8, flat: -1},
	{files: "rs", comments: "// /* *", heads: "mod", imports: "use", defines: "fn struct enum trait impl type union macro_rules! mod", values: "const static", depth: 8, flat: -1},
	{files: "java kt kts scala groovy swift dart", comments: "// /* *", heads: "package", imports: "import", defines: "class interface enum record object trait fun func def struct protocol extension", values: "const val var let", depth: 8, methods: true, flat: -1},
	{files: "c h cc cpp cxx hpp hh m mm cu", comments: "// /* *", heads: "namespace", imports: "#include", defines: "struct enum union class typedef template", values: "#define const constexpr", methods: true, depth: 4, flat: -1},
	{files: "cs", comments: "// /* *", heads: "namespace", imports: "using", defines: "class interface struct enum record delegate event", values: "const", depth: 8, methods: true, flat: -1},
	{files: "rb rake gemspec", comments: "#", heads: "module", imports: "require require_relative include", defines: "def class module attr_accessor attr_reader", depth: 6, flat: -1},
	{files: "php", comments: "// /* * #", heads: "namespace", imports: "use require require_once include include_once", defines: "function class interface trait enum", values: "const define", depth: 8, methods: true, flat: -1},
	{files: "sh bash zsh ksh fish", comments: "#", imports: "source .", defines: "function", values: "export readonly declare local", depth: 0, methods: true, flat: -1},
	{files: "lua pl pm ex exs jl r", comments: "-- #", heads: "package defmodule module", imports: "require use import alias library", defines: "function local sub def defp struct", depth: 4, flat: -1},
	{files: "yaml yml", comments: "#", flat: 2},
	{files: "json jsonc json5", comments: "//", flat: 4},
	{files: "toml ini cfg conf env properties", comments: "# ;", flat: 0},
	{files: "md mdx rst adoc", heads: "# ## ### #### = == ===", flat: -1},
	{files: "sql", comments: "-- /*", defines: "create alter drop insert", columns: true, flat: -1},
	{files: "css scss less", comments: "/* * //", imports: "@import @use", values: "@media @mixin", flat: 0},
}

// other is read by its indentation alone.
var other = language{comments: "# // -- ; /* *", flat: 0}

// languageOf finds the language by the name of a file.
func languageOf(path string) *language {
	name := strings.ToLower(baseName(path))
	if l := byEnding[name[strings.LastIndexByte(name, '.')+1:]]; l != nil {
		return l
	}
	return &other
}

var byEnding = func() map[string]*language {
	all := map[string]*language{}
	for i := range languages {
		for f := range strings.FieldsSeq(languages[i].files) {
			all[f] = &languages[i]
		}
	}
	return all
}()

// inWordList reports whether a word stands in a list.
func inWordList(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// markDefinitions finds the lines that define something, from line from on.
func (l *language) markDefinitions(lines []string, from int) []mark {
	var marks []mark
	for i := from; i < len(lines); i++ {
		line := lines[i]
		code := strings.TrimLeft(line, " \t")
		if len(code) < 3 || len(line) > outlineWidth || l.commentIn(code) == 0 {
			continue
		}
		r := l.rankOf(code, indentOf(line[:len(line)-len(code)]))
		if r == ranks {
			continue
		}
		m := mark{i, i, r, line}
		if (r == signature || r == imported) && !l.columns { // its parameters or names may go on
			for open := countUnclosed(line, r); open > 0 && i+1 < len(lines) && len(m.text) < outlineWidth; open += countUnclosed(lines[i], r) {
				i++
				m.text, m.last = joinCode(m.text, lines[i]), i
			}
		}
		marks = append(marks, m)
	}
	return marks
}

// rankOf says what a line of code tells; ranks for nothing.
func (l *language) rankOf(code string, depth int) rank {
	word, rest := firstWord(code)
	if l.flat >= 0 && !(l.methods || l.defines != "") {
		if depth > l.flat || strings.Trim(code, "{}[](),;") == "" {
			return ranks
		}
		if word[0] == '[' || strings.HasSuffix(code, ":") || strings.HasSuffix(code, "{") {
			return signature
		}
		return value
	}
	switch {
	case depth == 0 && inWordList(l.heads, word):
		return heading
	case depth == 0 && inWordList(l.imports, word), depth == 0 && strings.Contains(code, "require("):
		return imported
	}
	member := false
	for inWordList(modifiers, word) || strings.HasPrefix(word, "pub(") {
		member = true
		word, rest = firstWord(rest)
	}
	low := word
	if l.columns {
		low = strings.ToLower(word)
	}
	switch {
	case depth <= l.depth && inWordList(l.defines, low) && rest != "":
		return signature
	case depth == 0 && inWordList(l.values, word), depth <= l.depth && member && inWordList(l.values, word):
		return value
	case (depth == 0 || member && depth <= l.depth) && assignsValue(code):
		return value
	case l.methods && depth <= l.depth && definesMethod(code, word, member):
		return signature
	case l.columns && depth > 0 && depth <= 4 && strings.HasSuffix(code, ","):
		return signature
	}
	return ranks
}

// nameIn returns the name of what a line of code defines; "" where it has none, as in
// data.
func (l *language) nameIn(code string) string {
	if l.flat >= 0 || l.columns {
		return ""
	}
	head, _, _ := strings.Cut(code, "=")
	if found := beforeParameters.FindStringSubmatch(head); found != nil {
		return found[1]
	}
	for w := range namesIn(head) {
		if !inWordList(modifiers, w) && !inWordList(l.defines, w) && !inWordList(l.values, w) {
			return w
		}
	}
	return ""
}

// beforeParameters is a name with parameters, maybe of types too, behind it.
var beforeParameters = regexp.MustCompile(`(\w+)(?:<[^(]*>|\[[^(]*\])?\(`)

// firstWord cuts the first word off a line.
func firstWord(code string) (word, rest string) {
	at := strings.IndexAny(code, " \t(<")
	if strings.HasPrefix(code, "pub(") {
		at = strings.IndexByte(code, ' ')
	}
	if at <= 0 {
		return code, ""
	}
	return code[:at], strings.TrimLeft(code[at:], " \t")
}

// assignsValue reports whether a line gives a name a value.
func assignsValue(code string) bool {
	at := strings.IndexByte(code, '=')
	if at <= 0 || at+1 >= len(code) || code[at+1] == '=' || code[at+1] == '>' || strings.IndexByte("!<>+-*/%|&^=", code[at-1]) >= 0 {
		return false
	}
	return isWord(code[0]) && strings.IndexByte(code[:at], '(') < 0 && strings.TrimSpace(code[at+1:]) != ""
}

// definesMethod reports whether a line without a defining word defines one: a
// name, parameters, and a body or a promise of one.
func definesMethod(code, word string, member bool) bool {
	open := strings.IndexByte(code, '(')
	if open <= 0 || !isWord(code[open-1]) || inWordList(control, word) || !isWord(code[0]) || strings.IndexByte(code[:open], '=') >= 0 || strings.IndexByte(code[:open], '.') >= 0 {
		return false
	}
	switch code[len(code)-1] {
	case '{', ',', '(':
		return true
	case ')', ';':
		return member || strings.IndexByte(code[:open], ' ') > 0
	}
	return false
}

// commentIn returns where a comment begins in a line of code, -1 where there is
// none.
func (l *language) commentIn(code string) int {
	word, _ := firstWord(code)
	for c := range strings.FieldsSeq(l.comments) {
		if strings.HasPrefix(code, c) && (len(c) > 1 || c == "#" || strings.HasPrefix(code, c+" ")) && !inWordList(l.imports+" "+l.values, word) {
			return 0
		}
		if len(c) == 2 || c == "#" {
			if at := strings.Index(code, " "+c+" "); at > 0 {
				return at + 1
			}
		}
	}
	return -1
}

// hasTellingComment reports whether a line has a comment that somebody will look for: with a
// note to come back to, an address, a path or a number.
func (l *language) hasTellingComment(code string) bool {
	at := l.commentIn(code)
	if at < 0 {
		return false
	}
	text := code[at:]
	if strings.Contains(text, "opyright") || strings.Contains(text, "icense") {
		return false
	}
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, `.,;:()"'*!#`+"`")
		name, _, _ := strings.Cut(w, "(")
		switch strings.TrimSuffix(name, ":") {
		case "TODO", "FIXME", "NOTE", "XXX", "HACK", "BUG":
			return true
		}
		if isPath(w) || len(w) > 1 && w[0] >= '0' && w[0] <= '9' {
			return true
		}
	}
	return false
}

// isPath reports whether a word is a path or an address, and not two words with
// a slash between them.
func isPath(w string) bool {
	at := strings.IndexByte(w, '/')
	if at < 0 || at+2 >= len(w) || !isWord(w[len(w)-1]) && w[len(w)-1] != '/' {
		return false
	}
	return strings.Count(w, "/") > 1 || at == 0 || w[0] == '.' || w[0] == '~' || strings.IndexByte(w[at:], '.') > 0
}

// indentOf returns how far a line is indented; a tab is four blanks.
func indentOf(blanks string) int {
	return len(blanks) + 3*strings.Count(blanks, "\t")
}

// countUnclosed counts the parentheses that a line leaves open, and braces in an
// import.
func countUnclosed(line string, r rank) int {
	n := strings.Count(line, "(") - strings.Count(line, ")")
	if r == imported {
		n += strings.Count(line, "{") - strings.Count(line, "}")
	}
	return n
}

// joinCode puts a line behind another.
func joinCode(a, b string) string {
	b = strings.TrimSpace(b)
	if strings.HasSuffix(a, "(") || strings.HasPrefix(b, ")") {
		return strings.TrimSuffix(a, ",") + b
	}
	return a + " " + b
}
