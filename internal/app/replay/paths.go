package replay

import (
	"path"
	"slices"
	"strings"
)

// fileNames knows the files that a session's calls touch, by their last segment,
// so that a line of text that names one of them is found.
type fileNames struct{ byBase map[string][]string }

func newFileNames() *fileNames { return &fileNames{map[string][]string{}} }

func (f *fileNames) add(p string) {
	p = plainPath(p)
	base := path.Base(p)
	if p == "" || base == "." || base == "/" {
		return
	}
	if slices.Contains(f.byBase[base], p) {
		return
	}
	f.byBase[base] = append(f.byBase[base], p)
}

// namedFile returns the file that a line names: the first of its words that is the
// path, or the end of the path, of a file that is known. "" is none.
func (f *fileNames) namedFile(line string) string {
	for _, marks := range [...]string{"`'\"<>,;*=|", "`'\"<>,;*=|()[]{}"} { // a path may have brackets of its own
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || strings.ContainsRune(marks, r) }) {
			w = strings.Trim(w, "#.:")
			if i := strings.IndexByte(w, ':'); i > 1 { // path:12-40
				w = w[:i]
			}
			w = plainPath(w)
			for _, p := range f.byBase[path.Base(w)] {
				if samePath(w, p) {
					return w
				}
			}
		}
	}
	return ""
}

func plainPath(p string) string {
	return strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./")
}

// samePath reports whether two names mean the same file: one is the other, or
// its end from a slash or a blank on: paths are given below a folder or the root,
// and words end at blanks.
func samePath(a, b string) bool {
	a, b = plainPath(a), plainPath(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && strings.HasSuffix(b, a) && (len(a) == len(b) || a[0] == '/' || strings.IndexByte("/ ", b[len(b)-len(a)-1]) >= 0)
}
