package summary

import (
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// FileList are the files that a stretch of a conversation touched: read and not
// modified, or modified; of the modified ones those that were written without being
// known before, and those that were deleted in the end. All others were updated.
type FileList struct{ Read, Modified, Created, Deleted []string }

// Files returns the files that calls in messages from to to-1 touched, sorted. Of a call
// that failed nothing counts, except what a shell may have done before it failed. A nil
// Kinds is the default.
func Files(msgs chat.Sequence, from, to int, k *work.Kinds) (l FileList) {
	for _, f := range filesOf(msgs, from, to, k) {
		switch {
		case f.deleted:
			l.Deleted = append(l.Deleted, f.path)
		case f.created:
			l.Created = append(l.Created, f.path)
		}
		if f.modified {
			l.Modified = append(l.Modified, f.path)
		} else if f.read {
			l.Read = append(l.Read, f.path)
		}
	}
	for _, list := range [][]string{l.Read, l.Modified, l.Created, l.Deleted} {
		slices.Sort(list)
	}
	return l
}

// filesOf follows what calls did to files.
func filesOf(msgs chat.Sequence, from, to int, k *work.Kinds) []file {
	l := fileList{at: map[string][]int{}}
	open := map[string]*chat.Part{} // calls without a result yet, by id
	for i := max(from, 0); i < min(to, msgs.Len()); i++ {
		m := msgs.At(i)
		for p := range m.Parts {
			p := &m.Parts[p]
			if p.Kind == chat.ToolCall {
				open[p.ID] = p
			}
			call := open[p.ID]
			if p.Kind != chat.ToolResult || call == nil {
				continue
			}
			delete(open, p.ID)
			a := k.Access(call)
			failed, _, _ := work.Status(p)
			if failed && a.Kind != work.ToolShell {
				continue
			}
			for _, o := range a.Ops {
				switch {
				case o.Kind == work.ToolRead && !failed:
					l.find(o.Path).read = true
				case o.Kind == work.ToolWrite || o.Kind == work.ToolEdit || o.Kind == work.ToolDelete:
					f := l.find(o.Path)
					f.created = f.created || o.Kind == work.ToolWrite && !f.read && (!f.modified || f.deleted)
					f.modified, f.deleted = true, o.Kind == work.ToolDelete
				}
			}
		}
	}
	return l.files
}

type fileList struct {
	files []file
	at    map[string][]int // by path, and by name: where the file stands
}

type file struct {
	path             string
	read, modified   bool
	created, deleted bool
}

// find returns the entry of a file. A relative path and a rooted one that ends in
// it are the same file, unless two files have that name.
func (l *fileList) find(p string) *file {
	base := "/" + path.Base(p) // all files of one name are kept under it
	at := l.at[p]
	if len(at) == 0 {
		if same := l.at[base]; len(same) == 1 && sameFile(l.files[same[0]].path, p) {
			at = same
		} else {
			at = []int{len(l.files)}
			l.files = append(l.files, file{})
			l.at[base] = append(l.at[base], at[0])
		}
		l.at[p] = at
	}
	f := &l.files[at[0]]
	if len(p) > len(f.path) {
		f.path = p
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

// Footer lists the files in the tags that agents put at the end of summaries; "" where
// there are none. A file that was read and modified stands among the modified ones.
func (l *FileList) Footer() string {
	read := slices.DeleteFunc(slices.Clone(l.Read), func(f string) bool { return slices.Contains(l.Modified, f) })
	footer := ""
	for _, x := range []struct {
		tag   string
		files []string
	}{{"created-files", l.Created}, {"deleted-files", l.Deleted}, {"read-files", read}, {"modified-files", l.Modified}} {
		if len(x.files) > 0 {
			footer += "\n\n<" + x.tag + ">\n" + strings.Join(x.files, "\n") + "\n</" + x.tag + ">"
		}
	}
	return footer
}
