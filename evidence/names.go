package evidence

import "strings"

// EntityKind says what kind of thing a piece of text names.
type EntityKind uint8

// The kinds of entities.
const (
	PathEntity   EntityKind = iota // a file or folder, by its last two segments
	IdentEntity                    // camelCase, snake_case, UPPER_CASE
	IDEntity                       // hashes, UUIDs, #123, AB-123, K1NW8N
	NumberEntity                   // of three digits and more, dates, versions
	FlagEntity                     // --name
	ErrorEntity                    // TypeError, ENOENT, E0425
	URLEntity                      // with its scheme
)

var entityNames = [...]string{"path", "ident", "id", "num", "flag", "err", "url"}

// String returns the kind's name as it stands in reports.
func (k EntityKind) String() string { return entityNames[k] }

// Entities calls f with every entity of a text, from left to right; one that
// occurs twice is reported twice. Values are pieces of the text, in a normal
// form in which they can be compared: paths are cut to their last two segments,
// trailing punctuation is gone.
func Entities(text string, f func(kind EntityKind, value string)) {
	scanNames(text, func(n name) { f(n.kind, n.value) })
}

// Unescape returns JSON without its escapes, so that the names in it stand by
// themselves: "\nparseURL" names parseURL.
func Unescape(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return escapes.Replace(raw)
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\n", `\t`, "\t", `\"`, `"`, `\/`, "/", `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// name is one find: its value in normal form, and of a path the path as it stood
// and the line number behind it.
type name struct {
	kind         EntityKind
	value, whole string
	line         int
}

// The bytes of tokens, and what makes a token more than a plain word.
const (
	byteLower = 1 << iota
	byteUpper
	byteDigit
	byteMark // of _ / . - : # @ ~
	byteHigh // of a rune beyond ASCII
)

var byteKinds = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z':
			t[c] = byteLower
		case 'A' <= c && c <= 'Z':
			t[c] = byteUpper
		case '0' <= c && c <= '9':
			t[c] = byteDigit
		case c >= 0x80:
			t[c] = byteHigh
		}
	}
	for _, c := range "_/.-:#@~" {
		t[c] = byteMark
	}
	return t
}()

func kindsOf(s string) (all uint8) {
	for i := range len(s) {
		all |= byteKinds[s[i]]
	}
	return all
}

// scanNames calls f with every find of a text.
func scanNames(text string, f func(name)) {
	for i := 0; i < len(text); {
		if byteKinds[text[i]] == 0 {
			i++
			continue
		}
		start, kinds := i, byteKinds[text[i]]
		for i++; i < len(text); i++ {
			k := byteKinds[text[i]]
			if k == 0 && !(text[i] == ',' && kinds == byteDigit && groupOfThree(text[i+1:])) {
				break
			}
			kinds |= k
		}
		if kinds == byteLower {
			continue // a plain word
		}
		if at := strings.Index(text[start:i], "://"); at > 1 {
			for i < len(text) && text[i] > ' ' && strings.IndexByte("\"'`<>()[]{}|\\^,", text[i]) < 0 {
				i++
			}
			if url := strings.TrimRight(text[start:i], ".,:;!?"); len(url) > at+5 {
				f(name{kind: URLEntity, value: url})
				continue
			}
		}
		judgeToken(strings.TrimLeft(strings.TrimRight(text[start:i], ".:-@#~"), ":@"), f)
	}
}

// groupOfThree reports whether a number goes on behind its comma: 1,286.50.
func groupOfThree(s string) bool {
	return len(s) >= 3 && kindsOf(s[:3]) == byteDigit && (len(s) == 3 || byteKinds[s[3]]&(byteDigit|byteLower|byteUpper) == 0)
}

// judgeToken reports the finds of a token between colons; a number behind a path
// is its line.
func judgeToken(token string, f func(name)) {
	for rest := token; rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, ":")
		line := 0
		if next, _, _ := strings.Cut(rest, ":"); len(next) < 8 {
			line, _ = digits(next)
		}
		judgePiece(one, line, f)
	}
}

// judgePiece reports what a token without colons names.
func judgePiece(s string, line int, f func(name)) {
	kinds := kindsOf(s)
	found := func(kind EntityKind, value string) { f(name{kind: kind, value: value}) }
	switch dash := strings.IndexByte(s, '-'); {
	case len(s) < 2 || len(s) > 400:
	case isPath(s):
		whole := strings.TrimRight(s, "/.")
		f(name{kind: PathEntity, value: lastTwo(whole), whole: whole, line: line})
	case strings.IndexByte(s, '/') >= 0:
		judgePieces(s, "/", f)
	case s[0] == '#':
		if _, ok := digits(s[1:]); ok {
			found(IDEntity, s)
		}
	case strings.IndexByte(s, '@') > 0 && strings.IndexByte(s, '.') > 0, isUUID(s):
		found(IDEntity, s)
	case kinds&(byteLower|byteUpper|byteHigh) == 0:
		judgeNumber(s, found)
	case dash == 0:
		if len(s) > 4 && s[1] == '-' && byteKinds[s[2]]&(byteLower|byteUpper) != 0 {
			found(FlagEntity, s)
		}
	case strings.IndexByte(s, '.') >= 0:
		if v := strings.TrimPrefix(s, "v"); strings.Count(v, ".") == 2 && byteKinds[v[0]] == byteDigit && kindsOf(v)&(byteUpper|byteHigh) == 0 {
			found(NumberEntity, s)
			return
		}
		judgePieces(s, ".", f)
	case dash > 1 && dash <= 10 && kindsOf(s[:dash]) == byteUpper && kindsOf(s[dash+1:]) == byteDigit && !isStandard(s[:dash]):
		found(IDEntity, s)
	case dash > 0:
		if len(s) > 10 && isDate(s[:10]) {
			s = s[:10]
			found(NumberEntity, s)
			return
		}
		judgePieces(s, "-", f)
	default:
		if kind, ok := judgeWord(s, kinds); ok {
			found(kind, s)
		}
	}
}

// judgePieces reports what stands in a token that is nothing as a whole.
func judgePieces(s, sep string, f func(name)) {
	for one := range strings.SplitSeq(s, sep) {
		if len(one) >= 4 {
			judgePiece(one, 0, f)
		}
	}
}

// isPath reports whether a token is a path: by the name of a file, or by a start
// at a root. Words joined by slashes alone are none.
func isPath(s string) bool {
	whole := strings.TrimRight(s, "/.")
	base := whole[strings.LastIndexByte(whole, '/')+1:]
	if len(base) < 2 {
		return false
	}
	dot := strings.LastIndexByte(base, '.')
	if dot > 0 && knownExtension(base[dot+1:]) && kindsOf(base[:dot])&^byteMark != 0 && !(dot == 1 && kindsOf(base[:1]) == byteDigit) || knownName(base) {
		return true
	}
	for _, root := range [...]string{"./", "../", "~/"} {
		if strings.HasPrefix(s, root) {
			return true
		}
	}
	return s[0] == '/' && s[1] != '/' && strings.Count(whole, "/") > 1
}

// lastTwo returns the last two named segments of a path.
func lastTwo(s string) string {
	i := strings.LastIndexByte(s, '/')
	if i <= 0 {
		return strings.TrimLeft(s, "/")
	}
	k := strings.LastIndexByte(s[:i], '/')
	switch s[k+1 : i] {
	case "", ".", "..", "~":
		return s[i+1:]
	}
	return s[k+1:]
}

// judgeNumber reports a number of three digits and more, and both ends of a
// range.
func judgeNumber(s string, found func(EntityKind, string)) {
	s = strings.Trim(s, "_/.-:#@~,")
	if a, b, ok := strings.Cut(s, "-"); ok && !isDate(s) {
		if !strings.Contains(b, "-") {
			judgeNumber(a, found)
			judgeNumber(b, found)
		}
		return
	}
	n := 0
	for i := range len(s) {
		if byteKinds[s[i]] == byteDigit {
			n++
		}
	}
	if n >= 3 && n <= 40 {
		found(NumberEntity, s)
	}
}

// judgeWord says what a token of letters, digits and underscores is.
func judgeWord(s string, kinds uint8) (EntityKind, bool) {
	letters := kinds & (byteLower | byteUpper)
	switch {
	case kinds&byteHigh != 0 || len(s) < 4 || len(s) > 64:
		return 0, false
	case strings.IndexByte(s, '_') >= 0:
		return IdentEntity, len(strings.Trim(s, "_")) > 1
	case kinds&byteDigit != 0 && len(s) >= 7 && letters != byteLower|byteUpper && strings.Trim(s, "0123456789abcdefABCDEF") == "":
		return IDEntity, true
	case kinds&byteDigit != 0 && letters == byteUpper:
		if n := len(strings.TrimRight(s, "0123456789")); n <= 2 && len(s)-n >= 3 && kindsOf(s[n:]) == byteDigit {
			return ErrorEntity, true
		}
		return IDEntity, len(s) >= 5
	case letters == byteLower|byteUpper && isCamel(s):
		if strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception") || strings.HasSuffix(s, "Warning") {
			return ErrorEntity, true
		}
		return IdentEntity, true
	case kinds == byteUpper:
		return ErrorEntity, isErrno(s)
	}
	return 0, false
}

// isCamel reports whether words are joined by capitals: parseURL, HTTPServer.
func isCamel(s string) bool {
	for i := 1; i < len(s); i++ {
		if byteKinds[s[i]] == byteUpper && byteKinds[s[i-1]] == byteLower {
			return true
		}
	}
	capitals := len(s) - len(strings.TrimLeft(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return capitals >= 3 && len(s)-capitals >= 3
}

// isStandard tells names of standards from ticket prefixes.
func isStandard(s string) bool {
	switch s {
	case "UTF", "SHA", "ISO", "RFC", "MD", "IPV", "HTTP", "TLS", "AES", "RSA", "CP":
		return true
	}
	return false
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && strings.Trim(s, "-0123456789abcdefABCDEF") == ""
}

func isDate(s string) bool {
	return len(s) == 10 && (s[0] == '1' || s[0] == '2') && s[4] == s[7] && byteKinds[s[4]] == byteMark && kindsOf(s[:4]+s[5:7]+s[8:]) == byteDigit
}

// isErrno reports whether s is the name of a system error or signal.
func isErrno(s string) bool {
	for _, w := range errnoNames {
		if s == w {
			return true
		}
	}
	return strings.HasPrefix(s, "ECONN") || strings.HasPrefix(s, "EADDR") || strings.HasPrefix(s, "ENOT")
}

var errnoNames = strings.Fields("ENOENT EACCES EEXIST EISDIR EINVAL EPERM EAGAIN ETIMEDOUT EPIPE ENOMEM ENOSPC EMFILE ENFILE ELOOP EBUSY EXDEV EROFS " +
	"EHOSTUNREACH ENETUNREACH EBADF ENOSYS ERANGE EINTR EPROTO ERESOLVE ECHILD EFAULT EDEADLK ENOEXEC ELIFECYCLE EINTEGRITY EBADENGINE EUSAGE ETARGET " +
	"SIGKILL SIGTERM SIGSEGV SIGABRT SIGINT SIGHUP SIGQUIT SIGPIPE SIGBUS SIGFPE SIGILL SIGTRAP")

// digits reads a number.
func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		if byteKinds[s[i]] != byteDigit {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

// knownExtension reports whether a file name's ending is one of files that
// people work with.
func knownExtension(ext string) bool { return extensions[strings.ToLower(ext)] }

var extensions = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range strings.Fields(`go mod sum py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro c h cc hh cpp hpp cxx hxx m mm rs java kt kts
		scala groovy gradle clj cljs rb erb php pl pm lua r jl swift dart ex exs erl hrl hs elm ml mli fs fsx cs csproj sln vb zig nim sol asm s wat wasm
		sh bash zsh fish ps1 psm1 bat cmd awk sed mk cmake nix tf tfvars hcl rego bzl json jsonc json5 jsonl ndjson yaml yml toml ini cfg conf config env
		properties plist lock xml xsd xsl html htm xhtml css scss sass less styl md mdx markdown rst adoc txt tex bib po pot csv tsv sql sqlite sqlite3 db
		parquet proto graphql gql prisma avsc log out err diff patch svg png jpg jpeg gif webp ico pdf mp3 mp4 wav avi mov ttf woff woff2 eot zip tar gz
		tgz bz2 xz zst 7z jar war whl exe dll dylib so bin dat pem crt cer key pub tmpl tpl hbs ejs j2 jinja jinja2 mustache snap traj golden map vsix
		gitignore dockerfile docx xlsx pptx service socket desktop rules spec feature bak orig tmp cast lean v sv vhd`) {
		m[e] = true
	}
	return m
}()

// knownName reports whether a file name without a known ending is one that
// people work with.
func knownName(name string) bool {
	switch name {
	case "Makefile", "makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Jenkinsfile", "Vagrantfile", "Gemfile", "Rakefile", "Procfile", "Justfile", "justfile",
		"LICENSE", "NOTICE", "README", "CHANGELOG", "CODEOWNERS", "BUILD", "WORKSPACE", ".gitignore", ".gitattributes", ".dockerignore", ".npmrc", ".nvmrc",
		".env", ".bashrc", ".zshrc", ".profile", ".editorconfig", ".prettierrc", ".eslintrc", ".babelrc", ".gitmodules", ".npmignore", ".tool-versions":
		return true
	}
	return strings.HasPrefix(name, ".env.")
}
