package evidence

import (
	"path"
	"slices"
	"strings"
)

// file adds one operation on a file.
func (x *extractor) file(o Op, failed bool) {
	f := File{Path: o.Path, At: x.at}
	switch o.Kind {
	case Read:
		if failed {
			return
		}
		f.Read = true
		if o.From <= 0 { // the whole file, or an end of it: where that lies is not known
			f.Whole = o.From == 0
		} else {
			f.Ranges = []Range{{o.From, o.To}}
		}
	case Write:
		f.Op, f.guessed = Created, true
	case Edit:
		f.Op = Updated
	case Delete:
		f.Op = Deleted
	default:
		return
	}
	x.e.addFile(f)
}

// addFile adds what is known of a file to what was known before.
func (e *Evidence) addFile(f File) {
	i, ok := e.findFile(f.Path)
	if !ok {
		f.Ranges = slices.Clone(f.Ranges)
		e.Files = append(e.Files, f)
		return
	}
	old := &e.Files[i]
	existed := old.Op != Deleted && (old.Op != NotModified || old.Read)
	switch {
	case f.Op == NotModified:
	case f.Op == Created && f.guessed && existed:
		if old.Op == NotModified {
			old.Op = Updated
		}
	case f.Op == Updated && old.Op == Created: // still one that was not there before
	default:
		old.Op, old.guessed = f.Op, f.guessed
	}
	old.Read = old.Read || f.Read
	old.Whole = old.Whole || f.Whole
	if old.Whole {
		old.Ranges = nil
	} else {
		old.Ranges = mergeRanges(old.Ranges, f.Ranges)
	}
	old.At = max(old.At, f.At)
	if len(f.Path) > len(old.Path) {
		old.Path = f.Path
		e.keys[key{Files, f.Path}] = i
	}
}

// findFile returns the entry of a file. A relative path and a rooted one that
// ends in it are the same file, unless two files end in it.
func (e *Evidence) findFile(p string) (int, bool) {
	if i, ok := e.entry(Files, p, len(e.Files)); ok {
		return i, true
	}
	base := "\x00" + path.Base(p) // all files of one name are kept under it
	list := e.keys[key{Files, base}]
	if list == 0 {
		e.keys[key{Files, base}] = -len(e.Files) - 1
		return 0, false
	}
	if list < 0 { // one other file of that name
		i := -list - 1
		if i < len(e.Files) && sameFile(e.Files[i].Path, p) {
			e.keys[key{Files, p}] = i
			return i, true
		}
	}
	e.keys[key{Files, base}] = 1 // several: only exact paths count from now on
	return 0, false
}

// sameFile reports whether one path is the other's end, with a folder in common.
func sameFile(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if b == "" || b[0] == '/' || !strings.Contains(b, "/") {
		return false
	}
	return strings.HasSuffix(a, b) && a[len(a)-len(b)-1] == '/'
}

// mergeRanges returns the union of two lists of ranges, in order. Ranges that
// touch become one.
func mergeRanges(a, b []Range) []Range {
	if len(b) == 0 {
		return a
	}
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y Range) int { return x.From - y.From })
	out := all[:1]
	for _, r := range all[1:] {
		last := &out[len(out)-1]
		switch {
		case last.To == 0 || r.From <= last.To+1:
			if last.To != 0 && (r.To == 0 || r.To > last.To) {
				last.To = r.To
			}
		default:
			out = append(out, r)
		}
	}
	return out
}

// ReadFiles returns the files that were read and not modified, sorted.
func (e *Evidence) ReadFiles() []string {
	return e.paths(func(f *File) bool { return f.Op == NotModified && f.Read })
}

// ModifiedFiles returns the files that were created, updated or deleted, sorted.
func (e *Evidence) ModifiedFiles() []string {
	return e.paths(func(f *File) bool { return f.Op != NotModified })
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

// Footer lists the files read and the files modified, in the tags that agents
// put at the end of summaries. It is "" where there are none.
func (e *Evidence) Footer() string { return FileFooter(e.ReadFiles(), e.ModifiedFiles()) }

// FileFooter is [Evidence.Footer] for lists that the caller has. A file in both
// stands in the second only.
func FileFooter(read, modified []string) string {
	var b strings.Builder
	section := func(tag string, files []string) {
		if len(files) == 0 {
			return
		}
		b.WriteString("\n\n<" + tag + ">\n")
		for _, f := range files {
			b.WriteString(f)
			b.WriteByte('\n')
		}
		b.WriteString("</" + tag + ">")
	}
	only := make([]string, 0, len(read))
	for _, f := range read {
		if !slices.Contains(modified, f) {
			only = append(only, f)
		}
	}
	section("read-files", only)
	section("modified-files", modified)
	return b.String()
}
