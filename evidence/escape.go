package evidence

import "strings"

// Texts are full of escapes: the values of a call are JSON as it was sent, logs
// and programs print strings in quotes. The letter of an escape touches the name
// behind it, \nFiles or \u003cspan, and is no part of it. A backslash also
// separates the folders of a path on Windows, src\names.go, where the letter
// is part of the name.

// escapeLetters are the escapes of one letter that occur before names: line
// ends, tabs, and the word boundary of patterns.
const escapeLetters = "ntrb"

// behindEscape returns where the token s[start:end] starts without the escape
// that it begins with. It may be end. Where escaped says that s is JSON, its own
// escapes are known; others are told from paths by what stands around them.
func behindEscape(s string, start, end int, escaped bool) int {
	if start == 0 || s[start-1] != '\\' { // nearly always
		return start
	}
	return cutEscape(s, start, end, escaped)
}

func cutEscape(s string, start, end int, escaped bool) int {
	first := start - 1 // of the backslashes
	for first > 0 && s[first-1] == '\\' {
		first--
	}
	depth := start - first
	sure := escaped && depth%2 == 1
	switch c := s[start]; {
	case c == 'u' && hexDigits(s[start+1:end], 4):
		return start + 5
	case c == 'x' && hexDigits(s[start+1:end], 2):
		return start + 3
	case c == '0' && end-start <= 3: // \033
		return end
	case strings.IndexByte(escapeLetters, c) < 0 && (!sure || c != 'f'):
		return start
	case sure:
		return start + 1
	}
	if escaped {
		depth /= 2
	}
	if isEscape(s, first, start, end, depth) {
		return start + 1
	}
	return start
}

// isEscape reports whether the letter s[start] behind the backslashes from
// s[first] on is an escape rather than the beginning of a name in a path.
func isEscape(s string, first, start, end, depth int) bool {
	switch {
	case inWindowsPath(s, first):
		return false
	case start+1 == end || class[s[start+1]] != cLower: // \nFiles, \n/tmp, \n3
		return true
	case depth > 1: // \\nas\share
		return false
	case first == 0 || class[s[first-1]]&(cLetters|cDigit|cUnder|cDash|cHigh) == 0: // "\nsrc, :\nsrc
		return true
	case first > 1 && s[first-2] == '\\' && strings.IndexByte(escapeLetters, s[first-1]) >= 0: // \n\nsrc
		return true
	}
	return s[start] == 'n' && strings.IndexByte(s[start:end], '/') >= 0 // a folder\nsrc/main.go
}

// longestPath bounds how far back a path is looked for.
const longestPath = 200

// inWindowsPath reports whether what ends at the backslash s[at] is a path on
// Windows: one that starts with a drive or a dot, or has a folder whose name
// begins with no escape.
func inWindowsPath(s string, at int) bool {
	i := at
	for i > 0 && at-i < longestPath && (class[s[i-1]] != 0 || s[i-1] == '\\') {
		i--
		if s[i] == '\\' && i+1 < at && s[i+1] != '\\' && strings.IndexByte("ntrbfvux0", s[i+1]) < 0 {
			return true
		}
	}
	path := s[i : at+1]
	return len(path) > 2 && path[1] == ':' && path[2] == '\\' && class[path[0]]&cLetters != 0 ||
		strings.HasPrefix(path, `.\`) || strings.HasPrefix(path, `..\`)
}

// hexDigits reports whether s begins with n digits of a hexadecimal number.
func hexDigits(s string, n int) bool {
	if len(s) < n {
		return false
	}
	for i := range n {
		if c := s[i] | 0x20; class[s[i]] != cDigit && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
