package evidence

import (
	"path"
	"slices"
	"strings"
)

// addFile adds one operation on a file.
func (e *Evidence) addFile(o Op, failed bool) {
	switch o.Kind {
	case Read:
		if !failed {
			e.file(o.Path).Read = true
		}
	case Write, Edit, Delete:
		e.file(o.Path).Modified = true
	}
}

// file returns the entry of a file. A relative path and a rooted one that ends in
// it are the same file, unless two files have that name.
func (e *Evidence) file(p string) *File {
	base := "/" + path.Base(p) // all files of one name are kept under it
	at := e.files[p]
	if len(at) == 0 {
		if same := e.files[base]; len(same) == 1 && sameFile(e.Files[same[0]].Path, p) {
			at = same
		} else {
			at = []int{len(e.Files)}
			e.Files = append(e.Files, File{})
			e.files[base] = append(e.files[base], at[0])
		}
		e.files[p] = at
	}
	f := &e.Files[at[0]]
	if len(p) > len(f.Path) {
		f.Path = p
	}
	return f
}

// sameFile reports whether one path is the other's end, with a folder in common.
func sameFile(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && b[0] != '/' && strings.Contains(b, "/") && strings.HasSuffix(a, "/"+b)
}

// ReadFiles returns the files that were read and not modified, sorted.
func (e *Evidence) ReadFiles() []string {
	return e.paths(func(f *File) bool { return f.Read && !f.Modified })
}

// ModifiedFiles returns the files that were created, updated or deleted, sorted.
func (e *Evidence) ModifiedFiles() []string {
	return e.paths(func(f *File) bool { return f.Modified })
}

func (e *Evidence) paths(want func(*File) bool) []string {
	var list []string
	for i := range e.Files {
		if want(&e.Files[i]) {
			list = append(list, e.Files[i].Path)
		}
	}
	slices.Sort(list)
	return list
}

// FileFooter lists the files read and the files modified, in the tags that agents
// put at the end of summaries; "" where there are none. A file in both lists
// stands in the second only.
func FileFooter(read, modified []string) string {
	var b strings.Builder
	section := func(tag string, files []string) {
		if len(files) > 0 {
			b.WriteString("\n\n<" + tag + ">\n" + strings.Join(files, "\n") + "\n</" + tag + ">")
		}
	}
	section("read-files", slices.DeleteFunc(slices.Clone(read), func(f string) bool { return slices.Contains(modified, f) }))
	section("modified-files", modified)
	return b.String()
}
