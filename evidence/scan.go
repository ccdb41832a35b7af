package evidence

import "strings"

// Classes of bytes inside tokens. A token is a run of bytes that are not
// separators; the union of its bytes' classes tells at once what it can be, and
// most tokens are plain lower-case words that need no second look.
const (
	cLower = 1 << iota
	cUpper
	cDigit
	cUnder
	cSlash
	cDot
	cDash
	cColon
	cHash
	cAt
	cHigh // bytes of runes beyond ASCII
	cTilde
	cCamel // not a byte's class: a lower-case letter was followed by an upper-case one

	cLetters = cLower | cUpper | cCamel
	camelBit = 12
)

var class = func() (t [256]uint16) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = cLower
		t[c-32] = cUpper
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = cDigit
	}
	t['_'], t['/'], t['.'], t['-'], t[':'], t['#'], t['@'], t['~'] = cUnder, cSlash, cDot, cDash, cColon, cHash, cAt, cTilde
	for c := 0x80; c < 256; c++ {
		t[c] = cHigh
	}
	return t
}()

// nextToken returns the token of s at or after i: where it starts and ends, and
// the union of its classes. At the end of s, start is len(s).
func nextToken(s string, i int) (start, end int, mask uint16) {
	for i < len(s) && class[s[i]] == 0 {
		i++
	}
	start = i
	for i < len(s) && class[s[i]] == cLower {
		i++
	}
	if i > start {
		mask = cLower
	}
	prev := mask
	for i < len(s) {
		c := class[s[i]]
		if c == 0 {
			// A comma between digits belongs to the number: 1,286.50.
			if s[i] == ',' && prev == cDigit && mask&^(cDigit|cDot|cDash) == 0 && threeDigits(s[i+1:]) {
				prev = 0
				i++
				continue
			}
			break
		}
		mask |= c | (prev&cLower)&(c>>1)<<camelBit
		prev = c
		i++
	}
	return start, i, mask
}

// trimToken takes off what stands around a token but does not belong to it.
func trimToken(s string) string {
	for len(s) > 0 {
		switch s[len(s)-1] {
		case '.', ':', '-', '@', '#', '~':
			s = s[:len(s)-1]
			continue
		}
		break
	}
	for len(s) > 0 {
		switch s[0] {
		case ':', '@':
			s = s[1:]
			continue
		}
		break
	}
	return s
}

// knownExtension reports whether a file name's ending is one of files that
// people work with.
func knownExtension(ext string) bool {
	if len(ext) == 0 || len(ext) > 10 {
		return false
	}
	var b [10]byte
	for i := range len(ext) {
		b[i] = ext[i]
		if class[ext[i]] == cUpper {
			b[i] |= 0x20
		}
	}
	switch string(b[:len(ext)]) {
	case "go", "mod", "sum", "py", "pyi", "pyx", "ipynb", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro",
		"c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "m", "mm", "rs", "java", "kt", "kts", "scala", "groovy", "gradle", "clj", "cljs",
		"rb", "erb", "php", "pl", "pm", "lua", "r", "jl", "swift", "dart", "ex", "exs", "erl", "hrl", "hs", "elm", "ml", "mli", "fs", "fsx",
		"cs", "csproj", "sln", "vb", "zig", "nim", "pony", "sol", "asm", "s", "wat", "wasm",
		"sh", "bash", "zsh", "fish", "ps1", "psm1", "bat", "cmd", "awk", "sed", "mk", "cmake", "nix", "tf", "tfvars", "hcl", "rego", "bzl",
		"json", "jsonc", "json5", "jsonl", "ndjson", "yaml", "yml", "toml", "ini", "cfg", "conf", "config", "env", "properties", "plist", "lock",
		"xml", "xsd", "xsl", "html", "htm", "xhtml", "css", "scss", "sass", "less", "styl", "md", "mdx", "markdown", "rst", "adoc", "txt", "tex", "bib", "po", "pot",
		"csv", "tsv", "sql", "sqlite", "sqlite3", "db", "parquet", "proto", "graphql", "gql", "prisma", "avsc", "log", "out", "err", "diff", "patch",
		"svg", "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "mp3", "mp4", "wav", "mpeg", "avi", "mov", "ttf", "woff", "woff2", "eot",
		"zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "jar", "war", "whl", "exe", "dll", "dylib", "so", "bin", "dat", "pem", "crt", "cer", "key", "pub",
		"tmpl", "tpl", "hbs", "ejs", "j2", "jinja", "jinja2", "mustache", "snap", "traj", "golden", "map", "vsix", "gitignore", "dockerfile", "docx", "xlsx", "pptx",
		"service", "socket", "desktop", "rules", "spec", "feature", "bak", "orig", "tmp", "cast", "lean", "v", "sv", "vhd":
		return true
	}
	return false
}

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
