package summary

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// Files is what was done to files in a stretch of a conversation. A file
// stands in one list only: what was done to it last decides, and reading counts only
// for files that nothing else was done to.
type Files struct {
	Read, Created, Updated, Deleted []string
}

// FilesOf gathers what messages from to to-1 did to files, by tool calls of any
// kind, patches and shell commands. Calls that failed count as well: only their result
// would tell, and a list that is too long does less harm than one that lacks a
// file. A nil kinds is the default. The lists are sorted.
func FilesOf(s chat.Sequence, from, to int, kinds *evidence.Kinds) Files {
	last := map[string]evidence.ToolKind{}
	for i := from; i < to; i++ {
		m := s.At(i)
		if m.Role != chat.Assistant {
			continue
		}
		for k := range m.Parts {
			if m.Parts[k].Kind != chat.ToolCall {
				continue
			}
			a := kinds.Access(&m.Parts[k])
			a.Each(func(o evidence.Op) {
				was, seen := last[o.Path]
				switch o.Kind {
				case evidence.Read:
					if !seen {
						last[o.Path] = evidence.Read
					}
				case evidence.Edit:
					if was != evidence.Write {
						last[o.Path] = evidence.Edit
					}
				case evidence.Write:
					if !seen || was == evidence.Delete {
						last[o.Path] = evidence.Write
					} else if was == evidence.Read {
						last[o.Path] = evidence.Edit
					}
				case evidence.Delete:
					last[o.Path] = evidence.Delete
				}
			})
		}
	}
	var f Files
	for path, kind := range last {
		switch kind {
		case evidence.Read:
			f.Read = append(f.Read, path)
		case evidence.Write:
			f.Created = append(f.Created, path)
		case evidence.Edit:
			f.Updated = append(f.Updated, path)
		case evidence.Delete:
			f.Deleted = append(f.Deleted, path)
		}
	}
	for _, l := range [...][]string{f.Read, f.Created, f.Updated, f.Deleted} {
		slices.Sort(l)
	}
	return f
}

// Modified returns the files that were created, updated or deleted, sorted.
func (f *Files) Modified() []string {
	all := slices.Concat(f.Created, f.Updated, f.Deleted)
	slices.Sort(all)
	return all
}

// Footer returns the lists as text, "" where nothing was done to files.
func (f *Files) Footer() string {
	var b strings.Builder
	for _, l := range [...]struct {
		name  string
		paths []string
	}{{"Files read", f.Read}, {"Files created", f.Created}, {"Files updated", f.Updated}, {"Files deleted", f.Deleted}} {
		if len(l.paths) == 0 {
			continue
		}
		b.WriteString(l.name)
		b.WriteString(":")
		for _, p := range l.paths {
			b.WriteString("\n- ")
			b.WriteString(quoteLine(p))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
