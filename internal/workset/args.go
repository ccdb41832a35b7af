package workset

import (
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// args is what the arguments of a call say about a change, in the words of any
// tool. Each has is true where the argument was given at all, since an empty
// text is a text too.
type args struct {
	object        bool // the arguments are a JSON object
	path, target  string
	dir           string
	mode, command string
	patch, diff   string

	old, new, content          string
	hasOld, hasNew, hasContent bool

	from, to int
	hasFrom  bool
	all      bool
	append   bool
	cell     bool
	several  []args
	inner    bool // one of several
}

const maxEdits = 4096 // in one call

func readArgs(s string) args {
	var a args
	a.object = evidence.Members(s, a.member)
	return a
}

func (a *args) member(key, raw string) bool {
	if raw == "" {
		return true
	}
	if raw[0] == '[' {
		a.list(key, raw)
		return true
	}
	switch key {
	case "edits", "changes", "replacements", "operations", "replacementchunks":
		// Some models write the list as a string that holds JSON.
		if list := evidence.Text(raw); strings.HasPrefix(strings.TrimSpace(list), "[") {
			a.list(key, list)
		}
	case "startline", "linestart", "firstline", "fromline", "insertline", "line", "linenumber", "afterline":
		n, err := strconv.Atoi(strings.TrimSpace(evidence.Text(raw)))
		a.from, a.hasFrom = n, err == nil
	case "endline", "lineend", "lastline", "toline":
		a.to, _ = strconv.Atoi(strings.TrimSpace(evidence.Text(raw)))
	case "replaceall", "allowmultiple", "globalreplace":
		a.all = a.all || raw == "true" || raw == `"true"`
	case "expectedreplacements":
		n, _ := strconv.Atoi(evidence.Text(raw))
		a.all = a.all || n > 1
	case "append":
		a.append = raw == "true"
	case "cellid", "cellnumber", "editmode", "celltype":
		a.cell = true
	default:
		if raw[0] == '"' {
			a.words(key, raw)
		}
	}
	return true
}

// words reads a member that is a text.
func (a *args) words(key, raw string) {
	switch key {
	case "filepath", "path", "absolutepath", "targetfile", "notebookpath", "relativeworkspacepath", "relativepath", "pathinproject", "fullpath", "filename", "file", "fileuri", "uri", "source", "sourcepath", "oldpath", "src":
		if a.path == "" {
			a.path = tidy(evidence.Text(raw))
		}
	case "destination", "dest", "newpath", "destinationpath", "targetpath", "newfilepath", "newname":
		a.target = tidy(evidence.Text(raw))
	case "workdir", "cwd", "workingdirectory", "workingdir":
		a.dir = tidy(evidence.Text(raw))
	case "command", "cmd", "script", "commandline":
		a.command = evidence.Text(raw)
		if isMode(a.command) {
			a.mode, a.command = a.command, ""
		}
	case "action", "operation", "mode", "subcommand":
		if m := evidence.Text(raw); isMode(m) {
			a.mode = m
		}
	case "patch", "patchtext", "input", "diff":
		s := evidence.Text(raw)
		switch {
		case isPatch(s):
			a.patch = s
		case key == "diff":
			a.diff = s
		case key == "input" && a.command == "":
			a.command = s
		}
	case "oldstring", "oldstr", "oldtext", "old", "oldcode", "oldcontent", "search", "searchtext", "find", "targetcontent", "original", "originaltext":
		a.old, a.hasOld = evidence.Text(raw), true
	case "newstring", "newstr", "newtext", "new", "newcode", "newcontent", "replace", "replacement", "replacementtext", "replacementcontent", "replacewith", "newsource", "updatedtext", "inserttext":
		a.new, a.hasNew = evidence.Text(raw), true
		a.cell = a.cell || key == "newsource"
	case "content", "contents", "filetext", "text", "filecontent", "codecontent", "body":
		a.content, a.hasContent = evidence.Text(raw), true
	case "codeedit":
		a.cell = true // a sketch of the file that another model applies
	}
}

// list reads a member that is an array: several edits, a range, or the words of
// a command.
func (a *args) list(key, raw string) {
	switch key {
	case "edits", "changes", "replacements", "operations", "replacementchunks", "files":
		if a.inner {
			return // no tool takes lists of lists
		}
		evidence.Elements(raw, func(e string) bool {
			one := args{inner: true}
			if one.object = evidence.Members(e, one.member); one.object {
				a.several = append(a.several, one)
			}
			return len(a.several) < maxEdits
		})
	case "command", "cmd":
		var words []string
		evidence.Elements(raw, func(e string) bool {
			words = append(words, evidence.Text(e))
			return true
		})
		if len(words) == 3 && len(words[1]) > 1 && words[1][0] == '-' && strings.HasSuffix(words[1], "c") {
			a.command = words[2]
		} else {
			a.command = quote(words)
		}
	}
}

// quote writes words as a shell would read them.
func quote(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w != "" && !strings.ContainsAny(w, " \t\n\"'|&;<>()$`*?[]#~\\{}!") {
			b.WriteString(w)
			continue
		}
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(w, "'", `'\''`))
		b.WriteByte('\'')
	}
	return b.String()
}

// edits are the changes that an editor tool's arguments ask for.
func (a *args) edits(kind evidence.ToolKind, name string) []Edit {
	if k, ok := modeKind[a.mode]; ok {
		kind = k
	}
	if kind != evidence.Edit && kind != evidence.Write && kind != evidence.Delete {
		return nil
	}
	if len(a.several) > 0 && !a.hasOld {
		var all []Edit
		for i := range a.several {
			one := &a.several[i]
			if one.path == "" {
				one.path = a.path
			}
			all = append(all, one.edits(kind, name)...)
		}
		return all
	}
	e := Edit{Path: a.path, All: a.all}
	lower := strings.ToLower(name)
	switch {
	case kind == evidence.Delete:
		e.Kind = Delete
	case a.target != "" && (strings.Contains(lower, "move") || strings.Contains(lower, "rename")):
		e.Kind, e.New = Move, a.target
	case a.target != "" && strings.Contains(lower, "copy"):
		e.Kind, e.New = Copy, a.target
	case a.diff != "":
		return blockEdits(a.path, a.diff)
	case a.cell || a.mode == "undo_edit" || a.mode == "undo":
		e.Kind, e.New = Unclear, a.new
	case a.mode == "insert" || strings.Contains(lower, "insert"):
		a.insertion(&e, lower)
	case a.append || a.mode == "append" || strings.Contains(lower, "append"):
		e.Kind, e.New = Append, a.text()
	case a.hasOld && (a.old != "" || !a.hasNew):
		e.Old, e.New = a.old, a.new
		// One family of tools leaves no empty line where it removes a text.
		e.Newline = a.new == "" && (name == "Edit" || name == "MultiEdit") && !strings.HasSuffix(a.old, "\n")
	case a.hasOld:
		e.New, e.Whole = a.new, true
	case a.hasFrom && a.from > 0 && (a.hasNew || a.hasContent):
		e.From, e.To, e.New, e.Lines = a.from, max(a.to, a.from), endLine(a.text()), true
	case a.hasContent:
		e.New, e.Whole = a.content, true
	case a.hasNew && kind == evidence.Write:
		e.New, e.Whole = a.new, true
	case kind == evidence.Write && (lower == "create" || a.mode == "create"):
		e.New, e.Whole = "\n", true // the editors that take no text begin with an empty line
	case a.path != "":
		e.Kind = Unclear
	default:
		return nil
	}
	if e.Path == "" && (e.Whole || e.Kind == Delete || e.Kind == Unclear) {
		return nil // not about a file
	}
	return []Edit{e}
}

// insertion reads where a text goes. Most tools name the line before it; an
// insert_content tool names the line that it pushes down, 0 for the end.
func (a *args) insertion(e *Edit, tool string) {
	e.Kind, e.From, e.New, e.Lines = Insert, a.from, endLine(a.text()), true
	switch {
	case !a.hasFrom || strings.Contains(tool, "insertcontent") && a.from == 0 || strings.Contains(tool, "insert_content") && a.from == 0:
		e.Kind, e.From = Append, 0
	case strings.Contains(tool, "insert_content") || strings.Contains(tool, "insertcontent"):
		e.From--
	}
}

func (a *args) text() string {
	if a.hasNew {
		return a.new
	}
	return a.content
}

// endLine gives a text that is put in as lines the newline that it needs.
func endLine(s string) string {
	if s == "" || s[len(s)-1] == '\n' {
		return s
	}
	return s + "\n"
}

// modeKind is the kind of an editor tool's own command.
var modeKind = map[string]evidence.ToolKind{
	"view": evidence.Read, "read": evidence.Read, "open": evidence.Read, "cat": evidence.Read,
	"create": evidence.Write, "write": evidence.Write, "overwrite": evidence.Write,
	"str_replace": evidence.Edit, "insert": evidence.Edit, "edit": evidence.Edit, "undo_edit": evidence.Edit, "undo": evidence.Edit,
	"replace": evidence.Edit, "append": evidence.Edit, "update": evidence.Edit, "patch": evidence.Edit,
	"delete": evidence.Delete, "remove": evidence.Delete,
}

func isMode(s string) bool {
	_, ok := modeKind[s]
	return ok
}

// tidy removes what stands around a path but is not part of it.
func tidy(p string) string {
	p = strings.TrimPrefix(strings.TrimSpace(p), "file://")
	for strings.HasPrefix(p, "./") && len(p) > 2 {
		p = p[2:]
	}
	if len(p) > 1024 || strings.ContainsAny(p, "\n\x00") {
		return ""
	}
	return p
}
