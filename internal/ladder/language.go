package ladder

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
)

// language is a row of the table by which the lines of a file are read. Words are
// separated by blanks, and stand at the beginning of a line, behind modifiers.
type language struct {
	files    string // endings of names, without the dot
	comments string // what comments begin with
	heads    string // words before the name of the whole
	imports  string // words before an import
	defines  string // words before what is defined
	values   string // words before a value
	depth    int    // the deepest that a definition is indented
	methods  bool   // a line with a parameter list and no defining word defines too
	columns  bool   // lines in parentheses are columns
	data     bool   // it has no words: lines indented no deeper than depth all count

	// parse takes the place of the rules where there is a parser.
	parse func(*language, []string) []mark

	tells map[string]rank // what a line tells, by its first word
}

// The words before a parenthesis that calls or decides, and those that may stand before
// a defining word, have ranks by themselves.
const (
	control rank = ranks + 1 + iota
	modifier

	controls  = "if else for foreach while switch catch return case do try with new throw await yield using lock assert delete typeof elif until when echo print super this"
	modifiers = "export default pub public private protected internal static final abstract async unsafe extern virtual override sealed partial readonly declare inline open data suspend"
)

var languages = []language{
	{files: "go", comments: "// /* *", heads: "package", imports: "import", defines: "func type", values: "const var", parse: parseGo},
	{files: "ts tsx mts cts js jsx mjs cjs vue svelte", comments: "// /* * <!--", heads: "module", imports: "import require", defines: "function class interface type enum namespace constructor get set", values: "const let var", depth: 4, methods: true},
	{files: "py pyi", comments: "#", imports: "import from", defines: "def class", depth: 8},
	{files: "rs", comments: "// /* *", heads: "mod", imports: "use", defines: "fn struct enum trait impl type union macro_rules! mod", values: "const static", depth: 8},
	{files: "java kt kts scala groovy swift dart", comments: "// /* *", heads: "package", imports: "import", defines: "class interface enum record object trait fun func def struct protocol extension", values: "const val var let", depth: 8, methods: true},
	{files: "c h cc cpp cxx hpp hh m mm cu", comments: "// /* *", heads: "namespace", imports: "#include", defines: "struct enum union class typedef template", values: "#define const constexpr", methods: true, depth: 4},
	{files: "cs", comments: "// /* *", heads: "namespace", imports: "using", defines: "class interface struct enum record delegate event", values: "const", depth: 8, methods: true},
	{files: "rb rake gemspec", comments: "#", heads: "module", imports: "require require_relative include", defines: "def class module attr_accessor attr_reader", depth: 6},
	{files: "php", comments: "// /* * #", heads: "namespace", imports: "use require require_once include include_once", defines: "function class interface trait enum", values: "const define", depth: 8, methods: true},
	{files: "sh bash zsh ksh fish", comments: "#", imports: "source .", defines: "function", values: "export readonly declare local", methods: true},
	{files: "lua pl pm ex exs jl r", comments: "-- #", heads: "package defmodule module", imports: "require use import alias library", defines: "function local sub def defp struct", depth: 4},
	{files: "yaml yml", comments: "#", depth: 2, data: true},
	{files: "json jsonc json5", comments: "//", depth: 4, data: true},
	{files: "toml ini cfg conf env properties", comments: "# ;", data: true},
	{files: "md mdx rst adoc", heads: "# ## ### #### = == ==="},
	{files: "sql", comments: "-- /*", defines: "create alter drop insert CREATE ALTER DROP INSERT", columns: true},
	{files: "css scss less", comments: "/* * //", data: true},
}

// other is read by its indentation alone.
var other = language{comments: "# // -- ; /* *", data: true}

// byEnding are the languages by the endings of files' names.
var byEnding = func() map[string]*language {
	all := map[string]*language{"": &other}
	for i := range languages {
		for f := range strings.FieldsSeq(languages[i].files) {
			all[f] = &languages[i]
		}
	}
	for _, l := range all {
		l.tells = map[string]rank{}
		for _, words := range []struct {
			list string
			tell rank
		}{{controls, control}, {l.values, value}, {l.defines, signature}, {modifiers, modifier}, {l.imports, imported}, {l.heads, heading}} {
			for w := range strings.FieldsSeq(words.list) {
				l.tells[w] = words.tell
			}
		}
	}
	return all
}()

// languageOf finds the language by the name of a file.
func languageOf(path string) *language {
	name := strings.ToLower(baseName(path))
	return cmp.Or(byEnding[name[strings.LastIndexByte(name, '.')+1:]], &other)
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
		blanks := line[:len(line)-len(code)]
		r := l.rankOf(code, len(blanks)+3*strings.Count(blanks, "\t")) // a tab is four blanks
		if r >= ranks {
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

// rankOf says what a line of code tells; no rank for nothing.
func (l *language) rankOf(code string, depth int) rank {
	if l.data {
		switch {
		case depth > l.depth || strings.Trim(code, "{}[](),;") == "":
			return ranks
		case code[0] == '[' || strings.HasSuffix(code, ":") || strings.HasSuffix(code, "{"):
			return signature
		}
		return value
	}
	word, rest := firstWord(code)
	member := false
	for l.tells[word] == modifier || strings.HasPrefix(word, "pub(") {
		word, rest = firstWord(rest)
		member = true
	}
	told, known := l.tells[word]
	if !known {
		told = ranks
	}
	top, shallow := depth == 0, depth <= l.depth
	switch {
	case told == heading && top:
		return heading
	case top && (told == imported || strings.Contains(code, "require(")):
		return imported
	case (told == signature || told == heading) && shallow && rest != "":
		return signature
	case (top || member && shallow) && (told == value || assignsValue(code)):
		return value
	case l.methods && shallow && told != control && definesMethod(code, member):
		return signature
	case l.columns && depth > 0 && depth <= 4 && strings.HasSuffix(code, ","):
		return signature
	}
	return ranks
}

// nameIn returns the name of what a line of code defines; "" where it has none, as in
// data.
func (l *language) nameIn(code string) string {
	if l.data || l.columns {
		return ""
	}
	head, _, _ := strings.Cut(code, "=")
	if found := beforeParameters.FindStringSubmatch(head); found != nil {
		return found[1]
	}
	for w := range namesIn(head) {
		if _, keyword := l.tells[w]; !keyword {
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
func definesMethod(code string, member bool) bool {
	head, rest, called := strings.Cut(code, "(")
	if !called || strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) || head == "" || !isWord(head[len(head)-1]) || !isWord(code[0]) || strings.ContainsAny(head, "=.") {
		return false
	}
	switch code[len(code)-1] {
	case '{', ',', '(':
		return true
	case ')', ';':
		return member || strings.Contains(head, " ")
	}
	return false
}

// commentIn returns where a comment begins in a line of code, -1 where there is
// none.
func (l *language) commentIn(code string) int {
	word, _ := firstWord(code)
	for c := range strings.FieldsSeq(l.comments) {
		if _, keyword := l.tells[word]; !keyword && strings.HasPrefix(code, c) && (len(c) > 1 || c == "#" || strings.HasPrefix(code, c+" ")) {
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
	return at >= 0 && telling.MatchString(code[at:]) && !find.Any(code[at:], "opyright", "icense")
}

var telling = regexp.MustCompile(`\b(?:TODO|FIXME|NOTE|XXX|HACK|BUG)\b|://|(?:^|[\s('"` + "`" + `])(?:\d[\w.,:-]|[.~]*/\w+[/.]?\w|\w[\w-]*/\S*[/.]\w)`)

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
