package evidence

import "strings"

// piece judges a token without colons.
func (e *entityScanner) piece(s string, mask uint16) {
	switch {
	case len(s) < 2 || len(s) > 400:
	case mask&cSlash != 0:
		e.path(s, mask)
	case mask&cHash != 0:
		if s[0] == '#' && len(s) < 12 {
			if _, ok := digits(s[1:]); ok {
				e.add(IDEntity, s)
			}
		}
	case mask&cAt != 0:
		at := strings.IndexByte(s, '@')
		if at > 0 && strings.IndexByte(s[at:], '.') > 1 {
			e.add(IDEntity, s)
		}
	case mask&(cLetters|cHigh) == 0:
		e.number(s)
	case mask&cDash != 0 && s[0] == '-':
		if len(s) > 4 && s[1] == '-' && mask&cUnder == 0 && class[s[2]]&cLetters != 0 {
			e.add(FlagEntity, s)
		}
	case mask&cDot != 0:
		e.dotted(s, mask)
	case mask&cDash != 0:
		e.dashed(s, mask)
	default:
		e.word(s, mask)
	}
}

// path judges a token with slashes. A name with a known ending makes it a
// path, and so does a start at a root: words joined by slashes alone do not.
func (e *entityScanner) path(s string, mask uint16) {
	whole := s
	for whole != "" && (whole[len(whole)-1] == '/' || whole[len(whole)-1] == '.') {
		whole = whole[:len(whole)-1]
	}
	whole, at := grepContext(whole, mask)
	name := whole[strings.LastIndexByte(whole, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	known := dot > 0 && knownExtension(name[dot+1:]) || knownName(name)
	rooted := s[0] == '/' && len(s) > 1 && s[1] != '/' && strings.Count(whole, "/") > 1 || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/")
	if !known && !rooted || name == "" || len(name) < 2 {
		e.pieces(s, '/')
		return
	}
	if n := e.n; n < len(e.found) {
		e.add(PathEntity, lastTwo(whole))
		e.found[n].whole, e.found[n].line = whole, at
	}
}

// grepContext takes the line number off that grep puts behind the file's name
// in lines of context: plan/apply.go-142-.
func grepContext(s string, mask uint16) (string, int) {
	if mask&(cDash|cDigit) != cDash|cDigit {
		return s, 0
	}
	t := strings.TrimSuffix(s, "-")
	i := strings.LastIndexByte(t, '-')
	if i < 3 || class[t[len(t)-1]] != cDigit || len(t)-i > 7 {
		return s, 0
	}
	n, ok := digits(t[i+1:])
	dot := strings.LastIndexByte(t[:i], '.')
	if !ok || dot < 1 || !knownExtension(t[dot+1:i]) {
		return s, 0
	}
	return t[:i], n
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

// pieces judges the parts of a token that is nothing as a whole.
func (e *entityScanner) pieces(s string, sep byte) {
	for s != "" {
		one := s
		if i := strings.IndexByte(s, sep); i >= 0 {
			one, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		m := maskOf(one)
		if len(one) < 4 || m&^(cLetters|cHigh) == 0 && m&(cUpper|cCamel) == 0 {
			continue
		}
		if m&(cSlash|cColon) == 0 && (m&cDot == 0 || sep != '.') {
			e.piece(one, m)
		}
	}
}

// dotted judges a token with dots: a file's name, a version, or names joined by dots.
func (e *entityScanner) dotted(s string, mask uint16) {
	s, at := grepContext(s, mask)
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 {
		e.word(s, maskOf(s))
		return
	}
	if hasStem(s[:dot]) && knownExtension(s[dot+1:]) && !(dot < 2 && class[s[0]] == cDigit) || knownName(s) {
		if n := e.n; n < len(e.found) {
			e.add(PathEntity, s)
			e.found[n].line = at
		}
		return
	}
	if v := strings.TrimPrefix(s, "v"); mask&cDigit != 0 && v != "" && class[v[0]] == cDigit && strings.Count(v, ".") == 2 && maskOf(v)&(cUpper|cUnder|cHigh) == 0 {
		e.add(NumberEntity, s)
		return
	}
	e.pieces(s, '.')
}

// hasStem reports whether the part of a name before its ending is more than marks.
func hasStem(s string) bool {
	for i := range len(s) {
		if class[s[i]]&(cDot|cDash|cUnder) == 0 {
			return true
		}
	}
	return false
}

// dashed judges a token with dashes: a UUID, a ticket, or parts of one.
func (e *entityScanner) dashed(s string, mask uint16) {
	if mask&cDigit == 0 {
		if mask&(cCamel|cUnder) != 0 {
			e.pieces(s, '-')
		}
		return
	}
	if isUUID(s) {
		e.add(IDEntity, s)
		return
	}
	i := strings.IndexByte(s, '-')
	if class[s[0]] == cUpper && i >= 2 && i <= 10 && mask&cLower == 0 {
		if _, ok := digits(s[i+1:]); ok && len(s)-i < 9 && !isStandard(s[:i]) {
			e.add(IDEntity, s)
			return
		}
	}
	if len(s) > 10 && isDate(s[:10]) {
		e.add(NumberEntity, s[:10])
		return
	}
	e.pieces(s, '-')
}

// isStandard tells names of standards from ticket prefixes.
func isStandard(s string) bool {
	switch s {
	case "UTF", "SHA", "ISO", "RFC", "MD", "IPV", "HTTP", "TLS", "AES", "RSA", "CP", "CVE":
		return s != "CVE"
	}
	return false
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range 36 {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return class[c] == cDigit || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isDate(s string) bool {
	if len(s) != 10 || s[4] != s[7] || s[4] != '-' && s[4] != '/' && s[4] != '.' {
		return false
	}
	for i := range 10 {
		if i != 4 && i != 7 && class[s[i]] != cDigit {
			return false
		}
	}
	return s[0] == '1' || s[0] == '2'
}

// number judges a token of digits and marks.
func (e *entityScanner) number(s string) {
	for s != "" && class[s[0]] != cDigit {
		s = s[1:]
	}
	for s != "" && class[s[len(s)-1]] != cDigit {
		s = s[:len(s)-1]
	}
	if len(s) < 3 {
		return
	}
	n, dots, dashes := 0, 0, 0
	for i := range len(s) {
		switch class[s[i]] {
		case cDigit:
			n++
		case cDot:
			dots++
		case cDash:
			dashes++
		}
	}
	switch {
	case n < 3, n > 40:
	case dashes == 0 || isDate(s):
		e.add(NumberEntity, s)
	case dashes == 1:
		e.piecesOfRange(s)
	}
}

// piecesOfRange judges both ends of a range like 120-140.
func (e *entityScanner) piecesOfRange(s string) {
	a, b, _ := strings.Cut(s, "-")
	for _, one := range [2]string{a, b} {
		if len(one) >= 3 {
			e.add(NumberEntity, one)
		}
	}
}

// word judges a token of letters, digits and underscores.
func (e *entityScanner) word(s string, mask uint16) {
	if mask&cHigh != 0 || len(s) > 128 {
		return
	}
	letters := mask & (cLower | cUpper)
	switch {
	case letters == 0:
		e.number(s)
	case mask&cUnder != 0:
		bare := strings.Trim(s, "_")
		if len(bare) >= 2 && len(s) >= 4 && len(s) <= 60 && maskOf(bare)&cLetters != 0 {
			e.add(IdentEntity, s)
		}
	case mask&cDigit != 0:
		e.mixed(s, mask)
	case mask&cCamel != 0 || letters == cLower|cUpper && acronymInside(s):
		if len(s) < 4 || len(s) > 60 {
			return
		}
		if strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception") || strings.HasSuffix(s, "Warning") {
			e.add(ErrorEntity, s)
			return
		}
		e.add(IdentEntity, s)
	case letters == cUpper:
		if isErrno(s) {
			e.add(ErrorEntity, s)
		}
	}
}

// mixed judges a token of letters and digits.
func (e *entityScanner) mixed(s string, mask uint16) {
	if len(s) >= 7 && (len(s) <= 40 || len(s) == 64) && mask&(cLower|cUpper) != cLower|cUpper && hasHexLetter(s) {
		e.add(IDEntity, s)
		return
	}
	switch {
	case mask&cLower == 0 && len(s) >= 5 && len(s) <= 24:
		if isCode(s) {
			e.add(ErrorEntity, s)
		} else {
			e.add(IDEntity, s)
		}
	case mask&cCamel != 0 && len(s) >= 4 && len(s) <= 60:
		e.add(IdentEntity, s)
	}
}

// hasHexLetter reports whether s is hexadecimal with at least one letter; that
// it has a digit is known.
func hasHexLetter(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isCode reports whether s has the form of a compiler's error code: one or two
// capitals and three to five digits.
func isCode(s string) bool {
	i := 0
	for i < len(s) && class[s[i]] == cUpper {
		i++
	}
	if i < 1 || i > 2 || len(s)-i < 3 || len(s)-i > 5 {
		return false
	}
	_, ok := digits(s[i:])
	return ok
}

// acronymInside reports whether capitals are followed by a word, as in
// HTTPServer; a plural s does not count.
func acronymInside(s string) bool {
	i := 0
	for i < len(s) && class[s[i]] == cUpper {
		i++
	}
	return i >= 3 && len(s)-i >= 3
}

// isErrno reports whether s is the name of a system error or signal.
func isErrno(s string) bool {
	if len(s) > 5 && len(s) < 10 && s[0] == 'S' && s[1] == 'I' && s[2] == 'G' {
		switch s[3:] {
		case "KILL", "TERM", "SEGV", "ABRT", "INT", "HUP", "QUIT", "PIPE", "BUS", "FPE", "ILL", "TRAP", "STOP", "ALRM", "CHLD", "CONT":
			return true
		}
		return false
	}
	if s[0] != 'E' || len(s) < 3 || len(s) > 15 {
		return false
	}
	switch s {
	case "ENOENT", "EACCES", "EEXIST", "ENOTDIR", "EISDIR", "EINVAL", "EPERM", "EAGAIN", "ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ETIMEDOUT", "EADDRINUSE",
		"EADDRNOTAVAIL", "ENOTFOUND", "EPIPE", "ENOMEM", "ENOSPC", "EMFILE", "ENFILE", "ELOOP", "ENOTEMPTY", "EBUSY", "EXDEV", "EROFS", "EHOSTUNREACH",
		"ENETUNREACH", "EBADF", "ENOSYS", "ENOTSUP", "ERANGE", "EINTR", "EPROTO", "ERESOLVE", "ECHILD", "EFAULT", "EFBIG", "ENODEV", "ENXIO", "ESRCH",
		"ENOTCONN", "EISCONN", "EALREADY", "EINPROGRESS", "ENAMETOOLONG", "EDQUOT", "ESTALE", "EDEADLK", "ENOEXEC", "ELIFECYCLE", "EINTEGRITY", "EBADENGINE",
		"EUSAGE", "ETARGET", "EAI_AGAIN", "ENOTTY", "ESPIPE", "EMLINK", "EOPNOTSUPP", "EOF":
		return s != "EOF"
	}
	return false
}
