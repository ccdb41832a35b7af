package evidence

import (
	"strconv"
	"strings"
)

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

// The bytes of tokens. A token of lower-case letters alone names nothing.
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
		if next, _, _ := strings.Cut(rest, ":"); len(next) < 8 && kindsOf(next) == byteDigit {
			line, _ = strconv.Atoi(next)
		}
		judgePiece(one, line, f)
	}
}

// judgePiece reports what a token without colons names.
func judgePiece(s string, line int, f func(name)) {
	kinds := kindsOf(s)
	dash := strings.IndexByte(s, '-')
	dot := strings.IndexByte(s, '.')
	switch {
	case len(s) < 2 || len(s) > 400:
	case isPath(s):
		whole := strings.TrimRight(s, "/.")
		f(name{kind: PathEntity, value: lastTwo(whole), whole: whole, line: line})
	case strings.IndexByte(s, '/') >= 0:
		judgePieces(s, "/", f)
	case s[0] == '#' && kindsOf(s[1:]) == byteDigit, dot > 0 && strings.IndexByte(s, '@') > 0, isUUID(s),
		dash > 1 && dash <= 10 && kindsOf(s[:dash]) == byteUpper && kindsOf(s[dash+1:]) == byteDigit && !standards[s[:dash]]:
		f(name{kind: IDEntity, value: s})
	case kinds&(byteLower|byteUpper|byteHigh) == 0:
		judgeNumber(s, f)
	case dash == 0:
		if len(s) > 4 && s[1] == '-' && byteKinds[s[2]]&(byteLower|byteUpper) != 0 {
			f(name{kind: FlagEntity, value: s})
		}
	case dot > 0 && strings.Count(s, ".") == 2 && kindsOf(strings.TrimPrefix(s[:dot], "v")) == byteDigit && kinds&(byteUpper|byteHigh) == 0:
		f(name{kind: NumberEntity, value: s}) // a version
	case dot >= 0:
		judgePieces(s, ".", f)
	case len(s) > 10 && isDate(s[:10]):
		f(name{kind: NumberEntity, value: s[:10]})
	case dash > 0:
		judgePieces(s, "-", f)
	default:
		if kind, ok := judgeWord(s, kinds); ok {
			f(name{kind: kind, value: s})
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
	dot := strings.LastIndexByte(base, '.')
	switch {
	case len(base) < 2:
		return false
	case fileNames[base] || strings.HasPrefix(base, ".env."):
		return true
	case dot > 0 && fileEndings[strings.ToLower(base[dot+1:])] && kindsOf(base[:dot]) != byteMark && !(dot == 1 && kindsOf(base[:1]) == byteDigit):
		return true
	}
	return s[0] == '/' && s[1] != '/' && strings.Count(whole, "/") > 1 || startsWithAny(s, roots)
}

// roots are how paths begin that are no absolute ones.
var roots = []string{"./", "../", "~/"}

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
func judgeNumber(s string, f func(name)) {
	s = strings.Trim(s, "_/.-:#@~,")
	a, b, isRange := strings.Cut(s, "-")
	digits := len(s) - strings.Count(s, ".") - strings.Count(s, ",") - strings.Count(s, "_")
	switch {
	case isDate(s) || !isRange && digits >= 3 && digits <= 40:
		f(name{kind: NumberEntity, value: s})
	case isRange && !strings.Contains(b, "-"):
		judgeNumber(a, f)
		judgeNumber(b, f)
	}
}

const (
	digitLetters = "0123456789"
	hexLetters   = digitLetters + "abcdefABCDEF"
	capitals     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// judgeWord says what a token of letters, digits and underscores is.
func judgeWord(s string, kinds uint8) (EntityKind, bool) {
	letters := kinds & (byteLower | byteUpper)
	switch {
	case kinds&byteHigh != 0 || len(s) < 4 || len(s) > 64:
		return 0, false
	case strings.IndexByte(s, '_') >= 0:
		return IdentEntity, len(strings.Trim(s, "_")) > 1
	case kinds&byteDigit != 0 && len(s) >= 7 && letters != byteLower|byteUpper && strings.Trim(s, hexLetters) == "":
		return IDEntity, true
	case kinds&byteDigit != 0 && letters == byteUpper: // TS2345 is a compiler's code, K1NW8N is not
		if n := len(strings.TrimRight(s, digitLetters)); n <= 2 && len(s)-n >= 3 {
			return ErrorEntity, true
		}
		return IDEntity, len(s) >= 5
	case letters == byteLower|byteUpper && isCamel(s):
		if isErrorName(s) || strings.HasSuffix(s, "Warning") {
			return ErrorEntity, true
		}
		return IdentEntity, true
	}
	return ErrorEntity, systemErrors[s]
}

// isCamel reports whether words are joined by capitals: parseURL, HTTPServer.
func isCamel(s string) bool {
	for i := 1; i < len(s); i++ {
		if byteKinds[s[i]] == byteUpper && byteKinds[s[i-1]] == byteLower {
			return true
		}
	}
	rest := len(strings.TrimLeft(s, capitals))
	return len(s)-rest >= 3 && rest >= 3
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && strings.Trim(s, "-"+hexLetters) == ""
}

func isDate(s string) bool {
	return len(s) == 10 && (s[0] == '1' || s[0] == '2') && s[4] == s[7] && byteKinds[s[4]] == byteMark && kindsOf(s[:4]+s[5:7]+s[8:]) == byteDigit
}

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// Names of standards, which look like tickets: UTF-8. Names of system errors and
// signals. Endings of files that people work with, and names without one.
var (
	standards    = setOf("UTF SHA ISO RFC MD IPV HTTP TLS AES RSA CP")
	systemErrors = setOf(`ENOENT EACCES EEXIST ENOTDIR EISDIR EINVAL EPERM EAGAIN ECONNREFUSED ECONNRESET ECONNABORTED ETIMEDOUT EADDRINUSE EADDRNOTAVAIL ENOTFOUND EPIPE
		ENOMEM ENOSPC EMFILE ENFILE ELOOP ENOTEMPTY EBUSY EXDEV EROFS EHOSTUNREACH ENETUNREACH EBADF ENOSYS ENOTSUP ERANGE EINTR EPROTO ERESOLVE ECHILD EFAULT
		EDEADLK ENOEXEC ELIFECYCLE EINTEGRITY EBADENGINE EUSAGE ETARGET SIGKILL SIGTERM SIGSEGV SIGABRT SIGINT SIGHUP SIGQUIT SIGPIPE SIGBUS SIGFPE SIGILL SIGTRAP`)
	fileEndings = setOf(`go mod sum py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro c h cc hh cpp hpp cxx hxx m mm rs java kt kts
		scala groovy gradle clj cljs rb erb php pl pm lua r jl swift dart ex exs erl hrl hs elm ml mli fs fsx cs csproj sln vb zig nim sol asm s wat wasm
		sh bash zsh fish ps1 psm1 bat cmd awk sed mk cmake nix tf tfvars hcl rego bzl json jsonc json5 jsonl ndjson yaml yml toml ini cfg conf config env
		properties plist lock xml xsd xsl html htm xhtml css scss sass less styl md mdx markdown rst adoc txt tex bib po pot csv tsv sql sqlite sqlite3 db
		parquet proto graphql gql prisma avsc log out err diff patch svg png jpg jpeg gif webp ico pdf mp3 mp4 wav avi mov ttf woff woff2 eot zip tar gz
		tgz bz2 xz zst 7z jar war whl exe dll dylib so bin dat pem crt cer key pub tmpl tpl hbs ejs j2 jinja jinja2 mustache snap traj golden map vsix
		gitignore dockerfile docx xlsx pptx service socket desktop rules spec feature bak orig tmp cast lean v sv vhd`)
	fileNames = setOf(`Makefile makefile GNUmakefile Dockerfile Containerfile Jenkinsfile Vagrantfile Gemfile Rakefile Procfile Justfile justfile LICENSE NOTICE README
		CHANGELOG CODEOWNERS BUILD WORKSPACE .gitignore .gitattributes .dockerignore .npmrc .nvmrc .env .bashrc .zshrc .profile .editorconfig .prettierrc
		.eslintrc .babelrc .gitmodules .npmignore .tool-versions`)
)
